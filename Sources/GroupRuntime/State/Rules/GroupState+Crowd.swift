import GroupModel
import WireProtocol

/// A change that a member of a large group makes of itself, as many do at once (Protocol.md,
/// "Crowds").
struct CrowdRequest: Sendable {
  enum Change: Sendable {
    case join
    case quit
    /// The own name card or customInfo.
    case edit(SetGroupMemberInfo)
  }

  let change: Change
  let caller: Caller
  let facts: UserFacts
}

/// Changes of a crowd are decided together: those of one kind share a tip and its event, which name
/// each user once.
extension GroupState {
  /// The operation as a change that may share its event; nil = it stands alone.
  func crowdRequest(_ operation: GroupOperation, by caller: Caller) -> CrowdRequest? {
    guard record.type.storesMessages, record.policy.memberChangeNotification, let user = caller.userID,
      case .request(let request, let facts) = operation
    else { return nil }
    switch request {
    case .joinGroup where record.policy.joinMode == .any && roster[user] == nil:
      return CrowdRequest(change: .join, caller: caller, facts: facts)
    // The owner's quitting moves the ownership, or ends the group.
    case .quitGroup where roster[user].map { $0.role != .owner } ?? false:
      return CrowdRequest(change: .quit, caller: caller, facts: facts)
    case .setGroupMemberInfo(let edit)
    where edit.userID == user && edit.role == nil && edit.muteUntil == nil && roster[user] != nil:
      return CrowdRequest(change: .edit(edit), caller: caller, facts: facts)
    default: return nil
    }
  }

  /// Decides changes together: one tip and one event for the joins, one for the edits, and one for
  /// the quits. A refused change leaves the others as they are.
  /// - Returns: the decision, and a reply for each request, in their order.
  mutating func decideTogether(_ requests: [CrowdRequest], at now: ClockReading) -> (decision: Decision, replies: [Reply]) {
    var turn = beginTurn(by: .administrator, at: now)
    var replies = requests.map { request -> Reply in
      if case .join = request.change { .success(.joinedGroup(JoinGroup.Result(status: .joined))) } else { .empty }
    }
    joinTogether(requests, &replies, &turn)
    editTogether(requests, &replies, &turn)
    quitTogether(requests, &replies, &turn)
    return (finish(turn), replies)
  }

  private mutating func joinTogether(_ requests: [CrowdRequest], _ replies: inout [Reply], _ turn: inout Turn) {
    let joined = decideEach(of: requests, &replies, &turn) { (group, change, turn) throws(WireError) -> UserID? in
      guard case .join = change else { return nil }
      let user = try group.checkJoin(turn)
      group.addNewMembers([user], invitedBy: nil, &turn)
      return user
    }
    guard let first = joined.first else { return }
    let users = joined.map(\.made)
    let list = users.map { memberInfo(of: $0) }
    turn.pass(to: first.caller)
    let tip = appendTips(.join(list), &turn)
    markReadThroughNewest(users, &turn)
    let platform = joined.map(\.caller).commonPlatform
    announce(.onMemberEnter(list, memberCount: roster.count, on: platform, tip), whenOff: users, &turn)
    postJoined(list, .join, &turn)
  }

  private mutating func quitTogether(_ requests: [CrowdRequest], _ replies: inout [Reply], _ turn: inout Turn) {
    let left = decideEach(of: requests, &replies, &turn) { (group, change, turn) throws(WireError) -> MemberInfo? in
      guard case .quit = change else { return nil }
      return group.leave(try group.requireMember(turn), &turn)
    }
    guard let first = left.first else { return }
    let list = left.map(\.made)
    turn.pass(to: first.caller)
    let tip = appendTips(.quit(list), by: first.made, &turn)
    announceLeave(of: list, on: left.map(\.caller).commonPlatform, tip, &turn)
    postLeft(list, .quit, &turn)
  }

  /// The event names the last operator, and of each member the last state.
  private mutating func editTogether(_ requests: [CrowdRequest], _ replies: inout [Reply], _ turn: inout Turn) {
    let edits = decideEach(of: requests, &replies, &turn) { (group, change, turn) throws(WireError) -> MemberChange? in
      guard case .edit(let edit) = change else { return nil }
      return try group.editSelf(edit, &turn)
    }
    guard let last = edits.last else { return }
    turn.pass(to: last.caller)
    announce(edits.reduce(into: []) { $0.merge($1.made) }, &turn)
  }

  /// Decides the requests of one kind, each as a turn of its caller.
  /// - Parameter decide: answers nil for another kind, and where nothing is different.
  private mutating func decideEach<Made>(
    of requests: [CrowdRequest], _ replies: inout [Reply], _ turn: inout Turn,
    _ decide: (inout GroupState, CrowdRequest.Change, inout Turn) throws(WireError) -> Made?
  ) -> [(made: Made, caller: Caller)] {
    var all: [(made: Made, caller: Caller)] = []
    for (index, request) in requests.enumerated() {
      turn.pass(to: request.caller, request.facts)
      do throws(WireError) {
        if let made = try decide(&self, request.change, &turn) { all.append((made, request.caller)) }
      } catch {
        replies[index] = .failure(error)
      }
    }
    return all
  }
}

extension [MemberChange] {
  /// Adds a change, or brings that of the same user up to date.
  fileprivate mutating func merge(_ change: MemberChange) {
    guard let index = firstIndex(where: { $0.userID == change.userID }) else { return append(change) }
    if let nameCard = change.nameCard { self[index].nameCard = nameCard }
    if let customInfo = change.customInfo { self[index].customInfo = customInfo }
  }
}

extension [Caller] {
  /// The platform, where all are on the same one.
  fileprivate var commonPlatform: Platform? { allSatisfy { $0.platform == first?.platform } ? first?.platform : nil }
}
