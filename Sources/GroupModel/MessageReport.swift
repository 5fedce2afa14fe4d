/// A message that a member has reported to the application (Protocol.md, "Reports").
public struct MessageReport: Sendable, Equatable {
  /// Whether somebody has looked at it, by its wire name.
  public enum State: String, CaseIterable, Sendable {
    case open = "Open"
    case closed = "Closed"
  }

  /// Unique among all reports of the server: a user has one report of a message.
  public let id: String
  /// The message's group.
  public let groupID: GroupID
  /// The group's epoch: the report does not concern a later group with the same groupID.
  public let epoch: String
  /// The message's place; nil in a live room that forgets.
  public let seq: Int64?
  /// The message's name.
  public let msgID: String
  /// The user who has reported it.
  public let reporter: UserID
  /// The reporter's choice among the application's words; nil = none.
  public let category: String?
  /// The reporter's words; nil = none.
  public let text: String?
  /// When it was reported, or reported again.
  public let time: WallInstant
  /// Open at first, and whenever it is reported again.
  public var state: State
  /// The words with which it was closed; nil = none.
  public var note: String?
  /// The message as it was when reported: a MessageInfo as JSON.
  public var message: [UInt8]

  /// A report with everything given.
  public init(
    id: String, groupID: GroupID, epoch: String, seq: Int64?, msgID: String, reporter: UserID, category: String? = nil,
    text: String? = nil, time: WallInstant, state: State = .open, note: String? = nil, message: [UInt8]
  ) {
    self.id = id
    self.groupID = groupID
    self.epoch = epoch
    self.seq = seq
    self.msgID = msgID
    self.reporter = reporter
    self.category = category
    self.text = text
    self.time = time
    self.state = state
    self.note = note
    self.message = message
  }

  /// The name of a user's report of a message. A msgID is unique over all groups and epochs, and has no
  /// slash, so no look-up is needed to renew a report.
  public static func id(of msgID: String, by reporter: UserID) -> String { "\(reporter.rawValue)/\(msgID)" }
}
