import DequeModule
import GroupModel
import WireProtocol

/// The changes of mutes and roles in a live room that its members are not told of yet. Those of a
/// moment share an event: at most 5 in any second, each about up to 50 users, and what a user's last
/// state is always arrives.
struct MemberInfoNotices: Sendable {
  /// The interval between events: at most 5 in any second, also where one is delivered a little late.
  static let intervalMilliseconds: Int64 = 220
  /// The most users of one event.
  static let maxNamed = 50
  /// With so many users waiting no further change is accepted. Users who are no members may be given
  /// roles, so the room does not bound them.
  static let maxWaiting = 10_000

  /// An event that is due.
  struct Notice: Sendable, Equatable {
    let changes: [MemberChange]
    /// Who has made the last of them.
    let by: EventOperator
  }

  private struct Change: Sendable {
    /// Nil = it did not change; unset or past = the user may speak.
    var muteUntil: WallInstant?
    var role: Role?
    var by: EventOperator
    /// The number of the last request that has changed something.
    var number: Int
  }

  private var changes: [UserID: Change] = [:]
  /// The users in the order of their first change.
  private var order: Deque<UserID> = []
  private var lastNumber = 0
  private var lastSent: MonotonicInstant?
  /// Whether an event waits for the store: the next one is not due before it is delivered.
  private var isPostponed = false

  /// Nobody is to be told of.
  init() {}

  /// Whether nobody is to be told of.
  var isEmpty: Bool { order.isEmpty }

  /// Whether no further change is accepted.
  var isFull: Bool { order.count >= MemberInfoNotices.maxWaiting }

  /// What a state that is discarded has not told its members: the events that were lost with its
  /// decisions, and the changes that wait behind them.
  init(lost: [Notice], waiting: MemberInfoNotices) {
    for notice in lost { add(notice.changes, muteUntil: .unset, by: notice.by) }
    for user in waiting.order {
      guard var change = waiting.changes[user] else { continue }
      if changes[user] == nil { order.append(user) }
      change.muteUntil = change.muteUntil ?? changes[user]?.muteUntil
      change.role = change.role ?? changes[user]?.role
      change.number += lastNumber
      changes[user] = change
    }
    lastNumber += waiting.lastNumber
    lastSent = waiting.lastSent
  }

  /// When the next event is due; nil = nobody is to be told of, or an event waits for the store.
  var due: MonotonicInstant? {
    order.isEmpty || isPostponed
      ? nil : lastSent.map { $0.advanced(byMilliseconds: MemberInfoNotices.intervalMilliseconds) } ?? .distantPast
  }

  /// The users of whom the members are to be told.
  var users: [UserID] { Array(order) }

  /// Adds the changes of one request. A user's earlier ones are as they are now.
  /// - Parameter muteUntil: the end of the mutes that changed; unset = they have ended.
  mutating func add(_ members: [MemberChange], muteUntil: WallInstant, by: EventOperator) {
    lastNumber += 1
    for member in members {
      if changes[member.userID] == nil { order.append(member.userID) }
      var change = changes[member.userID] ?? Change(by: by, number: lastNumber)
      if member.muteTime != nil { change.muteUntil = muteUntil }
      if let role = member.role { change.role = role }
      (change.by, change.number) = (by, lastNumber)
      changes[member.userID] = change
    }
  }

  /// Removes the users of the next event, if it is due: those who wait longest.
  /// - Parameter wall: mutes are told by the seconds that are left then.
  mutating func popDue(at now: MonotonicInstant, wall: WallInstant) -> Notice? {
    guard let due, due <= now else { return nil }
    var told: [MemberChange] = []
    var last: Change?
    while told.count < MemberInfoNotices.maxNamed, let user = order.popFirst() {
      guard let change = changes.removeValue(forKey: user) else { continue }
      var member = MemberChange(userID: user)
      member.muteTime = change.muteUntil.map { $0 > wall ? ($0.milliseconds(since: wall) + 999) / 1000 : 0 }
      member.role = change.role
      told.append(member)
      if change.number >= last?.number ?? 0 { last = change }
    }
    guard let last else { return nil }
    lastSent = now
    return Notice(changes: told, by: last.by)
  }

  /// The event that was removed last waits for the store.
  mutating func postpone() { isPostponed = true }

  /// That event is delivered now, which counts for the rate.
  mutating func deliverPostponed(at now: MonotonicInstant) {
    isPostponed = false
    lastSent = now
  }

  /// Brings what is to be told up to date.
  /// - Parameter state: of a user; nil = the members are not told of that user.
  mutating func update(_ state: (UserID) -> (muteUntil: WallInstant, role: Role)?) {
    for user in users {
      guard let now = state(user) else {
        remove(user)
        continue
      }
      if changes[user]?.muteUntil != nil { changes[user]?.muteUntil = now.muteUntil }
      if changes[user]?.role != nil { changes[user]?.role = now.role }
    }
  }

  /// The members are not told of a user any more.
  mutating func remove(_ user: UserID) {
    guard changes.removeValue(forKey: user) != nil else { return }
    order.removeAll { $0 == user }
  }

  /// The members hear of a user's role in another way.
  mutating func removeRole(of user: UserID) {
    guard changes[user] != nil else { return }
    changes[user]?.role = nil
    if changes[user]?.muteUntil == nil { remove(user) }
  }

  /// Nobody is told any more.
  mutating func removeAll() { (changes, order) = ([:], []) }
}

extension MemberInfoNotices.Notice {
  /// The event of such an effect; nil = the effect is another one.
  init?(_ effect: Effect) {
    guard case .publish(let event, _, except: _) = effect,
      case .onGroupMemberInfoChanged(let changes, by: let opUser, _) = event.content
    else { return nil }
    self.init(changes: changes, by: opUser)
  }
}
