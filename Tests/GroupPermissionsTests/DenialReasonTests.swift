import GroupModel
import GroupPermissions
import Testing

/// A denial has one reason, and 10007 says which of its three it is (Protocol.md, "Errors").
@Suite struct DenialReasonTests {
  private let permissions = GroupPermissions()

  private func reason(
    _ action: GroupAction, in type: GroupType, by principal: Principal, on target: Role? = nil, isSelf: Bool = false,
    _ change: (inout GroupPolicy) -> Void = { _ in }
  ) -> DenialReason? {
    var policy = GroupPolicy.defaults(for: type)
    change(&policy)
    return permissions.denialReason(of: action, in: type, policy: policy, by: principal, on: target, isSelf: isSelf)
  }

  @Test(arguments: GroupType.allCases, GroupAction.allCases)
  func whatIsDeniedHasAReasonAndNothingElse(type: GroupType, action: GroupAction) {
    let policy = GroupPolicy.defaults(for: type)
    for question in Question.all(action, in: type) {
      let reason = permissions.denialReason(
        of: action, in: type, policy: policy, by: question.actor, on: question.target, isSelf: question.isSelf)
      #expect((reason == nil) == (question.denial(under: policy) == nil), "\(question)")
    }
  }

  @Test func outsidersAreToldThatTheyAreNoMembers() {
    for type in GroupType.allCases where type != .bChatRoom {
      #expect(reason(.send, in: type, by: .outsider) == .notMember)
      #expect(reason(.changeRole, in: type, by: .outsider) == .notMember, "membership comes first")
    }
    #expect(reason(.send, in: .bChatRoom, by: .outsider) == .lowRole(.admin), "all users are members")
  }

  @Test func theTypeIsNamedWhereNobodyCan() {
    for principal in [Principal.member(.member), .member(.owner), .administrator] {
      #expect(reason(.changeRole, in: .work, by: principal, on: .member) == .unsupportedByType)
      #expect(reason(.invite, in: .avChatRoom, by: principal) == .unsupportedByType)
      #expect(reason(.join, in: .bChatRoom, by: principal) == .unsupportedByType)
    }
  }

  @Test func theLowestRoleThatMayIsNamed() {
    #expect(reason(.remove, in: .public, by: .member(.member)) == .lowRole(.admin))
    #expect(reason(.remove, in: .work, by: .member(.custom(100))) == .lowRole(.owner))
    #expect(reason(.disband, in: .public, by: .member(.admin)) == .lowRole(.owner))
    #expect(reason(.disband, in: .work, by: .member(.owner)) == .lowRole(.administrator))
    #expect(reason(.create, in: .bChatRoom, by: .outsider) == .lowRole(.administrator))
    #expect(reason(.editInfo, in: .public, by: .member(.member)) == .lowRole(.admin))
    #expect(reason(.editInfo, in: .public, by: .member(.admin), { $0.updateInfoMode = .owner }) == .lowRole(.owner))
  }

  @Test func aPolicyThatAllowsItToNobodyIsNamed() {
    #expect(reason(.join, in: .public, by: .outsider, { $0.joinMode = .forbid }) == .closedByPolicy(.joinMode))
    #expect(reason(.invite, in: .meeting, by: .member(.owner)) == .closedByPolicy(.inviteMode))
  }

  @Test func theTargetIsTheReasonOnlyWhereTheRoleSuffices() {
    #expect(reason(.remove, in: .public, by: .member(.admin), on: .admin) == .lowRoleForTarget)
    #expect(reason(.remove, in: .public, by: .member(.admin), on: .admin, isSelf: true) == .onOneself)
    #expect(reason(.remove, in: .public, by: .administrator, on: .owner) == .onOwner)
    #expect(reason(.remove, in: .public, by: .member(.member), on: .owner) == .lowRole(.admin))
  }
}
