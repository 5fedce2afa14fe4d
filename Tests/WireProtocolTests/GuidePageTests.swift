import Foundation
import Testing
import WireProtocol

/// The short pages of Sources/ThrongServer/Documentation.docc that repeat what is said elsewhere:
/// Limits.md, Sizing.md and Troubleshooting.md.
@Suite struct GuidePageTests {
  private static let names = ["Limits", "Sizing", "Troubleshooting"]
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test(arguments: names)
  func everyRowHasTheColumnsOfItsHead(name: String) throws {
    let rows = try GuidePage(name).rows
    #expect(rows.count > 20)
    for row in rows { #expect(row.cells.count == row.head.count, "\(row.line)") }
  }

  /// Every number of the column "figure" stands in the section that the last column links to.
  @Test(arguments: ["Limits", "Sizing"])
  func figuresAreThoseOfTheCitedSection(name: String) throws {
    var pages: [String: GuidePage] = [:]
    var checked = 0
    for row in try GuidePage(name).rows {
      guard let figure = row["figure"], let source = row.cells.last else { continue }
      let link = try #require(source.wholeMatch(of: /<doc:([A-Za-z]+)#([^>]+)>/), "\(row.line)")
      let cited = String(link.1)
      let page = try pages[cited] ?? GuidePage(cited)
      pages[cited] = page
      let known = Set(numbers(in: try #require(page.section(String(link.2)), "\(row.line)")))
      #expect(Set(numbers(in: figure)).subtracting(known) == [], "\(row.line)")
      checked += 1
    }
    #expect(checked > 15)
  }

  /// Codes from 4000 on are this server's own; those below, and HTTP's, are the standards'.
  @Test(arguments: names)
  func codesExist(name: String) throws {
    let known = Set(ErrorCode.allCases.map(\.rawValue) + CloseCode.allCases.map(\.rawValue))
    for row in try GuidePage(name).rows {
      for cell in [row["beyond"], row["seen"], row["code"]].compactMap({ $0 }) {
        let codes = cell.matches(of: /-?\b[0-9]{4,5}\b/).compactMap { Int($0.0) }.filter { $0 < 0 || $0 >= 4000 }
        #expect(Set(codes).subtracting(known) == [], "\(row.line)")
      }
    }
  }

  @Test func everyCloseCodeHasItsRow() throws {
    let shown = try GuidePage("Troubleshooting").rows.compactMap { row -> String? in
      guard let code = row["code"], let reason = row["reason"] else { return nil }
      return "\(code) \(reason)"
    }
    #expect(shown == CloseCode.allCases.map { "\($0.rawValue) `\($0.reason)`" })
  }

  /// Those with which the transport closes by itself; a session notes them in the log.
  @Test func theCodesOfTheWebSocketHaveTheirRows() throws {
    let file = Self.root.appending(path: "Sources/Gateway/Observation/Session+Refusals.swift")
    let noted = try String(contentsOf: file, encoding: .utf8).matches(of: /case (1[0-9]{3}): reason =/).map { String($0.1) }
    let shown = try GuidePage("Troubleshooting").rows.filter { $0["seen"] != nil }.compactMap { $0["code"] }
    #expect(shown == noted && shown.count == 4)
  }

  /// Readers search for what the server has said, so it is quoted word by word; … stands for what
  /// differs.
  @Test func quotedMessagesAreThoseOfTheSources() throws {
    var missing = try Self.quotes()
    #expect(missing.count > 100)
    for text in try Self.sources() { missing = missing.filter { text.range(of: $0, options: .literal) == nil } }
    #expect(missing == [])
  }

  /// Those that begin with a value, such as the warnings of a start, have none to be found by.
  @Test func everyWarningAndErrorOfTheLogHasItsRow() throws {
    let quotes = try Self.quotes()
    let logged = try Self.sources().flatMap { text in
      text.matches(of: /\blog(?:ger)?\.(?:critical|error|warning|warn)\(\s*"([^"\\]+)/).map { String($0.1) }
    }
    #expect(logged.count > 50)
    for message in logged { #expect(quotes.contains { message.hasPrefix($0) }, "\(message)") }
  }

  /// The parts of what the page has seen, split where something differs.
  private static func quotes() throws -> Set<String> {
    let parts = try GuidePage("Troubleshooting").rows.compactMap { $0["seen"] }.flatMap { cell in
      cell.matches(of: /`([^`]+)`/).flatMap { $0.1.split(separator: "…") }
    }
    return Set(parts.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty })
  }

  /// The texts of all sources but the documentation.
  private static func sources() throws -> [String] {
    let folder = root.appending(path: "Sources")
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    return files.compactMap { $0 as? URL }
      .filter { ["swift", "c"].contains($0.pathExtension) && !$0.path().contains(".docc/") }
      .compactMap { try? String(contentsOf: $0, encoding: .utf8) }
  }
}

/// The numbers of a text, as they are written there.
private func numbers(in text: String) -> [String] { text.matches(of: /[0-9]+(?:[.,][0-9]+)*/).map { String($0.0) } }

/// A page of the catalogue: the rows of its tables, and its sections.
private struct GuidePage {
  struct Row {
    let line: String
    let head: [String]
    let cells: [String]

    /// The cell below that head; nil where the table has none.
    subscript(column: String) -> String? {
      guard let index = head.firstIndex(of: column), index < cells.count else { return nil }
      return cells[index]
    }
  }

  private struct Heading {
    let line: Int
    let level: Int
    let anchor: String
  }

  private(set) var rows: [Row] = []
  private var headings: [Heading] = []
  private let lines: [String]

  init(_ name: String) throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Sources/ThrongServer/Documentation.docc/\(name).md")
    lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
    var head: [String] = []
    var isCode = false
    for (index, line) in lines.enumerated() {
      if line.hasPrefix("```") { isCode.toggle() }
      if !isCode, line.hasPrefix("#") {
        let level = line.prefix { $0 == "#" }.count
        headings.append(Heading(line: index, level: level, anchor: GuidePage.anchor(of: String(line.dropFirst(level + 1)))))
      }
      guard line.hasPrefix("|") else {
        head = []
        continue
      }
      guard !line.hasPrefix("|---"), !line.hasPrefix("| ---") else { continue }
      let cells = line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      if head.isEmpty { head = cells } else { rows.append(Row(line: line, head: head, cells: cells)) }
    }
  }

  /// The text below a heading, that of lower headings included; nil where there is no such heading.
  func section(_ anchor: String) -> String? {
    guard let index = headings.firstIndex(where: { $0.anchor == GuidePage.anchor(of: anchor) }) else { return nil }
    let heading = headings[index]
    let end = headings[(index + 1)...].first { $0.level <= heading.level }?.line ?? lines.count
    return lines[heading.line..<end].joined(separator: "\n")
  }

  /// The heading as a link names it.
  private static func anchor(of heading: String) -> String {
    heading.replacing(" ", with: "-").filter { $0.isLetter || $0.isNumber || $0 == "-" }
  }
}
