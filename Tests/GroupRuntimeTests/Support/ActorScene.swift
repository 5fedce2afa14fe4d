import Dispatch
import GroupModel
import GroupPermissions
import GroupRuntime
import Synchronization
import Testing
import ThrongTestKit
import WireProtocol

/// Groups with fakes around them: a store that can be slow or fail, sessions that record their
/// frames.
final class ActorScene: Sendable {
  let clocks = ManualClocks()
  let alarms = ManualAlarms()
  let broker = RecordingBroker()
  let store: InMemoryStore
  let observer = RecordingObserver()
  let executor = SerialTestExecutor()
  let registry: GroupRegistry
  let profiles: ProfileCache
  /// What live rooms remember; nil = nothing.
  let recent: RecentMessages?
  private let sessions = Mutex<[String: SessionKey]>([:])

  init(
    users: [String] = ["olga", "adam", "mary", "oscar"], store: InMemoryStore = InMemoryStore(),
    groups: (any GroupStore)? = nil, messages: (any MessageStore)? = nil,
    profileStore: (any UserStore)? = nil, limits: GroupLimits = .standard, permissions: GroupPermissions = GroupPermissions(),
    recent: RecentMessages? = nil, leadership: (any GroupLeadership)? = nil, keepsStamps: Bool = false
  ) {
    self.store = store
    self.recent = recent
    profiles = ProfileCache(store: profileStore ?? store)
    registry = GroupRegistry(
      services: GroupServices(
        groups: groups ?? store, messages: messages ?? store, profiles: profiles, broker: broker, clocks: clocks, alarms: alarms,
        rules: GroupRules(permissions: permissions, limits: limits), observer: observer, leadership: leadership, recent: recent,
        keepsStamps: keepsStamps),
      executors: [executor])
    for user in users { signIn(user) }
  }

  /// Starts a session of a user; groups are not notified.
  func signIn(_ user: String, as name: String? = nil) {
    let session = broker.signIn(UserID(stringLiteral: user))
    sessions.withLock { $0[name ?? user] = session }
  }

  /// Ends a session; groups are not notified.
  func signOut(_ name: String) {
    if let session = sessions.withLock({ $0.removeValue(forKey: name) }) { broker.signOut(session) }
  }

  /// Notifies a group of a user's sessions, and waits for it.
  func refresh(_ user: String, in group: GroupID = "g") async {
    await withCheckedContinuation { continuation in
      registry.group(group).enqueue(.presence(Group.Presence(of: UserID(stringLiteral: user))) { continuation.resume() })
    }
  }

  /// Notifies the user's groups of a sign-in, and of the absence that it ends.
  func welcome(_ user: String, awaySince: WallInstant? = nil) async throws {
    let user = UserID(stringLiteral: user)
    let memberships = try await store.memberships(of: user)
    await registry.presenceChanged(Group.Presence(of: user, awaySince: awaySince), in: memberships)
  }

  /// Lets time pass, and rings the alarms that are due.
  func advance(by milliseconds: Int64) {
    clocks.advance(by: milliseconds)
    ringDueAlarms()
  }

  /// Sets the wall clock, and rings the alarms that are due.
  func moveWall(by milliseconds: Int64) {
    clocks.moveWall(by: milliseconds)
    ringDueAlarms()
  }

  private func ringDueAlarms() {
    alarms.ring(upTo: clocks.monotonic)
    settle()
  }

  /// An AVChatRoom of olga's with mary and a limit of messages a second, without pending notices.
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
  /// - Returns: the status in the reply.
  func say(by name: String = "mary", _ priority: String = "Normal") async throws -> String? {
    try await ask("sendGroupTextMessage", #"{"text":"x","priority":"\#(priority)"}"#, by: name).result["status"].string
  }

  /// Lets pending notices of a live room be sent; the next one is sent at once.
  func waitForNotices() { for _ in 0..<2 { advance(by: 1000) } }

  func caller(_ name: String) -> Caller {
    if name == "administrator" { return .administrator }
    return .user(UserID(stringLiteral: name), platform: .web, session: sessions.withLock { $0[name] })
  }

  /// The code and the result of a reply.
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

  /// Enqueues a request without waiting for its reply.
  func begin(_ method: String, _ params: String = "{}", by name: String, of group: Group? = nil) throws -> Pending {
    let caller = caller(name)
    let pending = Pending()
    (group ?? registry.group("g")).enqueue(
      .request(try groupRequest(method, params, by: caller), by: caller) { pending.complete($0) })
    return pending
  }

  /// A Public group that everybody can join, with olga, adam as Admin, and mary.
  func makeGroup(_ type: String = "Public") async throws {
    let fields = type == "Public" ? #","joinMode":"Any","memberList":[{"userID":"adam","role":"Admin"},{"userID":"mary"}]"# : ""
    let made = try await ask("createGroup", #"{"groupType":"\#(type)","groupName":"n"\#(fields)}"#, by: "olga")
    try #require(made.code == 0)
    for name in ["olga", "adam", "mary", "oscar"] { _ = events(name) }
  }

  /// Runs all that is queued on the groups' executor.
  func settle() { executor.drain() }

  /// Waits until another thread fulfils a condition.
  func wait(file: StaticString = #fileID, line: Int = #line, until condition: () -> Bool) async throws {
    try await waitUntil("another thread fulfils the condition", file: file, line: line) { condition() }
    settle()
  }

  /// The names of the events that a session received since the last call.
  func events(_ name: String) -> [String] {
    frames(name).map { frame in (try? JSON(frame))?["method"].string ?? "no JSON: \(frame)" }
  }

  /// The params of the events of one name that a session received since the last call.
  func params(_ event: String, to name: String) throws -> [JSON] {
    try frames(name).map { try JSON($0) }.filter { $0["method"].string == event }.map { $0["params"] }
  }

  /// The texts of the events that a session received since the last call.
  func frames(_ name: String) -> [String] {
    guard let session = sessions.withLock({ $0[name] }) else { return [] }
    return broker.takeFrames(of: session)
  }
}

/// A reply that may still come.
final class Pending: Sendable {
  private struct State {
    var reply: Reply?
    var count = 0
    var waiting: [CheckedContinuation<Reply, Never>] = []
  }

  private let state = Mutex(State())

  /// Whether the reply has come.
  var isAnswered: Bool { state.withLock { $0.count > 0 } }
  /// How often a reply has come: must be once.
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
