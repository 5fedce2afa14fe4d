import CEpoll
import Glibc

/// epoll(7), level-triggered; a socket is known by its number in the pool's table.
final class Poller {
  private static let capacity: Int32 = 1024
  private let descriptor: Int32
  private let events: UnsafeMutablePointer<ce_event>

  init() throws(BenchmarkError) {
    descriptor = ce_create()
    guard descriptor >= 0 else { throw BenchmarkError("epoll: \(String(cString: strerror(errno)))") }
    events = .allocate(capacity: Int(Poller.capacity))
  }

  deinit {
    close(descriptor)
    events.deallocate()
  }

  /// Watches a socket for reading and writing.
  func add(_ socket: Int32, number: Int) throws(BenchmarkError) {
    guard ce_add(descriptor, socket, UInt32(number), true) == 0 else {
      throw BenchmarkError("epoll: \(String(cString: strerror(errno)))")
    }
  }

  /// Watches an added socket for reading, and for writing if `writing`.
  func change(_ socket: Int32, number: Int, writing: Bool) { ce_change(descriptor, socket, UInt32(number), writing) }

  /// Stops watching a socket.
  func remove(_ socket: Int32) { ce_remove(descriptor, socket) }

  /// Waits until a socket is ready, or for `timeout` nanoseconds, or for a signal.
  /// - Returns: the number of events.
  func wait(_ timeout: UInt64) -> Int { Int(ce_wait(descriptor, events, Poller.capacity, timeout)) }

  /// One of the events of the last wait.
  @inline(__always) subscript(event: Int) -> ce_event { events[event] }

  /// Ends the waits of this thread on time, not up to 50 µs late, which would count as latency.
  /// Where the kernel refuses, latencies are that much higher.
  static func waitPrecisely() { _ = ce_wait_precisely() }
}
