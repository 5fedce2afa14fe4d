import Foundation
import GroupModel
import GroupPermissions

/// The rules around the tables stated a second time, from the tables' words and in wire codes
/// (Protocol.md, "Rights"). It shares nothing with the code under test.
struct RightsOracle {
  let rights: [String: [String: String]]
  let policies: [String: [String: String]]

  /// - Parameter changed: cells by action and type that a configuration gives other words.
  init(changing changed: [String: [String: String]] = [:]) throws {
    rights = try ExpectedTables.rightsByAction().merging(changed) { row, cells in row.merging(cells) { $1 } }
    policies = try ExpectedTables.cells(of: ExpectedTables.policies)
  }

  /// The lowest height that the table demands: 0 anyone, 1 Member, 2 Admin, 3 Owner,
  /// 4 an application administrator, nil nobody.
  func height(of action: String, in type: String, under policy: GroupPolicy) -> Int? {
    let word = rights[action]?[type] ?? ""
    guard word.hasSuffix("Mode") else { return plainHeight(word) }
    switch (word, value(of: word, in: type, under: policy)) {
    case ("joinMode", "Any"), ("joinMode", "Auth"): return 0
    case ("inviteMode", "Any"), ("updateInfoMode", "Any"), ("updateCustomMode", "Any"): return 1
    case ("inviteMode", "Admin"), ("updateInfoMode", "Admin"), ("updateCustomMode", "Admin"): return 2
    case ("updateInfoMode", "Owner"), ("updateCustomMode", "Owner"), ("ownerQuitMode", "Transfer"): return 3
    case ("joinMode", "Forbid"), ("inviteMode", "Nobody"), ("ownerQuitMode", "Forbid"): return 4
    default: preconditionFailure("the table has no \(word)")
    }
  }

  private func plainHeight(_ word: String) -> Int? {
    switch word {
    case "anyone": return 0
    case "Member": return 1
    case "Admin": return 2
    case "Owner": return 3
    case "admin": return 4
    case "×": return nil
    default: preconditionFailure("the table has no \(word)")
    }
  }

  /// The group's choice, or the default where the table does not mark it with (s).
  private func value(of field: String, in type: String, under policy: GroupPolicy) -> String {
    let printed = policies[field]?[type] ?? ""
    guard printed.hasSuffix(" (s)") else { return printed }
    switch field {
    case "joinMode": return policy.joinMode.rawValue
    case "inviteMode": return policy.inviteMode.rawValue
    case "updateInfoMode": return policy.updateInfoMode.rawValue
    case "updateCustomMode": return policy.updateCustomMode.rawValue
    case "ownerQuitMode": return policy.ownerQuitMode.rawValue
    default: preconditionFailure("no right depends on \(field)")
    }
  }

  /// The expected error; 0 = allowed. `required` is `height(of:in:under:)`.
  func code(_ question: Question, required: Int?) -> Int {
    let (action, type) = (question.action.rawValue, question.type.rawValue)
    let height = height(of: question.actor, in: type)
    if height == 0, action != "create", action != "join" { return 10007 }
    guard let required, height >= required else { return codeOfRuleTwo(action, type, crossed: required == nil) }
    if let target = question.target, height <= self.height(of: .member(target), in: type) { return 10007 }
    if question.isSelf, ["remove", "muteMember", "editMember", "changeRole", "transfer", "recallOthers"].contains(action) {
      return 10007
    }
    if question.target == .owner, ["remove", "changeRole"].contains(action) { return 10007 }
    return 0
  }

  private func codeOfRuleTwo(_ action: String, _ type: String, crossed: Bool) -> Int {
    switch (action, type) {
    case ("recallOthers", _): crossed ? 10033 : 10032
    case ("pinMessage", _): crossed ? 10033 : 10007
    case ("quitAsOwner", "BChatRoom"): 10007
    case ("quitAsOwner", _): 10009
    case ("join", "Work"): 8508
    default: 10007
    }
  }

  private func height(of actor: Principal, in type: String) -> Int {
    switch actor {
    case .outsider: type == "BChatRoom" ? 1 : 0
    case .member(.member), .member(.custom): 1
    case .member(.admin): 2
    case .member(.owner): 3
    case .administrator: 4
    }
  }
}

/// One question to the table, apart from the policy.
struct Question: Hashable {
  let action: GroupAction
  let type: GroupType
  let actor: Principal
  let target: Role?
  let isSelf: Bool

  static let targets: [Role?] = [nil, .owner, .admin, .member, .custom(100), .custom(Int32.max)]

  /// By ascending height; the members' roles that have the rights of `Member` stand together.
  static let actors: [Principal] = [
    .outsider, .member(.member), .member(.custom(100)), .member(.custom(Int32.max)), .member(.admin), .member(.owner),
    .administrator,
  ]

  /// Every question about one action in one type.
  static func all(_ action: GroupAction, in type: GroupType) -> [Question] {
    actors.flatMap { actor in
      targets.flatMap { target in
        [false, true].map { Question(action: action, type: type, actor: actor, target: target, isSelf: $0) }
      }
    }
  }

  func denial(by permissions: GroupPermissions = GroupPermissions(), under policy: GroupPolicy) -> Denial? {
    permissions.denial(of: action, in: type, policy: policy, by: actor, on: target, isSelf: isSelf)
  }
}

extension GroupPolicy {
  /// The fields that decide a right.
  static let decidingFields: [PolicyField] = [.joinMode, .inviteMode, .updateInfoMode, .updateCustomMode, .ownerQuitMode]

  /// Every policy that differs in a field that decides a right: 162.
  static let allDeciding: [GroupPolicy] = {
    var policies = [GroupPolicy.defaults(for: .work)]
    for field in decidingFields {
      policies = policies.flatMap { policy in
        field.words.map { policy.with(field, .word($0)) }
      }
    }
    return policies
  }()

  /// The policies of the enumeration: all, or every nth of them if THRONG_POLICY_STRIDE is n.
  ///
  /// Scripts/sanitize sets 7: under ThreadSanitizer all of them take longer than its limit. As 7 is
  /// prime to the numbers of a field's values, 3 and 2, every value of every field is still tried.
  static let deciding: [GroupPolicy] = {
    let step = ProcessInfo.processInfo.environment["THRONG_POLICY_STRIDE"].flatMap { Int($0) } ?? 1
    return stride(from: 0, to: allDeciding.count, by: step).map { allDeciding[$0] }
  }()

  /// The policy with one field changed.
  func with(_ field: PolicyField, _ value: PolicyValue) -> GroupPolicy {
    var changed = self
    precondition(changed.set(field, to: value), "\(field) does not take \(value)")
    return changed
  }
}

extension Denial {
  /// The code on the wire.
  var code: Int {
    switch self {
    case .noRight: 10007
    case .ownerMayNotQuit: 10009
    case .workNotJoinable: 8508
    case .recallNotYours: 10032
    case .recallUnsupported: 10033
    }
  }
}
