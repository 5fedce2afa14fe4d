import Foundation
import GroupPermissions
import Testing

/// Sources/ThrongServer/Documentation.docc/Permissions.md holds the tables that decide, between two marks; what stands around them is written by hand.
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
}
