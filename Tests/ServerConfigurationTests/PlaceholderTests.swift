import Foundation
import ServerConfiguration
import Testing

/// Secrets that stand on our pages, in our files and examples are refused: everybody has read them.
@Suite struct PlaceholderTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The texts that readers copy from.
  private static func texts() throws -> [String] {
    let folders = ["Sources/ThrongServer/Documentation.docc", "Scripts/deploy"]
    let files = try folders.flatMap { folder in
      let found = try #require(
        FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: [.isRegularFileKey]))
      return found.compactMap { $0 as? URL }
    }
    let single = ["README.md", "Dockerfile"].map { root.appending(path: $0) }
    return (files + single).compactMap { try? String(contentsOf: $0, encoding: .utf8) } + [Settings.exampleFile]
  }

  /// The values of secrets in a text, as long as a secret has to be. What a shell puts in its place is
  /// none.
  private static func secrets(in text: String) -> [String] {
    let values =
      text.matches(of: /(?:secret|apiKey)\b["`]?[ ]*[:=][ ]*["']?([^\s"'`|]+)/).map { String($0.1) }
      + text.matches(of: /THRONG_[A-Z_]*(?:SECRET|API_KEY)[ ]*[:=][ ]*["']?([^\s"'`|]+)/).map { String($0.1) }
      + text.matches(of: /\| `[a-zA-Z.]*(?:secret|apiKey)` \|.*\| `([^`]+)` \|/).map { String($0.1) }
      + text.matches(of: /Example: ([^\s]+)/).map { String($0.1) }.filter { $0.contains("openssl") }
      + text.matches(of: /whsec_[A-Za-z0-9+\/=]+/).map { String($0.0) }
    return values.filter { $0.utf8.count >= 32 && !$0.contains(/[$…<{(\/]/) }
  }

  @Test func thoseOfOurPagesAndFilesAreRefused() throws {
    let found = Set(try Self.texts().flatMap(Self.secrets))
    #expect(found.count >= 5, "\(found)")
    for secret in found.sorted() {
      let keys =
        secret.hasPrefix("whsec_")
        ? ["webhook.secret"]
        : ["auth.secret", "auth.previousSecret", "admin.apiKey", "admin.previousAPIKey", "cluster.secret"]
      for key in keys {
        let told = problems(flags: [(key, secret)])
        #expect(told.count == 1 && told[0].hasPrefix("\(key): stands on a page") && !told[0].contains(secret), "\(key) \(secret)")
      }
    }
  }

  /// They stay refused on whatever way they come.
  @Test func aFileOrAVariableWithOneIsRefused() throws {
    let scratch = try Scratch()
    let secret = try scratch.file("the-output-of-openssl-rand-base64-48\n", named: "secret")
    for told in [
      problems(flags: [("auth.secretFile", secret)]), problems(try scratch.file("auth.secret: 0123456789abcdef0123456789abcdef")),
      problems(environment: ["THRONG_ADMIN_API_KEY": "the-output-of-openssl-rand-base64-33"]),
    ] {
      #expect(told.count == 1 && told[0].contains("everybody knows it; openssl rand -base64 48 makes another"), "\(told)")
    }
  }

  /// The values of the tests are their own, and so is every other.
  @Test func otherSecretsAreGood() {
    #expect(problems(flags: [("auth.secret", "a-secret-of-the-tests-0123456789"), ("webhook.secret", Sample.secret)]) == [])
  }
}
