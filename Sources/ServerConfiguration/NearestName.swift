/// Finds what somebody most likely meant.
enum NearestName {
  /// The name with the fewest characters to change, upper and lower case alike; of equals the first. A missing section costs as
  /// much as one character: `secret` means `auth.secret`. `separator` stands between the words of a name.
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
