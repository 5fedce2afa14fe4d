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
  static func group(textBytes: Int) -> Int { 384 + textBytes * 5 / 4 }
  /// In five indexes: 374, with 1,024 bytes of text 1,589.
  static func application(textBytes: Int = 0) -> Int { 384 + textBytes * 5 / 4 }
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
  /// The change of a message, in two indexes.
  static let change = 160
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

extension Request {
  /// - Parameters:
  ///   - writes: as the method's specification says.
  ///   - indexesTexts: `search.messages` is on.
  fileprivate func writeCost(writes: Bool, indexesTexts: Bool) -> WriteCost {
    switch self {
    case .group(_, .sendGroupTextMessage(let request)):
      message(request.text, request.options, isIndexed: indexesTexts && !request.options.onlineUserOnly)
    case .group(_, .sendGroupCustomMessage(let request)): message(request.data, request.options, isIndexed: false)
    case .group(_, .modifyGroupMessage(let request)):
      WriteCost(
        bytes: RowCost.message(textBytes: request.content.byteCount) + RowCost.change
          + (indexesTexts && request.content.isText ? RowCost.indexedText(bytes: request.content.byteCount) : 0))
    case .group(_, .addMessageReaction): WriteCost(bytes: RowCost.reaction + RowCost.change)
    // The event of a pinned message carries it whole, like a message that is sent.
    case .group(_, .pinGroupMessage(let request)) where request.isPinned:
      WriteCost(bytes: RowCost.change + RowCost.longestMessage)
    case .group(_, .removeMessageReaction), .group(_, .pinGroupMessage): WriteCost(bytes: RowCost.change)
    case .group(_, .inviteUserToGroup(let request)):
      invitation(of: request.userIDList.count, texts: [request.message, request.attach])
    case .createGroup(let request): creation(request)
    case .group(_, .sendMessageReadReceipts(let request)):
      WriteCost(bytes: Set(request.seqs.map(SeqBlock.number(of:))).count * RowCost.readReceipt)
    case .group(_, .kickGroupMember(let request)):
      WriteCost(
        bytes: RowCost.tip(members: request.userIDList.count)
          + request.userIDList.count
          * (RowCost.formerMember(textBytes: request.reason?.utf8.count ?? 0)
            + RowCost.notification(textBytes: RowCost.profile + (request.reason?.utf8.count ?? 0))),
        targets: request.userIDList.count)
    case .group(_, .setGroupMemberRole(let request)): change(of: request.targets)
    case .group(_, .muteGroupMember(let request)): change(of: request.targets)
    case .setSelfInfo(let request): WriteCost(bytes: RowCost.message(textBytes: request.fields.textBytes))
    case .group(_, .joinGroup(let request)): WriteCost(bytes: invitation(of: 1, texts: [request.message]).bytes)
    case .group(_, .setGroupInfo(let request)):
      WriteCost(
        bytes: RowCost.group(textBytes: request.fields.textBytes) + RowCost.tip(members: 0, textBytes: request.fields.textBytes))
    case .group(_, .initGroupAttributes(let request)): WriteCost(bytes: RowCost.group(textBytes: request.attributes.byteCount))
    case .group(_, .setGroupAttributes(let request)): WriteCost(bytes: RowCost.group(textBytes: request.attributes.byteCount))
    case .group(_, .setGroupCounters(let request)): WriteCost(bytes: request.counters.count * RowCost.counter)
    case .group(_, .increaseGroupCounter), .group(_, .decreaseGroupCounter): WriteCost(bytes: RowCost.counter)
    // No other request brings more than an accepted application does: a member.
    default:
      writes
        ? WriteCost(
          bytes: RowCost.member + RowCost.tip(members: 1) + RowCost.notification(textBytes: RowCost.profile + reasonBytes))
        : .none
    }
  }

  private func message(_ content: String, _ options: MessageOptions, isIndexed: Bool) -> WriteCost {
    let mentions = options.atUserIDList.reduce(0) { $0 + $1.utf8.count + 3 }
    let textBytes = content.utf8.count + mentions + (options.clientMsgID?.utf8.count ?? 0)
    return WriteCost(
      bytes: RowCost.message(textBytes: textBytes) + (options.needReadReceipt ? RowCost.receiptMembers : 0)
        + (isIndexed ? RowCost.indexedText(bytes: content.utf8.count) : 0))
  }

  /// Each user becomes a member, with a notification and a part of a tip; or, where the group asks
  /// first, gets an application and a notification with the texts in both.
  private func invitation(of count: Int, texts: [String?]) -> WriteCost {
    let textBytes = texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    let asked = RowCost.application(textBytes: textBytes) + RowCost.notification(textBytes: RowCost.profile + textBytes)
    let entered = RowCost.member + RowCost.notification(textBytes: RowCost.profile)
    return WriteCost(bytes: max(count * asked, count * entered + RowCost.tip(members: count)), targets: count)
  }

  /// The owner becomes a member, and each initial member, too, or is asked with the text.
  private func creation(_ request: CreateGroup) -> WriteCost {
    let (count, textBytes) = (request.memberList.count, request.inviteMessage?.utf8.count ?? 0)
    let asked = RowCost.application(textBytes: textBytes) + RowCost.notification(textBytes: RowCost.profile + textBytes)
    return WriteCost(
      bytes: RowCost.group(textBytes: request.groupName.utf8.count + request.fields.textBytes)
        + RowCost.notification(textBytes: RowCost.profile) + RowCost.member + count * max(RowCost.member, asked),
      targets: count + 1)
  }

  /// Each user may get a row, in a group of everybody, and a notification; one tip names all.
  private func change(of targets: TargetUsers) -> WriteCost {
    let count = targets.users.count
    return WriteCost(
      bytes: count * (RowCost.member + RowCost.notification(textBytes: RowCost.profile)) + RowCost.tip(members: count),
      targets: count)
  }

  private var reasonBytes: Int {
    switch self {
    case .acceptGroupApplication(let request): request.decision.reason?.utf8.count ?? 0
    case .refuseGroupApplication(let request): request.decision.reason?.utf8.count ?? 0
    default: 0
    }
  }
}

extension GroupFields {
  fileprivate var textBytes: Int {
    let texts = [introduction, notification, faceURL, serverCustomInfo].reduce(0) { $0 + ($1?.bytesInJSON ?? 0) }
    return (customInfo ?? [:]).reduce(texts) { $0 + $1.key.bytesInJSON + $1.value.bytesInJSON + 8 }
  }
}

extension UserInfoFields {
  fileprivate var textBytes: Int {
    let texts = (nickName?.utf8.count ?? 0) + (faceURL?.utf8.count ?? 0)
    return (customInfo ?? [:]).reduce(texts) { $0 + $1.key.bytesInJSON + $1.value.bytesInJSON + 8 }
  }
}

extension [GroupAttributes.Entry] {
  fileprivate var byteCount: Int { reduce(0) { $0 + $1.key.bytesInJSON + $1.value.bytesInJSON } }
}

extension String {
  /// A control character takes six bytes.
  fileprivate var bytesInJSON: Int {
    utf8.reduce(0) { $0 + ($1 < 0x20 ? 6 : $1 == UInt8(ascii: "\"") || $1 == UInt8(ascii: "\\") ? 2 : 1) }
  }
}

extension Call {
  /// `none` for an invalid request.
  /// - Parameter indexesTexts: `search.messages` is on.
  func writeCost(indexesTexts: Bool = false) -> WriteCost {
    content.writeCost(writes: method?.specification.writes == true, indexesTexts: indexesTexts)
  }
}

extension Call.Content {
  /// Never inlined: that would copy the request out of its call. So would `if case`.
  /// - Parameter writes: as the method's specification says.
  @inline(never)
  fileprivate func writeCost(writes: Bool, indexesTexts: Bool) -> WriteCost {
    switch self {
    case .request(let request): request.writeCost(writes: writes, indexesTexts: indexesTexts)
    case .badParameters, .unknownMethod, .invalid: .none
    }
  }
}

extension Message.Content {
  fileprivate var isText: Bool { if case .text = self { true } else { false } }
}

/// The bytes of the disk that one user may fill: a rate and a burst. A request beyond them waits
/// (Protocol.md, "Write rate"). A pure value over an injected clock.
struct WriteAllowance: Sendable {
  /// 680 KB a second at least: 50 of the longest texts, the default request rate, do not wait. With
  /// the burst it stays below 1 MB a second over any four seconds.
  static let leastBytesPerMillisecond: Int64 = 680
  /// The longest text. A higher request rate lets a user fill as much more.
  private static let bytesPerRequest: Int64 = 13_600
  /// The largest request runs at once, an invitation of 100 users with the longest texts; so do 50
  /// of the longest messages.
  static let burst: Int64 = 704 << 10

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
