import DequeModule

/// Puts the replies of a session into the order of its requests (Protocol.md, "Order of replies").
struct ReplyQueue {
  /// The place of a request in the order.
  struct Slot: Sendable { fileprivate let number: Int }

  /// Nil = not yet ready; empty = a request without an id.
  private var texts: Deque<[UInt8]?> = []
  private var first = 0
  /// How many requests are in flight. A number of its own is read without a check of exclusive
  /// access.
  private(set) var count = 0
  /// How many bytes of replies wait behind a slower one.
  private(set) var readyBytes = 0

  var isEmpty: Bool { count == 0 }

  /// Adds a place at the end.
  mutating func open() -> Slot {
    texts.append(nil)
    count += 1
    return Slot(number: first + count - 1)
  }

  /// Fills a place.
  mutating func fill(_ slot: Slot, with text: [UInt8]) {
    texts[slot.number - first] = text
    readyBytes += text.count
  }

  /// Removes the next text that may be sent; empty for a request without an id.
  mutating func popReady() -> [UInt8]? {
    guard let next = texts.first, let text = next else { return nil }
    texts.removeFirst()
    count -= 1
    first += 1
    readyBytes -= text.count
    return text
  }
}
