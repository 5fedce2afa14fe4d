import Foundation
import GroupModel
import GroupPermissions
import Testing

/// Sources/ThrongServer/Documentation.docc/Permissions.md holds the tables that decide, between two
/// marks; what stands around them is written by hand.
@Suite struct PermissionDocumentTests {
  private static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources/ThrongServer/Documentation.docc/Permissions.md")
  private static let opening = "<!-- Generated from GroupPermissions; Scripts/generate rewrites it. -->\n"
  private static let closing = "<!-- End of the generated tables. -->\n"

  @Test func theDocumentHoldsTheExpectedTables() throws {
    let text = try String(contentsOf: PermissionDocumentTests.file, encoding: .utf8)
    let start = try #require(text.range(of: PermissionDocumentTests.opening)).upperBound
    let end = try #require(text.range(of: PermissionDocumentTests.closing)).lowerBound
    try #require(start <= end)
    let tables = [ExpectedTables.rights, ExpectedTables.policies, ExpectedTables.liveRooms]
    #expect(text[start..<end] == "\n\(tables.joined(separator: "\n\n"))\n\n")
  }

  /// Protocol.md says in a table what else distinguishes the types.
  @Test func theProtocolTellsTheTypesApart() throws {
    let file = PermissionDocumentTests.file.deletingLastPathComponent().appending(path: "Protocol.md")
    let text = try String(contentsOf: file, encoding: .utf8)
    let rows = try Self.rows(below: "Group types", in: text)
    for (column, type) in GroupTypeDescription.all().enumerated() {
      func cell(_ row: String) throws -> String { try #require(rows[row])[column] }
      func word(_ isSo: Bool) -> String { isSo ? "yes" : "no" }
      // What a live room remembers is said there, too.
      #expect(try cell("keeps messages, `seq`, tips").hasPrefix(word(type.storesMessages)))
      #expect(try cell("history from before joining (historyVisibility)").hasPrefix("yes") == type.showsHistoryFromBeforeJoining)
      #expect(try cell("counts unread messages").hasPrefix("yes") == type.countsUnread)
      #expect(try cell("in `getJoinedGroupList`") == word(type.isListed))
      #expect(try cell("receive option at first") == type.defaultReceiveOption.rawValue)
      #expect(try cell("recall").hasSuffix(type.allowsRecall ? "yes" : "10033"))
      #expect(try cell("members at creation").hasPrefix("yes") == type.takesInitialMembers)
      #expect(try cell("members at creation").contains("no admins") == (type.takesInitialMembers && !type.takesInitialAdmins))
    }
  }

  /// The table with which readers choose a type is written by hand.
  @Test func theTypesStandSideBySide() throws {
    let text = try String(contentsOf: PermissionDocumentTests.file, encoding: .utf8)
    let rows = try Self.rows(below: "Types side by side", in: text)
    let permissions = GroupPermissions()
    #expect(rows[""] == GroupType.allCases.map(\.rawValue))
    for (column, type) in GroupType.allCases.enumerated() {
      let policy = GroupPolicy.defaults(for: type)
      func check(_ row: String, _ expected: String) throws {
        let cells = try #require(rows[row], "\(row)")
        try #require(cells.count == GroupType.allCases.count, "\(row)")
        #expect(cells[column] == expected, "\(row), \(type)")
      }
      func word(_ isSo: Bool) -> String { isSo ? "yes" : "no" }
      /// Marks what those who may edit the policy can change.
      func choice(_ words: String, _ field: PolicyField) -> String {
        words + (PolicyTable.isSettable(field, in: type) ? " (s)" : "")
      }
      func right(_ action: GroupAction) -> String { permissions.requirement(for: action, in: type).word }

      try check("made by", right(.create))
      let joins = [JoinMode.any: "at once", .auth: "asks first", .forbid: type.everyoneIsMember ? "no, all are in" : "no, 8508"]
      try check("`joinGroup` (joinMode)", choice(joins[policy.joinMode] ?? "", .joinMode))
      let approvers = ["Admin": "Owner, Admin", "×": "–"]
      try check("approves, with joinMode Auth", approvers[right(.decideApplications)] ?? right(.decideApplications))
      let inviters = [InviteMode.any: "every member", .admin: "managers", .nobody: "nobody"]
      try check("invites others (inviteMode)", choice(inviters[policy.inviteMode] ?? "", .inviteMode))
      try check("roles", permissions.allowsAdmins(in: type) ? "Owner, Admin, Member, custom" : "Owner, Member")
      try check("writes messages", right(.send))
      try check("keeps messages", word(type.storesMessages))
      let showsAll = word(policy.historyVisibility == .all)
      try check(
        "history from before joining (historyVisibility)", type.storesMessages ? choice(showsAll, .historyVisibility) : "–")
      try check("missed while the connection was lost", type.storesMessages ? "comes later" : "is gone")
      try check("unread count", word(type.countsUnread))
      try check("recall, edits, reactions, pins", word(right(.recallOthers) != "×"))
      #expect(type.storesMessages == (right(.recallOthers) != "×") && type.storesMessages == (right(.pinMessage) != "×"))
      try check("read receipts", word(type.hasReadReceipts))
      try check("attributes", word(right(.useAttributes) != "×"))
      try check("found by others (isSearchable)", choice(word(policy.isSearchable), .isSearchable))
      let away = type.removesAbsentMembers ? "leaves after 300 s, but for the owner" : type.everyoneIsMember ? "–" : "stays"
      try check("a member who stays away", away)
      let quits =
        right(.quitAsOwner) == "×" ? "no" : policy.ownerQuitMode == .transfer ? "yes, the group passes on" : "no, transfers first"
      try check("the owner may quit (ownerQuitMode)", choice(quits, .ownerQuitMode))
      try check("disbanded by", right(.disband))
    }
  }

  /// Its numbers are the defaults of keys, which Limits.md holds (`LimitsPageTests`).
  @Test func theNumbersSideBySideAreThoseOfTheLimits() throws {
    let rows = try Self.rows(below: "Types side by side", in: String(contentsOf: PermissionDocumentTests.file, encoding: .utf8))
    let file = PermissionDocumentTests.file.deletingLastPathComponent().appending(path: "Limits.md")
    let limits = try Self.rows(below: "Of a group", in: String(contentsOf: file, encoding: .utf8))
    func value(_ key: String) throws -> String {
      try #require(limits["`\(key)`"]?.first, "\(key)").trimmingCharacters(in: ["`"])
    }
    let members = try #require(rows["members at most"])
    for (column, type) in ["work", "public", "meeting"].enumerated() {
      #expect(members[column] == (try value("limits.\(type).maxMemberNum")))
    }
    #expect(members.suffix(2) == ["no limit", "all who are signed in"])
    let rates = try #require(rows["messages a second"])
    for (column, type) in ["work", "public", "meeting", "avChatRoom", "bChatRoom"].enumerated() {
      let limit = try value("limits.\(type).messagesPerSecond")
      #expect(rates[column] == (limit == "0" ? "no limit" : "\(limit), by priority"))
    }
    #expect(try #require(rows["a member who stays away"])[3].contains(try value("avChatRoom.offlineGrace").dropLast() + " s"))
  }

  /// The rows of the table below a heading: the other cells by the first one.
  private static func rows(below heading: String, in text: String) throws -> [String: [String]] {
    let below = text[try #require(text.range(of: "\n## \(heading)\n")).upperBound...]
    let section = below[..<(below.range(of: "\n#")?.lowerBound ?? below.endIndex)]
    var rows: [String: [String]] = [:]
    for line in section.split(separator: "\n") where line.hasPrefix("|") {
      let cells = line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      rows[cells[0]] = Array(cells.dropFirst())
    }
    return rows
  }
}
