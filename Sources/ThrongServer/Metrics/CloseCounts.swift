import WireProtocol

/// Closed connections by a label that is not the clients' choice: they may send any code from 3000 to 4999.
enum CloseCounts {
  /// Those of RFC 6455.
  private static let standard = 1000...1015

  /// A row for each code of the standard or of ours, and `other` for the rest together; by code ascending, `other` last.
  static func byLabel(_ closes: [Int: Int]) -> [(labels: [(String, String)], value: Double)] {
    let known = closes.filter { standard.contains($0.key) || CloseCode(rawValue: $0.key) != nil }
    let rest = closes.values.reduce(0, +) - known.values.reduce(0, +)
    let rows = known.sorted { $0.key < $1.key }.map { (code: String($0.key), count: $0.value) }
    return (rest > 0 ? rows + [(code: "other", count: rest)] : rows).map {
      (labels: [("code", $0.code)], value: Double($0.count))
    }
  }
}
