extension Settings {
  /// The checked configuration from the defaults, the file, the environment and the flags; the
  /// later win (Configuration.md, "Sources").
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
      (file?.entries ?? []) + environment.entries + flagEntries, problems: (file?.problems ?? []) + environment.problems,
      misspelt: environment.misspelt, isFileRead: file?.problems.isEmpty ?? true)
    resolution.readValueFiles()
    resolution.checkTogether()
    guard resolution.problems.isEmpty else {
      throw ConfigurationError(problems: resolution.problems, logFormat: resolution.logFormat)
    }
    return Settings(resolution)
  }

  /// Every key, for the documentation, in the order of `config show`.
  public static let keys: [KeyDescription] = Keys.sections.flatMap { section in
    section.keys.map { KeyDescription($0, in: section) }
  }
}

/// The description of a key.
public struct KeyDescription: Sendable, Equatable {
  /// The full path, such as `limits.avChatRoom.messagesPerSecond`.
  public let path: String
  /// The title of the keys that belong together.
  public let section: String
  /// Whether operators set it for the place where the server runs.
  public let isDeployment: Bool
  /// The variable that sets it.
  public let environmentName: String
  /// The type in words, such as `an integer of 0 to 100`.
  public let type: String
  /// The unit of a plain number; nil for values that have none.
  public let unit: String?
  /// The default as text; `(none)` where there is none.
  public let defaultValue: String
  /// The default in words, where it depends on the machine.
  public let computedDefault: String?
  /// A value other than the default, as a file writes it.
  public let example: String
  /// The same value as a variable of the environment has it.
  public let environmentExample: String
  /// The first release that has it.
  public let since: String
  /// Whether its value is never shown.
  public let isSecret: Bool
  /// The meaning in a sentence.
  public let documentation: String

  init(_ key: any ConfigurationKey, in section: KeySection) {
    path = key.path
    self.section = section.title
    isDeployment = section.isDeployment
    environmentName = key.environmentName
    type = key.typeName
    unit = key.unit
    defaultValue = key.resolvedFallback.text
    computedDefault = key.computedFallback
    example = key.yamlExample
    environmentExample = key.example
    since = key.since
    isSecret = key.isSecret
    documentation = key.documentation
  }
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
