import Dispatch
import GroupModel
import GroupRuntime
import Synchronization
import Testing
import ThrongTestKit
import WireProtocol

/// Groups with everything around them: a registry, a store that can be slow or fail, sessions that
/// note what they get.
final class ActorScene: Sendable {
  let clock = ManualClock()
  let uptime = ManualUptime()
  let alarms = ManualAlarms()
  let broker = RecordingBroker()
  let store: InMemoryStore
  let observer = RecordingObserver()
  let executor = SerialTestExecutor()
  let registry: GroupRegistry
  private let sessions = Mutex<[String: SessionKey]>([:])

  init(
    users: [String] = ["olga", "adam", "mary", "oscar"], store: InMemoryStore = InMemoryStore(),
    groups: (any GroupStore)? = nil, messages: (any MessageStore)? = nil, limits: GroupLimits = .standard
  ) {
    self.store = store
    registry = GroupRegistry(
      services: GroupServices(
        groups: groups ?? store, messages: messages ?? store, broker: broker, clock: clock, uptime: uptime, alarms: alarms,
        rules: GroupRules(limits: limits), observer: observer),
      executors: [executor])
    for user in users { signIn(user) }
  }

  /// One more session of a user; groups do not hear of it.
  func signIn(_ user: String, as name: String? = nil) {
    let session = broker.signIn(UserID(stringLiteral: user))
    sessions.withLock { $0[name ?? user] = session }
  }

  /// The end of a session; groups do not hear of it.
  func signOut(_ name: String) {
    if let session = sessions.withLock({ $0.removeValue(forKey: name) }) { broker.signOut(session) }
  }

  /// Tells a group to look at a user's sessions, and waits until it has.
  func refresh(_ user: String, in group: GroupID = "g") async {
    await withCheckedContinuation { continuation in
      registry.group(group).presenceChanged(Group.Presence(of: UserID(stringLiteral: user))) { continuation.resume() }
    }
  }

  /// The last step of a sign-in: groups of the user learn of the new session, live rooms
  /// also of a long absence.
  func welcome(_ user: String, awaySince: Instant? = nil) async throws {
    let user = UserID(stringLiteral: user)
    let memberships = try await store.memberships(of: user)
    await registry.presenceChanged(Group.Presence(of: user, awaySince: awaySince), in: memberships)
  }

  /// Lets time pass and those alarms ring that fall due.
  func advance(by milliseconds: Int64) {
    clock.advance(by: milliseconds)
    alarms.ring(upTo: clock.now())
    settle()
  }

  /// An AVChatRoom of olga's with mary, so many messages a second, in which all has been quiet.
  static func liveRoom(_ limit: Int = 1) async throws -> ActorScene {
    var limits = GroupLimits.standard
    limits.messagesPerSecond = [.avChatRoom: limit]
    let scene = ActorScene(limits: limits)
    try await scene.makeGroup("AVChatRoom")
    try await scene.ask("joinGroup", by: "mary")
    scene.waitForNotices()
    for name in ["olga", "mary"] { _ = scene.events(name) }
    return scene
  }

  /// Sends a text.
  /// - Returns: what the reply says has become of it.
  func say(by name: String = "mary", _ priority: String = "Normal") async throws -> String? {
    try await ask("sendGroupTextMessage", #"{"text":"x","priority":"\#(priority)"}"#, by: name).result["status"].string
  }

  /// The join and leave notices of a live room have left, and the next one leaves at once.
  func waitForNotices() { for _ in 0..<2 { advance(by: 1000) } }

  func caller(_ name: String) -> Caller {
    if name == "administrator" { return .administrator }
    return .user(UserID(stringLiteral: name), platform: .web, session: sessions.withLock { $0[name] })
  }

  /// The code and the result of a request, once it is answered.
  struct Answer: Equatable, Sendable {
    let code: Int
    let result: JSON

    init(_ reply: Reply) throws {
      switch reply {
      case .success(let value): (code, result) = (0, try JSON(Encoded(value).text))
      case .failure(let error): (code, result) = (error.code.rawValue, .null)
      }
    }
  }

  @discardableResult
  func ask(_ method: String, _ params: String = "{}", by name: String, of group: GroupID = "g") async throws -> Answer {
    let caller = caller(name)
    return try Answer(await registry.group(group).ask(try groupRequest(method, params, of: group, by: caller), by: caller))
  }

  /// Asks now and lets the answer come when it comes. Requests stand in the group's order when this
  /// returns.
  func begin(_ method: String, _ params: String = "{}", by name: String, of group: Group? = nil) throws -> Pending {
    let caller = caller(name)
    let pending = Pending()
    (group ?? registry.group("g")).ask(try groupRequest(method, params, by: caller), by: caller) { pending.complete($0) }
    return pending
  }

  /// A Public group that everybody can join, with olga, adam as Admin, and mary.
  func makeGroup(_ type: String = "Public") async throws {
    let fields = type == "Public" ? #","joinMode":"Any","memberList":[{"userID":"adam","role":"Admin"},{"userID":"mary"}]"# : ""
    let made = try await ask("createGroup", #"{"groupType":"\#(type)","groupName":"n"\#(fields)}"#, by: "olga")
    try #require(made.code == 0)
    for name in ["olga", "adam", "mary", "oscar"] { _ = events(name) }
  }

  /// Lets everything that is queued on the group's executor happen.
  func settle() { executor.drain() }

  /// The names of the events that a session got since this was last asked.
  func events(_ name: String) -> [String] {
    frames(name).map { frame in (try? JSON(frame))?["method"].string ?? "no JSON: \(frame)" }
  }

  /// The params of the events of one name that a session got since it was last asked for events.
  func params(_ event: String, to name: String) throws -> [JSON] {
    try frames(name).map { try JSON($0) }.filter { $0["method"].string == event }.map { $0["params"] }
  }

  private func frames(_ name: String) -> [String] {
    guard let session = sessions.withLock({ $0[name] }) else { return [] }
    return broker.takeFrames(of: session)
  }
}

/// An answer to come.
final class Pending: Sendable {
  private struct State {
    var reply: Reply?
    var count = 0
    var waiting: [CheckedContinuation<Reply, Never>] = []
  }

  private let state = Mutex(State())

  /// Whether the answer has come.
  var isAnswered: Bool { state.withLock { $0.count > 0 } }
  /// How often the answer has come, which must be once.
  var count: Int { state.withLock { $0.count } }

  func complete(_ reply: Reply) {
    let waiting = state.withLock { state in
      state.reply = reply
      state.count += 1
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: reply) }
  }

  func answer() async throws -> ActorScene.Answer {
    let reply = await withCheckedContinuation { continuation in
      let reply = state.withLock { state in
        if state.reply == nil { state.waiting.append(continuation) }
        return state.reply
      }
      if let reply { continuation.resume(returning: reply) }
    }
    return try ActorScene.Answer(reply)
  }
}
