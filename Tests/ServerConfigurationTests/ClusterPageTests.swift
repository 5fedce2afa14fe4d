import Foundation
import ServerConfiguration
import Testing

/// Sources/ThrongServer/Documentation.docc/Cluster.md shows the configuration of a node.
@Suite struct ClusterPageTests {
  private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources/ThrongServer/Documentation.docc/Cluster.md")

  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  @Test func theConfigurationOfANodeIsAccepted() throws {
    let text = try String(contentsOf: ClusterPageTests.page, encoding: .utf8)
    let shown = String(try #require(text.firstMatch(of: /```yaml\n([^`]+)```/)).1)
    #expect(shown.contains("bus.url"))
    // Its secrets are placeholders, which are refused; with others it is good.
    let refused = problems(try scratch.file(shown))
    #expect(refused.count == 2 && refused.allSatisfy { $0.contains("stands on a page") }, "\(refused)")
    let own = shown.replacing(/replace-it-by-[a-z0-9-]+/, with: "a-secret-of-the-tests-0123456789")
    #expect(problems(try scratch.file(own)) == [])
  }
}
