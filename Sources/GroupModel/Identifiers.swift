/// A user's name as the application gave it: 1–32 bytes of 0x21–0x7e, not starting with `@`, not
/// `administrator` (Protocol.md, "Identifiers").
public struct UserID: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The name as it stands on the wire.
  public let rawValue: String

  /// The sender of what an application administrator does. No user can sign in under this name.
  public static let administrator = UserID(unchecked: "administrator")

  /// Nil where the name is not allowed.
  public init?(_ name: String) {
    guard name.isGraphicASCII(upTo: 32), !name.hasPrefix("@"), name != "administrator" else { return nil }
    rawValue = name
  }

  private init(unchecked name: String) { rawValue = name }

  /// A stored sender: a user, or the administrator.
  public init?(stored name: String) {
    if name == UserID.administrator.rawValue { self = .administrator } else { self.init(name) }
  }

  public static func < (a: UserID, b: UserID) -> Bool { a.rawValue < b.rawValue }

  public var description: String { rawValue }
}

/// The name of a group: 1–48 bytes of 0x21–0x7e (Protocol.md, "Identifiers").
public struct GroupID: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The name as it stands on the wire.
  public let rawValue: String

  /// Only the server makes names with this prefix; a client may not choose one (8501).
  public static let generatedPrefix = "@TGS#"

  /// Nil where the name is not allowed.
  public init?(_ name: String) {
    guard name.isGraphicASCII(upTo: 48) else { return nil }
    rawValue = name
  }

  /// - Parameter name: one that `GroupID(_:)` has allowed.
  package init(allowed name: String) {
    assert(name.isGraphicASCII(upTo: 48))
    rawValue = name
  }

  /// Whether only the server may have made the name.
  public var isGenerated: Bool { rawValue.hasPrefix(GroupID.generatedPrefix) }

  /// A new unique name: the prefix and 64 random bits in base 36.
  public static func generate() -> GroupID {
    GroupID(unchecked: generatedPrefix + RandomID.with64Bits().uppercased())
  }

  private init(unchecked name: String) { rawValue = name }

  public static func < (a: GroupID, b: GroupID) -> Bool { a.rawValue < b.rawValue }

  public var description: String { rawValue }
}

/// Random names in base 36. Swift's own generator is the system's: getrandom(2) on Linux.
public enum RandomID {
  /// A name that no other one of the same kind has had.
  public static func with64Bits() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }

  /// A name that cannot be guessed either.
  public static func with128Bits() -> String { with64Bits() + with64Bits() }
}

extension String {
  /// Whether the text is 1 to `limit` bytes, each a visible ASCII character (0x21–0x7e).
  func isGraphicASCII(upTo limit: Int) -> Bool {
    let isGraphic = { (bytes: UnsafeBufferPointer<UInt8>) in bytes.allSatisfy { $0 &- 0x21 < 0x5e } }
    guard (1...limit).contains(utf8.count) else { return false }
    return utf8.withContiguousStorageIfAvailable(isGraphic) ?? Array(utf8).withUnsafeBufferPointer(isGraphic)
  }
}
