import GroupModel

/// Messages about an unknown name, with the known one that is near.
enum UnknownName {
  static func key(_ path: String, source: Source) -> String {
    if sections.contains(path) { return "\(path): a section, not a key (\(source))" }
    return "\(path.onOneLine): no such key\(hint(nearestKey(to: path))) (\(source))"
  }

  /// The message for all keys below a name that is no section.
  static func section(_ path: String, source: Source) -> String {
    if Keys.byPath[path] != nil { return "\(path): a key, not a section (\(source))" }
    let nearest = NearestName.nearest(to: path, among: sections.sorted(), separator: ".")
    return "\(path.onOneLine): no such section\(hint(nearest)) (\(source))"
  }

  static func variable(_ name: String) -> String {
    "\(name.onOneLine): no such variable\(hint(nearestKey(toVariable: name)?.environmentName))"
  }

  /// The path of the key that an unknown one is probably meant for.
  static func nearestKey(to path: String) -> String? {
    NearestName.nearest(to: path, among: Keys.all.map(\.path), separator: ".")
  }

  /// The key that the variable is probably meant for.
  static func nearestKey(toVariable name: String) -> (any ConfigurationKey)? {
    let names = Keys.all.map { String($0.environmentName.dropFirst(Environment.prefix.count)) }
    let nearest = NearestName.nearest(to: String(name.dropFirst(Environment.prefix.count)), among: names, separator: "_")
    return nearest.flatMap { Keys.byEnvironmentName[Environment.prefix + $0] }
  }

  /// The first part of an unknown path that would have to be a section, and is none; nil where only
  /// its last word is unknown.
  static func unknownSection(of path: String) -> String? {
    var section = ""
    for word in path.split(separator: ".", omittingEmptySubsequences: false).dropLast() {
      section += section.isEmpty ? String(word) : ".\(word)"
      if !sections.contains(section) { return section }
    }
    return nil
  }

  private static let sections: Set<String> = Set(
    Keys.all.flatMap { key -> [String] in
      let words = key.path.split(separator: ".")
      return (1..<words.count).map { words[..<$0].joined(separator: ".") }
    })

  private static func hint(_ nearest: String?) -> String {
    nearest.map { "; the nearest is \($0)" } ?? "; throng config example lists the keys"
  }
}

extension String {
  fileprivate var onOneLine: String { contains(where: \.isNewline) ? quoted : self }
}
