import GroupModel
import WireProtocol

/// The members of a group: their records, the order of their lists, who is online or absent, and
/// the records of former members. Each change keeps all of these in step.
struct Roster: Sendable {
  /// The records of a user who was removed, or whose role as no member has changed.
  struct Removal {
    /// The record to keep of the user; nil where none is of use.
    let former: FormerMember?
    /// The former members whose records are deleted: of no use any more, or because only so many are
    /// kept.
    let forgotten: [UserID]
  }

  private let type: GroupType
  private var members: [UserID: Member]
  private var order: MemberOrder
  private(set) var former: FormerMembers
  /// The members with a session.
  private var online: Set<UserID> = []
  /// The members without a session, by their receive options; nil until the first message for which they are
  /// looked for.
  private var away: AwayMembers?
  /// The members who have hidden the group in their own lists: few of them.
  private(set) var hidden: Set<UserID>
  /// Those of them whom a message that mentions nobody may bring back: most messages look at these, and few
  /// stay here for long.
  private(set) var hiddenHearing: Set<UserID>
  /// The members without a session who are removed when their grace ends.
  private var absent: AbsentMembers
  /// Where changes of mutes and roles may have to be told again; nil in other types.
  private var infoChanges: InfoChanges?
  /// Where the earliest member follows an owner who quits; nil in other types.
  private var earliest: EarliestMembers?
  /// The ordinal that the next member gets.
  private(set) var nextOrdinal: Int64
  /// Another one since users were added or removed.
  private(set) var version = 0
  /// No member has cleared the history beyond this message.
  private(set) var clearedMax: Int64
  /// No membership begins behind this message.
  private(set) var firstVisibleMax: Int64

  /// The roster of a group that is being loaded. The store's instants may lie ahead of `now`,
  /// because the wall clock was set back since.
  init(_ stored: StoredGroup, at now: ClockReading) {
    type = stored.record.type
    members = Dictionary(uniqueKeysWithValues: stored.members.map { ($0.userID, $0) })
    order = MemberOrder(
      stored.members, keeping: type.everyoneIsMember ? .none : type.listsNewestMembers ? .arrivals : .all)
    clearedMax = stored.members.lazy.map(\.clearedSeq).max() ?? 0
    firstVisibleMax = stored.members.lazy.map(\.firstVisibleSeq).max() ?? 0
    former = FormerMembers(
      stored.former, at: now.wall,
      recordedSince: FormerMembers.recordedSince(stored.record.departuresSince, stored.former, at: now.wall))
    infoChanges = type.mergesMemberInfo ? InfoChanges(stored.members) : nil
    earliest = type.storesMessages ? EarliestMembers(stored.members) : nil
    hidden = Set(stored.members.lazy.filter(\.conversation.isHidden).map(\.userID))
    hiddenHearing = type.countsUnread ? Set(stored.members.lazy.filter(\.isHiddenHearing).map(\.userID)) : []
    // A user who was offline when added is absent since then.
    let joinTimes = members.mapValues(\.joinTime)
    absent = AbsentMembers(
      since: Dictionary(uniqueKeysWithValues: stored.offlineSince.map { ($0, now.monotonic(of: max($1, joinTimes[$0] ?? $1))) }))
    nextOrdinal = max(stored.record.nextOrdinal, (stored.members.map(\.ordinal).max() ?? 0) + 1)
  }

  // MARK: Reading

  /// The recorded member. A group that everyone is a member of records only those it knows more of.
  subscript(user: UserID) -> Member? { members[user] }

  /// How many members are recorded.
  var count: Int { members.count }

  /// The recorded members, in no order.
  var all: some Collection<Member> { members.values }

  /// The recorded members, in no order.
  var userIDs: [UserID] { Array(members.keys) }

  /// Whether the user is a member, recorded or not.
  func isMember(_ user: UserID) -> Bool { type.everyoneIsMember || members[user] != nil }

  /// The member, recorded or not; nil = not a member.
  func member(_ user: UserID) -> Member? {
    if let member = members[user] { return member }
    guard type.everyoneIsMember else { return nil }
    return Member(userID: user, role: .member, joinTime: .unset, ordinal: 0, receiveOption: type.defaultReceiveOption)
  }

  /// The members of a live room whose info was changed at or after an instant, the latest of many.
  func changedMembers(since: WallInstant) -> [Member] { infoChanges?.changed(since: since, among: members) ?? [] }

  /// The receive option of a member, or of a new one.
  func receiveOption(of user: UserID) -> ReceiveOption { members[user]?.receiveOption ?? type.defaultReceiveOption }

  /// The members who get a message that names its readers: its sender and those named, as their receive
  /// options say.
  func receivers(of message: Message) -> [UserID] {
    ([message.sender] + (message.extras?.toUserIDList ?? [])).filter { user in
      guard let option = members[user]?.receiveOption else { return false }
      return option != .notReceive && (option != .receiveFromManagers || message.isFromManager)
    }
  }

  /// How many members the group shows.
  /// - Parameter usersSignedIn: the members of a group that everyone is a member of.
  func memberCount(usersSignedIn: Int) -> Int { type.everyoneIsMember ? usersSignedIn : members.count }

  /// How many members have a session.
  func onlineCount(usersSignedIn: Int) -> Int { type.everyoneIsMember ? usersSignedIn : online.count }

  func isOnline(_ user: UserID) -> Bool { online.contains(user) }

  /// The members without a session whose devices show a message, in no order.
  mutating func awayMembers(toldFromManager isFromManager: Bool, mentionsAll: Bool) -> [UserID] {
    let away = away ?? AwayMembers(members.values) { !online.contains($0) }
    self.away = away
    return away.told(isFromManager: isFromManager, mentionsAll: mentionsAll)
  }

  /// Whether no member is without a session.
  var isEverybodyOnline: Bool { online.count == members.count }

  /// The owner and the admins, in order.
  var managers: [UserID] { order.managers.map(\.userID).sorted() }

  /// The role that a user would have as a member, where roles outlive leaving.
  func roleOfAbsent(_ user: UserID) -> Role { former[user]?.role ?? .member }

  /// Whether the user was removed with a ban that has not ended.
  func isBanned(_ user: UserID, at now: WallInstant) -> Bool { former[user].map { $0.bannedUntil > now } ?? false }

  /// Whether the user has quit within a day.
  func hasQuit(_ user: UserID, at now: WallInstant) -> Bool { former[user].map { $0.hasQuit(at: now) } ?? false }

  // MARK: Lists

  /// A page of the members that the type lists, or of those with a role of that rank.
  /// - Parameter since: lists those alone whose info has changed at or after it; a type that lists
  ///   the newest members passes over it.
  mutating func page(rank: Int?, changedSince since: WallInstant? = nil, after nextSeq: Int64, count: Int) -> MemberOrder.Page {
    type.listsNewestMembers
      ? order.newestPage(of: members, rank: rank, after: nextSeq, count: count)
      : order.page(of: members, rank: rank, changedSince: since, after: nextSeq, count: count)
  }

  /// A page of the members with a mute of their own.
  mutating func mutedPage(at now: WallInstant, after nextSeq: Int64, count: Int) -> MemberOrder.Page {
    order.mutedPage(of: members, at: now, after: nextSeq, count: count)
  }

  /// A page of the users under a ban, the soonest end first.
  mutating func bannedPage(at now: WallInstant, after nextSeq: Int64, count: Int) -> BanOrder.Page {
    former.bannedPage(at: now, after: nextSeq, count: count)
  }

  /// The users who have left since an instant, the latest first.
  mutating func departures(since: WallInstant, at now: WallInstant) -> GetGroupMemberList.Departures {
    former.departures(since: since, at: now)
  }

  /// Ends a user's ban.
  /// - Returns: the record without the ban; nil = the user is under none.
  mutating func liftBan(of user: UserID, at now: WallInstant) -> FormerMember? { former.liftBan(of: user, at: now) }

  /// The member who becomes owner when the owner quits: "the earliest-joined member (ties: the
  /// order of memberList)".
  mutating func findSuccessor() -> Member? {
    if let successor = earliest?.first(among: members) { return successor }
    // Those who were kept have left: once for many who go.
    let earliest = EarliestMembers(members.values)
    if self.earliest != nil { self.earliest = earliest }
    return earliest.first(among: members)
  }

  // MARK: Changing members

  /// Adds a member with the next ordinal. The visible ranges, the cleared history and the mute of an
  /// earlier membership apply again, and a role that has outlived it takes the place of Member.
  /// - Parameters:
  ///   - joinTime: the start of the membership, long ago for one that is imported.
  ///   - now: tells whether the visible ranges are still remembered.
  ///   - complete: sets further fields, `firstVisibleSeq` among them; it may change the mute.
  /// - Returns: the member, and whether the record of an earlier membership is to be deleted.
  mutating func add(
    _ user: UserID, role: Role, joinTime: WallInstant, at now: WallInstant, _ complete: (inout Member) -> Void
  ) -> (member: Member, wasFormer: Bool) {
    var member = Member(
      userID: user, role: role, joinTime: joinTime, ordinal: nextOrdinal, receiveOption: type.defaultReceiveOption)
    nextOrdinal += 1
    version += 1
    let known = former.remove(user)
    if let known {
      member.muteUntil = known.muteUntil
      member.mutedAt = known.mutedAt
      member.clearedSeq = known.clearedSeq
      if role == .member, let kept = known.role { member.role = kept }
    }
    complete(&member)
    if let known { member.earlierVisibleRanges = known.visibleRanges(at: now).below(member.firstVisibleSeq) }
    put(member)
    return (member, known != nil)
  }

  /// Changes a member, and records one who was not recorded.
  /// - Returns: the changed member; nil = not a member.
  @discardableResult
  mutating func update(_ user: UserID, _ change: (inout Member) -> Void) -> Member? {
    guard var member = member(user) else { return nil }
    change(&member)
    put(member)
    return member
  }

  private mutating func put(_ member: Member) {
    clearedMax = max(clearedMax, member.clearedSeq)
    firstVisibleMax = max(firstVisibleMax, member.firstVisibleSeq)
    let previous = members.updateValue(member, forKey: member.userID)
    order.update(member, was: previous, among: members)
    if away != nil { noteOption(of: member, was: previous) }
    infoChanges?.note(member, was: previous, among: members)
    earliest?.update(member, was: previous)
    guard member.conversation.isHidden || previous?.conversation.isHidden == true else { return }
    if member.conversation.isHidden { hidden.insert(member.userID) } else { hidden.remove(member.userID) }
    guard type.countsUnread else { return }
    if member.isHiddenHearing { hiddenHearing.insert(member.userID) } else { hiddenHearing.remove(member.userID) }
  }

  private mutating func noteOption(of member: Member, was previous: Member?) {
    guard member.receiveOption != previous?.receiveOption, !online.contains(member.userID) else { return }
    if let previous { away?.remove(member.userID, previous.receiveOption) }
    away?.insert(member.userID, member.receiveOption)
  }

  /// Removes a member, and keeps a record while there is something to apply when the user comes
  /// back.
  /// - Parameters:
  ///   - visibleRange: the messages that this membership has shown; nil = none to remember.
  ///   - hasQuit: the user ends the membership, nobody else does.
  ///   - keepsRole: false = the role ends with the membership also where roles outlive leaving.
  mutating func remove(
    _ user: UserID, visibleRange: ClosedRange<Int64>?, bannedUntil: WallInstant, banReason: String, hasQuit: Bool = false,
    keepsRole: Bool = true, at now: WallInstant
  ) -> Removal {
    online.remove(user)
    absent.remove(user)
    guard let member = members.removeValue(forKey: user) else { return Removal(former: nil, forgotten: []) }
    order.update(nil, was: member, among: members)
    earliest?.update(nil, was: member)
    away?.remove(user, member.receiveOption)
    hidden.remove(user)
    hiddenHearing.remove(user)
    version += 1
    var record = FormerMember(
      userID: user, visibleRanges: member.earlierVisibleRanges + (visibleRange.map { [$0] } ?? []),
      muteUntil: member.muteUntil > now ? member.muteUntil : .unset, bannedUntil: bannedUntil, leftTime: now)
    record.mutedAt = member.mutedAt
    record.banReason = banReason
    // A cleared history stays cleared; what the user kept about the group does not.
    record.clearedSeq = member.clearedSeq
    // Members of live rooms come and go too often.
    record.isListed = type.storesMessages
    // Nobody is made a member of other types by somebody else.
    if hasQuit, type.storesMessages { record.quitTime = now }
    if keepsRole, type.keepsRolesOfAbsent, member.role != .owner, member.role != .member { record.role = member.role }
    guard record.isMemorable(at: now) else { return Removal(former: nil, forgotten: []) }
    return Removal(former: record, forgotten: former.add(record, at: now))
  }

  /// Gives a user who is no member a role for the time of the next membership, or ends it with Member.
  mutating func setRole(ofAbsent user: UserID, to role: Role, at now: WallInstant) -> Removal {
    var record = former[user] ?? FormerMember(userID: user, leftTime: now)
    record.role = role == .member ? nil : role
    guard record.isMemorable(at: now) else {
      _ = former.remove(user)
      return Removal(former: nil, forgotten: [user])
    }
    return Removal(former: record, forgotten: former.add(record, at: now))
  }

  /// Forgets what is of use to a former member alone; a ban and a mute stay.
  /// - Returns: nil = there is no record.
  mutating func eraseFormer(_ user: UserID, at now: WallInstant) -> Removal? {
    guard let known = former.erase(user) else { return nil }
    var record = FormerMember(
      userID: user, muteUntil: known.muteUntil > now ? known.muteUntil : .unset,
      bannedUntil: known.bannedUntil > now ? known.bannedUntil : .unset, leftTime: known.leftTime)
    record.mutedAt = known.mutedAt
    record.banReason = record.bannedUntil.isSet ? known.banReason : ""
    guard record.isMemorable(at: now) else { return Removal(former: nil, forgotten: [user]) }
    return Removal(former: record, forgotten: former.add(record, at: now))
  }

  // MARK: Presence

  /// A session of a member began.
  mutating func setOnline(_ user: UserID) {
    guard let option = members[user]?.receiveOption else { return }
    online.insert(user)
    absent.remove(user)
    away?.remove(user, option)
  }

  /// The last session of a member ended. "Except the owner, who never leaves that way."
  mutating func setOffline(_ user: UserID, since instant: MonotonicInstant) {
    guard let member = members[user] else { return }
    online.remove(user)
    away?.insert(user, member.receiveOption)
    if type.removesAbsentMembers, member.role != .owner { absent.add(user, since: instant) }
  }

  /// Members of whom no absence is known are absent since an instant, unless they are present.
  mutating func setAbsent(except present: Set<UserID>, since instant: MonotonicInstant) {
    // They come online on a loop.
    online.reserveCapacity(present.count)
    guard type.removesAbsentMembers else { return }
    for member in members.values where member.role != .owner && !present.contains(member.userID) {
      absent.add(member.userID, since: instant)
    }
  }

  /// The instant since which a member is absent; nil = not absent.
  func absentSince(_ user: UserID) -> MonotonicInstant? { absent[user] }

  /// When the grace of the member who is absent longest ends; nil = no member is absent.
  func firstGraceEnd(afterMilliseconds grace: Int64) -> MonotonicInstant? { absent.firstEnd(afterMilliseconds: grace) }

  /// The members absent for that long, the longest first, at most so many. Their absences end with
  /// this; the caller removes the members.
  mutating func popAbsent(forMilliseconds grace: Int64, at now: MonotonicInstant, atMost count: Int) -> [Member] {
    absent.removeExpired(afterMilliseconds: grace, at: now, atMost: count).compactMap { members[$0] }.filter { $0.role != .owner }
  }

  // MARK: Ends of mutes and bans

  /// Moves back the ends that were decided at an instant still to come.
  /// - Returns: the records that changed.
  mutating func correctEnds(by correction: ClockCorrection) -> (members: [Member], former: [FormerMember]) {
    let lasting = members.values.filter { $0.muteUntil.isSet && $0.mutedAt > correction.now }.map(\.userID)
    let corrected = lasting.compactMap { user in
      update(user) { member in
        let lead = correction.lead(of: member.mutedAt)
        member.muteUntil -= lead
        member.mutedAt -= lead
      }
    }
    guard former.hasDeparture(after: correction.now) else { return (corrected, []) }
    let correctedFormer = former.updateAll(at: correction.now) { former in
      let (mute, leaving) = (correction.lead(of: former.mutedAt), correction.lead(of: former.leftTime))
      if former.muteUntil.isSet { former.muteUntil -= mute }
      former.mutedAt -= mute
      if former.bannedUntil.isSet { former.bannedUntil -= leaving }
      former.leftTime -= leaving
      if former.quitTime.isSet { former.quitTime -= leaving }
    }
    return (corrected, correctedFormer)
  }
}

extension Member {
  /// Whether the member has hidden the group, and receives messages.
  fileprivate var isHiddenHearing: Bool { conversation.isHidden && receiveOption != .notReceive }
}

extension [ClosedRange<Int64>] {
  /// The parts of the ranges that lie below a bound.
  fileprivate func below(_ bound: Int64) -> [ClosedRange<Int64>] {
    compactMap { $0.lowerBound < bound ? $0.lowerBound...Swift.min($0.upperBound, bound - 1) : nil }
  }
}
