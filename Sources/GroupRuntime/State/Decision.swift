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
  /// How a stored message changes; nil = none does.
  var notedChange: NotedChange?
  /// What members know when it is delivered; nil = the group has no stamp.
  var stamp: DecisionStamp?
  /// What became of signals.
  var signals = SignalCounts()
  /// Whether it is about signals alone. They wait for nothing: a commit in flight does not hold them.
  var isSignal = false
  var answer = Answer.reply(.success(.empty))

  /// Whether nothing is stored, performed or counted.
  var isEmpty: Bool { changes.isEmpty && effects.isEmpty && counts.isEmpty }

  /// Whether the answer waits for nothing that was decided before: the request is decided after
  /// messages or receipts were looked up, its changes have a commit of their own, or it is a signal.
  var passesPipeline: Bool {
    switch answer {
    case .lookUp, .recentLookUp, .counters(_, isWrite: true): true
    case .reply, .stored, .recent, .counters: isSignal
    }
  }
}

/// Something to perform once a decision is durable.
public enum Effect: Sendable, Equatable {
  /// The sessions of a new member get the group's events from here on. The option is one by which
  /// messages are sent (`ReceiveOption.delivered`), here and below.
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
  /// A live room forgets the content of a message, which is recalled.
  case forgetContent(seq: Int64, changeSeq: Int64)
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
  /// An answer out of what a live room remembers then.
  /// - Parameter requester: whose turn it is to read profiles; nil = the server's.
  indirect case recent(RecentQuestion, for: Requester?)
  /// None yet: the request is decided, at once, over what a live room remembers.
  indirect case recentLookUp(RecentLookUp, by: Caller)
  /// A reply that is sent when the counters are durable as they are now.
  indirect case counters(ReplyValue, isWrite: Bool)
  /// None yet: the request is decided over what is looked up.
  indirect case lookUp(LookUp, by: Caller)
}

/// An answer that needs stored messages or profiles.
enum StoredAnswer: Sendable {
  /// Messages, as getGroupHistoryMessageList answers them.
  case history(HistoryQuestion)
  /// Messages, as a row of syncGroups.
  case sync(SyncAnswer)
  /// Messages by their `seq`, in this order.
  case messages([Int64], HistoryScope)
  /// The replies to a message.
  case replies(ReplyQuestion)
  /// Pinned messages, in this order.
  case pinned([Int64], HistoryScope)
  /// The reactions to messages.
  case reactions([Int64], users: Int, HistoryScope)
  /// The group's info for a member, whose unread messages are still to be counted.
  case info(InfoRow, of: Member, UnreadMessages)
  /// A result that needs nothing but profiles.
  case shown(ShownAnswer)
  /// A number of unread messages.
  case unread(UnreadMessages)
  /// The receipts of a sender's messages.
  case readReceipts([Int64], of: UserID, epoch: String)
}

/// What a reader sees of a group's history, as it was when the group decided.
struct HistoryScope: Sendable, Equatable {
  let visibility: Visibility
  /// The history's. Another group may use the groupID when the messages are read.
  let epoch: String
  /// What some of the messages have.
  let features: MessageFeatures

  /// The reader, if some messages may be addressed to others; nil = none are.
  var filteredReader: UserID? { features.contains(.targeted) ? visibility.userID : nil }
}

/// A page of getGroupHistoryMessageList before its messages are read.
struct HistoryQuestion: Sendable {
  let visible: VisibleHistory
  /// Exclusive.
  let bound: Int64
  let newestFirst: Bool
  let count: Int64
  let scope: HistoryScope
}

/// A page of replies before it is read.
struct ReplyQuestion: Sendable {
  /// The message that they answer.
  let seq: Int64
  /// The last reply of the page before; 0 = there was none.
  let after: Int64
  let count: Int
  let scope: HistoryScope
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
  /// What some of the messages have.
  let features: MessageFeatures
  /// How many bytes of messages the row may hold; 0 = no messages are read.
  let bytes: Int

  func scope(of visible: VisibleHistory) -> HistoryScope {
    HistoryScope(visibility: visible.visibility, epoch: epoch, features: features)
  }
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
