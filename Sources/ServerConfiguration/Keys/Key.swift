/// A key of the configuration (Operations.md, "Configuration keys").
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

/// A key with its value type erased.
protocol ConfigurationKey: Sendable {
  var path: String { get }
  var typeName: String { get }
  var isSecret: Bool { get }
  var documentation: String { get }
  var resolvedFallback: ResolvedValue { get }
  func read(_ given: GivenValue) -> Result<ResolvedValue, Refusal>
}

/// A value that its key has accepted, and its text.
struct ResolvedValue: Sendable {
  let value: any Sendable
  let text: String
}

extension ConfigurationKey {
  /// The variable that sets the key: `dataDir` is `THRONG_DATA_DIR`, `auth.jwksFile` is
  /// `THRONG_AUTH_JWKS_FILE`.
  var environmentName: String {
    var name = Environment.prefix
    for character in path {
      if character.isUppercase { name.append("_") }
      name.append(character == "." ? "_" : Character(character.uppercased()))
    }
    return name
  }

  /// The text of `config show` for a value; a secret that is set shows as stars.
  func shown(_ resolved: ResolvedValue, source: Source) -> String {
    isSecret && source != .fallback ? "********" : resolved.text
  }
}
