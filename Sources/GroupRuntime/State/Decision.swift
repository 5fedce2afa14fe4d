import GroupModel
import WireProtocol

/// The result of a request: changes to store, then effects and the answer.
public struct Decision: Sendable {
  /// Made durable first, all or none.
  public var changes: [StoreChange] = []
  /// Performed then, in this order.
  public var effects: [Effect] = []
  /// Counts of messages for the metrics.
  public var counts: [MessageCount] = []
  /// Whether the group ends with this decision.
  public var disbands = false
  /// Whether its events may show members, whose profiles are looked up before they are sent. False
  /// saves a message that look.
  var showsMembers = true
  /// Whether stored messages are changed: `RecentChanges` waits for its commit.
  var changesMessages = false
  /// What the request sends to members, now or merged with others; its user is charged for it.
  var fanOut = FanOut()
  /// The messages that passed the rate limiter of a live group.
  var rateLimited = RateLimitedMessages()
  var answer = Answer.reply(.success(.empty))

  /// Whether nothing is stored, performed or counted.
  var isEmpty: Bool { changes.isEmpty && effects.isEmpty && counts.isEmpty }

  /// Whether the answer waits for nothing that was decided before: the request is decided after
  /// stored messages or receipts were looked up, or its changes have a commit of their own.
  var passesPipeline: Bool {
    switch answer {
    case .lookUp, .counters(_, isWrite: true): true
    case .reply, .stored, .counters: false
    }
  }
}

/// Something to perform once a decision is durable.
public enum Effect: Sendable, Equatable {
  /// The sessions of a new member get the group's events from here on.
  case attach(UserID, receiving: ReceiveOption)
  /// The sessions of a member get other chat messages from here on.
  case setReceiveOption(UserID, ReceiveOption)
  /// Every signed-in user is a member from here on, without a record.
  case attachSignedInUsers
  /// The sessions of a former member get no more events.
  case detach(UserID)
  /// The sessions of all members get the event, except the one that caused it.
  case publish(GroupEvent, EventClass, except: SessionKey?)
  /// All sessions of these users get the event, except the one that caused it.
  case send(GroupEvent, to: [UserID], except: SessionKey?)
  /// One session gets the event.
  case sendToSession(GroupEvent, SessionKey)
  /// The group has ended.
  case disband
  /// The application gets an after-event.
  case post(WebhookEntry)
  /// The senders of these messages are told of new read receipts, together with later ones.
  case noteReceipts([Int64])

  /// All sessions of these users get the event.
  static func send(_ event: GroupEvent, to users: [UserID]) -> Effect { .send(event, to: users, except: nil) }
}

/// The caller's answer. Rare and large cases are indirect, so that a decision is small.
enum Answer: Sendable {
  case reply(Reply)
  /// An answer that needs stored messages or profiles.
  /// - Parameter requester: whose turn it is to read; nil = the server's.
  indirect case stored(StoredAnswer, for: Requester?)
  /// A reply that is sent when the counters are durable as they are now.
  indirect case counters(ReplyValue, isWrite: Bool)
  /// None yet: the request is decided over what is looked up.
  indirect case lookUp(LookUp, by: Caller)
}

/// An answer that needs stored messages or profiles.
enum StoredAnswer: Sendable {
  /// Messages, as getGroupHistoryMessageList answers them.
  case history(VisibleHistory.Page, newestFirst: Bool, epoch: String, reader: UserID?)
  /// Messages, as a row of syncGroups.
  case sync(SyncAnswer)
  /// Pinned messages, in this order.
  case pinned([Int64], epoch: String, reader: UserID?)
  /// The reactions to messages.
  case reactions([Int64], users: Int, epoch: String, reader: UserID?)
  /// The group's info for a member, whose unread messages are still to be counted.
  case info(GroupInfo, of: Member, UnreadMessages)
  /// A result that needs nothing but profiles.
  case shown(ShownAnswer)
  /// A number of unread messages.
  case unread(UnreadMessages)
  /// The receipts of a sender's messages.
  case readReceipts([Int64], of: UserID, epoch: String)
}

/// A row of syncGroups before its messages are read.
struct SyncAnswer: Sendable, Equatable {
  let epoch: String
  let lastSeq: Int64
  /// Nil where the position is not of this history: recovered is false.
  let visible: VisibleHistory?
  /// Messages behind it are wanted, and changes of those up to it.
  let seq: Int64
  /// The last change that the client has; nil = it wants none.
  let changeSeq: Int64?
  /// The group's last change.
  let lastChangeSeq: Int64
  let reader: UserID?
  /// How many bytes of messages the row may hold; 0 = no messages are read.
  let bytes: Int
}

/// A message for the metrics: accepted = delivered + dropped once no message waits (Protocol.md,
/// "Waiting messages").
public struct MessageCount: Sendable, Equatable {
  /// The steps of a message that are counted.
  public struct Steps: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let accepted = Steps(rawValue: 1)
    public static let delivered = Steps(rawValue: 2)
    public static let dropped = Steps(rawValue: 4)
  }

  public let type: GroupType
  public let priority: Priority
  public let steps: Steps
}
