import GroupModel
import WireProtocol

/// A turn of a group: who asks, the instants that it is decided at, and the decision so far. Rules
/// take it by reference. It cannot be copied: the lists of its decision have one owner, and grow in
/// place.
struct Turn: ~Copyable {
  let group: GroupID
  /// The origin of the request, or who acts in its place.
  private(set) var caller: Caller
  /// What only stores know of the users whom the request names.
  var facts = UserFacts.none
  /// The instant in the group's history, for everything stored and shown. It stands still while a
  /// clock that was set back catches up.
  let now: WallInstant
  /// The instant for rates, waits and retention, however the wall clock is set.
  let monotonic: MonotonicInstant
  /// The wall clock's instant, for ends of mutes and bans, which must not lie further ahead than
  /// requested.
  let wall: WallInstant
  /// How many users have a session.
  let usersSignedIn: Int
  /// The after-events that are made.
  private let webhooks: WebhookTypes
  var decision = Decision()
  /// The users whose memberships end in this turn.
  var left: [UserID] = []

  /// A turn that begins.
  /// - Parameters:
  ///   - now: the instant in the group's history.
  ///   - clocks: the clocks at that instant.
  init(
    of group: GroupID, by caller: Caller, now: WallInstant, at clocks: ClockReading, usersSignedIn: Int = 0,
    making webhooks: WebhookTypes
  ) {
    self.group = group
    self.caller = caller
    self.now = now
    monotonic = clocks.monotonic
    wall = clocks.wall
    self.usersSignedIn = usersSignedIn
    self.webhooks = webhooks
  }

  /// Ends the turn. Its decision is moved out, because reading it would copy it.
  @inline(__always)
  consuming func finish() -> Decision { exchange(&decision, with: Decision()) }

  // MARK: The operator

  var session: SessionKey? { caller.session }
  var userID: UserID? { caller.userID }
  /// The caller, to be listed with others; empty for an application administrator.
  var callers: [UserID] { caller.userID.map { [$0] } ?? [] }

  /// From here on the turn is that of another request.
  mutating func pass(to caller: Caller, _ facts: UserFacts = .none) {
    self.caller = caller
    self.facts = facts
  }

  /// Lets another act, on the same platform: tips and events name that one.
  mutating func act(as user: UserID, _ body: (inout Turn) -> Void) {
    let other = user == .administrator ? .administrator : Caller.user(user, platform: caller.platform, session: nil)
    let caller = exchange(&self.caller, with: other.with(trace: caller.trace))
    body(&self)
    self.caller = caller
  }

  // MARK: The decision

  /// Stores a change.
  mutating func store(_ change: StoreChange) { decision.changes.append(change) }

  /// Performs something once the decision is durable.
  mutating func perform(_ effect: Effect) { decision.effects.append(effect) }

  /// Answers with a value.
  mutating func answer(_ value: ReplyValue) { decision.answer = .reply(.success(value)) }

  /// Answers with what is read from the store, when it is the caller's turn to read.
  /// - Parameter value: where there is nothing to read.
  mutating func answer(reading stored: StoredAnswer?, else value: ReplyValue = .empty) {
    decision.answer = stored.map { .stored($0, for: caller.requester) } ?? .reply(.success(value))
  }

  /// Answers later: the request is decided over what is looked up.
  mutating func answer(over lookUp: LookUp) { decision.answer = .lookUp(lookUp, by: caller) }

  /// Answers out of what the live room remembers when all that was decided before is delivered.
  mutating func answer(recent question: RecentQuestion) { decision.answer = .recent(question, for: caller.requester) }

  /// Answers over what the live room remembers: the request is decided at once.
  mutating func answer(over lookUp: RecentLookUp) { decision.answer = .recentLookUp(lookUp, by: caller) }

  /// Answers an edit; nil = the content was the same.
  mutating func answer(editTime: WallInstant?) { answer(.modified(ModifyGroupMessage.Result(editTime: editTime))) }

  /// Answers with a row for each user; nil = the request gave no list.
  mutating func answer(_ rows: [MemberResult]?) { answer(rows.map { .memberResults(MemberResults(memberList: $0)) } ?? .empty) }

  /// Answers when the counters are durable as they are now.
  mutating func answer(whenCountersAreDurable value: ReplyValue, isWrite: Bool) {
    decision.answer = .counters(value, isWrite: isWrite)
  }

  /// Answers with the row of a group; nil = the caller gets none.
  mutating func answer(_ row: InfoRow?) {
    guard let row else { return answer(.groupInfo(nil)) }
    if let (member, unread) = row.uncounted { return answer(reading: .info(row, of: member, unread)) }
    let shown = StoredAnswer.shown(.groupInfo(row.info, replies: row.replies))
    answer(reading: row.info.lastMessage == nil ? nil : shown, else: .groupInfo(row.info))
  }

  // MARK: Events

  /// An event of the group.
  func event(_ content: GroupEvent.Content) -> GroupEvent { GroupEvent(groupID: group, opTime: now, content) }

  /// Sends an event to the sessions of all members.
  mutating func publish(_ content: GroupEvent.Content, _ kind: EventClass = .control) {
    decision.effects.append(.publish(event(content), kind, except: nil))
  }

  /// Sends an event to all sessions of some users.
  /// - Parameter session: the one that caused it, and does not get it.
  mutating func send(_ content: GroupEvent.Content, to users: [UserID], except session: SessionKey? = nil) {
    decision.effects.append(.send(event(content), to: users, except: session))
  }

  /// Adds an after-event, where the configuration names its type. Rules post them beside what they
  /// change; imports post none.
  /// - Parameter isDurable: false = nothing of what it tells is stored, and neither is it.
  mutating func post(_ type: WebhookType, _ content: @autoclosure () -> WebhookContent, isDurable: Bool = true) {
    guard webhooks.contains(type) else { return }
    post(type, content(), isDurable: isDurable, trace: caller.trace)
  }

  /// The same for what an earlier request has caused.
  /// - Parameter trace: of that request.
  mutating func post(
    _ type: WebhookType, _ content: @autoclosure () -> WebhookContent, isDurable: Bool = true, trace: TraceContext?
  ) {
    guard webhooks.contains(type) else { return }
    let entry = WebhookEntry(type, content(), in: .group(group), at: now, trace: trace)
    if isDurable { decision.changes.append(.appendWebhook(entry)) }
    decision.effects.append(.post(entry))
  }
}
