import ServerConfiguration
import Testing

@testable import ThrongServer

/// What has no effect yet must not look as if it had one.
struct KeysToComeTests {
  @Test func whoSetsAKeyWithoutEffectIsTold() throws {
    let settings = try Settings.load(flags: [("limits.avChatRoom.messagesPerSecond", "10"), ("limits.requestBurst", "7")])
    #expect(KeysToCome.set(in: settings) == ["limits.avChatRoom.messagesPerSecond"])
    #expect(KeysToCome.set(in: try Settings.load()).isEmpty)
  }

  @Test func everyOneIsAKey() { #expect(KeysToCome.names.isSubset(of: Settings.keys.map(\.path))) }
}
