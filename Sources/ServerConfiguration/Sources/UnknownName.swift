/// Messages about an unknown name, with the nearest known one.
enum UnknownName {
  static func key(_ path: String, source: Source) -> String {
    let isSection = Keys.all.contains { $0.path.hasPrefix(path + ".") }
    if isSection { return "\(path): a section, not a key (\(source))" }
    let nearest = NearestName.nearest(to: path, among: Keys.all.map(\.path), separator: ".")
    return "\(path.onOneLine): no such key\(hint(nearest)) (\(source))"
  }

  static func variable(_ name: String) -> String {
    let names = Keys.all.map { String($0.environmentName.dropFirst(Environment.prefix.count)) }
    let nearest = NearestName.nearest(to: String(name.dropFirst(Environment.prefix.count)), among: names, separator: "_")
    return "\(name.onOneLine): no such variable\(hint(nearest.map { Environment.prefix + $0 }))"
  }

  private static func hint(_ nearest: String?) -> String { nearest.map { "; the nearest is \($0)" } ?? "" }
}

extension String {
  fileprivate var onOneLine: String { contains(where: \.isNewline) ? quoted : self }
}

/// Finds the known name that is most likely meant.
enum NearestName {
  /// The name with the fewest characters to change, without regard to case; the first of equals. A
  /// missing section costs one character: `secret` means `auth.secret`.
  /// - Parameter separator: the character between the words of a name.
  static func nearest(to name: String, among names: [String], separator: Character) -> String? {
    let wanted = name.lowercased()
    return names.map { ($0, cost(of: $0.lowercased(), for: wanted, separator: separator)) }.min { $0.1 < $1.1 }?.0
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
