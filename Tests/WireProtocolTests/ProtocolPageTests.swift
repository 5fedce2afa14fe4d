import Foundation
import GroupModel
import Testing
import WireProtocol

/// The tables that Sources/ThrongServer/Documentation.docc/Protocol.md holds itself: each names
/// what the code has, no more and no less.
@Suite struct ProtocolPageTests {
  private let page: ProtocolPage

  init() throws { page = try ProtocolPage() }

  @Test func everyCodeInATableIsOne() {
    let known = Set(ErrorCode.allCases.map(\.rawValue) + CloseCode.allCases.map(\.rawValue))
    var checked = 0
    for table in page.tables {
      for column in ["code", "otherwise", "beyond"] {
        guard let index = table.head.firstIndex(of: column) else { continue }
        for code in table.rows.flatMap({ numbers(in: $0[index].replacing(/HTTP [0-9]{3}/, with: "")) }) {
          #expect(known.contains(code), "\(table.heading): \(code)")
          checked += 1
        }
      }
    }
    #expect(checked > 20)
  }

  @Test func enumerationsAreWhole() throws {
    #expect(try page.words("Receive options") == Set(ReceiveOption.allCases.map(\.rawValue)))
    #expect(try page.words("Group mute") == Set(GroupMute.Mode.allCases.map(\.rawValue)))
    #expect(try page.words("Bulk results") == Set(MemberResult.Outcome.allCases.map(\.rawValue)))
    #expect(try page.words("System notifications") == Set(SystemNotification.Kind.allCases.map(\.rawValue)))
    #expect(try page.words("Policies") == Set(PolicyField.allCases.map(\.rawValue)))
  }

  @Test func statusesAreThoseOfTheReply() throws {
    let status = try #require(SendGroupTextMessage.specification.result.first { $0.name == "status" })
    #expect(try page.words("Sending") == Set(status.type.matches(of: /"([A-Za-z]+)"/).map { String($0.1) }))
  }

  @Test func tipsAreThoseOfTheType() throws {
    let document = try JSONSerialization.jsonObject(with: Data(MethodTable().openRPC(version: "0"))) as? [String: Any]
    let schemas = (document?["components"] as? [String: Any])?["schemas"] as? [String: [String: Any]]
    let type = (schemas?["Tips"]?["properties"] as? [String: [String: Any]])?["type"]
    #expect(try page.words("Tips") == Set(try #require(type?["enum"] as? [String])))
  }

  @Test func customInfoHasItsBounds() throws {
    let rows = try page.table("Custom info").rows
    let domains = [MapDomain.groupCustomInfo, .memberCustomInfo]
    #expect(rows.map { numbers(in: $0[1]) + numbers(in: $0[2]) } == domains.map { [$0.entries, $0.valueBytes] })
  }

  @Test func eventsWithNotificationOffAreEvents() throws {
    let names = Set(EventName.allCases.map(\.rawValue))
    let named = try page.words("Notification off", where: { $0.hasPrefix("on") })
    #expect(named.isSubset(of: names) && named.count == 7)
  }

  /// Reference.md says all that there is to say of these.
  private static let withoutRules: Set = [
    "setGroupReceiveMessageOpt", "getGroupOnlineMemberCount",
    "getGroupMemberInviters", "getSystemNotificationList", "setSystemNotificationRead", "listGroups",
  ]

  @Test func everyMethodWithRulesIsNamed() {
    let unnamed = MethodTable().entries.map(\.name).filter { !page.text.contains($0) }
    #expect(Set(unnamed) == ProtocolPageTests.withoutRules)
  }

  private func numbers(in cell: String) -> [Int] { cell.matches(of: /-?\b[0-9]+\b/).compactMap { Int($0.0) } }
}

/// The page's tables, each under its heading.
private struct ProtocolPage {
  struct Table {
    let heading: String
    let head: [String]
    var rows: [[String]] = []
  }

  let text: String
  private(set) var tables: [Table] = []

  init() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Sources/ThrongServer/Documentation.docc/Protocol.md")
    text = try String(contentsOf: file, encoding: .utf8)
    var heading = ""
    var isInTable = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("#") { heading = String(line.drop { $0 == "#" }.dropFirst()) }
      defer { isInTable = line.hasPrefix("|") }
      guard line.hasPrefix("|"), !line.hasPrefix("|---") else { continue }
      let cells = line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      if isInTable {
        tables[tables.count - 1].rows.append(cells)
      } else {
        tables.append(Table(heading: heading, head: cells))
      }
    }
  }

  /// The only table under that heading.
  func table(_ heading: String) throws -> Table {
    let found = tables.filter { $0.heading == heading }
    return try #require(found.count == 1 ? found.first : nil, "\(heading)")
  }

  /// The words in the first column of the table under that heading, several to a cell.
  func words(_ heading: String, where isWanted: (String) -> Bool = { _ in true }) throws -> Set<String> {
    Set(try table(heading).rows.flatMap { $0[0].matches(of: /[A-Za-z]+/).map { String($0.0) } }.filter(isWanted))
  }
}
