import GroupModel

/// A session as groups know it: enough to leave it out of a fan-out. The sessions of one user are the broker's business.
public struct SessionKey: Hashable, Sendable {
  /// The loop the session's connection lives on.
  public let loop: Int
  /// The connection on that loop.
  public let connection: UInt64

  /// A session's key.
  public init(loop: Int, connection: UInt64) {
    self.loop = loop
    self.connection = connection
  }
}

/// What may happen to an event on its way to a slow consumer or past a receive option.
public enum EventClass: Sendable, Equatable {
  /// What happened to the group: never skipped, and nobody opts out.
  case control
  /// Somebody came to or left a group without history: a slow connection may miss it, and nobody opts out.
  case notice
  /// A message of a group that keeps history: never skipped, and the receive option decides.
  case storedChat(fromManager: Bool)
  /// A message of a group without history: a slow connection may miss it, and the receive option decides.
  case liveChat(fromManager: Bool)
}

/// Where the events of one group go: the sessions of its members, wherever they are. Frames are complete texts, encoded once.
///
/// All calls come from the group's executor, and each session gets what it is sent in the order of the calls.
public protocol GroupTopic: AnyObject, Sendable {
  /// Brings the topic in line with the sessions that a member has right now and with the chat the member wants from here on. Calling it
  /// again is harmless.
  /// - Returns: whether the member has a session.
  func attach(_ user: UserID, receiving option: ReceiveOption) -> Bool

  /// The sessions of somebody who is no member any more get nothing from here on.
  func detach(_ user: UserID)

  /// Gives a frame to every attached session but one.
  func publish(_ frame: [UInt8], _ kind: EventClass, except: SessionKey?)

  /// Gives a frame to all sessions of some users, attached or not, but one, in order with what is published.
  func send(_ frame: [UInt8], to users: [UserID], except: SessionKey?)

  /// Gives a frame to one attached session, in order with what is published.
  func send(_ frame: [UInt8], to session: SessionKey)

  /// Detaches everybody, after what was published has left.
  func close()
}

/// Carries frames from groups to sessions. On one node that is a matter of memory; on several, of a bus between them.
public protocol Broker: Sendable {
  /// The topic of a group that has just been made or loaded; nobody is attached yet.
  func openTopic(of group: GroupID) -> any GroupTopic

  /// How many users are signed in: the members of a BChatRoom.
  var usersSignedIn: Int { get }

  /// Those of the users that are signed in right now.
  func signedIn(among users: [UserID]) -> [UserID]

  /// The users that are signed in right now, for a group that everyone is a member of.
  func signedInUsers() -> [UserID]
}
