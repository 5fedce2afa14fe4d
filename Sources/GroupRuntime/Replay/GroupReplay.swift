import GroupModel

/// What a node has missed of a group, told again from the store (Cluster.md, "Replay").
public enum GroupReplay: Sendable {
  /// The events, in the order in which they are delivered.
  case events([ReplayedEvent])
  /// It cannot be told again.
  case impossible(Reason)

  /// Why it cannot.
  public enum Reason: String, CaseIterable, Error {
    /// The groupID is not in use, or the group is not this node's.
    case noGroup
    /// The groupID has another group, or its history was lost.
    case epoch
    /// Members, roles, options or info have changed, or a counter was removed.
    case revision
    /// The node knows more than the store.
    case ahead
    /// More than `ReplayPlan.maxCount` messages or changes, or more than `ReplayPlan.maxBytes`.
    case tooMuch
    /// Retention has removed messages that were missed.
    case retention
    /// Nothing tells how a message was changed, or it was changed in more than one way.
    case unknownChange
    /// The store could not be read.
    case storeFailed
  }
}

/// An event that is told again.
public struct ReplayedEvent: Sendable, Equatable {
  /// Its complete text.
  public let frame: [UInt8]
  public let kind: EventClass
  /// The only users who get it; nil = all attached ones.
  public let users: [UserID]?
  /// The send that it tells, where its sender named it: the session that waits for the reply to it does
  /// not get the event.
  public let sent: (sender: UserID, clientMsgID: String)?

  /// An event with everything given.
  public init(
    frame: [UInt8], kind: EventClass, users: [UserID]? = nil, sent: (sender: UserID, clientMsgID: String)? = nil
  ) {
    self.frame = frame
    self.kind = kind
    self.users = users
    self.sent = sent
  }

  public static func == (a: ReplayedEvent, b: ReplayedEvent) -> Bool {
    a.frame == b.frame && a.kind == b.kind && a.users == b.users && a.sent?.sender == b.sent?.sender
      && a.sent?.clientMsgID == b.sent?.clientMsgID
  }
}
