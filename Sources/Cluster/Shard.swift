import GroupModel

/// A class of groups and users that one node decides for.
public struct Shard: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// How many there are. The number is part of what the database keeps: it never changes.
  public static let count = 1024

  /// From 0 to `count` - 1.
  public let number: Int

  /// Nil where there is no such shard.
  public init?(_ number: Int) {
    guard (0..<Shard.count).contains(number) else { return nil }
    self.number = number
  }

  /// The shard of a group.
  public init(of group: GroupID) { number = Shard.number(of: group.rawValue) }

  /// The shard of a user.
  public init(of user: UserID) { number = Shard.number(of: user.rawValue) }

  /// All shards, ascending.
  public static var all: [Shard] { (0..<count).compactMap(Shard.init) }

  /// FNV-1a with 64 bits, folded: Swift's own hash differs from process to process.
  private static func number(of name: String) -> Int {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return Int((hash ^ hash >> 32) % UInt64(count))
  }

  public static func < (left: Shard, right: Shard) -> Bool { left.number < right.number }

  public var description: String { "\(number)" }
}

/// The number of a node: of one run of one process, never used again.
public struct NodeNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let rawValue: Int64

  /// The number that the database has given.
  public init(_ rawValue: Int64) { self.rawValue = rawValue }

  public static func < (left: NodeNumber, right: NodeNumber) -> Bool { left.rawValue < right.rawValue }

  public var description: String { "\(rawValue)" }
}
