/// The messages that wait for their reply, by consecutive numbers from 1.
struct PendingReplies {
  /// A message that waits for its reply.
  struct Entry {
    let stamp: UInt64
    /// The index of its sender among the senders.
    let sender: Int32
    fileprivate(set) var isAnswered: Bool

    init(stamp: UInt64, sender: Int) {
      self.stamp = stamp
      self.sender = Int32(sender)
      isAnswered = false
    }
  }

  private var ring: [Entry?] = Array(repeating: nil, count: 1024)
  private var first = 1
  private var end = 1
  /// The number of waiting messages.
  private(set) var count = 0

  /// Adds a message.
  /// - Returns: its number.
  mutating func insert(_ entry: Entry) -> Int {
    if end - first == ring.count { grow() }
    ring[end & (ring.count - 1)] = entry
    end += 1
    count += 1
    return end - 1
  }

  /// Removes the message of that number.
  mutating func remove(_ number: Int) -> Entry? {
    guard number >= first, number < end, let entry = ring[number & (ring.count - 1)], !entry.isAnswered else { return nil }
    ring[number & (ring.count - 1)]?.isAnswered = true
    count -= 1
    while first < end, ring[first & (ring.count - 1)]?.isAnswered ?? true {
      ring[first & (ring.count - 1)] = nil
      first += 1
    }
    return entry
  }

  /// The numbers of the waiting messages.
  var numbers: [Int] { (first..<end).filter { ring[$0 & (ring.count - 1)].map { !$0.isAnswered } ?? false } }

  private mutating func grow() {
    var larger: [Entry?] = Array(repeating: nil, count: ring.count * 2)
    for number in first..<end { larger[number & (larger.count - 1)] = ring[number & (ring.count - 1)] }
    ring = larger
  }
}
