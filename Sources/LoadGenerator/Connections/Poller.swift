import CEpoll
import Glibc

/// epoll(7), level-triggered; a socket is known by its number in the swarm's table.
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

  /// Watches a socket that was added for reading, and for writing too or no longer.
  func change(_ socket: Int32, number: Int, writing: Bool) { ce_change(descriptor, socket, UInt32(number), writing) }

  /// Watches a socket no longer.
  func remove(_ socket: Int32) { ce_remove(descriptor, socket) }

  /// Waits until a socket is ready, or for `timeout` nanoseconds, or for a signal.
  /// - Returns: how many events there are.
  func wait(_ timeout: UInt64) -> Int { Int(ce_wait(descriptor, events, Poller.capacity, timeout)) }

  /// One of the events of the last wait.
  @inline(__always) subscript(event: Int) -> ce_event { events[event] }

  /// Lets the waits of this thread end when they are due, not up to 50 µs later: what a late wait costs would be counted as latency.
  /// Where the kernel does not allow it the figures are that much higher, and nothing else happens.
  static func waitPrecisely() { _ = ce_wait_precisely() }
}
