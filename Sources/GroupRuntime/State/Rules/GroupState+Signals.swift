import GroupModel
import GroupPermissions
import WireProtocol

/// Signals (Protocol.md, "Signals"): told to the members who are online, and kept nowhere.
extension GroupState {
  /// "In this order: 10017, 10061, 10023; refused ones do not count." An application administrator is
  /// bound by neither of the last two.
  mutating func signal(_ request: SendGroupSignal, _ turn: inout Turn) throws(WireError) {
    try requireMembership(turn)
    guard record.type.hasSignals else { throw WireError(Denial.noRight, .unsupportedByType, in: record.type) }
    try requireNotMuted(turn)
    if turn.userID != nil, roster.count > rules.limits.signalMembers { throw WireError(.groupTooLargeForSignals) }
    if signals == nil { signals = SignalState() }
    if let user = turn.userID, let wait = signals?.rate.acquire(user, at: turn.monotonic) {
      throw WireError(.groupMessageRate, "Too many signals", retryAfterMs: wait)
    }
    let event = signalEvent(request, turn)
    let signal = WaitingSignal(sender: turn.caller.senderID, name: request.name, event: event, session: turn.session)
    switch signals?.offer(signal, at: turn.monotonic) {
    case .delivered, nil:
      charge(event, &turn)
      deliver(signal, &turn)
    case .waits: charge(event, &turn)
    case .merged: turn.decision.signals.merged += 1
    case .dropped: turn.decision.signals.dropped += 1
    }
    turn.decision.isSignal = true
    turn.decision.showsMembers = false
  }

  private func signalEvent(_ request: SendGroupSignal, _ turn: borrowing Turn) -> GroupEvent {
    let nameCard = turn.userID.flatMap { roster[$0] }?.nameCard ?? ""
    let signal = GroupSignal(name: request.name, data: request.data, sender: turn.caller.senderID, nameCard: nameCard)
    return GroupEvent(groupID: record.id, opTime: turn.now, .onGroupSignal(signal), senderProfile: turn.caller.profile)
  }

  /// Sends the signals that have waited for their turn.
  mutating func publishSignals(_ turn: inout Turn) {
    guard let (leaving, dropped) = signals?.popDue(at: turn.monotonic), !leaving.isEmpty || dropped > 0 else { return }
    turn.decision.isSignal = turn.decision.isEmpty
    turn.decision.signals.dropped += UInt16(dropped)
    for signal in leaving { deliver(signal, &turn) }
  }

  private func deliver(_ signal: WaitingSignal, _ turn: inout Turn) {
    turn.decision.signals.delivered += 1
    turn.perform(.publish(signal.event, .signal, except: signal.session))
  }
}
