/// The winning values with their sources, and the problems of all given values.
struct Resolution {
  private var winners: [String: (resolved: ResolvedValue, source: Source)] = [:]
  private(set) var problems: [String]
  /// The keys with a value that they do not accept.
  private var failed: Set<String> = []

  /// Applies the entries in order; a later one wins over an earlier one of its key.
  init(_ entries: [GivenEntry], problems: [String]) {
    self.problems = problems
    for entry in entries { apply(entry) }
  }

  subscript<Value>(_ key: Key<Value>) -> Value {
    guard let winner = winners[key.path] else { return key.fallback }
    // A key has read the value under its path, and paths are unique (Keys.byPath traps otherwise).
    return winner.resolved.value as! Value
  }

  func source(of key: any ConfigurationKey) -> Source { winners[key.path]?.source ?? .fallback }

  /// The format of the log; nil where it is unknown: an unreadable file may set another.
  func logFormat(isFileRead: Bool) -> LogFormat? {
    if failed.contains(Keys.logFormat.path) { return nil }
    switch source(of: Keys.logFormat) {
    case .environment, .flag: return self[Keys.logFormat]
    case .fallback, .file: return isFileRead ? self[Keys.logFormat] : nil
    }
  }

  /// Every key with the text of `config show`.
  var shown: [Settings.Entry] {
    Keys.all.map { key in
      let source = source(of: key)
      let resolved = winners[key.path]?.resolved ?? key.resolvedFallback
      return Settings.Entry(key: key.path, value: key.shown(resolved, source: source), source: source)
    }
  }

  /// Adds a problem of a key's winning value.
  mutating func report(_ key: any ConfigurationKey, _ message: String) {
    problems.append("\(key.path): \(message) (\(source(of: key)))")
  }

  private mutating func apply(_ entry: GivenEntry) {
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
