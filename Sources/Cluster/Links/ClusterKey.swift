/// The key that all nodes of a cluster have, and nobody else: whatever they tell each other is sealed
/// under it (Cluster.md, "Sealed frames").
public struct ClusterKey: Sendable, Equatable {
  /// Named by each frame, so that nodes with different keys notice it: 0 = `cluster.secret`, otherwise
  /// the version of the database's row.
  public let number: UInt64
  /// 32 bytes at least.
  public let secret: [UInt8]

  /// How many bytes a key of the database has.
  private static let length = 32

  /// A key with everything given.
  public init(number: UInt64, secret: [UInt8]) {
    self.number = number
    self.secret = secret
  }

  /// The key of `cluster.secret`.
  public init(configured secret: String) { self.init(number: 0, secret: Array(secret.utf8)) }

  /// A secret that nobody has had before.
  public static func makeSecret() -> [UInt8] {
    var random = SystemRandomNumberGenerator()
    return (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &random) }
  }
}
