/// A bound on a figure, such as `p99<50ms`.
public struct Condition: Sendable, Equatable {
  /// A comparison of a figure with a bound.
  enum Comparison: String, CaseIterable {
    case lessOrEqual = "<="
    case greaterOrEqual = ">="
    case less = "<"
    case greater = ">"

    func holds(_ value: Double, _ bound: Double) -> Bool {
      switch self {
      case .less: value < bound
      case .lessOrEqual: value <= bound
      case .greater: value > bound
      case .greaterOrEqual: value >= bound
      }
    }
  }

  /// The text as the user wrote it.
  public let text: String
  /// The figure.
  public let metric: Metric
  let comparison: Comparison
  /// In the base unit of the metric's dimension: seconds, bytes, one.
  let bound: Double

  /// Reads `NAME OPERATOR NUMBER UNIT`, with or without blanks; throws for any other text.
  public init(_ text: String) throws(BenchmarkError) {
    self.text = text
    let places = Comparison.allCases.compactMap { comparison in text.range(ofFirst: comparison.rawValue).map { (comparison, $0) }
    }
    // The list begins with the two-letter operators: at the same position the longer one counts.
    guard let (comparison, place) = places.min(by: { $0.1.lowerBound < $1.1.lowerBound }) else {
      throw BenchmarkError("'\(text)' is no condition: NAME, then one of < <= > >=, then a number, as in p99<50ms")
    }
    let name = text[..<place.lowerBound].trimmed
    guard let metric = Metric(rawValue: name) else {
      let known = Metric.allCases.map(\.rawValue).joined(separator: ", ")
      throw BenchmarkError("'\(name)' in '\(text)' is none of the figures: \(known)")
    }
    self.metric = metric
    self.comparison = comparison
    bound = try Condition.bound(text[place.upperBound...].trimmed, of: metric, in: text)
  }

  private static func bound(_ text: String, of metric: Metric, in condition: String) throws(BenchmarkError) -> Double {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unitText = text[digits.endIndex...].trimmed
    guard let number = Double(digits) else { throw BenchmarkError("'\(condition)' compares with no number") }
    let unit = unitText.isEmpty ? metric.unit : Unit(rawValue: unitText)
    guard let unit, unit.dimension == metric.dimension else {
      let allowed = Unit.allCases.filter { $0.dimension == metric.dimension && $0 != .one }.map(\.rawValue)
      let choice = allowed.isEmpty ? "no unit" : allowed.joined(separator: ", ")
      throw BenchmarkError("'\(unitText)' in '\(condition)' is no unit of \(metric.rawValue), which takes \(choice)")
    }
    return number * unit.factor
  }

  /// Compares a figure; nil, because nothing arrived, meets no condition.
  /// - Parameter value: in the base unit of the metric's dimension.
  func verdict(_ value: Double?) -> Verdict {
    Verdict(
      condition: text, value: value.map { $0 / metric.unit.factor }, unit: metric.unit.rawValue,
      isMet: value.map { comparison.holds($0, bound) } ?? false)
  }
}

/// The result of a condition.
public struct Verdict: Sendable, Equatable {
  /// The text as the user wrote it.
  public let condition: String
  /// The figure, in `unit`; nil: it was not measured.
  public let value: Double?
  /// The metric's own unit.
  public let unit: String
  /// The figure meets the condition.
  public let isMet: Bool
}

extension StringProtocol {
  /// Without blanks around it.
  fileprivate var trimmed: String {
    String(drop(while: { $0 == " " }).reversed().drop(while: { $0 == " " }).reversed())
  }

  fileprivate func range(ofFirst part: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(part) { return start..<index(start, offsetBy: part.count) }
      start = index(after: start)
    }
    return nil
  }
}
