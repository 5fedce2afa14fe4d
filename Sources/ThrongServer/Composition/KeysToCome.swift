import ServerConfiguration

/// Keys of contract section 9 whose features are not built yet. They are known and checked, so that a configuration written for the contract
/// is accepted; who sets one is told at the start that it does nothing.
enum KeysToCome {
  /// The keys, each removed from here with the issue that builds its feature.
  static let names: Set<String> = ["limits.avChatRoom.messagesPerSecond", "limits.bChatRoom.messagesPerSecond"]

  /// Those of them that somebody has set, in the order of the configuration.
  static func set(in settings: Settings) -> [String] {
    settings.entries.filter { $0.source != .fallback && names.contains($0.key) }.map(\.key)
  }
}
