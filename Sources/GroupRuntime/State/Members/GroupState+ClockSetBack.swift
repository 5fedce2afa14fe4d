import GroupModel

/// A clock that ran ahead and was put right: what was decided meanwhile must not last days longer than asked for.
extension GroupState {
  /// Ends of mutes and bans that were decided at a time which is still to come are brought back with the clock.
  /// The corrected records are noted to be stored, so that the next loading does not begin the mutes and bans once more.
  /// - Parameter shift: by how much the clock was set back; nil = nobody saw it, and the mutes and bans begin now.
  mutating func correctEnds(setBackBy shift: Instant?, at now: Instant) {
    func lead(of decided: Instant) -> Instant { decided > now ? shift ?? (decided - now) : 0 }
    for member in members.values where member.muteUntil > 0 && member.mutedAt > now {
      var member = member
      let lead = lead(of: member.mutedAt)
      member.muteUntil -= lead
      member.mutedAt -= lead
      put(member)
      corrections.append(.putMember(member, in: record.id))
    }
    if former.hasLeft(after: now) {
      let corrected = former.correct(at: now) { former in
        let (mute, leaving) = (lead(of: former.mutedAt), lead(of: former.leftTime))
        if former.muteUntil > 0 { former.muteUntil -= mute }
        former.mutedAt -= mute
        if former.bannedUntil > 0 { former.bannedUntil -= leaving }
        former.leftTime -= leaving
      }
      corrections += corrected.map { .putFormer($0, in: record.id) }
    }
    let lead = lead(of: record.mutedAt)
    guard lead > 0 else { return }
    if let end = record.mute.muteUntil { record.mute.muteUntil = end - lead }
    record.mutedAt -= lead
    corrections.append(.putGroup(record, isNew: false))
  }

  /// Corrected records that are to be stored, each change once.
  mutating func takeCorrections() -> [StoreChange] {
    defer { corrections = [] }
    return corrections
  }

  /// A decision that is stored anyway stores the corrections first. A group that goes needs none.
  mutating func storeCorrections(with decision: inout Decision) {
    guard !corrections.isEmpty, !decision.changes.isEmpty, !decision.disbands else { return }
    decision.changes.insert(contentsOf: takeCorrections(), at: 0)
  }
}
