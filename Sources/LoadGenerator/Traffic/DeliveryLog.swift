/// Counts the messages that were sent, their replies, and the deliveries that must therefore
/// arrive.
struct DeliveryLog {
  /// The window's messages of one flow.
  struct Tally: Equatable {
    var sent = 0
    var delivered = 0
    var stored = 0
    /// Answered `Queued`; some of them were dropped later.
    var queued = 0
    /// Answered `Dropped`.
    var dropped = 0
    /// Answered `Queued` and then reported by onMessageDropped.
    var droppedLater = 0
    var errors = 0
    /// No reply came.
    var unanswered = 0
  }

  /// A message whose outcome is known.
  struct ResolvedMessage {
    let entry: PendingReplies.Entry
    /// It will not be delivered.
    let isVoid: Bool
  }

  private(set) var tallies = Array(repeating: Tally(), count: Stamp.flows)
  /// The window's messages that every other member of the group must get, by group.
  private(set) var acceptedInGroup: [Int]
  /// The same by sender, which does not get its own.
  private(set) var acceptedBySender: [Int]
  /// The number of errors by code and message, outside the window too.
  private(set) var errors: [String: Int] = [:]
  private var pendingReplies = PendingReplies()
  private var queued: [String: PendingReplies.Entry] = [:]
  /// onMessageDropped may come before the reply that says Queued.
  private var droppedEarly: Set<String> = []
  private let groupOfSender: [Int]
  private let window: () -> Range<UInt64>

  /// - Parameters:
  /// - groupOfSender: the group that each sender sends to.
  /// - window: the measured instants.
  init(groups: Int, groupOfSender: [Int], window: @escaping () -> Range<UInt64>) {
    acceptedInGroup = Array(repeating: 0, count: groups)
    acceptedBySender = Array(repeating: 0, count: groupOfSender.count)
    self.groupOfSender = groupOfSender
    self.window = window
  }

  /// The number of messages without a reply.
  var unanswered: Int { pendingReplies.count }

  /// The window's tally over all flows.
  var total: Tally {
    tallies.reduce(into: Tally()) { sum, flow in
      sum.sent += flow.sent
      sum.delivered += flow.delivered
      sum.stored += flow.stored
      sum.queued += flow.queued
      sum.dropped += flow.dropped
      sum.droppedLater += flow.droppedLater
      sum.errors += flow.errors
      sum.unanswered += flow.unanswered
    }
  }

  /// Records a sent message.
  /// - Returns: its number.
  mutating func recordSend(stamp: UInt64, sender: Int) -> Int {
    let entry = PendingReplies.Entry(stamp: stamp, sender: sender)
    count(entry) { $0.sent += 1 }
    return pendingReplies.insert(entry)
  }

  /// Records the reply to a message; nil: no such message waits.
  mutating func recordReply(_ number: Int, _ outcome: Outcome) -> ResolvedMessage? {
    guard let entry = pendingReplies.remove(number) else { return nil }
    switch outcome {
    case .delivered: accept(entry) { $0.delivered += 1 }
    case .stored: accept(entry) { $0.stored += 1 }
    case .done: accept(entry) { _ in }
    case .dropped:
      count(entry) { $0.dropped += 1 }
      return ResolvedMessage(entry: entry, isVoid: true)
    case .queued(let messageID):
      accept(entry) { $0.queued += 1 }
      queued[messageID] = entry
      if droppedEarly.remove(messageID) != nil { return recordDrop(messageID) }
    case .failed(let code, let message):
      errors["\(code) \(message)", default: 0] += 1
      count(entry) { $0.errors += 1 }
      return ResolvedMessage(entry: entry, isVoid: true)
    }
    return ResolvedMessage(entry: entry, isVoid: false)
  }

  /// Records that a queued message was dropped.
  mutating func recordDrop(_ messageID: String) -> ResolvedMessage? {
    guard let entry = queued.removeValue(forKey: messageID) else {
      droppedEarly.insert(messageID)
      return nil
    }
    count(entry) { $0.droppedLater += 1 }
    revoke(entry)
    return ResolvedMessage(entry: entry, isVoid: true)
  }

  /// No more replies are expected. A message without one may have been accepted and delivered.
  mutating func finish() {
    for number in pendingReplies.numbers {
      guard let entry = pendingReplies.remove(number) else { continue }
      accept(entry) { $0.unanswered += 1 }
    }
  }

  private func isMeasured(_ entry: PendingReplies.Entry) -> Bool { window().contains(entry.stamp) }

  private mutating func count(_ entry: PendingReplies.Entry, _ change: (inout Tally) -> Void) {
    if isMeasured(entry) { change(&tallies[Int(entry.stamp & 3)]) }
  }

  private mutating func accept(_ entry: PendingReplies.Entry, _ change: (inout Tally) -> Void) {
    guard isMeasured(entry) else { return }
    change(&tallies[Int(entry.stamp & 3)])
    acceptedInGroup[groupOfSender[Int(entry.sender)]] += 1
    acceptedBySender[Int(entry.sender)] += 1
  }

  private mutating func revoke(_ entry: PendingReplies.Entry) {
    guard isMeasured(entry) else { return }
    acceptedInGroup[groupOfSender[Int(entry.sender)]] -= 1
    acceptedBySender[Int(entry.sender)] -= 1
  }
}
