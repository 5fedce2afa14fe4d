import Foundation
import GroupRuntime
import ServerConfiguration
import Testing

@testable import ThrongServer

/// The file of `moderation.wordsFile` (Protocol.md, "Words").
@Suite struct WordFileTests {
  /// A file of the test's own.
  private final class File {
    let path = NSTemporaryDirectory() + "throng-words-\(UUID().uuidString)"

    init(_ bytes: Data) throws { try bytes.write(to: URL(fileURLWithPath: path)) }

    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  private func settings(_ flags: [(String, String)]) throws -> Settings {
    try Settings.load(flags: flags.map { (key: $0.0, value: $0.1) })
  }

  @Test(arguments: [("refuse", CurrentWords.Action.refuse), ("mask", .mask)])
  func theActionOfTheConfiguration(word: String, action: CurrentWords.Action) throws {
    let file = try File(Data("bad\n".utf8))
    let words = try CurrentWords(settings([("moderation.wordsFile", file.path), ("moderation.action", word)]))
    #expect(words?.action == action && words?.list.count == 1)
  }

  @Test func withoutAFileNothingIsCompared() throws {
    #expect(try CurrentWords(settings([])) == nil)
    let file = try File(Data("bad\n".utf8))
    #expect(try CurrentWords(settings([("moderation.wordsFile", file.path)]))?.action == .refuse, "the default")
  }

  @Test func aBadFileIsNamedWithItsReason() throws {
    let faults: [(Data, String)] = [
      (Data(repeating: UInt8(ascii: "\n"), count: (1 << 20) + 1), "more than 1 MiB"), (Data([0xFF]), "line 1 is not UTF-8"),
      (Data("a\n=\n".utf8), "line 2 has no word"), (Data(String(repeating: "x", count: 129).utf8), "more than 128 characters"),
    ]
    for (bytes, reason) in faults {
      let file = try File(bytes)
      let error = #expect(throws: StartError.self) { try WordFile.read(file.path) }
      let description = error?.description ?? ""
      #expect(description.contains(file.path) && description.contains(reason), "\(description)")
    }
    let gone = try File(Data()).path + "-gone"
    let error = #expect(throws: StartError.self) { try WordFile.read(gone) }
    #expect(error?.description.contains("cannot be read") == true)
    #expect(throws: StartError.self) { try WordFile.read(NSTemporaryDirectory()) }
  }

  @Test func aFileOfOneMebibyteIsRead() throws {
    let file = try File(Data(repeating: UInt8(ascii: "\n"), count: 1 << 20))
    #expect(try WordFile.read(file.path).count == 0)
  }

  /// `throng config check` reads it like a start.
  @Test func checkingTheKeysReadsTheWords() async throws {
    let directory = NSTemporaryDirectory() + "throng-words-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let good = try File(Data("bad".utf8))
    let bad = try File(Data("=".utf8))
    #expect(try await settings([("dataDir", directory), ("moderation.wordsFile", good.path)]).checkKeys() == [])
    await #expect(throws: StartError.self) {
      _ = try await settings([("dataDir", directory), ("moderation.wordsFile", bad.path)]).checkKeys()
    }
  }
}
