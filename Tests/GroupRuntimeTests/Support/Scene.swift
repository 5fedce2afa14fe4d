import Dispatch
import GroupModel
import GroupPermissions
import Synchronization
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// One group without its actor: the pure state, sessions that note what they get, and a store that
/// every decision goes to at once.
final class Scene {
  /// The outcome of a request.
  struct Outcome {
    /// 0 = success.
    let code: Int
    let result: JSON
    /// The error's sentence.
    let message: String?
    let field: String?
    let retryAfterMs: Int64?
    let decision: Decision
    /// The notifications that are kept, and who finds them.
    let notified: [(notification: SystemNotification, users: [UserID])]
    /// The events of each session, by the name the scene gave it; sessions without events are
    /// absent.
    let events: [String: [JSON]]

    /// The sessions that got an event of that name.
    func receivers(of event: String) -> [String] {
      events.filter { $0.value.contains { $0["method"].string == event } }.keys.sorted()
    }

    /// The names of the events that a session got, in order.
    func names(_ session: String) -> [String] { (events[session] ?? []).compactMap { $0["method"].string } }

    /// The params of the only event of that name that a session got.
    func params(_ event: String, to session: String) throws -> JSON {
      let found = (events[session] ?? []).filter { $0["method"].string == event }
      try #require(found.count == 1, "\(event) to \(session): \(found.count)")
      return found[0]["params"]
    }
  }

  let clocks = ManualClocks()
  let broker = RecordingBroker()
  let store = InMemoryStore()
  let rules: GroupRules
  /// What live rooms remember; nil = nothing.
  private let recent: RecentMessages?
  private(set) var recentRoom: RecentRoom?
  private let readingExecutor = QueueTaskExecutor()
  private(set) var topic: any GroupTopic
  private(set) var sessions: [String: SessionKey] = [:]
  var state: GroupState?
  /// The last write of counters, and its after-events as they were stored.
  private(set) var counterWrite: GroupState.CounterWrite?
  private(set) var counterEntries: [WebhookEntry] = []
  /// Everything that was stored.
  var messages: [Message] { store.allMessages(of: "g") }

  /// A scene without a group. Each user has one session, named like the user; a second one is
  /// `name/2`.
  init(
    users: [String] = ["olga", "adam", "mary", "carl", "oscar"], rules: GroupRules = GroupRules(), recent: RecentMessages? = nil
  ) {
    self.rules = rules
    self.recent = recent
    topic = broker.openTopic(of: "g")
    for user in users { signIn(user) }
  }

  /// A group with an owner `olga`, and as far as wanted an admin `adam`, a member `mary` and `carl`
  /// with the role 200, who came in this order, one second after the other, all with no history.
  /// `oscar` stays outside.
  convenience init(
    _ type: GroupType, members: [String: Role] = ["adam": .admin, "mary": .member, "carl": .custom(200)],
    maxMemberNum: Int? = nil,
    rules: GroupRules = GroupRules(), recent: RecentMessages? = nil, policy change: (inout GroupPolicy) -> Void = { _ in }
  ) throws {
    self.init(rules: rules, recent: recent)
    var policy = GroupPolicy.defaults(for: type)
    change(&policy)
    let now = clocks.wall
    let record = GroupRecord(
      id: "g", type: type, epoch: "e", createTime: now, owner: "olga", name: "n",
      maxMemberNum: maxMemberNum ?? (type.limitsMembers ? 6000 : 0),
      policy: policy, nextOrdinal: 5)
    let roles = members.merging(["olga": .owner]) { $1 }
    let list = ["olga", "adam", "mary", "carl"].enumerated().compactMap { index, name in
      roles[name].map { role in
        Member(
          userID: UserID(stringLiteral: name), role: role, joinTime: now + Int64(index) * 1000, ordinal: Int64(index + 1),
          receiveOption: type.defaultReceiveOption)
      }
    }
    clocks.advance(by: 10_000)
    try commit([.putGroup(record, isNew: true)] + list.map { .putMember($0, in: "g") })
    let stored = StoredGroup(record: record, members: list, lastMessage: nil, recentlySent: [])
    state = GroupState(stored, at: clocks.now, rules: rules)
    openRecentRoom()
    for member in list { perform(.attach(member.userID, receiving: member.receiveOption)) }
    if type.everyoneIsMember { for user in broker.signedInUsers() { admit(user) } }
  }

  /// Gives the state the numbers of what is remembered.
  func openRecentRoom() {
    recentRoom = recent?.open("g")
    state?.live = recentRoom?.history
  }

  /// What is remembered is lost, as when the server ends.
  func forgetRecentRoom() {
    recent?.remove("g")
    recentRoom = nil
  }

  /// One more session of a user; the group hears of it.
  func signIn(_ user: String, as name: String? = nil) {
    sessions[name ?? user] = broker.signIn(UserID(stringLiteral: user))
    refreshPresence(of: user)
  }

  /// The end of a session; the group hears of it.
  func signOut(_ name: String) {
    guard let session = sessions.removeValue(forKey: name) else { return }
    broker.signOut(session)
    refreshPresence(of: String(name.prefix { $0 != "/" }))
  }

  func refreshPresence(of user: String) {
    let user = UserID(stringLiteral: user)
    if state?.isMember(user) == true { admit(user) }
  }

  private func admit(_ user: UserID) {
    perform(.attach(user, receiving: state?.receiveOption(of: user) ?? .receive))
  }

  /// `administrator` is the application; `mary/2` is mary on her second session.
  func caller(_ name: String) -> Caller {
    if name == "administrator" { return .administrator }
    return .user(UserID(stringLiteral: String(name.prefix { $0 != "/" })), platform: .web, session: sessions[name])
  }

  /// Decides, stores, acts.
  @discardableResult
  func ask(_ method: String, _ params: String = "{}", by name: String, _ facts: UserFacts = .none) throws -> Outcome {
    let caller = caller(name)
    return try ask(try groupRequest(method, params, by: caller, facts), by: caller)
  }

  /// The same for a request that no method makes alone.
  @discardableResult
  func ask(_ request: GroupOperation, by caller: Caller) throws -> Outcome {
    for session in sessions.values { _ = broker.takeFrames(of: session) }
    let decision = decide(request, by: caller)
    return try apply(decision, by: caller)
  }

  /// Decides changes of several users together; all of them must be such as may share an event.
  func askTogether(_ requests: [(name: String, method: String, params: String)]) throws -> (outcome: Outcome, codes: [Int]) {
    for session in sessions.values { _ = broker.takeFrames(of: session) }
    let crowd = try requests.map { name, method, params in
      let caller = caller(name)
      return try #require(state?.crowdRequest(try groupRequest(method, params, by: caller), by: caller))
    }
    guard let decided = state?.decideTogether(crowd, at: clocks.now) else { throw WireError(.noSuchGroup) }
    let codes = decided.replies.map { if case .failure(let error) = $0 { error.code.rawValue } else { 0 } }
    return (try apply(decided.decision, by: .administrator), codes)
  }

  /// Lets happen what is due by itself.
  @discardableResult
  func wake() throws -> Outcome {
    for session in sessions.values { _ = broker.takeFrames(of: session) }
    let decision = state?.wake(at: clocks.now, usersSignedIn: broker.usersSignedIn) ?? Decision(answer: .reply(.empty))
    try commitCounters()
    return try apply(decision, by: .administrator)
  }

  /// Stores changes of counters, and publishes what is due.
  private func commitCounters(isLast: Bool = false) throws {
    if let write = state?.beginCounterWrite(isLast: isLast, at: clocks.now) {
      counterEntries = try commit(write.changes)
      counterWrite = write
      state?.counters.didWrite(write.entries)
    }
    if let event = state?.popCounterEvent(at: clocks.now) { perform(.publish(event, .control, except: nil)) }
  }

  private func apply(_ decision: Decision, by caller: Caller) throws -> Outcome {
    var decision = decision
    if decision.disbands { try commitCounters(isLast: true) }
    if case .counters = decision.answer { try commitCounters() }
    if !decision.changes.isEmpty { decision.effects.replace(by: try commit(decision.changes)) }
    let notified = decision.changes.compactMap { self.notified(by: $0) }
    for effect in decision.effects { perform(effect) }
    if decision.disbands { state = nil }
    var events: [String: [JSON]] = [:]
    for (name, session) in sessions {
      let frames = try broker.takeFrames(of: session).map { try JSON($0) }
      if !frames.isEmpty { events[name] = frames }
    }
    let reply: Reply
    switch decision.answer {
    case .reply(let given): reply = given
    case .counters(let value, _): reply = .success(value)
    case .stored(let answer, _): reply = self.reply(to: answer)
    case .recent(let question, _):
      guard let found = recentRoom?.answer(to: question, at: clocks.monotonic) else { throw WireError(.temporary) }
      let reader = self.reader
      reply = waitFor { await reader.reply(to: found) }
    case .recentLookUp(let lookUp, let caller):
      return try ask(.foundRecent(lookUp, recentRoom?.message(for: lookUp, at: clocks.monotonic)), by: caller)
    case .lookUp(let lookUp, let caller):
      let operation = try waitFor { [store] in try await lookUp.read(from: store, in: "g", for: caller) }
      defer { state?.messages.recentChanges.removeAll() }
      return try ask(operation, by: caller)
    }
    switch reply {
    case .success(let value):
      return Outcome(
        code: 0, result: try JSON(Encoded(value).text), message: nil, field: nil, retryAfterMs: nil, decision: decision,
        notified: notified, events: events)
    case .failure(let error):
      return Outcome(
        code: error.code.rawValue, result: .null, message: error.message, field: error.field, retryAfterMs: error.retryAfterMs,
        decision: decision, notified: notified, events: events)
    }
  }

  private func notified(by change: StoreChange) -> (notification: SystemNotification, users: [UserID])? {
    let members = state.map { Array($0.roster.all) } ?? []
    return switch change {
    case .notify(let notification, .users(let users)): (notification, users)
    case .notify(let notification, .managers): (notification, members.filter(\.role.isManager).map(\.userID))
    case .dismiss(_, _, let notification?): (notification, members.map(\.userID))
    default: nil
    }
  }

  private func decide(_ request: GroupOperation, by caller: Caller) -> Decision {
    if let decision = state?.decide(request, by: caller, at: clocks.now, usersSignedIn: broker.usersSignedIn) { return decision }
    do throws(WireError) {
      let made = try GroupState.create(request, id: "g", by: caller, at: clocks.now, rules: rules)
      state = made.state
      return made.decision
    } catch {
      return Decision(answer: .reply(.failure(error)))
    }
  }

  /// The answer with the stored messages that it names.
  private func reply(to answer: StoredAnswer) -> Reply {
    let reader = self.reader
    return waitFor { await reader.reply(to: answer) }
  }

  private var reader: StoredAnswerReader {
    StoredAnswerReader(
      group: "g", messages: store, profiles: ProfileCache(store: store), observer: RecordingObserver(),
      pageBytes: rules.limits.pageBytes, didCount: { _, _ in })
  }

  /// Tests wait here, so the reading has a thread of its own.
  private func waitFor<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () async throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let result = Mutex<Result<Value, Failure>?>(nil)
    let done = DispatchSemaphore(value: 0)
    Task(executorPreference: readingExecutor) {
      let outcome: Result<Value, Failure>
      do throws(Failure) {
        outcome = .success(try await body())
      } catch {
        outcome = .failure(error)
      }
      result.withLock { $0 = outcome }
      done.signal()
    }
    done.wait()
    guard let outcome = result.withLock({ $0 }) else { preconditionFailure("the reading has signalled without a result") }
    return try outcome.get()
  }

  /// Returns when the changes are stored.
  /// - Returns: the after-events among them as they are stored.
  @discardableResult
  func commit(_ changes: [StoreChange]) throws -> [WebhookEntry] {
    let done = DispatchSemaphore(value: 0)
    let outcome = Mutex<Commit.Answer>(.success([]))
    store.commit(
      Commit(changes: changes, generation: CommitGeneration()) { answer in
        outcome.withLock { $0 = answer }
        done.signal()
      })
    done.wait()
    return try outcome.withLock { $0 }.get()
  }

  private func perform(_ effect: Effect) {
    switch effect {
    case .attach(let user, let option), .setReceiveOption(let user, let option):
      state?.setOnline(user, topic.attach(user, receiving: option), since: clocks.monotonic)
    case .attachSignedInUsers: for user in broker.signedInUsers() { admit(user) }
    case .detach(let user): topic.detach(user)
    case .publish(let event, let kind, let session):
      if let recentRoom, let message = RecentMessage(event) { recentRoom.append(message, at: clocks.monotonic) }
      topic.publish(event.frame, kind, except: session)
    case .send(let event, let users, let session): topic.send(event.frame, to: users, except: session)
    case .sendToSession(let event, let session): topic.send(event.frame, to: session)
    case .forgetContent(let seq, let changeSeq):
      recentRoom?.recall(seq, changeSeq: changeSeq)
      state?.live?.didRecall(seq)
    case .disband:
      forgetRecentRoom()
      topic.close()
      topic = broker.openTopic(of: "g")
    case .noteReceipts(let seqs):
      // A round at once: ReceiptNoticesTests and ReadReceiptActorTests have rounds that wait.
      let (store, epoch) = (store, state?.record.epoch ?? "")
      let counts = waitFor { (try? await store.receiptCounts(of: seqs, in: "g", epoch: epoch)) ?? [] }
      for effect in state?.receiptEvents(counts, at: clocks.wall) ?? [] { perform(effect) }
    case .post: break
    }
  }
}
