/// The account of the messages: how many were sent, what the server answered, how often each must therefore have arrived.
struct Ledger {
  /// The measurement's messages of one lane.
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

  /// What settling a message came to.
  struct Settled {
    let entry: Outstanding.Entry
    /// It is never going to be delivered.
    let isVoid: Bool
  }

  private(set) var tallies = Array(repeating: Tally(), count: Stamp.lanes)
  /// Messages of the measurement that every other member of the group must get, by group.
  private(set) var acceptedInGroup: [Int]
  /// The same by sender, who does not get its own.
  private(set) var acceptedBySender: [Int]
  /// The errors by code and message, and how often each was answered; those outside the measurement included.
  private(set) var errors: [String: Int] = [:]
  private var outstanding = Outstanding()
  private var queued: [String: Outstanding.Entry] = [:]
  /// A drop may be told before the reply that says Queued.
  private var droppedEarly: Set<String> = []
  private let groupOfSender: [Int]
  private let window: () -> Range<UInt64>

  /// - Parameters:
  ///   - groupOfSender: the group that each sender sends to.
  ///   - window: the instants that belong to the measurement.
  init(groups: Int, groupOfSender: [Int], window: @escaping () -> Range<UInt64>) {
    acceptedInGroup = Array(repeating: 0, count: groups)
    acceptedBySender = Array(repeating: 0, count: groupOfSender.count)
    self.groupOfSender = groupOfSender
    self.window = window
  }

  /// How many messages wait for their reply.
  var unanswered: Int { outstanding.count }

  /// The measurement's tally over all lanes.
  var total: Tally {
    tallies.reduce(into: Tally()) { sum, lane in
      sum.sent += lane.sent
      sum.delivered += lane.delivered
      sum.stored += lane.stored
      sum.queued += lane.queued
      sum.dropped += lane.dropped
      sum.droppedLater += lane.droppedLater
      sum.errors += lane.errors
      sum.unanswered += lane.unanswered
    }
  }

  /// A message goes out; gives its number.
  mutating func send(stamp: UInt64, sender: Int) -> Int {
    let entry = Outstanding.Entry(stamp: stamp, sender: sender)
    count(entry) { $0.sent += 1 }
    return outstanding.append(entry)
  }

  /// A message's reply has come; nil when no such message waits.
  mutating func settle(_ number: Int, _ outcome: Outcome) -> Settled? {
    guard let entry = outstanding.take(number) else { return nil }
    switch outcome {
    case .delivered: accept(entry) { $0.delivered += 1 }
    case .stored: accept(entry) { $0.stored += 1 }
    case .done: accept(entry) { _ in }
    case .dropped:
      count(entry) { $0.dropped += 1 }
      return Settled(entry: entry, isVoid: true)
    case .queued(let messageID):
      accept(entry) { $0.queued += 1 }
      queued[messageID] = entry
      if droppedEarly.remove(messageID) != nil { return drop(messageID) }
    case .failed(let code, let message):
      errors["\(code) \(message)", default: 0] += 1
      count(entry) { $0.errors += 1 }
      return Settled(entry: entry, isVoid: true)
    }
    return Settled(entry: entry, isVoid: false)
  }

  /// A queued message is dropped after all.
  mutating func drop(_ messageID: String) -> Settled? {
    guard let entry = queued.removeValue(forKey: messageID) else {
      droppedEarly.insert(messageID)
      return nil
    }
    count(entry) { $0.droppedLater += 1 }
    revoke(entry)
    return Settled(entry: entry, isVoid: true)
  }

  /// Nothing more is going to be answered. What was not answered may have been accepted, and then had to arrive.
  mutating func close() {
    for number in outstanding.numbers {
      guard let entry = outstanding.take(number) else { continue }
      accept(entry) { $0.unanswered += 1 }
    }
  }

  private func isMeasured(_ entry: Outstanding.Entry) -> Bool { window().contains(entry.stamp) }

  private mutating func count(_ entry: Outstanding.Entry, _ change: (inout Tally) -> Void) {
    if isMeasured(entry) { change(&tallies[Int(entry.stamp & 3)]) }
  }

  private mutating func accept(_ entry: Outstanding.Entry, _ change: (inout Tally) -> Void) {
    guard isMeasured(entry) else { return }
    change(&tallies[Int(entry.stamp & 3)])
    acceptedInGroup[groupOfSender[Int(entry.sender)]] += 1
    acceptedBySender[Int(entry.sender)] += 1
  }

  private mutating func revoke(_ entry: Outstanding.Entry) {
    guard isMeasured(entry) else { return }
    acceptedInGroup[groupOfSender[Int(entry.sender)]] -= 1
    acceptedBySender[Int(entry.sender)] -= 1
  }
}
