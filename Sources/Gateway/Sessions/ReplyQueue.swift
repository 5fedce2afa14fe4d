/// Puts the replies of a session into the order of its requests (Protocol.md, "Order of replies"). A
/// class, so that the session reads its counts without a check of exclusive access.
final class ReplyQueue {
  /// The place of a request in the order.
  struct Slot: Sendable { fileprivate let number: Int }

  /// The texts behind a slower reply, by the numbers of their places; empty = a request without an
  /// id. Most replies are the next, and never get here.
  private var texts: [Int: [UInt8]] = [:]
  /// How many there are, read without the check of exclusive access.
  private var readyCount = 0
  private var first = 0
  /// How many requests are in flight.
  private(set) var count = 0
  /// How many bytes of replies wait behind a slower one.
  private(set) var readyBytes = 0

  var isEmpty: Bool { count == 0 }

  /// How many places there have been.
  var openedCount: Int { first + count }
  /// How many of them, the first ones, have been sent.
  var sentCount: Int { first }

  /// Adds a place at the end.
  func open() -> Slot {
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
    texts[slot.number] = text
    readyCount += 1
    readyBytes += text.count
  }

  /// Removes the next text that may be sent; empty for a request without an id.
  func popReady() -> [UInt8]? {
    guard readyCount > 0, let text = texts.removeValue(forKey: first) else { return nil }
    removeFirst()
    readyCount -= 1
    readyBytes -= text.count
    return text
  }

  private func removeFirst() {
    count -= 1
    first += 1
  }
}
