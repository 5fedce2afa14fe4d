import GroupModel

/// The level from which log entries are written (`log.level`), with the names of swift-log.
public enum LogLevel: String, CaseIterable, Sendable { case trace, debug, info, notice, warning, error, critical }

/// The format of log entries (`log.format`).
public enum LogFormat: String, CaseIterable, Sendable { case json, text }

/// Which events leave compressed (`compression`): those of busy groups, or none.
public enum Compression: String, CaseIterable, Sendable { case room, off }

/// The durability of a write (`store.sync`): it survives a power failure, or only a crash.
public enum StoreSync: String, CaseIterable, Sendable { case full, normal }

/// The header in which the proxies of `trustedProxies` name the client (`forwardedHeader`).
public enum ForwardedHeader: String, CaseIterable, Sendable {
  /// `Forwarded` where a request has it, else `X-Forwarded-For`.
  case auto
  /// `X-Forwarded-For`, and `X-Forwarded-Host` for the host.
  case xForwardedFor = "x-forwarded-for"
  /// `Forwarded` (RFC 7239).
  case forwarded
}

extension ValueType where Value == Compression {
  /// `compression`: also without quotes, though YAML takes `off` for a truth value.
  static let compression = scalar(
    "one of \(Compression.allCases.map(\.rawValue).joined(separator: ", "))", as: [.string, .boolean], show: \.rawValue,
    parse: { Compression(rawValue: $0) })
}

extension ValueType where Value == [String]? {
  /// `auth.algorithms`: at least one, because otherwise no user could sign in.
  static var tokenAlgorithms: ValueType {
    let element = ValueType<String>.word(["HS256", "RS256", "ES256", "EdDSA"])
    return element.list(of: element.name.plural).nonempty.optional
  }
}

extension ValueType where Value == [String] {
  /// `attributes.groupTypes`: names of group types, the legacy ones included.
  static var groupTypes: ValueType {
    let legacyNames = GroupType.allCases.compactMap { type in type.legacyName.map { ($0, type.rawValue) } }
    let element = ValueType<String>.word(
      GroupType.allCases.map(\.rawValue), aliases: Dictionary(uniqueKeysWithValues: legacyNames))
    return element.list(of: element.name.plural)
  }

  /// `webhook.events`: names of webhooks.
  static let webhookTypes: ValueType = {
    let element = ValueType<String>.word(WebhookType.allCases.map(\.rawValue))
    return element.list(of: element.name.plural)
  }()

  /// The same list type, which refuses an empty list.
  fileprivate var nonempty: ValueType {
    ValueType(
      name: name,
      read: { given in
        read(given).flatMap { $0.isEmpty ? .failure(Refusal(expected: name, found: "an empty list")) : .success($0) }
      }, show: show, yaml: yaml)
  }
}

extension String {
  fileprivate var plural: String { replacing("one of ", with: "", maxReplacements: 1) }
}
