import GroupModel
import WireProtocol

/// A change that the members of a large group make of themselves, many at once (Protocol.md,
/// "Crowds").
enum CrowdChange: Sendable {
  case join(UserFacts)
  case quit
  /// The own name card or customInfo.
  case edit(SetGroupMemberInfo, UserFacts)
}

/// A change of a crowd, and who makes it.
struct CrowdRequest: Sendable {
  let change: CrowdChange
  let caller: Caller
}

/// Changes of a crowd are decided together: those of one kind share a tip and its event, which name
/// each user once.
extension GroupState {
  /// The operation as a change that may share its event; nil = it stands alone.
  func crowdChange(_ operation: GroupOperation, by caller: Caller) -> CrowdChange? {
    guard record.type.storesMessages, record.policy.memberChangeNotification, let user = caller.userID,
      case .request(let request, let facts) = operation
    else { return nil }
    switch request {
    case .joinGroup where record.policy.joinMode == .any && roster[user] == nil: return .join(facts)
    // The owner's quitting moves the ownership, or ends the group.
    case .quitGroup where roster[user].map { $0.role != .owner } ?? false: return .quit
    case .setGroupMemberInfo(let edit)
    where edit.userID == user && edit.role == nil && edit.muteUntil == nil && roster[user] != nil:
      return .edit(edit, facts)
    default: return nil
    }
  }

  /// Decides changes together: one tip and one event for the joins, one for the edits, and one for
  /// the quits. A refused change leaves the others as they are.
  /// - Returns: the decision, and a reply for each request, in their order.
  mutating func decideTogether(_ requests: [CrowdRequest], at now: ClockReading) -> (decision: Decision, replies: [Reply]) {
    let context = makeContext(at: now, usersSignedIn: 0)
    var decision = Decision(.empty)
    var replies = [Reply](repeating: .empty, count: requests.count)
    joinTogether(requests, &replies, in: context, into: &decision)
    editTogether(requests, &replies, in: context, into: &decision)
    quitTogether(requests, &replies, in: context, into: &decision)
    return (decision, replies)
  }

  private mutating func joinTogether(
    _ requests: [CrowdRequest], _ replies: inout [Reply], in context: DecisionContext, into decision: inout Decision
  ) {
    var joined: [(user: UserID, caller: Caller)] = []
    for (index, request) in requests.enumerated() {
      guard case .join(let facts) = request.change else { continue }
      do throws(WireError) {
        let user = try checkJoin(facts, by: request.caller, in: context)
        addNewMembers([user], invitedBy: nil, in: context, into: &decision)
        joined.append((user, request.caller))
        replies[index] = .success(.joinedGroup(JoinGroup.Result(status: .joined)))
      } catch {
        replies[index] = .failure(error)
      }
    }
    guard let first = joined.first else { return }
    let list = joined.map { memberInfo(of: $0.user) }
    let tip = appendTips(.join(list), by: first.caller, in: context, into: &decision)
    markReadThroughNewest(joined.map(\.user), into: &decision)
    let event = event(
      .onMemberEnter(list, memberCount: roster.count, on: joined.map(\.caller).commonPlatform, tip), in: context)
    announce(event, whenOff: joined.map(\.user), in: context, into: &decision)
    postJoined(list, .join, by: nil, in: context, into: &decision)
  }

  private mutating func quitTogether(
    _ requests: [CrowdRequest], _ replies: inout [Reply], in context: DecisionContext, into decision: inout Decision
  ) {
    var left: [(info: MemberInfo, caller: Caller)] = []
    for (index, request) in requests.enumerated() {
      guard case .quit = request.change else { continue }
      do throws(WireError) {
        let member = try requireMember(request.caller)
        left.append((leave(member, by: request.caller, in: context, into: &decision), request.caller))
      } catch {
        replies[index] = .failure(error)
      }
    }
    guard let first = left.first else { return }
    let list = left.map(\.info)
    let tip = appendTips(.quit(list), by: first.caller, opUser: first.info, in: context, into: &decision)
    announceLeave(of: list, on: left.map(\.caller).commonPlatform, tip, in: context, into: &decision)
    postLeft(list, .quit, in: context, into: &decision)
  }

  /// The event names the last operator, and of each member the last state.
  private mutating func editTogether(
    _ requests: [CrowdRequest], _ replies: inout [Reply], in context: DecisionContext, into decision: inout Decision
  ) {
    var changes: [MemberChange] = []
    var last: Caller?
    for (index, request) in requests.enumerated() {
      guard case .edit(let edit, let facts) = request.change else { continue }
      do throws(WireError) {
        guard let change = try editSelf(edit, facts, by: request.caller, in: context, into: &decision) else { continue }
        changes.merge(change)
        last = request.caller
      } catch {
        replies[index] = .failure(error)
      }
    }
    if let last { announce(changes, by: last, in: context, into: &decision) }
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
