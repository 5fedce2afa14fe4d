/// The variables of the environment that set keys (Configuration.md, "Sources").
struct Environment {
  private(set) var entries: [GivenEntry] = []
  private(set) var problems: [String] = []
  /// The paths of the keys for which unknown variables are probably meant.
  private(set) var misspelt: Set<String> = []

  static let prefix = "THRONG_"

  /// Names the configuration file.
  static let configurationFile = "THRONG_CONFIG"

  init(_ variables: [String: String]) {
    for (name, value) in variables.sorted(by: { $0.key < $1.key }) where Environment.isOfServer(name, value) {
      if let key = Keys.byEnvironmentName[name] ?? Keys.byFormerEnvironmentName[name] {
        if key.environmentName != name, variables[key.environmentName] != nil {
          problems.append("\(name): the former name of \(key.environmentName), which is set too")
        }
        entries.append(GivenEntry(path: key.path, value: .text(value), source: .environment(name)))
      } else {
        problems.append(UnknownName.variable(name))
        if let key = UnknownName.nearestKey(toVariable: name) { misspelt.insert(key.path) }
      }
    }
  }

  /// The variable of a key's path: a word begins at each capital or, where acronyms are not split, at
  /// one behind a small letter or before one.
  static func name(of path: String, splitsAcronyms: Bool) -> String {
    let characters = Array(path)
    let words = characters.indices.map { index -> String in
      let character = characters[index]
      guard character != "." else { return "_" }
      let isBehindSmall = index > 0 && !characters[index - 1].isUppercase
      let isBeforeSmall = index + 1 < characters.count && characters[index + 1].isLowercase
      let beginsWord = character.isUppercase && (splitsAcronyms || isBehindSmall || isBeforeSmall)
      return (beginsWord ? "_" : "") + character.uppercased()
    }
    return prefix + words.joined()
  }

  private static func isOfServer(_ name: String, _ value: String) -> Bool {
    guard name.hasPrefix(prefix), name != configurationFile else { return false }
    #if DEBUG
      if name == Settings.testClockVariable { return false }
    #endif
    if Keys.byEnvironmentName[name] != nil || Keys.byFormerEnvironmentName[name] != nil { return true }
    return !isOfContainerPlatform(name) && !isOfLink(name, value)
  }

  /// Container platforms set `THRONG_SERVICE_HOST`, `THRONG_PORT_8080_TCP` and the like for a
  /// service called throng, and `THRONG_INTERNAL_PORT_8081_TCP_ADDR` for one called
  /// throng-internal.
  private static func isOfContainerPlatform(_ name: String) -> Bool {
    name.hasPrefix("THRONG_SERVICE_") || name.hasPrefix("THRONG_PORT")
      || name.wholeMatch(of: /.*_(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT(_[0-9]+_[A-Z]+(_[A-Z]+)?)?)/) != nil
  }

  /// Docker's `--link` sets `THRONG_NAME=/web/throng`, and each variable of the linked container as
  /// `THRONG_ENV_…`; for one called throng-internal both begin with `THRONG_INTERNAL_`.
  private static func isOfLink(_ name: String, _ value: String) -> Bool {
    if name.wholeMatch(of: /THRONG_(.+_)?ENV_.+/) != nil { return true }
    return name == "THRONG_NAME" || name.hasSuffix("_NAME") && value.wholeMatch(of: /\/[^\/]+\/[^\/]+/) != nil
  }
}

#if DEBUG
  extension Settings {
    /// Names the socket over which a test moves the time of a debug build. A release build refuses it,
    /// as it does any name that it does not know.
    public static let testClockVariable = "THRONG_TEST_CLOCK"
  }
#endif
