import Foundation
import ServerConfiguration
import Testing

/// Sources/ThrongServer/Documentation.docc/Operations.md holds the table of the keys, between two
/// marks.
@Suite struct ConfigurationPageTests {
  private static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources/ThrongServer/Documentation.docc/Operations.md")
  private static let opening =
    "<!-- Generated from ServerConfiguration; THRONG_UPDATE_REFERENCE=1 swift test rewrites it. -->\n"
  private static let closing = "<!-- End of the generated table. -->\n"

  @Test func thePageHoldsTheKeys() throws {
    let text = try String(contentsOf: ConfigurationPageTests.file, encoding: .utf8)
    let start = try #require(text.range(of: ConfigurationPageTests.opening)).upperBound
    let end = try #require(text.range(of: ConfigurationPageTests.closing)).lowerBound
    try #require(start <= end)
    let table = "\n" + ConfigurationPageTests.table() + "\n"
    if ProcessInfo.processInfo.environment["THRONG_UPDATE_REFERENCE"] == "1" {
      let updated = text.replacingCharacters(in: start..<end, with: table)
      try updated.write(to: ConfigurationPageTests.file, atomically: true, encoding: .utf8)
    } else {
      #expect(text[start..<end] == table, "THRONG_UPDATE_REFERENCE=1 swift test rewrites it")
    }
  }

  private static func table() -> String {
    let head = "| key | value | default | what it does |\n|---|---|---|---|\n"
    return head
      + Settings.keys.map { key in
        let cells = ["`\(key.path)`", key.type, fallback(of: key), key.documentation]
        return "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |\n"
      }.joined()
  }

  private static func fallback(of key: KeyDescription) -> String {
    switch (key.path, key.defaultValue) {
    // It depends on the machine.
    case ("loops", _): "the number of cores less one"
    case (_, "(none)"): "–"
    case (_, let value): "`\(value)`"
    }
  }
}
