import GroupModel
import Testing

@Suite struct GroupPolicyTests {
  private static let policy = GroupPolicy(
    joinMode: .any, inviteMode: .any, beInviteMode: .none, updateInfoMode: .any, updateCustomMode: .any, ownerQuitMode: .transfer,
    memberChangeNotification: true, isSearchable: true, isMemberVisible: true, historyVisibility: .joined)

  private static let words: [PolicyField: [String]] = [
    .joinMode: ["Any", "Auth", "Forbid"],
    .inviteMode: ["Any", "Admin", "Nobody"],
    .beInviteMode: ["None", "Auth"],
    .updateInfoMode: ["Any", "Admin", "Owner"],
    .updateCustomMode: ["Any", "Admin", "Owner"],
    .ownerQuitMode: ["Transfer", "Forbid"],
    .historyVisibility: ["Joined", "All"],
    .attributeMode: ["Any", "Holder"],
  ]

  private static let numbers: [PolicyField: ClosedRange<Int64>] = [.slowMode: 0...86_400]

  private static func values(of field: PolicyField) -> [PolicyValue] {
    if let range = numbers[field] { return [.number(range.upperBound), .number(1), .number(range.lowerBound)] }
    return words[field]?.map(PolicyValue.word) ?? [.flag(true), .flag(false)]
  }

  @Test(arguments: PolicyField.allCases)
  func wordsAreThoseOfTheTable(field: PolicyField) {
    #expect(field.words == Self.words[field] ?? [])
    #expect(field.range == Self.numbers[field])
    #expect((field.kind == .flag) == (Self.words[field] == nil && Self.numbers[field] == nil))
  }

  @Test(arguments: PolicyField.allCases)
  func aSetValueIsReadBackAndNothingElseChanges(field: PolicyField) {
    for value in Self.values(of: field) {
      var policy = Self.policy
      let isSet = policy.set(field, to: value)
      #expect(isSet)
      #expect(policy[field] == value)
      for other in PolicyField.allCases where other != field {
        #expect(policy[other] == Self.policy[other])
      }
    }
  }

  @Test(arguments: PolicyField.allCases)
  func aForeignValueChangesNothing(field: PolicyField) {
    let words: [PolicyValue] = [.word(""), .word("any"), .word("ANY"), .word("Everybody"), .word("true"), .word("1")]
    var foreign = words + [.number(-1), .number(86_401), .number(.max), .number(.min)]
    if field.kind != .flag { foreign += [.flag(true), .flag(false)] }
    if field.range == nil { foreign += [.number(0), .number(1)] }
    for value in foreign {
      var policy = Self.policy
      let isSet = policy.set(field, to: value)
      #expect(!isSet)
      #expect(policy == Self.policy)
    }
  }

  @Test(arguments: [(PolicyField.joinMode, "Admin"), (.ownerQuitMode, "Any"), (.beInviteMode, "Forbid"), (.inviteMode, "None")])
  func aWordOfAnotherFieldIsForeign(field: PolicyField, word: String) {
    var policy = Self.policy
    let isSet = policy.set(field, to: .word(word))
    #expect(!isSet)
    #expect(policy == Self.policy)
  }
}
