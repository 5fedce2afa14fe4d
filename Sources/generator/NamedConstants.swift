extension CaseIterable where Self: RawRepresentable<Int> {
  /// The name and the number of each case, as clients have them.
  static var constants: [(String, Int)] { allCases.map { ("\($0)", $0.rawValue) } }
}
