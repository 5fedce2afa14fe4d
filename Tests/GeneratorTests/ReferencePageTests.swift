import Foundation
import Testing
import WireProtocol

@testable import generator

/// The page that users of the protocol read: Sources/ThrongServer/Documentation.docc/Reference.md.
@Suite struct ReferencePageTests {
  private let page = MethodTable().referencePage()

  @Test func everythingHasItsHeading() {
    let headings = page.split(separator: "\n").filter { $0.hasPrefix("### ") }.map { String($0.dropFirst(4)) }
    let methods = MethodTable().entries.map(\.name)
    #expect(Array(headings.prefix(methods.count)) == methods)
    #expect(Array(headings.suffix(EventName.allCases.count)) == EventName.allCases.map(\.rawValue))
  }

  @Test func everyCodeHasItsRow() {
    for code in ErrorCode.allCases { #expect(page.contains("\n| \(code.rawValue) | \(code.title) |")) }
    for code in CloseCode.allCases { #expect(page.contains("\n| \(code.rawValue) | \(code.reason) |")) }
  }

  @Test func parametersAreSaidInWords() {
    let role = "one of Admin, Member, or 100 to 2147483647"
    for row in [
      "`groupName` | string, 1 to 30 bytes of UTF-8, no control characters | The group's name, for people.",
      "`count?` | integer, 1 to 200 | The most groups of the page; absent = 50.",
      "`fromSeq?` | integer, 0 or more "
        + "| The page begins next to this seq; 0 or absent = at the newest message for Older, at the oldest for Newer.",
      "`direction?` | one of Older, Newer | Whether the page goes back in time or forward; absent = Older.",
      "`isSearchable?` | boolean | Whether others find the group by searchGroups.",
      "`memberList?` | list of at most 100: {userID: string, 1 to 32 bytes of UTF-8; role?: \(role)} "
        + "| The first members, besides the owner.",
      "`role` | \(role) | The new role.",
      "`roles?` | list of at most 50: \(role) | The roles that are silenced, for mode Custom only.",
      "`keys?` | list of at most 100: string, 1 to 32 bytes of UTF-8 | The keys that are read; absent = all.",
      "`attributes` | object of at most 16 members, keys 1 to 32 bytes, values at most 4096 bytes of UTF-8 "
        + "| The attributes that take the place of all there are.",
    ] {
      #expect(page.contains("\n| \(row) |\n"), "\(row)")
    }
    #expect(page.contains("data?: string, 1 to 12288 bytes of UTF-8; clientMsgID?:"))
  }

  /// The text between the heading of a method and the next heading, in one line.
  private func section(_ method: String) -> String {
    guard let start = page.range(of: "\n### \(method)\n") else { return "" }
    let rest = page[start.upperBound...]
    return String(rest[..<(rest.range(of: "\n#")?.lowerBound ?? rest.endIndex)].replacing("\n", with: " "))
  }

  @Test func linesOfProseEndInTime() {
    for line in page.split(separator: "\n") where !line.hasPrefix("|") { #expect(line.count <= 100, "\(line)") }
  }

  @Test func thePageSaysWhoMayCallAMethod() throws {
    let backend = try #require(page.range(of: "\n## Only for the application's backend\n"))
    for entry in MethodTable().entries {
      let callers = entry.specification.callers
      let heading = try #require(page.range(of: "\n### \(entry.name)\n"))
      #expect((heading.lowerBound > backend.lowerBound) == (callers == .application), "\(entry.name)")
      #expect(section(entry.name).contains("Needs a user") == (callers == .user), "\(entry.name)")
      #expect(section(entry.name).contains("Only on a connection") == (callers == .connection), "\(entry.name)")
    }
  }

  @Test func tablesAreWhole() {
    var columns: Int?
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      guard line.hasPrefix("|") else {
        columns = nil
        continue
      }
      let count = line.replacing("\\|", with: "").filter { $0 == "|" }.count
      #expect(columns == nil || columns == count, "\(line)")
      columns = count
    }
  }
}
