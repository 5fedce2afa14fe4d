import ThrongTestKit

/// Operations around the group: time, sessions, restarts.
extension ModelWorld {
  mutating func happen() -> JSON {
    switch operation.verb {
    case .wait: pass(operation["ms"].integer!)
    case .signIn: signIn(operation.by.session!)
    case .signOut: signOut(operation.by.session!)
    case .setSelfInfo: setProfile()
    case .reload:
      // Groups are forgotten when nothing is to come by itself any more, and that is within a
      // second.
      if operation["$failed"] == .null { pass(1000) }
      forget()
    case .retain: g.retain(after: operation["seq"].int!)
    case .restart: restart(downtime: operation["ms"].integer!)
    case .deleteUser: deleteUser()
    default: break
    }
    return .null
  }

  /// "After the grace the user has left": each when it is over, and those of one moment in one
  /// notice.
  private mutating func pass(_ milliseconds: Int64) {
    let target = now + milliseconds
    while let end = [nextEndOfGrace, group?.joins.due, group?.leaves.due, group?.memberNotices.due].compactMap({ $0 }).min(),
      end <= target
    {
      now = max(now, end)
      publishNotices()
      publishMemberNotices()
      endGraces()
    }
    now = target
  }

  private var nextEndOfGrace: Int64? {
    group?.members.filter { $0.role != "Owner" }.compactMap(\.awaySince).min().map { $0 + server.offlineGrace }
  }

  private mutating func endGraces() {
    let isOver = { [now, server] (member: ModelMember) in
      member.role != "Owner" && member.awaySince.map { $0 + server.offlineGrace <= now } ?? false
    }
    let gone = g.members.filter(isOver).map(\.name)
    guard !gone.isEmpty else { return }
    let list = gone.map { person($0) }
    for user in gone { depart(user) }
    noticeLeave(of: list, by: nil)
  }

  private mutating func signIn(_ session: SessionName) {
    sessions.insert(session)
    setAway(session.user, nil)
  }

  mutating func signOut(_ session: SessionName) {
    guard sessions.remove(session) != nil, sessions(of: [session.user]).isEmpty else { return }
    setAway(session.user, now)
  }

  private mutating func setAway(_ user: String, _ since: Int64?) {
    guard group?.type == "AVChatRoom", let index = g.members.firstIndex(where: { $0.name == user }) else { return }
    g.members[index].awaySince = since
  }

  /// Unstored state is lost: the receipts of messages that were not stored, and the counts for
  /// rates. The receipt of an imported message counts from its timestamp, because only that is
  /// stored. What retention has removed is not read again.
  private mutating func forget() {
    guard group != nil else { return }
    let first = g.firstSeq
    g.marks = g.marks.filter { $0.value.isStored && $0.value.answer["seq"].int! >= first }.mapValues { mark in
      ModelMark(time: mark.answer["timestamp"].integer!, answer: mark.answer, isStored: true)
    }
    (g.joins, g.leaves) = (ModelNotice(), ModelNotice())
    // A failed commit keeps these from nobody, as far as they are about members.
    if operation["$failed"] == .null {
      g.memberNotices = ModelMemberNotices()
    } else {
      let members = Set(g.members.map(\.name))
      g.memberNotices.removeAll(except: members)
    }
    (g.sendTimes, g.writeTimes, g.readTimes, g.counterTimes, g.signalTimes) = ([], [:], [:], [:], [:])
  }

  private mutating func restart(downtime: Int64) {
    for session in sessions { signOut(session) }
    forget()
    // "A restart may forget the time of the last one."
    group?.slowTimes = [:]
    beginMemory()
    now += downtime
    if group != nil { endGraces() }
  }
}
