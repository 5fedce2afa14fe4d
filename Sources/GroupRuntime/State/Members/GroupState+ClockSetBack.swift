import GroupModel

/// A clock that ran ahead and was put right: what was decided meanwhile must not last days longer than asked for.
extension GroupState {
  /// Ends of mutes and bans that were decided at a time which is still to come are brought back with the clock.
  /// - Parameter shift: by how much the clock was set back; nil = nobody saw it, and the mutes and bans begin now.
  mutating func correctEnds(setBackBy shift: Instant?, at now: Instant) {
    func lead(of decided: Instant) -> Instant { decided > now ? shift ?? (decided - now) : 0 }
    for member in members.values where member.muteUntil > 0 && member.mutedAt > now {
      var member = member
      let lead = lead(of: member.mutedAt)
      member.muteUntil -= lead
      member.mutedAt -= lead
      put(member)
    }
    if former.hasLeft(after: now) {
      former.correct(at: now) { former in
        let (mute, leaving) = (lead(of: former.mutedAt), lead(of: former.leftTime))
        if former.muteUntil > 0 { former.muteUntil -= mute }
        former.mutedAt -= mute
        if former.bannedUntil > 0 { former.bannedUntil -= leaving }
        former.leftTime -= leaving
      }
    }
    let lead = lead(of: record.mutedAt)
    if let end = record.mute.muteUntil { record.mute.muteUntil = end - lead }
    record.mutedAt -= lead
  }
}
