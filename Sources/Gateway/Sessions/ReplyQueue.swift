import DequeModule

/// Keeps the replies of a session in the order of its requests, whichever is ready first.
struct ReplyQueue {
  /// The place of a request in the order.
  struct Slot: Sendable { fileprivate let number: Int }

  /// Nil = still to come; empty = no answer is wanted.
  private var texts: Deque<[UInt8]?> = []
  private var first = 0
  /// How many bytes wait behind a reply that is still to come.
  private(set) var readyBytes = 0

  /// How many requests are under way.
  var count: Int { texts.count }

  /// A place behind all others.
  mutating func open() -> Slot {
    texts.append(nil)
    return Slot(number: first + texts.count - 1)
  }

  /// Fills a place.
  mutating func fill(_ slot: Slot, with text: [UInt8]) {
    texts[slot.number - first] = text
    readyBytes += text.count
  }

  /// Takes the next text that may leave, which is empty where no answer is wanted.
  mutating func popReady() -> [UInt8]? {
    guard let next = texts.first, let text = next else { return nil }
    texts.removeFirst()
    first += 1
    readyBytes -= text.count
    return text
  }
}
