import Dispatch
import Foundation
import Synchronization

/// Where the lines of a log go. They are written in their order by a thread of their own: a reader that stands still (a terminal
/// that was stopped, a collector that hangs) stops no caller, and costs the lines for which there is no room.
final class LogOutput: Sendable {
  private struct Backlog {
    var bytes = 0
    var lost = 0
  }

  private let descriptor: Int32
  private let capacity: Int
  private let queue = DispatchQueue(label: "throng.log")
  private let backlog = Mutex(Backlog())

  /// - Parameters:
  ///   - descriptor: is written to and stays open.
  ///   - capacity: how many bytes of lines wait at most.
  init(_ descriptor: Int32, capacity: Int = 1 << 20) {
    self.descriptor = descriptor
    self.capacity = capacity
  }

  /// Has a line and its end written, or counts it as lost.
  /// - Parameter notice: the line that tells how many were lost before this one.
  func append(_ line: String, afterLosing notice: (Int) -> String) {
    backlog.withLock { backlog in
      let text = (backlog.lost > 0 ? notice(backlog.lost) + "\n" : "") + line + "\n"
      guard backlog.bytes + text.utf8.count <= capacity else {
        backlog.lost += 1
        return
      }
      backlog.bytes += text.utf8.count
      backlog.lost = 0
      queue.async { [self] in
        write(text)
        self.backlog.withLock { $0.bytes -= text.utf8.count }
      }
    }
  }

  /// Waits until all is written that was appended, but no longer than so many milliseconds.
  func flush(within milliseconds: Int) {
    let written = DispatchSemaphore(value: 0)
    queue.async { written.signal() }
    _ = written.wait(timeout: .now() + .milliseconds(milliseconds))
  }

  /// A log that cannot be written (its reader has gone, the disk is full) must not end the server, and there is nowhere to say so.
  private func write(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      guard count < 0 else {
        rest = rest.dropFirst(count)
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        // Whoever shares the descriptor has it not block.
        var readiness = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&readiness, 1, -1)
      default: return
      }
    }
  }
}
