import Foundation
import ServerConfiguration
import Testing

/// README.md and Operations.md name the keys that a deployment sets; the tables of Configuration.md
/// are generated.
@Suite struct ConfigurationPageTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let catalogue = root.appending(path: "Sources/ThrongServer/Documentation.docc")

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
}
