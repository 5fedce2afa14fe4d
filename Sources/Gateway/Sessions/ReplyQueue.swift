import DequeModule

/// Puts the replies of a session into the order of its requests (Protocol.md, "Order of replies"). A
/// class, so that the session reads its counts without a check of exclusive access.
final class ReplyQueue {
  /// The place of a request in the order.
  struct Slot: Sendable { fileprivate let number: Int }

  /// Nil = not yet ready; empty = a request without an id.
  private var texts: Deque<[UInt8]?> = []
  private var first = 0
  /// How many requests are in flight.
  private(set) var count = 0
  /// How many bytes of replies wait behind a slower one.
  private(set) var readyBytes = 0

  var isEmpty: Bool { count == 0 }

  /// Adds a place at the end.
  func open() -> Slot {
    texts.append(nil)
    count += 1
    return Slot(number: first + count - 1)
  }

  /// Removes a place that is the next, so that its text may be sent at once.
  /// - Returns: false where an earlier text is not ready.
  func removeIfNext(_ slot: Slot) -> Bool {
    guard slot.number == first else { return false }
    removeFirst()
    return true
  }

  /// Fills a place.
  func fill(_ slot: Slot, with text: [UInt8]) {
    texts[slot.number - first] = text
    readyBytes += text.count
  }

  /// Removes the next text that may be sent; empty for a request without an id.
  func popReady() -> [UInt8]? {
    guard let next = texts.first, let text = next else { return nil }
    removeFirst()
    readyBytes -= text.count
    return text
  }

  private func removeFirst() {
    texts.removeFirst()
    count -= 1
    first += 1
  }
}
