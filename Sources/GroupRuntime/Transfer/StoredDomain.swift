import Foundation
import GroupModel

/// The values that a store can read in a column. One that it cannot read makes its group, or its
/// user, answer 10002 for ever; so what comes from outside is compared first.
public struct StoredDomain: Sendable {
  /// What is expected, as part of a sentence.
  public let description: String
  /// Whether the least value and the greatest, 2⁶³-1 and others apart, tell of all.
  public fileprivate(set) var isOfNumbers = false
  /// Whether only a value that is no text is foreign.
  public fileprivate(set) var takesEveryText = false
  private let accepts: @Sendable (StoredValue) -> Bool

  private init(description: String, _ accepts: @escaping @Sendable (StoredValue) -> Bool) {
    self.description = description
    self.accepts = accepts
  }

  /// Whether a value may stand there. NULL may where the table's definition lets it.
  public func contains(_ value: StoredValue) -> Bool { value == .null || accepts(value) }

  /// The domain of a column; nil where there is no such column.
  /// - Parameter table: a table of a database in a file.
  public static func of(_ column: String, in table: String) -> StoredDomain? {
    byTable["\(table).\(column)"] ?? byColumn[column]
  }

  // MARK: Kinds

  private static func texts(_ description: String, _ accepts: @escaping @Sendable (String) -> Bool) -> StoredDomain {
    StoredDomain(description: description) { value in value.asText.map(accepts) ?? false }
  }

  private static func oneOf<Value: CaseIterable & RawRepresentable & Sendable>(_ type: Value.Type) -> StoredDomain
  where Value.RawValue == String {
    texts("one of " + Value.allCases.map(\.rawValue).joined(separator: ", ")) { Value(rawValue: $0) != nil }
  }

  private static func json(_ description: String, _ accepts: @escaping @Sendable (Data) throws -> Bool) -> StoredDomain {
    texts(description) { text in (try? accepts(Data(text.utf8))) ?? false }
  }

  private static let text: StoredDomain = {
    var domain = texts("a text") { _ in true }
    domain.takesEveryText = true
    return domain
  }()
  private static let user = texts("a userID") { UserID(stored: $0) != nil }
  private static let group = texts("a groupID") { GroupID($0) != nil }
  private static let dictionary = json("a JSON object of texts") { data in
    _ = try JSONDecoder().decode([String: String].self, from: data)
    return true
  }
  private static let list = json("a JSON list of texts") { data in
    _ = try JSONDecoder().decode([String].self, from: data)
    return true
  }
  private static let pairs = json("a JSON list of pairs of texts") { data in
    try JSONDecoder().decode([[String]].self, from: data).allSatisfy { $0.count == 2 }
  }
  private static let ranges = json("a JSON list of ranges") { data in
    try JSONDecoder().decode([[Int64]].self, from: data).allSatisfy {
      $0.count == 2 && $0[0] <= $0[1] && 0...most ~= $0[0] && 0...most ~= $0[1]
    }
  }
  private static let roles = json("a JSON list of roles") { data in
    try JSONDecoder().decode([String].self, from: data).allSatisfy { Role(wireName: $0) != nil }
  }
  private static let bytes = StoredDomain(description: "bytes") { if case .bytes = $0 { true } else { false } }
  private static let block = StoredDomain(description: "the bits of a block") { value in
    if case .bytes(let bytes) = value { SeqBlock(bytes: bytes) != nil } else { false }
  }

  /// Sums and differences of such numbers are never too large.
  private static let most: Int64 = 1 << 53
  private static func numbers(_ description: String, _ accepts: @escaping @Sendable (Int64) -> Bool) -> StoredDomain {
    var domain = StoredDomain(description: description) { value in
      if case .integer(let number) = value { accepts(number) } else { false }
    }
    domain.isOfNumbers = true
    return domain
  }

  private static let number = numbers("a number of 0 to 2⁵³") { 0...most ~= $0 }
  /// As many messages as a row of after-events stands for (`WebhookRows`).
  private static let messages = numbers("a number of 1 to 64") { 1...64 ~= $0 }
  private static let counter = numbers("a number within ±2⁶⁰") { -1 << 60...1 << 60 ~= $0 }
  private static let flag = numbers("0 or 1") { 0...1 ~= $0 }
  private static let instant = numbers("milliseconds of 0 to 2⁵³, or 2⁶³-1 for no end") { 0...most ~= $0 || $0 == .max }

  // MARK: Columns

  /// Columns whose name alone does not tell.
  private static let byTable: [String: StoredDomain] = [
    "groupRecord.type": oneOf(GroupType.self), "departure.type": oneOf(GroupType.self),
    "dismissedGroup.type": oneOf(GroupType.self),
    "notificationNumber.id": number, "webhookIndexing.id": number, "webhook.type": oneOf(WebhookType.self),
    "webhookFailure.type": oneOf(WebhookType.self),
    "webhook.count": messages, "webhook.data": bytes, "webhookFailure.data": bytes, "notification.data": text,
    "groupCounter.value": counter,
    "message.kind": texts("Text, Custom or GroupTips") { ["Text", "Custom", "GroupTips"].contains($0) },
    "application.kind": oneOf(GroupApplication.Kind.self), "notification.kind": oneOf(SystemNotification.Kind.self),
    "reaction.kind": number, "reactionUser.kind": number, "goneReaction.kind": number, "reactionUser.time": number,
    "departure.time": instant, "dismissedGroup.time": instant,
    "readMark.applications": instant, "readMark.notifications": number, "groupRecord.notification": text,
  ]

  private static let byColumn: [String: StoredDomain] = {
    var domains: [String: StoredDomain] = [
      "role": texts("a role") { Role(wireName: $0) != nil }, "lane": texts("a lane") { WebhookEntry.Lane($0) != nil },
      "joinMode": oneOf(JoinMode.self), "inviteMode": oneOf(InviteMode.self), "beInviteMode": oneOf(BeInviteMode.self),
      "updateInfoMode": oneOf(EditMode.self), "updateCustomMode": oneOf(EditMode.self),
      "ownerQuitMode": oneOf(OwnerQuitMode.self), "muteMode": oneOf(GroupMute.Mode.self),
      "receiveOption": oneOf(ReceiveOption.self), "priority": oneOf(Priority.self), "platform": oneOf(Platform.self),
      "customInfo": dictionary, "muteRoles": roles, "atUserIDList": list, "entries": pairs, "stays": ranges,
      "earlierStays": ranges, "unheard": ranges, "seqs": block,
      "userIDs": texts("userIDs with a space between two") {
        $0.split(separator: " ").allSatisfy { UserID(stored: String($0)) != nil }
      },
    ]
    func add(_ domain: StoredDomain, _ names: String...) { for name in names { domains[name] = domain } }
    add(user, "userID", "owner", "sender", "inviter", "fromUser", "toUser", "handledBy")
    add(group, "groupID")
    add(
      text, "epoch", "name", "introduction", "faceURL", "serverCustomInfo", "key", "nameCard", "banReason", "msgID",
      "clientMsgID", "content", "reaction", "id", "requestMsg", "attach", "handledMsg", "addressee", "opUser", "applicationID",
      "reason", "groupName", "opNickName", "opFaceURL", "nickName", "lastError")
    add(
      flag, "memberChangeNotification", "isSearchable", "isMemberVisible", "isRevoked", "isFromManager", "needReadReceipt",
      "isGroupGone", "isAgreed", "isIndexed")
    add(
      number, "number", "maxMemberNum", "importedThroughSeq", "nextOrdinal", "ordinal", "readSeq", "unreadBase",
      "unreadSinceSeq", "firstVisibleSeq", "seq", "changeSeq", "firstSeq", "pinned", "count", "block", "groupNumber",
      "attempts", "through", "last")
    add(
      instant, "createTime", "muteUntil", "lastInfoTime", "changeTime", "mutedAt", "firstTime", "removedTime", "joinTime",
      "bannedUntil", "leftTime", "quitTime", "memorableUntil", "timestamp", "addTime", "handledTime", "endTime", "since",
      "editTime", "offlineSince")
    return domains
  }()
}

extension StoredValue {
  /// A text; one with a NUL is stored as bytes.
  fileprivate var asText: String? {
    switch self {
    case .text(let text): text
    case .bytes(let bytes): String(validating: bytes, as: UTF8.self)
    case .null, .integer, .flag: nil
    }
  }
}
