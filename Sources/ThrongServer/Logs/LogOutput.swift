import Dispatch
import Foundation
import Synchronization

/// Writes the lines of a log in order, on a thread of its own. A reader that does not read (a
/// stopped terminal, a hanging collector) blocks no caller; lines beyond the capacity are lost.
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
  ///   - descriptor: the file to write to; it stays open.
  ///   - capacity: the most bytes of waiting lines.
  init(_ descriptor: Int32, capacity: Int = 1 << 20) {
    self.descriptor = descriptor
    self.capacity = capacity
  }

  /// Enqueues a line, or counts it as lost.
  /// - Parameter notice: makes the line that tells the number of lines lost before this one.
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

  /// Waits until the appended lines are written, at most for some milliseconds.
  func flush(within milliseconds: Int) {
    let written = DispatchSemaphore(value: 0)
    queue.async { written.signal() }
    _ = written.wait(timeout: .now() + .milliseconds(milliseconds))
  }

  /// A log that cannot be written (a closed pipe, a full disk) must not end the server.
  private func write(_ text: String) {
    var unwritten = Array(text.utf8)[...]
    while !unwritten.isEmpty {
      let count = unwritten.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      guard count < 0 else {
        unwritten = unwritten.dropFirst(count)
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        // Another process that shares the descriptor has made it non-blocking.
        var readiness = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&readiness, 1, -1)
      default: return
      }
    }
  }
}
