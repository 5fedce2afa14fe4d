/// One key of the configuration (contract section 9).
struct Key<Value: Sendable>: ConfigurationKey {
  let path: String
  let type: ValueType<Value>
  let fallback: Value
  var isSecret = false
  let documentation: String

  init(_ path: String, _ type: ValueType<Value>, _ fallback: Value, isSecret: Bool = false, _ documentation: String) {
    self.path = path
    self.type = type
    self.fallback = fallback
    self.isSecret = isSecret
    self.documentation = documentation
  }

  var typeName: String { type.name }

  func read(_ given: GivenValue) -> Result<ResolvedValue, Refusal> { type.read(given).map(resolved) }

  var resolvedFallback: ResolvedValue { resolved(fallback) }

  private func resolved(_ value: Value) -> ResolvedValue { ResolvedValue(value: value, text: type.show(value)) }
}

/// A key whatever its values are.
protocol ConfigurationKey: Sendable {
  var path: String { get }
  var typeName: String { get }
  var isSecret: Bool { get }
  var documentation: String { get }
  var resolvedFallback: ResolvedValue { get }
  func read(_ given: GivenValue) -> Result<ResolvedValue, Refusal>
}

/// A value that its key accepted, and how it is shown.
struct ResolvedValue: Sendable {
  let value: any Sendable
  let text: String
}

extension ConfigurationKey {
  /// The variable that sets the key: `limits.avChatRoom.messagesPerSecond` is `THRONG_LIMITS_AV_CHAT_ROOM_MESSAGES_PER_SECOND`.
  var environmentName: String {
    var name = Environment.prefix
    for character in path {
      if character.isUppercase { name.append("_") }
      name.append(character == "." ? "_" : Character(character.uppercased()))
    }
    return name
  }

  /// The text to show for a value: a secret that is set shows as stars.
  func shown(_ resolved: ResolvedValue, source: Source) -> String {
    isSecret && source != .fallback ? "********" : resolved.text
  }
}
