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

/// Finds the known name that is most likely meant.
enum NearestName {
  /// The name with the fewest characters to change, without regard to case; the first of equals. A
  /// missing section costs one character: `secret` means `auth.secret`. Where more than a third of
  /// the characters would change, nil, or a name of which it is a part: `demo.page` begins with `demo`.
  /// - Parameter separator: the character between the words of a name.
  static func nearest(to name: String, among names: [String], separator: Character) -> String? {
    let wanted = name.lowercased()
    let costs = names.map { (name: $0, cost: cost(of: $0.lowercased(), for: wanted, separator: separator)) }
    if let nearest = costs.min(by: { $0.cost < $1.cost }), nearest.cost <= wanted.count / 3 { return nearest.name }
    return names.filter { wanted.hasPrefix("\($0.lowercased())\(separator)") }.max(by: { $0.count < $1.count })
  }

  private static func cost(of name: String, for wanted: String, separator: Character) -> Int {
    let words = name.split(separator: separator)
    let costs = words.indices.map { dropped in
      dropped + distance(wanted, words[dropped...].joined(separator: String(separator)))
    }
    return costs.min() ?? wanted.count
  }

  /// The Levenshtein distance: insertions, removals and replacements.
  static func distance(_ a: String, _ b: String) -> Int {
    let b = Array(b)
    var row = Array(0...b.count)
    for (i, character) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for j in b.indices {
        let replaced = diagonal + (character == b[j] ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
      }
    }
    return row[b.count]
  }
}
