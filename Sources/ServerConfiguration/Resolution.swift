/// The values that win, each with its source, and everything that is wrong with what was given.
struct Resolution {
  private var winners: [String: (resolved: ResolvedValue, source: Source)] = [:]
  private(set) var problems: [String]
  /// The keys that were given something they do not take.
  private var failed: Set<String> = []

  /// Takes the entries in order, a later one winning over an earlier one of its key.
  init(_ entries: [GivenEntry], problems: [String]) {
    self.problems = problems
    for entry in entries { take(entry) }
  }

  /// The value of a key.
  subscript<Value>(_ key: Key<Value>) -> Value {
    guard let winner = winners[key.path] else { return key.fallback }
    // What stands under a key's path was read by that key, and paths are unique (Keys.byPath traps otherwise).
    return winner.resolved.value as! Value
  }

  /// Where the value of a key came from.
  func source(of key: any ConfigurationKey) -> Source { winners[key.path]?.source ?? .fallback }

  /// The log's format as far as it is known: a file that cannot be read may have said another.
  func logFormat(isFileRead: Bool) -> LogFormat? {
    if failed.contains(Keys.logFormat.path) { return nil }
    switch source(of: Keys.logFormat) {
    case .environment, .flag: return self[Keys.logFormat]
    case .fallback, .file: return isFileRead ? self[Keys.logFormat] : nil
    }
  }

  /// Every key as `config show` prints it.
  var shown: [Settings.Entry] {
    Keys.all.map { key in
      let source = source(of: key)
      let resolved = winners[key.path]?.resolved ?? key.resolvedFallback
      return Settings.Entry(key: key.path, value: key.shown(resolved, source: source), source: source)
    }
  }

  /// Adds a fault that concerns the winning value of a key.
  mutating func report(_ key: any ConfigurationKey, _ message: String) {
    problems.append("\(key.path): \(message) (\(source(of: key)))")
  }

  private mutating func take(_ entry: GivenEntry) {
    guard let key = Keys.byPath[entry.path] else {
      problems.append(UnknownName.key(entry.path, source: entry.source))
      return
    }
    switch key.read(entry.value) {
    case .success(let resolved): winners[key.path] = (resolved, entry.source)
    case .failure(let refusal):
      failed.insert(entry.path)
      let found = key.isSecret ? "" : ", found \(refusal.found)"
      problems.append("\(key.path): expected \(refusal.expected)\(found) (\(entry.source))")
    }
  }
}
