import Foundation
import GroupModel

/// The values that a store can read in a column. One that it cannot read makes its group, or its
/// user, answer 10002 for ever; so what comes from outside is compared first.
public struct StoredDomain: Sendable {
  /// What is expected, as part of a sentence.
  public let description: String
  /// Whether the least value and the greatest, 2⁶³-1 and others apart, tell of all.
  public private(set) var isOfNumbers = false
  /// Whether only a value that is no text is foreign.
  public private(set) var takesEveryText = false
  private let accepts: @Sendable (StoredValue) -> Bool

  private init(description: String, _ accepts: @escaping @Sendable (StoredValue) -> Bool) {
    self.description = description
    self.accepts = accepts
  }

  /// Whether a value may stand there. NULL may where the table's definition lets it.
  public func contains(_ value: StoredValue) -> Bool { value == .null || accepts(value) }

  // MARK: Texts

  static func text(_ description: String, _ accepts: @escaping @Sendable (String) -> Bool) -> StoredDomain {
    StoredDomain(description: description) { value in value.asText.map(accepts) ?? false }
  }

  static func json<Value: Decodable & Sendable>(
    _ description: String, as type: Value.Type, _ accepts: @escaping @Sendable (Value) -> Bool
  ) -> StoredDomain {
    text(description) { text in
      guard let value = try? JSONDecoder().decode(Value.self, from: Data(text.utf8)) else { return false }
      return accepts(value)
    }
  }

  static let text: StoredDomain = {
    var domain = text("a text") { _ in true }
    domain.takesEveryText = true
    return domain
  }()

  // MARK: Bytes

  static let bytes = StoredDomain(description: "bytes") { if case .bytes = $0 { true } else { false } }
  static let block = StoredDomain(description: "the bits of a block") { value in
    if case .bytes(let bytes) = value { SeqBlock(bytes: bytes) != nil } else { false }
  }

  // MARK: Numbers

  /// Sums and differences of such numbers are never too large.
  static let numbers: ClosedRange<Int64> = 0...1 << 53

  /// Numbers of a range.
  public static func number(_ description: String, _ accepts: @escaping @Sendable (Int64) -> Bool) -> StoredDomain {
    var domain = StoredDomain(description: description) { value in
      if case .integer(let number) = value { accepts(number) } else { false }
    }
    domain.isOfNumbers = true
    return domain
  }

  static let number = number("a number of 0 to 2⁵³") { numbers ~= $0 }
  static let counter = number("a number within ±2⁶⁰") { -1 << 60...1 << 60 ~= $0 }
  static let flag = number("0 or 1") { 0...1 ~= $0 }
  static let instant = number("milliseconds of 0 to 2⁵³, or 2⁶³-1 for no end") { numbers ~= $0 || $0 == .max }
}

extension StoredValue {
  /// A text; one with a NUL is stored as bytes.
  fileprivate var asText: String? {
    switch self {
    case .text(let text): text
    case .bytes(let bytes): String(validating: bytes, as: UTF8.self)
    case .null, .integer, .flag: nil
    }
  }
}
