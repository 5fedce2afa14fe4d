import Foundation
import ServerConfiguration
import Testing

/// Sources/ThrongServer/Documentation.docc/Limits.md names every limit, and keys that bound besides,
/// each with its default.
@Suite struct LimitsPageTests {
  private struct Row {
    let key: String
    let fallback: String
  }

  private static let catalogue = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources/ThrongServer/Documentation.docc")

  /// The rows whose first cell is a key.
  private let rows: [Row]

  init() throws {
    rows = try Self.text(of: "Limits").split(separator: "\n").compactMap { line in
      guard let found = line.prefixMatch(of: /\| `([A-Za-z0-9.]+)` \| ([^|]+) \|/) else { return nil }
      return Row(key: String(found.1), fallback: String(found.2))
    }
  }

  @Test func everyLimitIsNamed() {
    let named = Set(rows.map(\.key))
    let limits = Settings.keys.map(\.path).filter { $0.hasPrefix("limits.") }
    #expect(limits.count > 20 && Set(limits).subtracting(named) == [])
  }

  @Test func everyKeyHasItsDefault() {
    let fallbacks = Dictionary(uniqueKeysWithValues: Settings.keys.map { ($0.path, Self.fallback(of: $0)) })
    for row in rows { #expect(fallbacks[row.key] == row.fallback, "\(row.key)") }
  }

  @Test func everyKeyStandsThereOnce() {
    for (key, rows) in Dictionary(grouping: rows, by: \.key) { #expect(rows.count == 1, "\(key)") }
  }

  /// A word such as `auth.secret`, whose first part begins keys, is a key, or with `.*` the beginning of
  /// several.
  @Test(arguments: ["Backend", "Limits", "Moderation", "SignIn", "Sizing", "Troubleshooting"])
  func keysOfThePageExist(name: String) throws {
    let keys = Settings.keys.map(\.path)
    let openings = Set(keys.filter { $0.contains(".") }.map { $0.prefix { $0 != "." } })
    for word in try Self.text(of: name).matches(of: /`([A-Za-z]+)\.([A-Za-z.]+?)(\.\*)?`/) where openings.contains(word.1) {
      let path = "\(word.1).\(word.2)"
      #expect(keys.contains { word.3 == nil ? $0 == path : $0.hasPrefix(path + ".") }, "\(path)")
    }
  }

  private static func text(of name: String) throws -> String {
    try String(contentsOf: catalogue.appending(path: "\(name).md"), encoding: .utf8)
  }

  private static func fallback(of key: KeyDescription) -> String {
    if let words = key.computedDefault { return words }
    return key.defaultValue == "(none)" ? "–" : "`\(key.defaultValue)`"
  }
}
