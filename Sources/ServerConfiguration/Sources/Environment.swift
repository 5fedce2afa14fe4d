/// The variables of the environment that set keys (Configuration.md, "Sources").
struct Environment {
  private(set) var entries: [GivenEntry] = []
  private(set) var problems: [String] = []

  static let prefix = "THRONG_"

  /// Names the configuration file.
  static let configurationFile = "THRONG_CONFIG"

  init(_ variables: [String: String]) {
    for (name, value) in variables.sorted(by: { $0.key < $1.key }) where Environment.isOfServer(name) {
      if let key = Keys.byEnvironmentName[name] {
        entries.append(GivenEntry(path: key.path, value: .text(value), source: .environment(name)))
      } else {
        problems.append(UnknownName.variable(name))
      }
    }
  }

  private static func isOfServer(_ name: String) -> Bool {
    guard name.hasPrefix(prefix), name != configurationFile else { return false }
    #if DEBUG
      if name == Settings.testClockVariable { return false }
    #endif
    return Keys.byEnvironmentName[name] != nil || !isOfContainerPlatform(name)
  }

  /// Container platforms set `THRONG_SERVICE_HOST`, `THRONG_PORT_8080_TCP` and the like for a
  /// service called throng, and `THRONG_INTERNAL_PORT_8081_TCP_ADDR` for one called
  /// throng-internal.
  private static func isOfContainerPlatform(_ name: String) -> Bool {
    name.hasPrefix("THRONG_SERVICE_") || name.hasPrefix("THRONG_PORT")
      || name.wholeMatch(of: /.*_(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT(_[0-9]+_[A-Z]+(_[A-Z]+)?)?)/) != nil
  }
}

#if DEBUG
  extension Settings {
    /// Names the socket over which a test moves the time of a debug build. A release build refuses it,
    /// as it does any name that it does not know.
    public static let testClockVariable = "THRONG_TEST_CLOCK"
  }
#endif
