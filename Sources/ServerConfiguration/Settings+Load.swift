extension Settings {
  /// The checked configuration from the defaults, the file, the environment and the flags, the later winning (contract section 9).
  ///
  /// - Parameters:
  ///   - configFile: the path given by `--config`; nil takes that of `THRONG_CONFIG`, if any.
  ///   - environment: all variables of the process; those not beginning with `THRONG_` are ignored.
  ///   - flags: keys and values of `--set`, in the order of the command line.
  ///   - shortFlags: flags such as `--listen`, each with its key and value; they win over `--set`.
  /// - Throws: everything that is wrong, in one error.
  public static func load(
    configFile: String? = nil, environment: [String: String] = [:], flags: [(key: String, value: String)] = [],
    shortFlags: [(name: String, key: String, value: String)] = []
  ) throws(ConfigurationError) -> Settings {
    let file = (configFile ?? environment[Environment.configurationFile]).map(ConfigurationFile.init)
    let environment = Environment(environment)
    let flagEntries =
      flags.map { GivenEntry(path: $0.key, value: .text($0.value), source: .flag("--set")) }
      + shortFlags.map { GivenEntry(path: $0.key, value: .text($0.value), source: .flag($0.name)) }
    var resolution = Resolution(
      (file?.entries ?? []) + environment.entries + flagEntries, problems: (file?.problems ?? []) + environment.problems)
    resolution.checkTogether()
    guard resolution.problems.isEmpty else { throw ConfigurationError(problems: resolution.problems) }
    return Settings(resolution)
  }

  /// Every key there is, for help texts and the documentation, in the order of `config show`.
  public static let keys: [KeyDescription] = Keys.all.map { key in
    KeyDescription(
      path: key.path, environmentName: key.environmentName, type: key.typeName, defaultValue: key.resolvedFallback.text,
      isSecret: key.isSecret, documentation: key.documentation)
  }
}

/// What a key is, in words.
public struct KeyDescription: Sendable, Equatable {
  /// The full path, such as `limits.avChatRoom.messagesPerSecond`.
  public let path: String
  /// The variable that sets it.
  public let environmentName: String
  /// What it takes, such as `an integer of 0 to 100`.
  public let type: String
  /// The default as text; `(none)` where there is none.
  public let defaultValue: String
  /// Whether its value is never shown.
  public let isSecret: Bool
  /// What it does, in a sentence.
  public let documentation: String
}
