import Foundation
import Synchronization

// Two threads add to one array 100,000 times each. "locked": both hold the mutex, so that a report
// of ThreadSanitizer is false. "racing": one holds none, so that a missing report is a blind spot.

final class Counter: Sendable {
  let lock = Mutex(())
  nonisolated(unsafe) var values = [0]
}

let counter = Counter()
let isRacing = CommandLine.arguments.last == "racing"
let done = DispatchSemaphore(value: 0)
for thread in 0..<2 {
  Thread.detachNewThread {
    for _ in 0..<100_000 {
      if isRacing && thread == 1 {
        counter.values[0] += 1
      } else {
        counter.lock.withLock { _ in counter.values[0] += 1 }
      }
    }
    done.signal()
  }
}
for _ in 0..<2 { done.wait() }
