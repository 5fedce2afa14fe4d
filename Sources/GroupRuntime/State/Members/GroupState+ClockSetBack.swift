import GroupModel

/// A clock that ran ahead and was put right: what was decided meanwhile must not last days longer than asked for.
extension GroupState {
  /// Ends of mutes and bans that were decided at a time which is still to come are brought back with the clock.
  /// - Parameter shift: by how much the clock was set back; nil = nobody saw it, and the mutes and bans begin now.
  mutating func correctEnds(setBackBy shift: Instant?, at now: Instant) {
    for member in members.values where member.muteUntil > member.changeTime && member.changeTime > now {
      var member = member
      let shift = shift ?? (member.changeTime - now)
      member.muteUntil -= shift
      member.changeTime -= shift
      put(member)
    }
    if former.hasLeft(after: now) {
      former.correct(at: now) { former in
        guard former.leftTime > now else { return }
        let shift = shift ?? (former.leftTime - now)
        if former.muteUntil > former.leftTime { former.muteUntil -= shift }
        if former.bannedUntil > former.leftTime { former.bannedUntil -= shift }
        former.leftTime -= shift
      }
    }
    if let end = record.mute.muteUntil, end > record.lastInfoTime, record.lastInfoTime > now {
      record.mute.muteUntil = end - (shift ?? (record.lastInfoTime - now))
    }
  }
}
