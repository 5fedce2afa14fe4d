import Foundation
import GroupModel
import GroupPermissions
import Testing

/// Sources/ThrongServer/Documentation.docc/Permissions.md holds the tables that decide, between two
/// marks; what stands around them is written by hand.
@Suite struct PermissionDocumentTests {
  private static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources/ThrongServer/Documentation.docc/Permissions.md")
  private static let opening = "<!-- Generated from GroupPermissions; THRONG_UPDATE_REFERENCE=1 swift test rewrites it. -->\n"
  private static let closing = "<!-- End of the generated tables. -->\n"

  @Test func theDocumentHoldsTheTables() throws {
    let text = try String(contentsOf: PermissionDocumentTests.file, encoding: .utf8)
    let start = try #require(text.range(of: PermissionDocumentTests.opening)).upperBound
    let end = try #require(text.range(of: PermissionDocumentTests.closing)).lowerBound
    try #require(start <= end)
    let tables = "\n" + PermissionPage.markdown() + "\n"
    if ProcessInfo.processInfo.environment["THRONG_UPDATE_REFERENCE"] == "1" {
      let updated = text.replacingCharacters(in: start..<end, with: tables)
      try updated.write(to: PermissionDocumentTests.file, atomically: true, encoding: .utf8)
    } else {
      #expect(text[start..<end] == tables)
    }
  }

  /// Protocol.md says in a table what else distinguishes the types.
  @Test func theProtocolTellsTheTypesApart() throws {
    let file = PermissionDocumentTests.file.deletingLastPathComponent().appending(path: "Protocol.md")
    let text = try String(contentsOf: file, encoding: .utf8)
    let section = text[try #require(text.range(of: "\n## Group types\n")).upperBound...].prefix { $0 != "#" }
    var rows: [String: [String]] = [:]
    for line in section.split(separator: "\n") where line.hasPrefix("|") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      rows[cells[0]] = Array(cells.dropFirst())
    }
    for (column, type) in PermissionPage.describe().enumerated() {
      func cell(_ row: String) throws -> String { try #require(rows[row])[column] }
      func word(_ isSo: Bool) -> String { isSo ? "yes" : "no" }
      #expect(try cell("keeps messages, `seq`, tips") == word(type.storesMessages))
      #expect(try cell("history from before joining").hasPrefix("yes") == type.showsHistoryFromBeforeJoining)
      #expect(try cell("counts unread messages").hasPrefix("yes") == type.countsUnread)
      #expect(try cell("in `getJoinedGroupList`") == word(type.isListed))
      #expect(try cell("receive option at first") == type.defaultReceiveOption.rawValue)
      #expect(try cell("recall") == (type.allowsRecall ? "yes" : "10033"))
      #expect(try cell("members at creation").hasPrefix("yes") == type.takesInitialMembers)
      #expect(try cell("members at creation").contains("no admins") == (type.takesInitialMembers && !type.takesInitialAdmins))
    }
  }
}
