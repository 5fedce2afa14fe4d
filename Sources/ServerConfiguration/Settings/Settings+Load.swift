extension Settings {
  /// The checked configuration from the defaults, the file, the environment and the flags; the
  /// later win (Operations.md, "Sources").
  /// - Parameters:
  ///   - configFile: the path given by `--config`; nil = that of `THRONG_CONFIG`, if any.
  ///   - environment: all variables of the process; those without the prefix `THRONG_` are ignored.
  ///   - flags: keys and values of `--set`, in the order of the command line.
  ///   - shortFlags: flags such as `--listen`, each with its key and value; they win over `--set`.
  /// - Throws: all problems in one error.
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
    guard resolution.problems.isEmpty else {
      throw ConfigurationError(
        problems: resolution.problems, logFormat: resolution.logFormat(isFileRead: file?.problems.isEmpty ?? true))
    }
    return Settings(resolution)
  }

  /// Every key, for help texts and the documentation, in the order of `config show`.
  public static let keys: [KeyDescription] = Keys.all.map { key in
    KeyDescription(
      path: key.path, environmentName: key.environmentName, type: key.typeName, defaultValue: key.resolvedFallback.text,
      isSecret: key.isSecret, documentation: key.documentation)
  }
}

/// The description of a key.
public struct KeyDescription: Sendable, Equatable {
  /// The full path, such as `limits.avChatRoom.messagesPerSecond`.
  public let path: String
  /// The variable that sets it.
  public let environmentName: String
  /// The type in words, such as `an integer of 0 to 100`.
  public let type: String
  /// The default as text; `(none)` where there is none.
  public let defaultValue: String
  /// Whether its value is never shown.
  public let isSecret: Bool
  /// The meaning in a sentence.
  public let documentation: String
}

/// All problems of a configuration, found in one pass.
public struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A line for each: the key or variable, the problem and the source; never a secret's value.
  public let problems: [String]
  /// The value of `log.format`; nil where it cannot be read.
  public let logFormat: LogFormat?

  /// The problems, one on each line.
  public var description: String { problems.joined(separator: "\n") }
}
