/// The least severe log entries that are written (`log.level`), in rising severity; the names are those of swift-log.
public enum LogLevel: String, CaseIterable, Sendable { case trace, debug, info, notice, warning, error, critical }

/// How log entries are written (`log.format`).
public enum LogFormat: String, CaseIterable, Sendable { case json, text }

/// When the store calls a write durable (`store.sync`): after a power failure too, or after a crash of the process only.
public enum StoreSync: String, CaseIterable, Sendable { case full, normal }

extension ValueType where Value == [String]? {
  /// `auth.algorithms`: at least one, for a server that nobody can sign in to is a mistake.
  static var tokenAlgorithms: ValueType {
    let element = ValueType<String>.word(["HS256", "RS256", "ES256", "EdDSA"])
    return element.list(of: element.name.plural).nonempty.optional
  }
}

extension ValueType where Value == [String] {
  /// `attributes.groupTypes`: names of group types; the legacy names are read as today's (contract section 3).
  static var groupTypes: ValueType {
    let types = ["Work", "Public", "Meeting", "AVChatRoom", "BChatRoom"]
    let element = ValueType<String>.word(types, aliases: ["Private": "Work", "ChatRoom": "Meeting"])
    return element.list(of: element.name.plural)
  }

  /// The same list, but not an empty one.
  fileprivate var nonempty: ValueType {
    ValueType(
      name: name,
      read: { given in
        read(given).flatMap { $0.isEmpty ? .failure(Refusal(expected: name, found: "an empty list")) : .success($0) }
      }, show: show)
  }
}

extension String {
  fileprivate var plural: String { replacing("one of ", with: "", maxReplacements: 1) }
}
