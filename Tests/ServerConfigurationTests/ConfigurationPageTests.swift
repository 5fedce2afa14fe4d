import Foundation
import ServerConfiguration
import Testing

/// Sources/ThrongServer/Documentation.docc/Configuration.md holds the tables of the keys, between
/// two marks. README.md and Operations.md name the keys that a deployment sets.
@Suite struct ConfigurationPageTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let catalogue = root.appending(path: "Sources/ThrongServer/Documentation.docc")
  private static let file = catalogue.appending(path: "Configuration.md")
  private static let opening =
    "<!-- Generated from ServerConfiguration; THRONG_UPDATE_REFERENCE=1 swift test rewrites it. -->\n"
  private static let closing = "<!-- End of the generated table. -->\n"

  @Test func thePageHoldsTheKeys() throws {
    let text = try String(contentsOf: ConfigurationPageTests.file, encoding: .utf8)
    let start = try #require(text.range(of: ConfigurationPageTests.opening)).upperBound
    let end = try #require(text.range(of: ConfigurationPageTests.closing)).lowerBound
    try #require(start <= end)
    let tables = "\n" + ConfigurationPageTests.tables().joined(separator: "\n") + "\n"
    if ProcessInfo.processInfo.environment["THRONG_UPDATE_REFERENCE"] == "1" {
      let updated = text.replacingCharacters(in: start..<end, with: tables)
      try updated.write(to: ConfigurationPageTests.file, atomically: true, encoding: .utf8)
    } else {
      #expect(text[start..<end] == tables, "THRONG_UPDATE_REFERENCE=1 swift test rewrites it")
    }
  }

  @Test func keysOfADeploymentStandInReadmeOrOperations() throws {
    let pages = [
      ConfigurationPageTests.root.appending(path: "README.md"),
      ConfigurationPageTests.catalogue.appending(path: "Operations.md"),
    ]
    let text = try pages.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    let named = Set(text.matches(of: /`([A-Za-z0-9.]+)`/).map { String($0.1) })
    let keys = Settings.keys.filter(\.isDeployment).map(\.path)
    #expect(keys.count > 20 && Set(keys).subtracting(named) == [])
  }

  /// A table for each group of keys.
  private static func tables() -> [String] {
    var sections: [String] = []
    for key in Settings.keys where sections.last != key.section { sections.append(key.section) }
    return sections.map { section in
      let rows = Settings.keys.filter { $0.section == section }.map(row).joined()
      let head = "| key | meaning | value | unit | default | example | since |\n|---|---|---|---|---|---|---|\n"
      return "### \(section)\n\n\(head)\(rows)"
    }
  }

  private static func row(of key: KeyDescription) -> String {
    let cells = [
      "`\(key.path)`", key.documentation, key.type, key.unit ?? "", fallback(of: key), "`\(key.example)`", key.since,
    ]
    return "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |\n"
  }

  private static func fallback(of key: KeyDescription) -> String {
    if let words = key.computedDefault { return words }
    return key.defaultValue == "(none)" ? "–" : "`\(key.defaultValue)`"
  }
}
