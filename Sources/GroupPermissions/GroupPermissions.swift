import GroupModel

/// Who may do what in a group: the rights table and the three rules around it (contract section 3).
///
/// It reads nothing but its arguments. Facts that are not rights (muted, full, banned, already a member) are others' to check.
public struct GroupPermissions: Sendable {
  private let attributeTypes: Set<GroupType>

  /// Rights on a server whose groups of these types have attributes (configuration key `attributes.groupTypes`).
  public init(attributeTypes: Set<GroupType> = [.avChatRoom]) {
    self.attributeTypes = attributeTypes
  }

  /// The cell for an action in a type of group, as printed on the page.
  public func cell(for action: GroupAction, in type: GroupType) -> Cell {
    if action == .useAttributes, attributeTypes.contains(type) { return .member }
    return RightsTable.row(for: action)[type]
  }

  /// Why the asker may not do it; nil = allowed. Being allowed to join under joinMode Auth means being allowed to ask.
  ///
  /// `target` is the role of whom the action is aimed at: give it, and rule 1 is applied. `isSelf` tells that it is the asker,
  /// where the role is not known. Ask without a target for the right as such: in bulk methods that is the call's error, what is
  /// wrong with one target is that target's result.
  public func refusal(
    of action: GroupAction, in type: GroupType, policy: GroupPolicy, by asker: Asker, on target: Role? = nil, isSelf: Bool = false
  ) -> Refusal? {
    // "Every user is a Member without a record": nobody stands outside a BChatRoom.
    let asker = asker == .outsider && type.everyoneIsMember ? .member(.member) : asker
    // Membership is asked before rights (contract section 7), so no exception of rule 2 speaks to somebody outside.
    if asker == .outsider, !action.isOpenToOutsiders { return .roleTooLow }

    // Rule 2 before rule 1, because a member's recall of an equal's message is 10032, not 10007.
    // 2. Below the cell's role, and where the cell is × or admin: 10007, with exceptions.
    // 3. An application administrator is bound neither by membership nor by the modes, but nobody crosses a ×.
    let cell = cell(for: action, in: type)
    guard asker.standing >= cell.required(in: type, under: policy) else { return belowCell(cell, action, in: type) }

    // 1. Nobody acts on somebody of an equal or higher role, nor, in these actions, on oneself: 10007.
    if let target, !asker.outranks(target) { return .roleTooLow }
    if isSelf, action.actsOnMember { return .roleTooLow }

    // 3. Nobody removes the owner or gives the owner another role (transfer first).
    if target == .owner, action.unseatsOwner { return .roleTooLow }
    return nil
  }

  /// Rule 2's answers: 10007, except that a recall answers 10032 (10033 where the type has none), the owner's quit 10009,
  /// `joinGroup` on Work 8508.
  private func belowCell(_ cell: Cell, _ action: GroupAction, in type: GroupType) -> Refusal {
    switch action {
    case .recallOthers: cell == .nobody ? .recallUnsupported : .recallNotYours
    // The page says of a BChatRoom "quitGroup (the owner's too): 10007"; there is no membership to give up.
    case .quitAsOwner: type.everyoneIsMember ? .roleTooLow : .ownerMayNotQuit
    case .join: type == .work ? .workNotJoinable : .roleTooLow
    case .create, .invite, .send, .editInfo, .editCustomInfo, .editPolicy, .decideApplications, .remove, .muteMember, .muteGroup,
      .changeRole, .transfer, .disband, .useAttributes:
      .roleTooLow
    }
  }
}
