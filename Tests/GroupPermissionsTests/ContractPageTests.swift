import GroupModel
import GroupPermissions
import Testing

/// The page that users read and the tables that decide, cell by cell.
@Suite struct ContractPageTests {
  @Test func theMarkdownIsTheContracts() {
    #expect(PermissionPage.markdown() == ContractPage.rights + "\n\n" + ContractPage.policies + "\n")
  }

  @Test(arguments: GroupType.allCases)
  func theCellsAreTheContracts(type: GroupType) throws {
    let page = try ContractPage.rightsByAction()
    #expect(Set(page.keys) == Set(GroupAction.allCases.map(\.rawValue)))
    for action in GroupAction.allCases {
      #expect(GroupPermissions().cell(for: action, in: type).word == page[action.rawValue]?[type.rawValue], "\(action)")
    }
  }

  @Test(arguments: GroupType.allCases, PolicyField.allCases)
  func defaultsAndSettableMarksAreTheContracts(type: GroupType, field: PolicyField) throws {
    let rows = try ContractPage.cells(of: ContractPage.policies)
    #expect(Set(rows.keys) == Set(PolicyField.allCases.map(\.rawValue)))
    let row = try #require(rows[field.rawValue])
    #expect(PolicyTable.values(of: field).map(text).joined(separator: ", ") == row["values"])
    guard let printed = row[type.rawValue] else {
      #expect(type == .bChatRoom)
      #expect(!PolicyTable.fields(of: type).contains(field))
      #expect(!PolicyTable.isSettable(field, in: type))
      return
    }
    let mark = PolicyTable.isSettable(field, in: type) ? " (s)" : ""
    #expect(text(GroupPolicy.defaults(for: type)[field]) + mark == printed)
    #expect(PolicyTable.fields(of: type) == PolicyField.allCases)
  }

  @Test(arguments: GroupType.allCases, PolicyField.allCases)
  func aFixedFieldTakesOnlyTheValueItHas(type: GroupType, field: PolicyField) throws {
    let printed = try ContractPage.cells(of: ContractPage.policies)[field.rawValue]?[type.rawValue]
    for value in PolicyTable.values(of: field) {
      let refusal = PolicyTable.refusal(ofSetting: field, to: value, in: type)
      let allowed = printed.map { $0.hasSuffix(" (s)") || $0 == text(value) } ?? false
      #expect(refusal == (allowed ? nil : .roleTooLow), "\(value)")
    }
  }

  @Test func attributesFollowTheConfiguration() {
    let permissions = GroupPermissions(attributeTypes: [.work, .bChatRoom])
    for type in GroupType.allCases {
      let named = type == .work || type == .bChatRoom
      let expected: Refusal? = named ? nil : .roleTooLow
      #expect(permissions.cell(for: .useAttributes, in: type) == (named ? .member : .nobody))
      for actor in [Asker.member(.member), .member(.owner), .administrator] {
        let policy = GroupPolicy.defaults(for: type)
        #expect(permissions.refusal(of: .useAttributes, in: type, policy: policy, by: actor) == expected)
      }
    }
    #expect(PermissionPage.markdown(by: permissions).contains("alone) | Member | × | × | × | Member |\n"))
  }

  private func text(_ value: PolicyValue) -> String {
    switch value {
    case .word(let word): word
    case .flag(true): "true"
    case .flag(false): "false"
    }
  }
}
