import DequeModule

/// Keeps the replies of a session in the order of its requests, whichever is ready first.
struct ReplyQueue {
  /// The place of a request in the order.
  struct Slot: Sendable { fileprivate let number: Int }

  /// Nil = still to come; empty = no answer is wanted.
  private var texts: Deque<[UInt8]?> = []
  private var first = 0

  /// How many requests are under way.
  var count: Int { texts.count }

  /// A place behind all others.
  mutating func open() -> Slot {
    texts.append(nil)
    return Slot(number: first + texts.count - 1)
  }

  /// Fills a place.
  /// - Returns: the texts that may leave now, in order.
  mutating func fill(_ slot: Slot, with text: [UInt8]) -> [[UInt8]] {
    texts[slot.number - first] = text
    var ready: [[UInt8]] = []
    while let next = texts.first, let text = next {
      texts.removeFirst()
      first += 1
      if !text.isEmpty { ready.append(text) }
    }
    return ready
  }
}
