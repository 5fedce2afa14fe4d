import GroupModel

extension Duration {
  /// Reads a duration of the configuration or command line: decimal seconds, or a decimal number
  /// with the unit `ms`, `s`, `m`, `h` or `d`. Nil for any other text, below 0 and above 2³²−1
  /// seconds. Fractions of a millisecond are dropped.
  public init?(configurationText text: String) {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    guard let unit = Duration.millisecondsPerUnit[String(text[digits.endIndex...])],
      digits.first?.isNumber == true, digits.last?.isNumber == true, let number = Double(digits)
    else { return nil }
    let milliseconds = number * unit
    guard milliseconds <= 4_294_967_295_000 else { return nil }
    self = .milliseconds(Int64(milliseconds))
  }

  /// The text of `config show`: seconds with the unit, `25s` or `0.5s`.
  var configurationText: String {
    let milliseconds = wholeMilliseconds
    return milliseconds.isMultiple(of: 1000) ? "\(milliseconds / 1000)s" : "\(Double(milliseconds) / 1000)s"
  }

  private static let millisecondsPerUnit: [String: Double] = [
    "": 1000, "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
  ]
}
