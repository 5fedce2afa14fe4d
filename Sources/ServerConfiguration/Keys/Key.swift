/// A key of the configuration (Configuration.md, "Configuration keys").
struct Key<Value: Sendable>: ConfigurationKey {
  let path: String
  let type: ValueType<Value>
  let fallback: Value
  let isSecret: Bool
  let mayComeFromFile: Bool
  let computedFallback: String?
  let example: String
  let since: String
  let documentation: String

  /// - Parameters:
  ///   - fallback: the default.
  ///   - isSecret: the value is never shown.
  ///   - holdsPassword: a part of the value is never shown.
  ///   - computedFallback: the default in words, where it depends on the machine.
  ///   - example: a value as a variable of the environment has it, other than the default.
  ///   - since: the first release that has the key.
  ///   - documentation: the meaning, a sentence or two.
  init(
    _ path: String, _ type: ValueType<Value>, _ fallback: Value, isSecret: Bool = false, holdsPassword: Bool = false,
    computedFallback: String? = nil, example: String, since: String, _ documentation: String
  ) {
    self.path = path
    self.type = type
    self.fallback = fallback
    self.isSecret = isSecret
    mayComeFromFile = isSecret || holdsPassword
    self.computedFallback = computedFallback
    self.example = example
    self.since = since
    self.documentation = documentation
  }

  var typeName: String { type.name }
  var unit: String? { type.unit }

  func read(_ given: GivenValue) -> Result<ResolvedValue, Refusal> { type.read(given).map(resolved) }

  var resolvedFallback: ResolvedValue { resolved(fallback) }

  private func resolved(_ value: Value) -> ResolvedValue {
    ResolvedValue(value: value, text: type.show(value)) { [type] in type.yaml(value) }
  }
}

/// A key with its value type erased.
protocol ConfigurationKey: Sendable {
  var path: String { get }
  var typeName: String { get }
  var unit: String? { get }
  var isSecret: Bool { get }
  /// Whether a key of its own names a file with the value (`fileKey`).
  var mayComeFromFile: Bool { get }
  var computedFallback: String? { get }
  var example: String { get }
  var since: String { get }
  var documentation: String { get }
  var resolvedFallback: ResolvedValue { get }
  func read(_ given: GivenValue) -> Result<ResolvedValue, Refusal>
}

/// A value that its key has accepted, and its texts.
struct ResolvedValue: Sendable {
  let value: any Sendable
  /// The text of `config show`.
  let text: String
  /// The text of a file.
  let yaml: @Sendable () -> String
}

extension ConfigurationKey {
  /// The variable that sets the key; an acronym is one word: `limits.text.faceURL` is
  /// `THRONG_LIMITS_TEXT_FACE_URL`, `auth.jwksFile` is `THRONG_AUTH_JWKS_FILE`.
  var environmentName: String { Environment.name(of: path, splitsAcronyms: false) }

  /// The variable as the first release named it, `THRONG_LIMITS_TEXT_FACE_U_R_L`, which still sets
  /// the key; the same as `environmentName` for most.
  var formerEnvironmentName: String { Environment.name(of: path, splitsAcronyms: true) }

  /// The key that names a file with this key's value: `auth.secretFile` for `auth.secret`.
  var fileKey: Key<String?> {
    Key(
      path + "File", ValueType.path.optional, nil, example: "/run/secrets/\(path)", since: "0.2.0",
      "A file with the value of \(path), read at the start; blanks and line ends around it do not count.")
  }

  /// The text of `config show` for a value; a secret that is set shows as stars.
  func shown(_ resolved: ResolvedValue, source: Source) -> String {
    isSecret && source != .fallback ? "********" : resolved.text
  }

  /// The default as a file writes it; unset where it depends on the machine.
  var yamlFallback: String { computedFallback == nil ? resolvedFallback.yaml() : YAMLText.unset }

  /// The example as a file writes it.
  var yamlExample: String {
    // Every example is read by a test.
    guard case .success(let resolved) = read(.text(example)) else { return example }
    return resolved.yaml()
  }
}

/// Keys that belong together, for the page and the example file.
struct KeySection: Sendable {
  let title: String
  /// Whether an operator sets them for the place where the server runs; the others are rules for
  /// users and groups.
  let isDeployment: Bool
  let keys: [any ConfigurationKey]

  init(_ title: String, isDeployment: Bool, _ keys: [any ConfigurationKey]) {
    self.title = title
    self.isDeployment = isDeployment
    self.keys = keys.flatMap { key -> [any ConfigurationKey] in key.mayComeFromFile ? [key, key.fileKey] : [key] }
  }
}
