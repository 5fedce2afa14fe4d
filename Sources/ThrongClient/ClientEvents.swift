/// The events of a client from one moment on, for one reader. The sequence ends when the client is
/// closed; a reader that falls behind by more than the limit gets `ClientEvent.lost`.
public struct ClientEvents: AsyncSequence, Sendable {
  public typealias Element = ClientEvent
  public typealias Failure = Never

  let subscription: Subscription

  /// The iterator; all iterators of a sequence share its events.
  public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

  /// Takes the events one by one.
  public struct Iterator: AsyncIteratorProtocol {
    let subscription: Subscription

    /// The next event; nil when the client is closed, or the task is cancelled.
    public mutating func next() async -> ClientEvent? { await subscription.client.nextEvent(of: subscription.number) }
  }
}

/// The end of a subscription's life ends its buffer in the client.
final class Subscription: Sendable {
  let client: ThrongClient
  let number: Int

  init(client: ThrongClient, number: Int) {
    self.client = client
    self.number = number
  }

  deinit { Task { [client, number] in await client.unsubscribe(number) } }
}

/// Events that wait for one reader, up to bounds of their number and their bytes. Beyond these they are
/// counted, and what is told of them stands behind those that wait.
struct EventBuffer {
  private let limit: Int
  private var events: [(event: ClientEvent, bytes: Int)] = []
  private var first = 0
  private var bytes = 0
  private var lost: LostEvents?

  init(limit: Int) { self.limit = max(1, limit) }

  var isEmpty: Bool { first == events.count && lost == nil }

  /// - Parameter bytes: of the frame that the event came with. One alone may be larger than the bound.
  mutating func append(_ event: ClientEvent, bytes: Int = 0) {
    let hasRoom = isEmpty || (events.count - first < limit && self.bytes + bytes <= ClientLimits.waitingBytes)
    guard lost == nil, hasRoom else { return lose(event) }
    events.append((event, bytes))
    self.bytes += bytes
  }

  private mutating func lose(_ event: ClientEvent) {
    var lost = lost ?? LostEvents()
    lost.count += 1
    if let groupID = event.groupID, lost.groupIDs.count < ClientLimits.lostGroups, ClientLimits.isIdentifier(groupID) {
      lost.groupIDs.insert(groupID)
    }
    self.lost = lost
  }

  mutating func next() -> ClientEvent? {
    guard first < events.count else {
      defer { lost = nil }
      return lost.map(ClientEvent.lost)
    }
    defer {
      first += 1
      // Moving the rest down costs a step for each event that was taken.
      if first * 2 > events.count {
        events.removeFirst(first)
        first = 0
      }
    }
    bytes -= events[first].bytes
    return events[first].event
  }
}
