import Foundation
import ServerConfiguration
import Testing

/// The file of `throng config example` (Configuration.md, "An example file").
@Suite struct ExampleFileTests {
  private let lines = Settings.exampleFile.split(separator: "\n", omittingEmptySubsequences: false)

  @Test func itChangesNothingAsItIs() throws {
    let scratch = try Scratch()
    let file = try scratch.file(Settings.exampleFile)
    #expect(try Settings.load(configFile: file).entries == Settings.load().entries)
  }

  @Test func uncommentedItHoldsTheDefaults() throws {
    let scratch = try Scratch()
    let text = lines.map { $0.replacing(/^# ?/, with: "") }.joined(separator: "\n")
    let settings = try Settings.load(configFile: try scratch.file(text))
    let defaults = try Settings.load()
    #expect(settings.entries.map(\.value) == defaults.entries.map(\.value))
    for (key, entry) in zip(Settings.keys, settings.entries) {
      let isWritten = key.defaultValue != "(none)" && key.computedDefault == nil
      if isWritten { #expect(entry.source != .fallback, "\(key.path)") }
    }
  }

  @Test func everyKeyStandsThereOnce() {
    let settings = lines.filter { $0.hasPrefix("# ") }
    #expect(settings.compactMap { $0.firstMatch(of: /^# ([A-Za-z0-9.]+): ./).map { String($0.1) } } == Settings.keys.map(\.path))
    #expect(lines.allSatisfy { $0.isEmpty || $0.hasPrefix("## ") || $0.hasPrefix("# ") })
    #expect(lines.allSatisfy { $0.count <= 100 || !$0.contains(" ") })
  }

  /// Each is read from a file and as text. Files that examples name need not be there.
  @Test(arguments: Settings.keys.map(\.path))
  func anExampleIsAGoodValueOtherThanTheDefault(path: String) throws {
    let key = try #require(Settings.keys.first { $0.path == path })
    let scratch = try Scratch()
    let file = try scratch.file("\(path): \(key.example)\n")
    for found in [problems(file), problems(flags: [(path, key.environmentExample)])] {
      #expect(!found.contains { $0.contains("expected") }, "\(found)")
    }
    #expect(key.example != key.defaultValue && key.environmentExample != key.defaultValue)
  }

  @Test func aKeyIsOfARelease() {
    let release = Release.version.split(separator: ".").compactMap { Int($0) }
    for key in Settings.keys {
      let since = key.since.split(separator: ".").compactMap { Int($0) }
      #expect(since.count == 3 && !release.lexicographicallyPrecedes(since), "\(key.path)")
    }
  }

  @Test func aPlainNumberHasAUnit() {
    for key in Settings.keys where Int(key.defaultValue) != nil || key.type.contains("duration") {
      #expect(key.unit?.isEmpty == false, "\(key.path)")
    }
  }
}
