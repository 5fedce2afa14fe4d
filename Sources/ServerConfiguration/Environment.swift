/// The part of the environment that is meant for the server (contract section 9).
struct Environment {
  private(set) var entries: [GivenEntry] = []
  private(set) var problems: [String] = []

  /// What the server's variables begin with.
  static let prefix = "THRONG_"

  /// The variable that names the configuration file.
  static let configurationFile = "THRONG_CONFIG"

  init(_ variables: [String: String]) {
    for (name, value) in variables.sorted(by: { $0.key < $1.key }) where Environment.isMeantForUs(name) {
      if let key = Keys.byEnvironmentName[name] {
        entries.append(GivenEntry(path: key.path, value: .text(value), source: .environment(name)))
      } else {
        problems.append(UnknownName.variable(name))
      }
    }
  }

  private static func isMeantForUs(_ name: String) -> Bool {
    guard name.hasPrefix(prefix), name != configurationFile else { return false }
    return Keys.byEnvironmentName[name] != nil || !isOfContainerPlatform(name)
  }

  /// Container platforms put `THRONG_SERVICE_HOST`, `THRONG_PORT_8080_TCP` and the like into every container beside a service
  /// called throng; of one called throng-internal it is `THRONG_INTERNAL_SERVICE_HOST`, `THRONG_INTERNAL_PORT_8081_TCP_ADDR`.
  private static func isOfContainerPlatform(_ name: String) -> Bool {
    name.hasPrefix("THRONG_SERVICE_") || name.hasPrefix("THRONG_PORT")
      || name.wholeMatch(of: /.*_(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT(_[0-9]+_[A-Z]+(_[A-Z]+)?)?)/) != nil
  }
}
