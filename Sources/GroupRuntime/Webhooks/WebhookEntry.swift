import GroupModel
import WireProtocol

/// An after-event on its way to the application (Protocol.md, "Webhooks"): made with a decision,
/// stored in its transaction, and posted by the outbox.
public struct WebhookEntry: Sendable, Equatable {
  /// The order that an entry keeps: those of one group, or of one user, are posted one by one.
  public enum Lane: Hashable, Sendable {
    case group(GroupID)
    case user(UserID)

    /// The text that `init(_:)` reads.
    public var text: String {
      switch self {
      case .group(let id): "g" + id.rawValue
      case .user(let id): "u" + id.rawValue
      }
    }

    /// The lane that a store has kept as text.
    public init?(_ text: String) {
      let name = String(text.dropFirst())
      switch text.first {
      case "g":
        guard let id = GroupID(name) else { return nil }
        self = .group(id)
      case "u":
        guard let id = UserID(stored: name) else { return nil }
        self = .user(id)
      default: return nil
      }
    }
  }

  /// Everything but the number, shared by the copies of an entry.
  private final class Body: Sendable {
    enum Content: Sendable {
      case typed(WebhookContent)
      case encoded([UInt8])
    }

    let id: String
    let lane: Lane
    let type: WebhookType
    let timestamp: WallInstant
    let since: WallInstant
    let estimatedBytes: Int
    let messageSeq: Int64?
    let trace: TraceContext?
    let content: Content

    init(
      id: String, _ type: WebhookType, _ content: Content, _ estimatedBytes: Int, messageSeq: Int64?, in lane: Lane,
      at time: WallInstant, since: WallInstant, trace: TraceContext?
    ) {
      self.id = id
      self.lane = lane
      self.type = type
      timestamp = time
      self.since = since
      self.estimatedBytes = estimatedBytes
      self.messageSeq = messageSeq
      self.trace = trace
      self.content = content
    }
  }

  private let body: Body
  /// The number that the store has given it, ascending in the order of commits and never used
  /// again; 0 = it is in memory only.
  public let storedNumber: Int64

  private init(_ body: Body, number: Int64) {
    self.body = body
    storedNumber = number
  }

  /// A new entry.
  /// - Parameter trace: of the request that has caused it; nil = none is known.
  public init(
    _ type: WebhookType, _ content: WebhookContent, in lane: Lane, at time: WallInstant, trace: TraceContext? = nil
  ) {
    let sent = content.storedMessage
    let id = sent.map(WebhookEntry.id(ofSent:)) ?? RandomID.with128Bits()
    body = Body(
      id: id, type, .typed(content), content.capacity, messageSeq: sent?.seq, in: lane, at: time, since: time, trace: trace)
    storedNumber = 0
  }

  /// The entry of a message that a store has kept, made again.
  public init(messageSent info: MessageInfo, number: Int64, trace: TraceContext? = nil) {
    let content = WebhookContent.messageSent(info, isStored: true)
    let new = WebhookEntry(
      .messageSent, content, in: .group(info.message.groupID), at: info.message.timestamp, trace: trace)
    self.init(new.body, number: number)
  }

  /// The same whenever the entry is made. The time tells it from a message with the same msgID that
  /// was lost when a backup was restored.
  private static func id(ofSent message: Message) -> String {
    message.msgID + "-" + String(message.timestamp.milliseconds, radix: 36)
  }

  /// An entry that a store has kept.
  /// - Parameter number: 0 = it is not stored now.
  public init(
    id: String, _ type: WebhookType, data: [UInt8], in lane: Lane, at time: WallInstant, since: WallInstant, number: Int64,
    trace: TraceContext? = nil
  ) {
    body = Body(id: id, type, .encoded(data), data.count, messageSeq: nil, in: lane, at: time, since: since, trace: trace)
    storedNumber = number
  }

  /// The same at each attempt, and in the list of failures.
  public var id: String { body.id }
  public var lane: Lane { body.lane }
  public var type: WebhookType { body.type }
  /// When it happened.
  public var timestamp: WallInstant { body.timestamp }
  /// From when on `webhook.retention` counts.
  public var since: WallInstant { body.since }
  /// About the bytes of `data`, without encoding it.
  public var estimatedBytes: Int { body.estimatedBytes }
  /// The place of the stored message that it tells of. A store keeps no copy of that message: it
  /// makes the entry again from the message, with `init(messageSent:number:)`.
  public var messageSeq: Int64? { body.messageSeq }
  /// The trace of the request that has caused it; nil = none is known.
  public var trace: TraceContext? { body.trace }

  /// The text of the member `data`, a JSON object; encoded by the call unless a store has kept it.
  public var data: [UInt8] {
    switch body.content {
    case .typed(let content): content.encoded()
    case .encoded(let data): data
    }
  }

  /// The users whose profiles `data` shows, if `encoded(showing:)` gives them.
  public var shownUsers: [UserID] { if case .typed(let content) = body.content { content.users } else { [] } }

  /// The same entry with its text, in which each member that has a profile shows it.
  public func encoded(showing profiles: [UserID: UserProfile]) -> WebhookEntry {
    guard case .typed(var content) = body.content else { return self }
    if !profiles.isEmpty { content.show(profiles) }
    let encoded = Body(
      id: id, type, .encoded(content.encoded()), estimatedBytes, messageSeq: messageSeq, in: lane, at: timestamp, since: since,
      trace: trace)
    return WebhookEntry(encoded, number: storedNumber)
  }

  /// The same entry with the number that a store has given it.
  public func stored(as number: Int64) -> WebhookEntry { WebhookEntry(body, number: number) }

  public static func == (left: WebhookEntry, right: WebhookEntry) -> Bool { left.id == right.id }
}

/// The `data` of an after-event.
public enum WebhookContent: Sendable {
  /// As clients get it.
  case event(GroupEvent)
  case groupCreated(GroupRecord, memberList: [MemberInfo], by: EventOperator)
  case memberJoined(GroupID, [MemberInfo], memberCount: Int, how: Joining, by: EventOperator?)
  case memberLeft(GroupID, [MemberInfo], memberCount: Int, how: Leaving, reason: String?, by: EventOperator?)
  case groupFull(GroupID, memberCount: Int)
  case application(GroupApplication, isAgreeJoin: Bool?)
  /// - Parameter isStored: it has a place in the group's history; what a live room remembers has not.
  case messageSent(MessageInfo, isStored: Bool)
  case messageDropped(MessageInfo, DropReason)
  case offlinePush(groupName: String, MessageInfo, [UserID])
  case presence(UserID, Platform)
  case report(MessageReport)

  /// How somebody became a member.
  public enum Joining: String, CaseIterable, Sendable { case join, invited, accepted }
  /// How somebody ceased to be a member.
  public enum Leaving: String, CaseIterable, Sendable { case quit, kicked, grace }
  /// Why nobody got a message.
  public enum DropReason: String, CaseIterable, Sendable {
    case rateLimit = "RateLimit"
    /// It was recalled while it was queued.
    case revoked = "Revoked"
    /// The application said so.
    case webhook = "Webhook"

    /// What the sender of a queued message is told.
    init(_ reason: WireProtocol.DropReason) {
      switch reason {
      case .rateLimit: self = .rateLimit
      case .revoked: self = .revoked
      }
    }
  }

  /// The message of `messageSent` that has a place in the history.
  fileprivate var storedMessage: Message? {
    if case .messageSent(let info, isStored: true) = self { info.message } else { nil }
  }

  fileprivate func encoded() -> [UInt8] { JSONWriter.text(capacity: capacity) { $0.object { encodeFields(into: &$0) } } }

  fileprivate var capacity: Int {
    switch self {
    case .event(let event): event.capacity
    case .messageSent(let info, _), .messageDropped(let info, _): 384 + info.message.byteCount
    case .offlinePush(_, let info, let users): 512 + info.message.byteCount + users.count * 32
    case .memberJoined(_, let list, _, _, _), .memberLeft(_, let list, _, _, _, _), .groupCreated(_, let list, _):
      384 + list.count * 80
    case .report(let report): 64 + ReportInfo(report).byteCount
    default: 512
    }
  }

  /// The members that it shows, the operator included. A message's sender has the profile already.
  fileprivate var members: [MemberInfo] {
    switch self {
    case .event(let event): event.members
    case .groupCreated(_, let list, let by): list + [by.opUser]
    case .memberJoined(_, let list, _, _, let by), .memberLeft(_, let list, _, _, _, let by):
      list + (by.map { [$0.opUser] } ?? [])
    case .groupFull, .application, .messageSent, .messageDropped, .offlinePush, .presence, .report: []
    }
  }

  /// The users whose profiles it shows.
  fileprivate var users: [UserID] {
    if case .event(let event) = self { return event.users }
    return members.map(\.userID).filter { $0 != .administrator }
  }

  fileprivate mutating func show(_ profiles: [UserID: UserProfile]) {
    switch self {
    case .event(var event):
      event.show(profiles)
      self = .event(event)
    case .groupCreated(let record, let list, let by):
      self = .groupCreated(record, memberList: list.showing(profiles), by: by.showing(profiles))
    case .memberJoined(let group, let list, let count, let how, let by):
      self = .memberJoined(group, list.showing(profiles), memberCount: count, how: how, by: by?.showing(profiles))
    case .memberLeft(let group, let list, let count, let how, let reason, let by):
      self = .memberLeft(group, list.showing(profiles), memberCount: count, how: how, reason: reason, by: by?.showing(profiles))
    case .groupFull, .application, .messageSent, .messageDropped, .offlinePush, .presence, .report: break
    }
  }

  private func encodeFields(into writer: inout JSONWriter) {
    switch self {
    case .event(let event): event.encodeFields(into: &writer)
    case .groupCreated(let record, let list, let opUser):
      writer.member("groupID", record.id.rawValue)
      writer.member("groupType", record.type.rawValue)
      writer.member("groupName", record.name)
      writer.member("owner", record.owner.rawValue)
      opUser.encodeFields(into: &writer)
      writer.member("memberList", list)
    case .memberJoined(let group, let list, let count, let how, let opUser):
      writer.member("groupID", group.rawValue)
      writer.member("memberList", list)
      writer.member("memberCount", count)
      writer.member("how", how.rawValue)
      opUser?.encodeFields(into: &writer)
    case .memberLeft(let group, let list, let count, let how, let reason, let opUser):
      writer.member("groupID", group.rawValue)
      writer.member("memberList", list)
      writer.member("memberCount", count)
      writer.member("how", how.rawValue)
      writer.member("reason", ifPresent: reason)
      opUser?.encodeFields(into: &writer)
    case .groupFull(let group, let count):
      writer.member("groupID", group.rawValue)
      writer.member("memberCount", count)
    case .application(let application, let isAgreeJoin):
      writer.member("groupID", application.groupID.rawValue)
      writer.member("application", ApplicationInfo(application, reader: .administrator, isRead: false))
      writer.member("isAgreeJoin", ifPresent: isAgreeJoin)
    case .messageSent(let info, _):
      writer.member("groupID", info.message.groupID.rawValue)
      writer.member("message", info)
    case .messageDropped(let info, let reason):
      writer.member("groupID", info.message.groupID.rawValue)
      writer.member("message", info)
      writer.member("reason", reason.rawValue)
    case .offlinePush(let name, let info, let users):
      writer.member("groupID", info.message.groupID.rawValue)
      writer.member("groupName", name)
      writer.member("message", info)
      writer.member("userIDList", users.map(\.rawValue))
    case .presence(let user, let platform):
      writer.member("userID", user.rawValue)
      writer.member("platform", platform.rawValue)
    case .report(let report):
      writer.member("groupID", report.groupID.rawValue)
      writer.member("report", ReportInfo(report))
    }
  }
}
