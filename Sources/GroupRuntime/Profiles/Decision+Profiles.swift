import GroupModel
import WireProtocol

/// The profiles in the events of a decision (Protocol.md, "Profiles").
extension Decision {
  /// The users that its events show; some more than once.
  var shownUsers: [UserID] {
    showsMembers ? effects.flatMap { effect in effect.event?.users ?? [] } : []
  }

  /// Gives the users in its events their profiles.
  mutating func show(_ profiles: [UserID: UserProfile]) {
    if profiles.isEmpty { return }
    for index in effects.indices { effects[index].show(profiles) }
  }
}

extension Effect {
  fileprivate var event: GroupEvent? {
    switch self {
    case .publish(let event, _, _), .send(let event, _, _), .sendToSession(let event, _): event
    case .attach, .setReceiveOption, .attachSignedInUsers, .detach, .forgetContent, .disband, .post, .noteReceipts: nil
    }
  }

  fileprivate mutating func show(_ profiles: [UserID: UserProfile]) {
    guard var event else { return }
    event.show(profiles)
    switch self {
    case .publish(_, let kind, let session): self = .publish(event, kind, except: session)
    case .send(_, let users, let session): self = .send(event, to: users, except: session)
    case .sendToSession(_, let session): self = .sendToSession(event, session)
    case .attach, .setReceiveOption, .attachSignedInUsers, .detach, .forgetContent, .disband, .post, .noteReceipts: break
    }
  }
}
