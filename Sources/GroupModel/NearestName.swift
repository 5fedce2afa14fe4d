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

  private static func distance(_ a: String, _ b: String) -> Int {
    distances(from: Array(a)[...], toPrefixesOf: Array(b)[...]).last ?? 0
  }

  // MARK: Names in camelCase

  /// The name in camelCase that is meant by one with slips of typing, without regard to case: the one
  /// with the fewest. Nil where two have as few, or more than a third of the name would have to change.
  ///
  /// A slip is a letter too many, too few, another one, or two that have changed places. A word may have
  /// one, and two from 8 letters on; with more it is another word. In a word of 3 letters or fewer no
  /// letter is another one: `get` does not mean `set`. A missing word is a slip, too: `name` means
  /// `groupName`, and `members` means `memberList`.
  /// - Parameter fillers: the words that may be missing, in lower case; nil = any.
  public static func near(
    _ name: String, among names: some Sequence<String>, fillers: Set<[UInt8]>? = nil
  ) -> String? {
    let wanted = name.utf8.map(lowercased)
    guard (1...maxBytes).contains(wanted.count) else { return nil }
    var (nearest, least) = ([String](), max(1, wanted.count / 3))
    for known in names {
      guard let slips = slips(from: words(of: Array(known.utf8)), to: wanted, atMost: least, fillers: fillers) else { continue }
      if slips < least { nearest = [] }
      (nearest, least) = (nearest + [known], slips)
    }
    return nearest.count == 1 ? nearest[0] : nil
  }

  /// The fewest slips from the words of a name to another name; nil where there are more than that.
  private static func slips(
    from words: [ArraySlice<UInt8>], to wanted: [UInt8], atMost most: Int, fillers: Set<[UInt8]>?
  ) -> Int? {
    // There are no fewer slips than letters too many.
    guard words.reduce(most, { $0 + $1.count }) >= wanted.count else { return nil }
    // The fewest so far, by the end of the part of the wanted name that the words so far make up.
    var reached = [(end: 0, slips: 0)]
    for word in words {
      let mayBeMissing = fillers?.contains(Array(word)) ?? true
      var next: [(end: Int, slips: Int)] = []
      func reach(_ end: Int, _ slips: Int) {
        guard slips <= most else { return }
        if let known = next.firstIndex(where: { $0.end == end }) {
          next[known].slips = min(next[known].slips, slips)
        } else {
          next.append((end, slips))
        }
      }
      let bound = maxSlips(in: word)
      for (start, slips) in reached {
        if mayBeMissing { reach(start, slips + 1) }
        let part = wanted[start...].prefix(word.count + bound)
        let costs = distances(from: word, toPrefixesOf: part, replacement: word.count > 3 ? 1 : 2, atMost: bound)
        for (length, more) in costs.enumerated() where more <= bound { reach(start + length, slips + more) }
      }
      if next.isEmpty { return nil }
      reached = next
    }
    return reached.first { $0.end == wanted.count }?.slips
  }

  private static func maxSlips(in word: ArraySlice<UInt8>) -> Int { word.count < 8 ? 1 : 2 }

  /// The words of a name in camelCase, in lower case: `userIDList` is user, id, list.
  private static func words(of name: [UInt8]) -> [ArraySlice<UInt8>] {
    let edges = name.indices.filter { index in
      guard index > 0, isCapital(name[index]) else { return index == 0 }
      return !isCapital(name[index - 1]) || index + 1 < name.count && !isCapital(name[index + 1])
    }
    let bytes = name.map(lowercased)
    return zip(edges, edges.dropFirst() + [bytes.count]).map { bytes[$0..<$1] }
  }

  private static func isCapital(_ byte: UInt8) -> Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte }

  private static func lowercased(_ byte: UInt8) -> UInt8 { isCapital(byte) ? byte + 0x20 : byte }

  // MARK: Distances

  /// The distance of each beginning of `b`, from the empty one to the whole: insertions, removals,
  /// replacements, and two neighbours that change places (optimal string alignment). Empty where all
  /// are over `most`.
  private static func distances<Element: Equatable>(
    from a: ArraySlice<Element>, toPrefixesOf b: ArraySlice<Element>, replacement: Int = 1, atMost most: Int = .max
  ) -> ArraySlice<Int> {
    let width = b.count + 1
    // A row for each beginning of `a`.
    var costs = Array(0..<width) + repeatElement(0, count: a.count * width)
    for (i, element) in a.enumerated() {
      let (before, row) = ((i - 1) * width, i * width)
      let next = row + width
      var least = i + 1
      costs[next] = i + 1
      for (j, other) in b.enumerated() {
        var cost = min(costs[row + j] + (element == other ? 0 : replacement), costs[row + j + 1] + 1, costs[next + j] + 1)
        if i > 0, j > 0, element == b[b.startIndex + j - 1], a[a.startIndex + i - 1] == other {
          cost = min(cost, costs[before + j - 1] + 1)
        }
        costs[next + j + 1] = cost
        least = min(least, cost)
      }
      // No later row is cheaper, though two that change places step over this one: they cost one more
      // than the row before it, as this row does at most.
      if least > most { return [] }
    }
    return costs.suffix(width)
  }
}
