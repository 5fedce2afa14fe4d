import Foundation
import Testing

@testable import Authentication

/// The secret in the data directory; each test has a directory of its own.
@Suite final class SecretFileTests {
  /// Does not exist at first; its parent neither.
  let directory = NSTemporaryDirectory() + "throng-secret-\(UUID().uuidString)/data"

  deinit { try? FileManager.default.removeItem(atPath: (directory as NSString).deletingLastPathComponent) }

  private func write(_ text: String) throws -> SecretFile {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let file = SecretFile(dataDirectory: directory)
    try Data(text.utf8).write(to: URL(fileURLWithPath: file.path))
    return file
  }

  @Test func noneAtFirstAndNoneMadeByReading() throws {
    #expect(try SecretFile(dataDirectory: directory).load() == nil)
    #expect(!FileManager.default.fileExists(atPath: directory))
  }

  @Test func madeOnceThenKept() throws {
    let file = SecretFile(dataDirectory: directory)
    let secret = try file.loadOrMake()
    #expect(try file.loadOrMake() == secret)
    #expect(try SecretFile(dataDirectory: directory + "/").load() == secret)
    #expect(Data(base64Encoded: Data(secret))?.count ?? 0 >= 32)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["auth-secret"])
    let mode = try #require(FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int)
    #expect(mode == 0o600)
  }

  @Test func twoDirectoriesHaveTwoSecrets() throws {
    let other = SecretFile(dataDirectory: directory + "-2")
    #expect(try SecretFile(dataDirectory: directory).loadOrMake() != other.loadOrMake())
  }

  @Test func startsAtOnceAgree() async throws {
    let directory = directory
    let secrets = try await withThrowingTaskGroup(of: [UInt8].self) { group in
      for _ in 0..<32 { group.addTask { try SecretFile(dataDirectory: directory).loadOrMake() } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(secrets.count == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["auth-secret"])
  }

  /// Two starts that both saw no file: the second must not replace the secret that the first uses.
  @Test func makingTwiceKeepsTheFirst() throws {
    let file = SecretFile(dataDirectory: directory)
    #expect(try file.make())
    let first = try file.load()
    #expect(try !file.make())
    #expect(try file.load() == first)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["auth-secret"])
  }

  /// The secret of a backup, at its new place.
  @Test func madeOfASecretThatIsThere() throws {
    let file = SecretFile(dataDirectory: directory)
    let secret = Array("0123456789 0123456789 0123456789".utf8)
    #expect(try file.make(holding: secret))
    #expect(try file.load() == secret)
    let mode = try #require(FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int)
    #expect(mode == 0o600)
    let isMade = try file.make(holding: Array(repeating: 0x61, count: 40))
    #expect(!isMade, "a file that is there stays")
    #expect(try file.load() == secret)
    #expect(SecretFile.canHold(secret) && !SecretFile.canHold([0x20] + secret) && !SecretFile.canHold(secret + [0x0a]))
  }

  @Test func writtenByHandIsTheTextWithoutItsLineEnd() throws {
    let text = "0123456789 0123456789 0123456789"
    #expect(try write(" \(text)\r\n").loadOrMake() == Array(text.utf8))
  }

  @Test(arguments: ["", "\n", "0123456789012345678901234567890\n", " 0123456789012345678901234567890 "])
  func tooLittleIsRefusedAndNotShown(text: String) throws {
    let file = try write(text)
    let error = #expect(throws: AuthenticationError.self) { try file.loadOrMake() }
    #expect(error?.description.contains(file.path) == true)
    #expect(error?.description.contains("0123456789") == false)
  }

  @Test func directoryThatCannotBeMadeIsRefused() throws {
    let file = try write("x")
    let error = #expect(throws: AuthenticationError.self) { try SecretFile(dataDirectory: file.path + "/below").loadOrMake() }
    #expect(error?.description.contains(file.path) == true)
  }

  @Test func configuredSecretNeedsNoFile() throws {
    let text = "configured secret of 32 bytes or more"
    #expect(try SigningSecret.resolve(configured: text, algorithms: nil, dataDirectory: directory) == Array(text.utf8))
    #expect(try SigningSecret.resolve(configured: nil, algorithms: [.rs256], dataDirectory: directory) == nil)
    #expect(!FileManager.default.fileExists(atPath: directory))
    var paths: [String] = []
    let made = try SigningSecret.resolve(configured: nil, algorithms: [.rs256, .hs256], dataDirectory: directory) {
      paths.append($0)
    }
    _ = try SigningSecret.resolve(configured: nil, algorithms: nil, dataDirectory: directory) { paths.append($0) }
    #expect(paths == [SecretFile(dataDirectory: directory).path], "it is told once that one was made")
    #expect(try made == SecretFile(dataDirectory: directory).load())
  }
}
