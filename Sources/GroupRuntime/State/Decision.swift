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
  /// The messages that passed the rate limiter of a live group.
  var rateLimited = RateLimitedMessages()
  var answer: Answer

  /// Whether nothing is stored, performed or counted.
  var isEmpty: Bool { changes.isEmpty && effects.isEmpty && counts.isEmpty }

  /// Whether the request is decided after a message was looked up.
  var awaitsLookUp: Bool {
    if case .lookUp = answer { true } else { false }
  }

  /// A decision that changes nothing.
  static func answer(_ answer: Answer) -> Decision { Decision(answer: answer) }
}

extension Decision {
  /// A decision that changes nothing yet and answers a value.
  init(_ value: ReplyValue) { self.init(answer: .reply(.success(value))) }
}

/// Something a decision does to the world.
public enum Effect: Sendable, Equatable {
  /// The user is a member from here on: the user's sessions get the group's events.
  case admit(UserID, receiving: ReceiveOption)
  /// A member wants other chat from here on.
  case receive(UserID, ReceiveOption)
  /// Everybody who is signed in is a member from here on, without a record.
  case admitEverybody
  /// The user is no member any more: the user's sessions get nothing more.
  case expel(UserID)
  /// Every member's sessions get the event, but the one that caused it where it is named.
  case publish(GroupEvent, EventClass, except: SessionKey?)
  /// All sessions of these users get the event, but the one that caused it where it is named.
  case send(GroupEvent, to: [UserID], except: SessionKey?)
  /// One session gets the event.
  case tell(GroupEvent, SessionKey)
  /// The group is gone.
  case disband

  /// All sessions of these users get the event.
  static func send(_ event: GroupEvent, to users: [UserID]) -> Effect { .send(event, to: users, except: nil) }
}

/// What the caller gets. What is rare and large stands apart, so that a decision is small.
enum Answer: Sendable {
  case reply(Reply)
  /// What stored messages make of it.
  /// - Parameter requester: whose turn it is to read; nil = the server's, or nobody has asked yet.
  indirect case stored(StoredAnswer, for: Requester? = nil)
  /// Nothing yet: what the caller asks for is decided when a stored message has been looked up.
  indirect case lookUp(seq: Int64, by: Caller)
}

/// An answer that needs stored messages.
enum StoredAnswer: Sendable {
  /// Messages, as getGroupHistoryMessageList answers them.
  case history(VisibleHistory.Page, newestFirst: Bool, epoch: String)
  /// Messages, as a row of syncGroups.
  case sync(SyncAnswer)
  /// The group's info for a member, whose unread messages are still to be counted.
  case info(GroupInfo, of: Member, UnreadMessages)
  /// A number of unread messages.
  case unread(UnreadMessages)
}

/// A row of syncGroups before its messages are read.
struct SyncAnswer: Sendable, Equatable {
  let epoch: String
  let lastSeq: Int64
  /// Nil where the position means nothing here: recovered is false.
  let page: VisibleHistory.Page?
  /// How many bytes of messages the row may hold; 0 = none are read.
  let bytes: Int
}

/// A message for the metrics: accepted = delivered + dropped once no message waits (Protocol.md,
/// "Waiting messages").
public struct MessageCount: Sendable, Equatable {
  /// What has become of a message.
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
