import GroupModel
import GroupPermissions
import Testing

/// Every possible question, not a sample; only Scripts/sanitize takes every seventh policy
/// (`GroupPolicy.deciding`).
@Suite struct EnumerationTests {
  @Test func thePoliciesHoldEveryValueOfEveryField() {
    #expect(Set(GroupPolicy.allDeciding).count == 162)
    for field in GroupPolicy.decidingFields {
      let tried = Set(GroupPolicy.deciding.map { $0[field] })
      #expect(tried == Set(PolicyTable.values(of: field)), "\(field)")
    }
  }

  @Test func everyAnswerIsTheOracles() throws {
    let oracle = try RightsOracle()
    let permissions = GroupPermissions()
    var asked = 0
    var wrong: [String] = []
    var codes: Set<Int> = []
    for type in GroupType.allCases {
      for action in GroupAction.allCases {
        let questions = Question.all(action, in: type)
        for policy in GroupPolicy.deciding {
          let required = oracle.height(of: action.rawValue, in: type.rawValue, under: policy)
          for question in questions {
            let answer = question.denial(by: permissions, under: policy)?.code ?? 0
            let expected = oracle.code(question, required: required)
            if answer != expected { wrong.append("\(question) \(policy): \(answer), expected \(expected)") }
            codes.insert(answer)
            asked += 1
          }
        }
      }
    }
    print("questions asked of the table: \(asked), answered otherwise than by the oracle: \(wrong.count)")
    #expect(wrong.isEmpty, "\(wrong.prefix(5).joined(separator: "\n"))")
    #expect(asked == 5 * 21 * GroupPolicy.deciding.count * 7 * 6 * 2)
    #expect(codes == [0, 10007, 10009, 8508, 10032, 10033], "every error is reached")
  }

  @Test(arguments: GroupType.allCases, GroupAction.allCases)
  func aHigherRoleNeverLosesARight(type: GroupType, action: GroupAction) {
    let permissions = GroupPermissions()
    var lost: [String] = []
    for policy in GroupPolicy.deciding {
      for target in Question.targets {
        var mightBefore = false
        for actor in Question.actors {
          let may = permissions.denial(of: action, in: type, policy: policy, by: actor, on: target) == nil
          if mightBefore, !may { lost.append("\(actor) on \(target as Role?), \(policy)") }
          mightBefore = mightBefore || may
        }
      }
    }
    #expect(lost.isEmpty, "\(lost.first ?? "")")
  }

  @Test(arguments: GroupType.allCases, GroupAction.allCases)
  func membersActOnlyOnLowerRolesAndNotOnThemselves(type: GroupType, action: GroupAction) {
    let permissions = GroupPermissions()
    let roles: [Role] = [.owner, .admin, .member, .custom(100)]
    for policy in GroupPolicy.deciding {
      for role in roles {
        for target in roles where target.rank >= role.rank {
          #expect(permissions.denial(of: action, in: type, policy: policy, by: .member(role), on: target) != nil)
        }
        guard action.actsOnMember else { continue }
        #expect(permissions.denial(of: action, in: type, policy: policy, by: .member(role), isSelf: true) != nil)
      }
    }
  }

  @Test(arguments: GroupType.allCases, GroupAction.allCases)
  func aCrossBindsEverybody(type: GroupType, action: GroupAction) throws {
    guard try ExpectedTables.rightsByAction()[action.rawValue]?[type.rawValue] == "×" else { return }
    for policy in GroupPolicy.deciding {
      let allowed = Question.all(action, in: type).filter { $0.denial(under: policy) == nil }
      #expect(allowed.isEmpty)
    }
  }

  @Test(arguments: GroupType.allCases)
  func theAdministratorIsStoppedOnlyByACrossOrByUnseatingTheOwner(type: GroupType) throws {
    let page = try ExpectedTables.rightsByAction()
    for policy in GroupPolicy.deciding {
      for action in GroupAction.allCases {
        let question = Question(action: action, type: type, actor: .administrator, target: nil, isSelf: false)
        #expect((question.denial(under: policy) != nil) == (page[action.rawValue]?[type.rawValue] == "×"), "\(action)")
      }
    }
    for action in [GroupAction.remove, .changeRole] {
      let onOwner = Question(action: action, type: type, actor: .administrator, target: .owner, isSelf: false)
      #expect(onOwner.denial(under: .defaults(for: type)) == .noRight)
    }
  }

  @Test(arguments: GroupType.allCases, PolicyField.allCases)
  func aPolicyFieldChangesItsOwnRowsOnly(type: GroupType, field: PolicyField) throws {
    let page = try ExpectedTables.rightsByAction()
    let permissions = GroupPermissions()
    for action in GroupAction.allCases where page[action.rawValue]?[type.rawValue] != field.rawValue {
      let questions = Question.all(action, in: type)
      for policy in GroupPolicy.deciding.filter({ $0[field] == GroupPolicy.deciding[0][field] }) {
        let before = questions.map { $0.denial(by: permissions, under: policy) }
        for value in PolicyTable.tried(of: field) {
          let changed = policy.with(field, value)
          #expect(questions.map { $0.denial(by: permissions, under: changed) } == before, "\(action)")
        }
      }
    }
  }

  @Test(arguments: GroupType.allCases)
  func everySettableFieldThatIsNamedMovesItsRow(type: GroupType) throws {
    let page = try ExpectedTables.rightsByAction()
    for action in GroupAction.allCases {
      guard let field = PolicyField(rawValue: page[action.rawValue]?[type.rawValue] ?? "") else { continue }
      let answers = PolicyTable.values(of: field).map { value in
        let policy = GroupPolicy.defaults(for: type).with(field, value)
        return Question.all(action, in: type).map { $0.denial(under: policy) }
      }
      #expect((Set(answers).count > 1) == PolicyTable.isSettable(field, in: type), "\(action)")
    }
  }
}
