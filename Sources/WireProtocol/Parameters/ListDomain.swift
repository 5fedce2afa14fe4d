/// How many elements a list takes. An optional empty list counts as absent, so its range starts at 0.
public struct ListDomain: Sendable {
  public let count: ClosedRange<Int>
  /// The error of a list with too few elements.
  public let whenEmpty: ErrorCode
  /// The error of a list with too many.
  public let whenTooMany: ErrorCode

  /// Lists of so many elements.
  public init(_ count: ClosedRange<Int>, whenEmpty: ErrorCode = .badValue, whenTooMany: ErrorCode = .badValue) {
    self.count = count
    self.whenEmpty = whenEmpty
    self.whenTooMany = whenTooMany
  }

  /// A list that may be left out, of at most so many elements.
  public static func optional(upTo bound: Int, whenTooMany: ErrorCode = .badValue) -> ListDomain {
    ListDomain(0...bound, whenTooMany: whenTooMany)
  }
}
