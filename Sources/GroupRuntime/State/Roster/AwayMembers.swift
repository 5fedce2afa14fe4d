import GroupModel

/// The members without a session, by the messages that their devices are to show: nobody looks for them among
/// all members with each message (Protocol.md, "Webhooks").
struct AwayMembers: Sendable {
  /// They have chosen to be told of messages.
  private var toldAlways: Set<UserID> = []
  /// They have chosen to be told of managers' messages.
  private var toldByManagers: Set<UserID> = []
  private var toldNever: Set<UserID> = []

  /// Those among some members who are away.
  init(_ members: some Sequence<Member>, where isAway: (UserID) -> Bool) {
    for member in members where isAway(member.userID) { insert(member.userID, member.receiveOption) }
  }

  /// How many are away.
  var count: Int { toldAlways.count + toldByManagers.count + toldNever.count }

  /// Those whose devices show a message, in no order.
  /// - Parameters:
  ///   - isFromManager: a manager has sent it.
  ///   - mentionsAll: it overrides every option.
  func told(isFromManager: Bool, mentionsAll: Bool) -> [UserID] {
    var users = Array(toldAlways)
    if isFromManager || mentionsAll { users += toldByManagers }
    if mentionsAll { users += toldNever }
    return users
  }

  /// A member is away, and chooses so.
  mutating func insert(_ user: UserID, _ option: ReceiveOption) {
    switch option {
    case .receive: toldAlways.insert(user)
    case .receiveFromManagers, .notifyFromManagers: toldByManagers.insert(user)
    case .notReceive, .receiveNotNotify: toldNever.insert(user)
    }
  }

  /// A member is back, has gone, or chooses something else now.
  /// - Parameter option: the choice until now.
  mutating func remove(_ user: UserID, _ option: ReceiveOption) {
    switch option {
    case .receive: toldAlways.remove(user)
    case .receiveFromManagers, .notifyFromManagers: toldByManagers.remove(user)
    case .notReceive, .receiveNotNotify: toldNever.remove(user)
    }
  }
}

extension ReceiveOption {
  /// Whether a device shows a message that does not mention the member.
  func shows(isFromManager: Bool) -> Bool {
    switch self {
    case .receive: true
    case .receiveFromManagers, .notifyFromManagers: isFromManager
    case .notReceive, .receiveNotNotify: false
    }
  }
}
