import GroupModel
import Synchronization
import WireProtocol

/// An after-event on its way to the application (Protocol.md, "Webhooks"): made with a decision,
/// stored in its transaction, and posted by the outbox.
public final class WebhookEntry: Sendable, Equatable {
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

  private enum Content: Sendable {
    case typed(WebhookContent)
    case encoded([UInt8])
  }

  /// The same at each attempt, and in the list of failures.
  public let id: String
  public let lane: Lane
  public let type: WebhookType
  /// When it happened.
  public let timestamp: WallInstant
  /// From when on `webhook.retention` counts.
  public let since: WallInstant
  private let content: Mutex<Content>
  private let number = Atomic<Int64>(0)

  /// A new entry.
  public init(_ type: WebhookType, _ content: WebhookContent, in lane: Lane, at time: WallInstant) {
    id = RandomID.with128Bits()
    self.lane = lane
    self.type = type
    timestamp = time
    since = time
    self.content = Mutex(.typed(content))
  }

  /// An entry that a store has kept.
  /// - Parameter number: 0 = it is not stored now.
  public init(
    id: String, _ type: WebhookType, data: [UInt8], in lane: Lane, at time: WallInstant, since: WallInstant, number: Int64
  ) {
    self.id = id
    self.lane = lane
    self.type = type
    timestamp = time
    self.since = since
    content = Mutex(.encoded(data))
    self.number.store(number, ordering: .relaxed)
  }

  /// The text of the member `data`, a JSON object. Encoded once.
  public var data: [UInt8] {
    content.withLock { content in
      switch content {
      case .encoded(let data): return data
      case .typed(let typed):
        let data = typed.encoded()
        content = .encoded(data)
        return data
      }
    }
  }

  /// The number that the store has given it, ascending in the order of commits and never used
  /// again; 0 = it is in memory only.
  public var storedNumber: Int64 { number.load(ordering: .relaxed) }

  /// Called by the store in the transaction, before it completes the commit.
  public func didStore(as number: Int64) { self.number.store(number, ordering: .relaxed) }

  /// The same entry, which no store has.
  public func unstored() -> WebhookEntry {
    WebhookEntry(id: id, type, data: data, in: lane, at: timestamp, since: since, number: 0)
  }

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
  case messageSent(Message)
  case messageDropped(Message, DropReason)
  case offlinePush(groupName: String, Message, [UserID])
  case presence(UserID, Platform)

  /// How somebody became a member.
  public enum Joining: String, CaseIterable, Sendable { case join, invited, accepted }
  /// How somebody ceased to be a member.
  public enum Leaving: String, CaseIterable, Sendable { case quit, kicked, grace }
  /// Why nobody got a message.
  public enum DropReason: String, CaseIterable, Sendable {
    case rateLimit = "RateLimit"
    /// The application said so.
    case webhook = "Webhook"
  }

  fileprivate func encoded() -> [UInt8] { JSONWriter.text(capacity: capacity) { $0.object { encodeFields(into: &$0) } } }

  private var capacity: Int {
    switch self {
    case .event(let event): event.capacity
    case .offlinePush(_, _, let users): 512 + users.count * 32
    case .memberJoined(_, let list, _, _, _), .memberLeft(_, let list, _, _, _, _), .groupCreated(_, let list, _):
      384 + list.count * 80
    default: 512
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
    case .messageSent(let message):
      writer.member("groupID", message.groupID.rawValue)
      writer.member("message", message)
    case .messageDropped(let message, let reason):
      writer.member("groupID", message.groupID.rawValue)
      writer.member("message", message)
      writer.member("reason", reason.rawValue)
    case .offlinePush(let name, let message, let users):
      writer.member("groupID", message.groupID.rawValue)
      writer.member("groupName", name)
      writer.member("message", message)
      writer.member("userIDList", users.map(\.rawValue))
    case .presence(let user, let platform):
      writer.member("userID", user.rawValue)
      writer.member("platform", platform.rawValue)
    }
  }
}
