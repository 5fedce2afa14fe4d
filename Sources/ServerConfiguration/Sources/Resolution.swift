import Foundation

/// The winning values with their sources, and the problems of all given values.
struct Resolution {
  private var winners: [String: (resolved: ResolvedValue, source: Source)] = [:]
  private(set) var problems: [String]
  /// The keys with a value that they do not accept.
  private var failed: Set<String> = []
  /// The keys for which unknown names are probably meant.
  private var misspelt: Set<String>
  /// Whether the whole file was understood, or there is none.
  private let isFileRead: Bool

  /// Applies the entries in order; a later one wins over an earlier one of its key.
  /// - Parameters:
  ///   - problems: those of the sources.
  ///   - misspelt: the paths of keys for which the sources have found unknown names.
  ///   - isFileRead: whether the whole file was understood, or there is none.
  init(_ entries: [GivenEntry], problems: [String], misspelt: Set<String>, isFileRead: Bool) {
    self.problems = problems
    self.misspelt = misspelt
    self.isFileRead = isFileRead
    let unknown = entries.filter { Keys.byPath[$0.path] == nil }
    for entry in entries {
      if let key = Keys.byPath[entry.path] { apply(entry, to: key) } else { reportUnknown(entry, among: unknown) }
    }
  }

  subscript<Value>(_ key: Key<Value>) -> Value {
    guard let winner = winners[key.path] else { return key.fallback }
    // A key has read the value under its path, and paths are unique (Keys.byPath traps otherwise).
    return winner.resolved.value as! Value
  }

  func source(of key: any ConfigurationKey) -> Source { winners[key.path]?.source ?? .fallback }

  /// Whether the values of these keys are what the operator has written, or left out. Where one of
  /// them is among the problems, what follows from its default is no problem of its own.
  func areKnown(_ keys: any ConfigurationKey...) -> Bool {
    keys.allSatisfy { key in
      let paths = key.mayComeFromFile ? [key.path, key.fileKey.path] : [key.path]
      let isLost = !isFileRead && source(of: key) == .fallback
      return !isLost && failed.isDisjoint(with: paths) && misspelt.isDisjoint(with: paths)
    }
  }

  /// The format of the log; nil where it is unknown: an unreadable file may set another.
  var logFormat: LogFormat? {
    if failed.contains(Keys.logFormat.path) { return nil }
    switch source(of: Keys.logFormat) {
    case .environment, .flag: return self[Keys.logFormat]
    case .fallback, .file: return isFileRead ? self[Keys.logFormat] : nil
    }
  }

  /// Reads the values that stand in files of their own (`ConfigurationKey.fileKey`). Of a value and
  /// a file the one from the later layer counts.
  mutating func readValueFiles() {
    for key in Keys.all where key.mayComeFromFile {
      let fileKey = key.fileKey
      guard let path = self[fileKey] else { continue }
      let (layer, other) = (source(of: fileKey).layer, source(of: key).layer)
      if other > layer { continue }
      if other == layer { report(fileKey, "set together with \(key.path)") }
      readValue(of: key, in: path, named: fileKey)
    }
  }

  private static let longestValueFile = 65_536

  private mutating func readValue(of key: any ConfigurationKey, in path: String, named fileKey: Key<String?>) {
    func fail(_ message: String) {
      failed.insert(key.path)
      report(fileKey, message)
    }
    do {
      let contents = try FileContents.read(path, atMost: Resolution.longestValueFile)
      guard let text = String(data: contents, encoding: .utf8) else { return fail("the file \(path.quoted) is not UTF-8") }
      let value = text.trimmingCharacters(in: .whitespacesAndNewlines)
      if value.isEmpty { return fail("the file \(path.quoted) is empty") }
      apply(GivenEntry(path: key.path, value: .text(value), source: .file(path)), to: key)
    } catch {
      fail("the file \(path.quoted) cannot be read: \(error.description)")
    }
  }

  /// Every key with the text of `config show`: the value that holds, also where others decide it.
  var shown: [Settings.Entry] {
    Keys.all.map { key in
      let source = source(of: key)
      let resolved = winners[key.path]?.resolved ?? key.resolvedFallback
      let value = LimitKeys.reach(of: key, in: self) ?? key.shown(resolved, source: source)
      return Settings.Entry(key: key.path, value: value, source: source)
    }
  }

  /// Adds a problem of a key's winning value.
  mutating func report(_ key: any ConfigurationKey, _ message: String) {
    problems.append("\(key.path): \(message) (\(source(of: key)))")
  }

  /// Tells of an unknown name. The wrong name of a section is one mistake, however many keys stand
  /// below it.
  private mutating func reportUnknown(_ entry: GivenEntry, among unknown: [GivenEntry]) {
    if let path = UnknownName.nearestKey(to: entry.path) { misspelt.insert(path) }
    let section = UnknownName.unknownSection(of: entry.path)
    let together = unknown.filter { $0.source == entry.source && UnknownName.unknownSection(of: $0.path) == section }
    let problem =
      if let section, together.count > 1 {
        UnknownName.section(section, source: entry.source)
      } else {
        UnknownName.key(entry.path, source: entry.source)
      }
    if !problems.contains(problem) { problems.append(problem) }
  }

  private mutating func apply(_ entry: GivenEntry, to key: any ConfigurationKey) {
    switch key.read(entry.value) {
    case .success(let resolved): winners[key.path] = (resolved, entry.source)
    case .failure(let refusal):
      failed.insert(entry.path)
      // A value that was not accepted may be a secret, or hold a password, all the same.
      let found = key.mayComeFromFile ? refusal.foundKind : refusal.found
      let words = found.map { ", found \($0)" } ?? ""
      problems.append("\(key.path): expected \(refusal.expected)\(words) (\(entry.source))")
    }
  }
}
