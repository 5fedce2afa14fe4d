import GroupModel
import GroupRuntime
import Synchronization

/// A broker whose sessions record their frames. Tests sign users in and out.
public final class RecordingBroker: Broker, Sendable {
  private struct Directory {
    var sessions: [UserID: [SessionKey]] = [:]
    var frames: [SessionKey: [[UInt8]]] = [:]
    var topics: [GroupID: [RecordingTopic]] = [:]
    var lastConnection: UInt64 = 0
    var holdsFollowers = false
    var holdsAttaching = false
  }

  private let directory = Mutex(Directory())
  private let lookUp = Mutex<(@Sendable () -> Void)?>(nil)

  /// A broker without sessions.
  public init() {}

  // MARK: Changed by tests

  /// Signs a user in once more. Tests tell groups of it by `Group.presenceChanged`, as the gateway
  /// does.
  public func signIn(_ user: UserID) -> SessionKey {
    directory.withLock { directory in
      directory.lastConnection += 1
      let session = SessionKey(loop: 0, connection: directory.lastConnection)
      directory.sessions[user, default: []].append(session)
      return session
    }
  }

  /// Ends a session, which receives nothing more.
  public func signOut(_ session: SessionKey) {
    directory.withLock { directory in
      guard let user = directory.sessions.first(where: { $0.value.contains(session) })?.key else { return }
      directory.sessions[user]?.removeAll { $0 == session }
      if directory.sessions[user]?.isEmpty == true { directory.sessions[user] = nil }
    }
  }

  /// From now on topics answer that they are followed when they are told to (`RecordingTopic.follow`).
  public func holdFollowers() { directory.withLock { $0.holdsFollowers = true } }

  /// From now on topics answer that their sessions are attached when they are told to
  /// (`RecordingTopic.finishAttaching`).
  public func holdAttaching() { directory.withLock { $0.holdsAttaching = true } }

  /// Runs once, between the next look-up of sessions and its return.
  public func afterNextLookUp(_ body: @escaping @Sendable () -> Void) { lookUp.withLock { $0 = body } }

  private func didLookUp() {
    let body = lookUp.withLock { lookUp in
      defer { lookUp = nil }
      return lookUp
    }
    body?()
  }

  // MARK: Read by tests

  /// The frames of a session, in order, as JSON texts.
  public func frames(of session: SessionKey) -> [String] {
    directory.withLock { $0.frames[session] ?? [] }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The frames of a session since the last call.
  public func takeFrames(of session: SessionKey) -> [String] {
    directory.withLock { $0.frames.removeValue(forKey: session) ?? [] }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The topics of a group in the order of their opening.
  public func topics(of group: GroupID) -> [RecordingTopic] { directory.withLock { $0.topics[group] ?? [] } }

  // MARK: Broker

  /// A topic that records its calls.
  public func openTopic(of group: GroupID) -> any GroupTopic {
    let (isFollowed, isTold) = directory.withLock { (!$0.holdsFollowers, !$0.holdsAttaching) }
    let topic = RecordingTopic(broker: self, isFollowed: isFollowed, isTold: isTold)
    directory.withLock { $0.topics[group, default: []].append(topic) }
    return topic
  }

  /// The number of users with a session.
  public var usersSignedIn: Int { directory.withLock { $0.sessions.values.count { !$0.isEmpty } } }

  /// Does nothing: tests tell groups of every user.
  public func noteSuspendedRoom(of users: [UserID]) {}

  /// Those of the users with a session.
  public func signedIn(among users: [UserID]) -> [UserID] {
    defer { didLookUp() }
    return directory.withLock { directory in users.filter { directory.sessions[$0]?.isEmpty == false } }
  }

  /// The users with a session, by userID.
  public func signedInUsers() -> [UserID] {
    defer { didLookUp() }
    return directory.withLock { directory in directory.sessions.filter { !$0.value.isEmpty }.keys.sorted() }
  }

  fileprivate func sessions(of user: UserID) -> [SessionKey] { directory.withLock { $0.sessions[user] ?? [] } }

  /// Delivers to those of the sessions that are open.
  fileprivate func deliver(_ frame: [UInt8], to sessions: some Sequence<SessionKey>) {
    directory.withLock { directory in
      let open = Set(directory.sessions.values.joined())
      for session in sessions where open.contains(session) { directory.frames[session, default: []].append(frame) }
    }
  }
}

/// A topic that records its calls, and delivers to the attached sessions.
public final class RecordingTopic: GroupTopic, Sendable {
  /// A call of a group.
  public enum Call: Sendable, Equatable {
    case attach(UserID, receiving: ReceiveOption)
    case detach(UserID)
    case resetCompression
    case publish(String, EventClass, except: SessionKey?)
    case send(String, to: [UserID], except: SessionKey?)
    case tell(String, SessionKey)
    case close
    case beginTelling
    case didTell(GroupStamp?)
  }

  private struct State {
    var attached: [UserID: [SessionKey]] = [:]
    var options: [UserID: ReceiveOption] = [:]
    var calls: [Call] = []
    var isFollowed = true
    var waiting: [@Sendable () -> Void] = []
    var isTold = true
    var waitingForSessions: [@Sendable () -> Void] = []
  }

  private let broker: RecordingBroker
  private let state = Mutex(State())

  fileprivate init(broker: RecordingBroker, isFollowed: Bool, isTold: Bool) {
    self.broker = broker
    state.withLock { state in
      state.isFollowed = isFollowed
      state.isTold = isTold
    }
  }

  /// The calls in order, those apart that say what belongs together.
  public var calls: [Call] {
    tellings.filter { call in
      switch call {
      case .beginTelling, .didTell: false
      default: true
      }
    }
  }

  /// All calls in order.
  public var tellings: [Call] { state.withLock { $0.calls } }

  /// The stamps that were told, in order.
  public var stamps: [GroupStamp?] {
    tellings.compactMap { call in
      if case .didTell(let stamp) = call { .some(stamp) } else { nil }
    }
  }

  /// The users with an attached session, by userID.
  public var attachedUsers: [UserID] { state.withLock { state in state.attached.filter { !$0.value.isEmpty }.keys.sorted() } }

  /// Attaches the user's current sessions.
  public func attach(_ user: UserID, receiving option: ReceiveOption) -> Bool {
    let sessions = broker.sessions(of: user)
    state.withLock { state in
      state.calls.append(.attach(user, receiving: option))
      state.attached[user] = sessions
      state.options[user] = option
    }
    return !sessions.isEmpty
  }

  /// Detaches all sessions of the user.
  public func detach(_ user: UserID) {
    state.withLock { state in
      state.calls.append(.detach(user))
      state.attached[user] = nil
    }
  }

  /// Is recorded.
  public func resetCompression() { state.withLock { $0.calls.append(.resetCompression) } }

  /// Sends a frame to all attached sessions but one, by the receive options of their users.
  public func publish(_ frame: [UInt8], _ kind: EventClass, except: SessionKey?) {
    let sessions = state.withLock { state in
      state.calls.append(.publish(String(decoding: frame, as: UTF8.self), kind, except: except))
      let receiving = state.attached.filter { kind.reaches(state.options[$0.key] ?? .receive) }
      return receiving.values.joined().filter { $0 != except }
    }
    broker.deliver(frame, to: sessions)
  }

  /// Sends a frame to all sessions of some users but one.
  public func send(_ frame: [UInt8], to users: [UserID], except: SessionKey?) {
    state.withLock { $0.calls.append(.send(String(decoding: frame, as: UTF8.self), to: users, except: except)) }
    broker.deliver(frame, to: users.flatMap(broker.sessions).filter { $0 != except })
  }

  /// Is recorded.
  public func beginTelling() { state.withLock { $0.calls.append(.beginTelling) } }

  /// Is recorded.
  public func didTell(_ stamp: GroupStamp?) { state.withLock { $0.calls.append(.didTell(stamp)) } }

  /// Whether the users have another session.
  public func hears(_ users: [UserID], except: SessionKey?) -> Bool {
    users.contains { user in broker.sessions(of: user).contains { $0 != except } }
  }

  /// At once, unless the broker holds such calls back.
  public func whenFollowed(_ body: @escaping @Sendable () -> Void) {
    let isFollowed = state.withLock { state in
      if !state.isFollowed { state.waiting.append(body) }
      return state.isFollowed
    }
    if isFollowed { body() }
  }

  /// Answers all who wait to be followed, and later ones at once.
  public func follow() {
    let waiting = state.withLock { state in
      state.isFollowed = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for body in waiting { body() }
  }

  /// At once, unless the broker holds such calls back.
  public func whenTold(_ body: @escaping @Sendable () -> Void) {
    let isTold = state.withLock { state in
      if !state.isTold { state.waitingForSessions.append(body) }
      return state.isTold
    }
    if isTold { body() }
  }

  /// Answers all who wait for sessions to be attached, and later ones at once.
  public func finishAttaching() {
    let waiting = state.withLock { state in
      state.isTold = true
      defer { state.waitingForSessions = [] }
      return state.waitingForSessions
    }
    for body in waiting { body() }
  }

  /// Sends a frame to one session.
  public func send(_ frame: [UInt8], to session: SessionKey) {
    state.withLock { $0.calls.append(.tell(String(decoding: frame, as: UTF8.self), session)) }
    broker.deliver(frame, to: [session])
  }

  /// Detaches all sessions, without remembering their users.
  public func suspend() { close() }

  /// Detaches all sessions.
  public func close() {
    state.withLock { state in
      state.calls.append(.close)
      state.attached = [:]
    }
  }
}

extension EventClass {
  /// Whether a user with an option receives it (Protocol.md, "Receive options").
  fileprivate func reaches(_ option: ReceiveOption) -> Bool {
    switch (self, option) {
    case (.control, _), (.notice, _), (_, .receive), (_, .receiveNotNotify), (_, .notifyFromManagers),
      (.signal, .receiveFromManagers):
      true
    case (.storedChat(let fromManager), .receiveFromManagers), (.liveChat(let fromManager), .receiveFromManagers): fromManager
    case (_, .notReceive): false
    }
  }
}
