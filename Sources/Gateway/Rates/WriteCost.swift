import GroupModel
import WireProtocol

/// The most that a request may fill of the disk, known before it runs: about the bytes that its
/// rows take in the database for good.
struct WriteCost: Sendable, Equatable {
  /// A request that names this many users runs alone among those of its user.
  private static let heavyTargets = 10

  let bytes: Int
  /// The number of users that the request names; each costs rows.
  let targets: Int

  /// Whether several such requests in one transaction would delay other users noticeably.
  var isHeavy: Bool { targets >= WriteCost.heavyTargets }

  /// Nothing is written.
  static let none = WriteCost(bytes: 0, targets: 0)

  fileprivate init(bytes: Int, targets: Int = 0) {
    self.bytes = bytes
    self.targets = targets
  }
}

/// The bytes of the database that a new row takes for good, with its places in the indexes and the
/// free part of the pages. The figures in the comments were measured, with the longest userIDs and
/// groupIDs in random order.
enum RowCost {
  /// The member and an unknown user: 225. The departure (377) and the notification (376) of a
  /// disbanded group are charged here, because dismissGroup does not know how many it will cause.
  static let member = 1024
  /// 183, and the reason of a ban.
  static func formerMember(textBytes: Int = 0) -> Int { 192 + textBytes * 3 / 2 }
  /// 295, and its texts.
  static func group(textBytes: Int) -> Int { 384 + text(bytes: textBytes) }
  /// In five indexes: 374, with 1,024 bytes of text 1,589.
  static func application(textBytes: Int = 0) -> Int { 384 + text(bytes: textBytes) }
  /// A text that a stored row gets besides.
  static func text(bytes: Int) -> Int { bytes * 5 / 4 }
  /// The longest profile, which a notification keeps of its operator.
  static let profile = 600
  /// 376, with 500 bytes of text 1,335, with 1,024 a page more: 4,837.
  static func notification(textBytes: Int = 0) -> Int { 64 + keyedRow(352 + textBytes) }
  /// 98, with 700 bytes of text 823, with 12,288 bytes 12,870.
  static func message(textBytes: Int) -> Int { keyedRow(160 + textBytes) }
  /// A message of the longest text by default (`limits.text.message`).
  static let longestMessage = message(textBytes: 12_288)
  /// The places of a text in the index of messages, and of the mark that takes it out again: of 100
  /// random bytes 970 and as many, of 12,288 such bytes 57,000 and 70,000.
  static func indexedText(bytes: Int) -> Int { 10 * bytes }
  /// A counter with the longest key: 56.
  static let counter = 96
  /// The members at a message, as many as may be and with the longest userIDs
  /// (`limits.readReceiptMembers`): stored where they have changed since the last such message.
  static let receiptMembers = keyedRow(16 + 500 * 33)
  /// The messages of a block that a user has confirmed.
  static let readReceipt = keyedRow(64 + Int(SeqBlock.size / 8))
  /// What most messages have not, in a row of its own and in three indexes at most: reckoned as the row
  /// of a message and once more the longest sender and three numbers, not measured.
  static func messageExtras(textBytes: Int) -> Int { keyedRow(216 + textBytes) }
  /// The change of a message, in two indexes.
  static let change = 160
  /// A report in five indexes, with the longest message and the webhook's copy of its texts: reckoned
  /// as the row of a message and twice the longest names, not measured.
  static func report(textBytes: Int) -> Int { 640 + text(bytes: textBytes) + longestMessage }
  /// A user's reaction, in two indexes, and a new one of the message.
  static let reaction = 320
  /// A message that says what happened to some members.
  static func tip(members: Int, textBytes: Int = 0) -> Int { message(textBytes: 192 + members * 128 + textBytes) }

  /// A row of a table without rowid. SQLite keeps a small part of a long one in place, and the rest
  /// in whole pages (sqlite.org/fileformat2.html, "Cell Payload Overflow Pages").
  private static func keyedRow(_ bytes: Int) -> Int {
    let (smallest, largest, page) = (489, 1002, 4092)
    guard bytes > largest else { return inPlace(bytes) }
    let (pages, rest) = (bytes - smallest).quotientAndRemainder(dividingBy: page)
    let fits = smallest + rest <= largest
    return inPlace(fits ? smallest + rest : smallest) + (fits ? pages : pages + 1) * 4096
  }

  /// Pages are two thirds full.
  private static func inPlace(_ bytes: Int) -> Int { bytes * 3 / 2 }
}

extension WriteCost {
  /// - Parameter indexesTexts: `search.messages` is on.
  init(_ rows: WrittenRows, indexesTexts: Bool) {
    switch rows {
    case .nothing: self = .none
    case .message(let textBytes, let searchableBytes, let listsMembers, let extrasBytes):
      self.init(
        bytes: RowCost.message(textBytes: textBytes) + (listsMembers ? RowCost.receiptMembers : 0)
          + (extrasBytes.map(RowCost.messageExtras) ?? 0)
          + (indexesTexts ? RowCost.indexedText(bytes: searchableBytes) : 0))
    case .edit(let textBytes, let searchableBytes, let extrasBytes):
      self.init(
        bytes: (textBytes.map(RowCost.message) ?? RowCost.longestMessage) + RowCost.change
          + (extrasBytes.map(RowCost.messageExtras) ?? 0)
          + (indexesTexts ? RowCost.indexedText(bytes: searchableBytes) : 0))
    case .reaction: self.init(bytes: RowCost.reaction + RowCost.change)
    case .messageChange: self.init(bytes: RowCost.change)
    // Its event carries the message whole, like a message that is sent.
    case .pin: self.init(bytes: RowCost.change + RowCost.longestMessage)
    case .readReceipts(let blocks): self.init(bytes: blocks * RowCost.readReceipt)
    case .membership(let reasonBytes):
      self.init(
        bytes: RowCost.member + RowCost.tip(members: 1) + RowCost.notification(textBytes: RowCost.profile + reasonBytes)
          + RowCost.text(bytes: reasonBytes))
    case .application(let textBytes): self.init(bytes: WriteCost.invitations(of: 1, textBytes: textBytes))
    case .invitations(let users, let textBytes):
      self.init(bytes: WriteCost.invitations(of: users, textBytes: textBytes), targets: users)
    case .group(let textBytes, let members, let inviteBytes):
      // The owner becomes a member, and each initial member, too, or is asked with the text; a tip may
      // name them.
      self.init(
        bytes: RowCost.group(textBytes: textBytes) + RowCost.notification(textBytes: RowCost.profile) + RowCost.member
          + RowCost.tip(members: members) + members * max(RowCost.member, WriteCost.question(textBytes: inviteBytes)),
        targets: members + 1)
    case .groupInfo(let textBytes):
      self.init(bytes: RowCost.group(textBytes: textBytes) + RowCost.tip(members: 0, textBytes: textBytes))
    case .attributes(let bytes): self.init(bytes: RowCost.group(textBytes: bytes))
    case .counters(let count): self.init(bytes: count * RowCost.counter)
    case .removals(let users, let reasonBytes):
      self.init(
        bytes: RowCost.tip(members: users) + users
          * (RowCost.formerMember(textBytes: reasonBytes) + RowCost.notification(textBytes: RowCost.profile + reasonBytes)),
        targets: users)
    case .memberChanges(let users):
      self.init(
        bytes: users * (RowCost.member + RowCost.notification(textBytes: RowCost.profile)) + RowCost.tip(members: users),
        targets: users)
    case .profile(let textBytes): self.init(bytes: RowCost.message(textBytes: textBytes))
    case .report(let textBytes): self.init(bytes: RowCost.report(textBytes: textBytes))
    }
  }

  /// Each user becomes a member, with a notification and a part of a tip; or is asked, where the
  /// group asks first.
  private static func invitations(of users: Int, textBytes: Int) -> Int {
    let entered = RowCost.member + RowCost.notification(textBytes: RowCost.profile)
    return max(users * question(textBytes: textBytes), users * entered + RowCost.tip(members: users))
  }

  /// An application and a notification, with the texts in both.
  private static func question(textBytes: Int) -> Int {
    RowCost.application(textBytes: textBytes) + RowCost.notification(textBytes: RowCost.profile + textBytes)
  }
}

extension Call {
  /// `none` for an invalid request.
  /// - Parameter indexesTexts: `search.messages` is on.
  func writeCost(indexesTexts: Bool = false) -> WriteCost { WriteCost(content.rows, indexesTexts: indexesTexts) }
}

/// The bytes of the disk that one user may fill: a rate and a burst. A request beyond them waits
/// (Protocol.md, "Write rate"). A pure value over an injected clock.
struct WriteAllowance: Sendable {
  /// 680 KB a second at least: 50 of the longest texts, the default request rate, do not wait. With
  /// the burst it stays below 1 MB a second over any four seconds.
  static let leastBytesPerMillisecond: Int64 = 680
  /// The longest text. A higher request rate lets a user fill as much more.
  private static let bytesPerRequest: Int64 = 13_600
  /// The largest request runs at once, an invitation of 100 users with two texts of 512 characters
  /// of four bytes each; so do 50 of the longest messages.
  static let burst: Int64 = 1100 << 10

  private let bytesPerMillisecond: Int64
  /// Below zero while more was written than allowed.
  private var level = WriteAllowance.burst
  private var updated: MonotonicInstant

  /// - Parameter requestsPerSecond: the user's request rate.
  init(requestsPerSecond: Int, now: MonotonicInstant) {
    bytesPerMillisecond = max(
      WriteAllowance.leastBytesPerMillisecond, Int64(requestsPerSecond) * WriteAllowance.bytesPerRequest / 1000)
    updated = now
  }

  /// Charges the bytes of a request.
  /// - Returns: how many milliseconds the request has to wait; 0 = it runs at once.
  mutating func charge(_ bytes: Int, at now: MonotonicInstant) -> Int64 {
    fill(to: now)
    level -= Int64(bytes)
    return level >= 0 ? 0 : (-level + bytesPerMillisecond - 1) / bytesPerMillisecond
  }

  /// Whether the whole burst is available.
  mutating func isFull(at now: MonotonicInstant) -> Bool {
    fill(to: now)
    return level == WriteAllowance.burst
  }

  private mutating func fill(to now: MonotonicInstant) {
    let passed = now.milliseconds(since: updated)
    guard passed > 0 else { return }
    level = min(WriteAllowance.burst, level + passed * bytesPerMillisecond)
    updated = updated.advanced(byMilliseconds: passed)
  }
}
