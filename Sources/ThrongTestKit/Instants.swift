import GroupModel

/// Numbers in tests are milliseconds.
extension MonotonicInstant: ExpressibleByIntegerLiteral {
  public init(integerLiteral milliseconds: Int64) { self.init(milliseconds: milliseconds) }

  /// The instant so many milliseconds after the start of the clock.
  public init(milliseconds: some BinaryInteger) { self.init(nanoseconds: Int64(milliseconds) * 1_000_000) }

  /// The instant so many milliseconds later.
  public static func + (instant: MonotonicInstant, milliseconds: Int64) -> MonotonicInstant {
    instant.advanced(byMilliseconds: milliseconds)
  }
}
