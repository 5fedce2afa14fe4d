import GroupModel
import ThrongTestKit

@testable import GroupRuntime

/// Time, sessions, and a group's coming into memory, as the actor and the gateway see to them.
extension GroupScene {
  // MARK: Time

  /// Alarms ring when they are due.
  mutating func pass(_ milliseconds: Int64) throws {
    let target = now + milliseconds
    var rings = 0
    while let due = (state?.nextWake).map({ WallInstant($0.milliseconds) }), due <= target {
      now = max(now, due)
      try wake()
      rings += 1
      if rings > 10_000 { throw Fault(text: "wakes for nothing") }
    }
    now = target
  }

  mutating func wake() throws {
    let (now, users) = (reading, usersSignedIn)
    guard let decision = state?.wake(at: now, usersSignedIn: users) else { return }
    try apply(decision)
    try commitCounters()
  }

  // MARK: Sessions

  mutating func signIn(_ session: SessionName) throws {
    let name = user(session.user)
    let awaySince = offlineSince.removeValue(forKey: name)
    sessions.insert(session)
    let reading = reading
    if let awaySince, now > awaySince + GroupScene.offlineGrace, let decision = state?.removeAfterGrace(name, at: reading) {
      try apply(decision)
    }
    refreshPresence(of: name)
  }

  mutating func signOut(_ session: SessionName) {
    guard sessions.remove(session) != nil else { return }
    let name = user(session.user)
    if !users(with: sessions).contains(name) { offlineSince[name] = now }
    refreshPresence(of: name)
  }

  mutating func refreshPresence(of user: UserID) {
    guard let state, state.isMember(user), !state.isGraceExceeded(by: user, at: reading.monotonic) else { return }
    attach(user, receiving: state.receiveOption(of: user))
  }

  mutating func attach(_ user: UserID, receiving option: ReceiveOption) {
    let isOnline = users(with: sessions).contains(user)
    attached[user] = isOnline ? option : nil
    let now = reading.monotonic
    if state?.roster[user] != nil { state?.setOnline(user, isOnline, since: now) }
  }

  // MARK: Coming and going

  mutating func reload(isFailure: Bool) throws {
    if !isFailure { try pass(1000) }
    let isUntold = state?.attributes.eventDue != nil
    let lost = isFailure ? state?.announcements.all ?? [] : []
    let notices = isFailure ? (state?.memberNotices).map { MemberInfoNotices(lost: [], waiting: $0) } : nil
    // The registry keeps it meanwhile.
    let slow = state?.slow
    try load(
      tellingAttributes: isFailure && isUntold, continuing: isFailure ? state?.counters.interruptedEvents : nil, notices)
    state?.slow = slow
    for announcement in lost {
      let seq = announcement.seq
      let message = picture.messages.first { $0.seq == seq }
      let found = message.map { FoundMessage(message: $0, reactions: picture.reactions[seq] ?? []) }
      try apply(try decide(.found(MessageLookUp(seq: seq, purpose: .announce(announcement)), found), by: .administrator))
    }
  }

  mutating func retain(after seq: Int64) {
    guard let removal = picture.retain(after: seq) else { return }
    state?.remove(removal)
  }

  mutating func restart(downtime: Int64) throws {
    for user in users(with: sessions) { offlineSince[user] = now }
    sessions = []
    now += downtime
    loseRecentMessages()
    try load()
  }

  mutating func load(
    tellingAttributes: Bool = false, continuing events: CounterEvents? = nil, _ notices: MemberInfoNotices? = nil
  ) throws {
    state = picture.group(at: now, offlineSince: offlineSince).map { GroupState($0, at: reading, rules: rules) }
    openRecentRoom()
    attached = [:]
    let monotonic = reading.monotonic
    if tellingAttributes { state?.republishAttributes(at: monotonic) }
    if let events { state?.counters.resume(events) }
    if let notices { state?.resume(notices) }
    guard let state else { return }
    let all = state.record.type.everyoneIsMember ? users(with: sessions) : Set(state.roster.userIDs)
    for user in all { refreshPresence(of: user) }
    try wake()
  }
}
