import ServerConfiguration
import Testing

/// The lines of `throng config show`.
@Suite struct ShownTableTests {
  private let origins = (1...9).map { "https://chat\($0).example.com" }.joined(separator: ",")

  private func settings() throws -> Settings {
    try Settings.load(
      environment: ["THRONG_LIMITS_AV_CHAT_ROOM_MESSAGES_PER_SECOND": "41"],
      flags: [("allowedOrigins", origins), ("demo", "true")])
  }

  @Test func withoutATerminalEachKeyHasOneLine() throws {
    let settings = try settings()
    let lines = settings.shownLines(width: nil)
    #expect(lines.count == settings.entries.count)
    for (line, entry) in zip(lines, settings.entries) {
      #expect(
        line.hasPrefix("\(entry.key) ") && line.contains("  \(entry.value)  ") && line.hasSuffix("  \(entry.source)"), "\(line)")
    }
  }

  /// A long value stands out of its column, alone.
  @Test func withoutATerminalNoLineIsPaddedToTheLongestValue() throws {
    let settings = try settings()
    let keys = settings.entries.map(\.key.count).max() ?? 0
    for (line, entry) in zip(settings.shownLines(width: nil), settings.entries) {
      #expect(line.count == keys + 2 + max(entry.value.count, 32) + 2 + entry.source.description.count, "\(line)")
    }
  }

  /// Two limits follow the rate of requests where they are not set.
  @Test func whatFollowsFromAnotherKeyIsShown() throws {
    func shown(_ flags: (key: String, value: String)...) throws -> [String] {
      let settings = try Settings.load(flags: flags)
      return try ["limits.deliveriesPerSecond", "limits.deliveredBytesPerSecond"].map { try settings.entry($0).value }
    }
    #expect(try shown() == ["50000", "40000000"])
    #expect(try shown(("limits.requestsPerSecond", "20")) == ["20000", "16000000"])
    #expect(try shown(("limits.requestsPerSecond", "20"), ("limits.deliveriesPerSecond", "0")) == ["0", "16000000"])
    #expect(try Settings.load().entry("limits.deliveriesPerSecond").source == .fallback)
  }

  /// Nothing is lost: the pieces of a value and of its source follow each other.
  @Test(arguments: [200, 120, 80, 61, 60, 40, 20, 3, 1])
  func inATerminalNoLineIsLonger(width: Int) throws {
    let settings = try settings()
    let lines = settings.shownLines(width: width)
    #expect(lines.allSatisfy { $0.count <= max(width, 3) }, "\(lines.filter { $0.count > width })")
    let shown = lines.joined().filter { $0 != " " }
    let whole = settings.entries.map { "\($0.key)\($0.value)\($0.source)" }.joined().filter { $0 != " " }
    #expect(shown == whole)
  }

  @Test func atEightyColumnsAShortValueStandsBesideItsSource() throws {
    let lines = try settings().shownLines(width: 80)
    func line(_ key: String) throws -> Int { try #require(lines.firstIndex { $0.hasPrefix("\(key) ") }) }
    let demo = lines[try line("demo")]
    #expect(demo.hasSuffix("  flag --set") && demo.contains("  true  "))
    let listen = lines[try line("listen")]
    #expect(listen.contains("  0.0.0.0:8080  ") && listen.hasSuffix("  default"))
    // The long one goes on below itself.
    let first = try line("allowedOrigins")
    #expect(lines[first].contains("https://chat1.example.com,") && !lines[first].contains("flag"))
    #expect(lines[first + 1].hasPrefix("   "))
    // A source that is too long stands below its value.
    let rate = try line("limits.avChatRoom.messagesPerSecond")
    #expect(lines[rate].hasSuffix("  41") && lines[rate + 1].contains("environment THRONG_LIMITS_AV_CHAT_ROOM"))
  }
}
