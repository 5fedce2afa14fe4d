import CTransport

/// One event loop: a thread that owns its connections, topics and HTTP requests.
public final class EventLoop: Sendable {
  /// The loop's number, from 0.
  public let index: Int
  /// Runs actors on this loop's thread.
  public let executor: LoopExecutor

  let callbacks: LoopCallbacks

  init(index: Int, configuration: TransportConfiguration, delegate: any TransportDelegate) throws(TransportError) {
    let callbacks = LoopCallbacks(delegate: delegate)
    let handle = LoopHandle(try callbacks.makeLoop(configuration))
    self.index = index
    self.callbacks = callbacks
    executor = LoopExecutor(handle: handle, queue: callbacks.queue)
    callbacks.attach(self)
  }

  /// Whether the caller is on this loop's thread.
  public var isCurrent: Bool { executor.handle.isCurrent }

  /// Runs `body` at once when the caller is on this loop, else queues it.
  public func perform(_ body: @escaping @Sendable () -> Void) {
    if isCurrent { body() } else { enqueue(body) }
  }

  /// Queues `body`: it runs in a later turn, or later in this one, behind what the same thread queued before.
  public func enqueue(_ body: @escaping @Sendable () -> Void) {
    executor.enqueue(body)
  }

  /// Queues `body` behind everything else: one such body runs when nothing else waits, or between two flushes of a busy loop.
  /// On this loop's thread only.
  public func enqueueInBackground(_ body: @escaping @Sendable () -> Void) {
    preconditionCurrent()
    callbacks.queue.addInBackground(body)
  }

  /// What this loop has counted; on its thread only.
  public func counters() -> TransportCounters {
    preconditionCurrent()
    let counted = ct_loop_counters(pointer)
    var counters = TransportCounters()
    counters.connections = Int(counted.connections_open)
    counters.deliveries = Int(counted.deliveries)
    counters.skippedEntries = Int(counted.skipped_entries)
    let closes = UnsafeBufferPointer(start: ct_loop_closes(pointer), count: CT_CLOSE_CODES)
    for (code, count) in closes.enumerated() where count > 0 { counters.closes[code] = Int(count) }
    return counters
  }

  /// The most steps it can take to find a subscription.
  var longestSubscriptionSearch: Int { ct_loop_longest_search(pointer) }

  var pointer: OpaquePointer { executor.handle.pointer }

  @inline(__always)
  func preconditionCurrent() {
    precondition(isCurrent, "not on the thread of this event loop")
  }
}
