/// The rules of `promtool check metrics`, which `Tests/Live` asks itself: no name of a metric or a label
/// gives it a reason to complain.
enum PrometheusNames {
  /// What is wrong with a family, a sentence for each rule that it breaks; empty = nothing.
  static func complaints(about family: PrometheusText.Family) -> [String] {
    var complaints: [String] = []
    func demand(_ isKept: Bool, _ rule: String) {
      if !isKept { complaints.append("\(family.name): \(rule)") }
    }
    let name = family.name
    let words = name.split(separator: "_").map(String.init)
    let further = words.dropFirst().map { $0.lowercased() }
    demand(!(family.help ?? "").isEmpty, "no help")
    demand(family.type != "counter" || name.hasSuffix("_total"), "a counter ends in _total")
    demand(family.type == "counter" || !name.hasSuffix("_total"), "only a counter ends in _total")
    demand(family.type == "gauge" || !name.hasSuffix("_timestamp_seconds"), "only a gauge ends in _timestamp_seconds")
    demand(family.type == "histogram" || !reservedSuffixes.contains { name.hasSuffix($0) }, "the end of a histogram's sample")
    demand(!further.contains { types.contains($0) }, "a type in the name")
    demand(!further.contains { abbreviations.contains($0) }, "an abbreviated unit")
    demand(!name.contains(":"), "a colon is for rules")
    demand(!isCamelCase(name), "camelCase")
    // The first unit in the name counts.
    demand(words.compactMap(isBaseUnit).first != false, "another unit than the base unit")
    for label in Set(family.samples.flatMap { Array($0.labels.keys) }).sorted() {
      demand(!isCamelCase(label), "the label \(label) is in camelCase")
      demand(family.type == "histogram" || label != "le", "only a histogram has le")
      demand(label != "quantile", "only a summary has quantile")
    }
    return complaints
  }

  private static let reservedSuffixes = ["_bucket", "_count", "_sum"]
  private static let types: Set = ["counter", "gauge", "histogram", "summary"]
  private static let abbreviations: Set = ["s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "tb", "pb", "m", "h", "d"]
  private static let baseUnits: Set = [
    "amperes", "bytes", "celsius", "grams", "joules", "kelvin", "meters", "metres", "seconds", "volts",
  ]
  private static let otherUnits: Set = [
    "minutes", "hours", "days", "weeks", "kelvins", "fahrenheit", "rankine", "inches", "yards", "miles", "bits", "calories",
    "pounds", "ounces",
  ]
  private static let prefixes = [
    "pico", "nano", "micro", "milli", "centi", "deci", "deca", "hecto", "kilo", "kibi", "mega", "mibi", "giga", "gibi", "tera",
    "tebi", "peta", "pebi",
  ]

  /// Whether a word is a base unit; nil where it is no unit.
  private static func isBaseUnit(_ word: String) -> Bool? {
    if baseUnits.contains(word) { return true }
    let isOther = otherUnits.contains(word)
    let isScaled = prefixes.contains { prefix in
      let rest = String(word.dropFirst(prefix.count))
      return word.hasPrefix(prefix) && (baseUnits.contains(rest) || otherUnits.contains(rest))
    }
    return isOther || isScaled ? false : nil
  }

  /// A small letter before a capital one.
  private static func isCamelCase(_ name: String) -> Bool {
    zip(name.unicodeScalars, name.unicodeScalars.dropFirst()).contains { first, second in
      ("a"..."z").contains(first) && ("A"..."Z").contains(second)
    }
  }
}
