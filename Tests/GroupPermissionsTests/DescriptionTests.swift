import GroupModel
import GroupPermissions
import Testing

/// getServerInfo's groupTypes against the three tables.
@Suite struct DescriptionTests {
  @Test func everyTypeIsDescribedInThePagesOrder() {
    #expect(GroupTypeDescription.all().map(\.type.rawValue) == ["Work", "Public", "Meeting", "AVChatRoom", "BChatRoom"])
  }

  @Test(arguments: GroupTypeDescription.all())
  func rightsAndSettingsAreThoseOfTheTables(described: GroupTypeDescription) throws {
    let type = described.type.rawValue
    let page = try ExpectedTables.rightsByAction()
    #expect(described.rights.map(\.action) == GroupAction.allCases.filter { $0 != .editMember && $0 != .editServerCustomInfo })
    for right in described.rights {
      #expect(right.requirement.word == page[right.action.rawValue]?[type])
    }
    let policies = try ExpectedTables.cells(of: ExpectedTables.policies)
    #expect(described.settings.map(\.field) == (described.type == .bChatRoom ? [] : PolicyField.allCases))
    for setting in described.settings {
      let printed = try #require(policies[setting.field.rawValue]?[type])
      #expect(setting.isSettable == printed.hasSuffix(" (s)"))
      #expect(setting.range == setting.field.range)
      if let range = setting.range {
        #expect(setting.values.isEmpty && setting.defaultValue == .number(range.lowerBound))
      } else {
        #expect(setting.values.contains(setting.defaultValue))
      }
    }
  }

  @Test(arguments: GroupTypeDescription.all())
  func legacyNamesAreReadBack(described: GroupTypeDescription) {
    let expected: [GroupType: String] = [.work: "Private", .meeting: "ChatRoom"]
    #expect(described.legacyName == expected[described.type])
    if let name = described.legacyName { #expect(GroupType(wireName: name) == described.type) }
  }

  @Test(arguments: GroupTypeDescription.all())
  func factsAreThoseOfTheTable(described: GroupTypeDescription) throws {
    let rows = try ExpectedTables.cells(of: ExpectedTables.facts)
    try #require(rows.count == 9)
    func fact(_ row: String) -> String? { rows[row]?[described.type.rawValue] }
    let isLive = described.type == .avChatRoom || described.type == .bChatRoom

    let initial = "initial members at creation (role Admin: not in Work, 10007)"
    #expect(fact(initial) == (described.takesInitialMembers ? "yes" : "10007"))
    #expect(described.takesInitialAdmins == (fact(initial) == "yes" && described.type != .work))
    #expect(described.limitsMembers == ["≤ maxMemberNum", "same"].contains(fact("members")))
    #expect(described.everyoneIsMember == (fact("members") == "everyone signed in"))
    #expect(fact("messages stored, `seq`") == (described.storesMessages ? "yes" : "no"))
    #expect(fact("history from before joining") == (described.showsHistoryFromBeforeJoining ? "yes" : isLive ? "–" : "no"))
    #expect(described.countsUnread == (fact("unread count") == "yes"))
    #expect(fact("listed by getJoinedGroupList") == (described.isListed ? "yes" : "no"))
    #expect(fact("default receive option") == described.defaultReceiveOption.rawValue)
    #expect(fact("member list") == words(for: described.memberList))
    #expect(fact("recall") == (described.allowsRecall ? "yes" : "10033"))
  }

  private func words(for list: GroupTypeDescription.MemberList) -> String {
    switch list {
    case .whole: "whole"
    case .ownerAndNewest: "owner, then the 300 newest, newest first"
    case .none: "10007"
    }
  }

  @Test func theConfigurationOfAttributesIsDescribed() throws {
    let described = GroupTypeDescription.all(by: GroupPermissions(attributeTypes: [.meeting]))
    let members = described.filter { type in type.rights.contains { $0.action == .useAttributes && $0.requirement == .member } }
    #expect(members.map(\.type) == [.meeting])
  }
}
