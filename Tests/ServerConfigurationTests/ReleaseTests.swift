import Foundation
import Testing

@testable import ServerConfiguration

/// Releases.md, which tells operators what each version changed.
struct ReleaseTests {
  private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources/ThrongServer/Documentation.docc/Releases.md")

  @Test func thePageBeginsWithTheVersionOfTheseSourcesAndHasTheNewestFirst() throws {
    let versions = try String(contentsOf: Self.page, encoding: .utf8).matches(of: /(?m)^## ([0-9]+)\.([0-9]+)\.([0-9]+)$/)
    #expect(versions.first.map { "\($0.1).\($0.2).\($0.3)" } == Release.version)
    let numbers = try versions.map { try [$0.1, $0.2, $0.3].map { try #require(Int($0)) } }
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { newer, older in older.lexicographicallyPrecedes(newer) })
    #expect(numbers.count > 1)
  }
}
