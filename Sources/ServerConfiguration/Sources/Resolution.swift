import Foundation

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
    do {
      let contents = try FileContents.read(path, atMost: Resolution.longestValueFile)
      guard let text = String(data: contents, encoding: .utf8) else {
        return report(fileKey, "the file \(path.quoted) is not UTF-8")
      }
      let value = text.trimmingCharacters(in: .whitespacesAndNewlines)
      if value.isEmpty { return report(fileKey, "the file \(path.quoted) is empty") }
      apply(GivenEntry(path: key.path, value: .text(value), source: .file(path)))
    } catch {
      report(fileKey, "the file \(path.quoted) cannot be read: \(error.description)")
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
      // A value that was not accepted may be a secret, or hold a password, all the same.
      let found = key.mayComeFromFile ? refusal.foundKind : refusal.found
      let words = found.map { ", found \($0)" } ?? ""
      problems.append("\(key.path): expected \(refusal.expected)\(words) (\(entry.source))")
    }
  }
}
