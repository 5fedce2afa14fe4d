/// Finds the known name that is most likely meant by an unknown one: a key of the configuration, a
/// method or a parameter.
public enum NearestName {
  /// The longest name, in bytes, for which `near` looks: the work for one error has a bound.
  public static let maxBytes = 64

  /// The name with the fewest characters to change, without regard to case; the first of equals. A
  /// missing section costs one character: `secret` means `auth.secret`. Where more than a third of
  /// the characters would change, nil, or a name of which it is a part: `demo.page` begins with `demo`.
  /// - Parameter separator: the character between the words of a name.
  public static func nearest(to name: String, among names: [String], separator: Character) -> String? {
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

  // MARK: Names in camelCase

  /// The name in camelCase with the fewest bytes to change, without regard to case; the first of
  /// equals, and nil where more than a third of the name would have to change. A missing word costs
  /// one byte: `name` means `groupName`, and `members` means `memberList`.
  public static func near(_ name: String, among names: some Sequence<String>) -> String? {
    let wanted = name.utf8.map(lowercased)
    guard (1...maxBytes).contains(wanted.count) else { return nil }
    var nearest: String?
    var bound = max(1, wanted.count / 3) + 1
    for known in names {
      guard let changes = cost(of: Array(known.utf8), for: wanted, below: bound) else { continue }
      (nearest, bound) = (known, changes)
    }
    return nearest
  }

  /// The cost of the cheapest form of a name with some neighbouring words left out, or none; nil
  /// where no form costs less than the bound.
  private static func cost(of name: [UInt8], for wanted: [UInt8], below bound: Int) -> Int? {
    let (edges, bytes) = (wordEdges(of: name), name.map(lowercased))
    var least = bound
    for first in edges.indices {
      for last in first..<edges.count where last > first || first == 0 {
        let (dropped, count) = (last - first, bytes.count - (edges[last] - edges[first]))
        // A distance is no less than the difference of the lengths.
        guard count > 0, dropped + abs(count - wanted.count) < least else { continue }
        least = min(least, dropped + distance(wanted, bytes[..<edges[first]] + bytes[edges[last]...]))
      }
    }
    return least < bound ? least : nil
  }

  /// Where the words of a name in camelCase begin, and its end: `userIDList` is user, ID, List.
  private static func wordEdges(of name: [UInt8]) -> [Int] {
    let inner = name.indices.dropFirst().filter { index in
      guard isCapital(name[index]) else { return false }
      return !isCapital(name[index - 1]) || index + 1 < name.count && !isCapital(name[index + 1])
    }
    return [0] + inner + [name.count]
  }

  private static func isCapital(_ byte: UInt8) -> Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte }

  private static func lowercased(_ byte: UInt8) -> UInt8 { isCapital(byte) ? byte + 0x20 : byte }

  /// The Levenshtein distance: insertions, removals and replacements.
  private static func distance<Element: Equatable>(_ a: some Sequence<Element>, _ b: some Sequence<Element>) -> Int {
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
