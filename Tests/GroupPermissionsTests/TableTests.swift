import GroupModel
import GroupPermissions
import Testing

/// The tables that decide, against the expected ones, cell by cell.
@Suite struct TableTests {
  @Test(arguments: GroupType.allCases)
  func everyRequirementIsTheExpectedOne(type: GroupType) throws {
    let page = try ExpectedTables.rightsByAction()
    #expect(Set(page.keys) == Set(GroupAction.allCases.map(\.rawValue)))
    for action in GroupAction.allCases {
      #expect(GroupPermissions().requirement(for: action, in: type).word == page[action.rawValue]?[type.rawValue], "\(action)")
    }
  }

  @Test(arguments: GroupType.allCases, PolicyField.allCases)
  func defaultsAndSettableMarksAreTheExpectedOnes(type: GroupType, field: PolicyField) throws {
    let rows = try ExpectedTables.cells(of: ExpectedTables.policies)
    #expect(Set(rows.keys) == Set(PolicyField.allCases.map(\.rawValue)))
    let row = try #require(rows[field.rawValue])
    let range = field.range.map { "\($0.lowerBound)–\($0.upperBound)" }
    #expect(range ?? PolicyTable.values(of: field).map(text).joined(separator: ", ") == row["values"])
    #expect((range == nil) == !PolicyTable.values(of: field).isEmpty)
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
    let printed = try ExpectedTables.cells(of: ExpectedTables.policies)[field.rawValue]?[type.rawValue]
    for value in PolicyTable.tried(of: field) {
      let denial = GroupPermissions().denial(ofSetting: field, to: value, in: type)
      let allowed = printed.map { $0.hasSuffix(" (s)") || $0 == text(value) } ?? false
      #expect(denial == (allowed ? nil : .noRight), "\(value)")
    }
  }

  @Test func attributesFollowTheConfiguration() {
    let permissions = GroupPermissions(attributeTypes: [.work, .bChatRoom])
    for type in GroupType.allCases {
      let named = type == .work || type == .bChatRoom
      let expected: Denial? = named ? nil : .noRight
      #expect(permissions.requirement(for: .useAttributes, in: type) == (named ? .member : .nobody))
      for actor in [Principal.member(.member), .member(.owner), .administrator] {
        let policy = GroupPolicy.defaults(for: type)
        #expect(permissions.denial(of: .useAttributes, in: type, policy: policy, by: actor) == expected)
      }
    }
  }

  private static let attributeTypes: [Set<GroupType>] = [
    [], [.avChatRoom], [.work, .meeting, .bChatRoom], Set(GroupType.allCases),
  ]

  /// "(s) wherever attributes are; where a type has no attributes it is fixed to Any."
  @Test(arguments: attributeTypes)
  func attributeModeIsAChoiceWhereThereAreAttributes(types: Set<GroupType>) {
    let permissions = GroupPermissions(attributeTypes: types)
    for type in GroupType.allCases {
      let isChoice = types.contains(type) && type != .bChatRoom
      #expect(permissions.isSettable(.attributeMode, in: type) == isChoice, "\(type)")
      func denial(_ mode: AttributeMode) -> Denial? {
        permissions.denial(ofSetting: .attributeMode, to: .word(mode.rawValue), in: type)
      }
      #expect(denial(.holder) == (isChoice ? nil : .noRight), "\(type)")
      #expect(denial(.any) == (type == .bChatRoom ? .noRight : nil), "\(type)")
      for field in PolicyField.allCases where field != .attributeMode {
        #expect(permissions.isSettable(field, in: type) == PolicyTable.isSettable(field, in: type), "\(field)")
      }
    }
  }

  private func text(_ value: PolicyValue) -> String {
    switch value {
    case .word(let word): word
    case .flag(true): "true"
    case .flag(false): "false"
    case .number(let number): "\(number)"
    }
  }
}

extension PolicyTable {
  /// The values of a field that tests try: of numbers the ends and one between.
  static func tried(of field: PolicyField) -> [PolicyValue] {
    guard let range = field.range else { return values(of: field) }
    return [range.lowerBound, range.lowerBound + 1, range.upperBound].map(PolicyValue.number)
  }
}
