import GroupModel

/// The name of a session in groups, which exclude it from a fan-out by it.
public struct SessionKey: Hashable, Sendable {
  /// The loop of the session's connection.
  public let loop: Int
  /// The connection's number on that loop.
  public let connection: UInt64

  /// A session's key.
  public init(loop: Int, connection: UInt64) {
    self.loop = loop
    self.connection = connection
  }
}

/// The delivery class of an event: whether slow consumers and receive options may skip it.
public enum EventClass: Sendable, Equatable {
  /// A change of the group: never skipped.
  case control
  /// A join or leave notice of a live group: slow connections may miss it.
  case notice
  /// A message of a group with history: the receive option decides.
  case storedChat(fromManager: Bool)
  /// A message of a live group: the receive option decides, and slow connections may miss it.
  case liveChat(fromManager: Bool)
  /// A signal: not for those who receive no messages, and slow connections may miss it.
  case signal
}

/// The fan-out of one group to its members' sessions. Frames are complete texts, encoded once. Calls
/// come one at a time, from the group's executor or from the link to its node; each session receives
/// frames in the order of the calls.
public protocol GroupTopic: AnyObject, Sendable {
  /// Attaches a member's current sessions with a receive option. A repetition is harmless.
  /// - Returns: whether the member has a session.
  func attach(_ user: UserID, receiving option: ReceiveOption) -> Bool

  /// Detaches a former member's sessions.
  func detach(_ user: UserID)

  /// Lets the lengths of later frames, which are compressed together, tell nothing of earlier ones.
  func resetCompression()

  /// Sends a frame to every attached session but one.
  func publish(_ frame: [UInt8], _ kind: EventClass, except: SessionKey?)

  /// Sends a frame to all sessions of users but one, attached or not, in order with `publish`.
  func send(_ frame: [UInt8], to users: [UserID], except: SessionKey?)

  /// Sends a frame to one attached session, in order with `publish`.
  func send(_ frame: [UInt8], to session: SessionKey)

  /// Detaches all sessions behind the published frames.
  func close()

  /// Closes the topic of a live room that leaves memory, and notes its users by
  /// `Broker.noteSuspendedRoom`.
  func suspend()

  /// The calls until `didTell` are of one decision: they reach each session together, or not at all.
  func beginTelling()

  /// All of a decision was told; follows each `beginTelling`, also where the topic was closed meanwhile.
  /// - Parameter stamp: up to which the members know the group's stored decisions now, in full; nil = the
  ///   group is not stamped (`GroupType.isStamped`), or the topic is closed.
  func didTell(_ stamp: GroupStamp?)

  /// Whether `send` to these users would reach a session, as far as is known; true where it is not.
  func hears(_ users: [UserID], except: SessionKey?) -> Bool

  /// Calls back once, on any thread, when all who have members of the group attached know the stamp of
  /// the last `didTell`. At once where there is nobody to tell.
  func whenFollowed(_ body: @escaping @Sendable () -> Void)

  /// Calls back once, on any thread, when this node's sessions are attached as the last `didTell` says. At
  /// once where they are.
  func whenTold(_ body: @escaping @Sendable () -> Void)
}

/// A topic whose sessions are all on this node.
extension GroupTopic {
  public func beginTelling() {}
  public func didTell(_ stamp: GroupStamp?) {}
  public func hears(_ users: [UserID], except: SessionKey?) -> Bool { true }
  public func whenFollowed(_ body: @escaping @Sendable () -> Void) { body() }
  public func whenTold(_ body: @escaping @Sendable () -> Void) { body() }
}

/// Carries frames from groups to sessions: in memory on one node, by a bus between several.
public protocol Broker: Sendable {
  /// A topic without sessions, for a group that was created or loaded.
  func openTopic(of group: GroupID) -> any GroupTopic

  /// Notes members of live rooms that are not loaded: at the end of a grace, the rooms must be
  /// told.
  func noteSuspendedRoom(of users: [UserID])

  /// The number of signed-in users: the members of a BChatRoom.
  var usersSignedIn: Int { get }

  /// Those of the users that are signed in now.
  func signedIn(among users: [UserID]) -> [UserID]

  /// All users that are signed in now, for a group of everybody.
  func signedInUsers() -> [UserID]
}
