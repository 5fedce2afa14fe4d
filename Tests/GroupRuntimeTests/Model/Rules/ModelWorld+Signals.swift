import ThrongTestKit

/// Signals: "nothing is kept, no webhook is asked or told, the message rate is not touched".
extension ModelWorld {
  /// "Muted 10017; a group with more than `limits.signalMembers` members 10061; more than 10 in any 5 s
  /// by a user in a group 10023. In this order; refused ones do not count. An application administrator
  /// is bound by neither."
  mutating func signal() throws(ModelRefusal) -> JSON {
    try requireMembership()
    if g.isOfEveryone { throw ModelRefusal(10007) }
    let member = asker
    if let member, muteUntil(member.name) > 0 || currentMute.silences(member) { throw ModelRefusal(10017) }
    if let user = operation.by.name {
      if g.members.count > server.signalMembers { throw ModelRefusal(10061) }
      try ModelWorld.count(&g.signalTimes[user, default: []], limit: 10, window: 5000, at: now, else: 10023)
    }
    let sender = operation.by.name ?? "administrator"
    var params: [String: JSON] = ["groupID": "g", "opTime": .int(now), "name": operation["name"], "sender": .string(sender)]
    if operation["data"] != .null { params["data"] = operation["data"] }
    if let card = member?.nameCard, !card.isEmpty { params["nameCard"] = .string(card) }
    // A signal has no faceURL.
    if let name = profiles[sender]?["nickName"] { params["nickName"] = name }
    // "To the members' other sessions (all but the sending one; not to NotReceive)."
    var receivers = sessions(of: everybody.filter { g.anyMember($0)?.option != "NotReceive" })
    if let session = operation.by.session { receivers.remove(session) }
    if !receivers.isEmpty {
      said.events.append(ModelExpectation.Event(name: "onGroupSignal", params: .object(params), receivers: receivers))
    }
    return .object([:])
  }
}
