/// What the application has decided about a user's sign-ins (Protocol.md, "Blocked users").
public struct UserAccess: Sendable, Equatable {
  /// A user may not sign in.
  public struct Block: Sendable, Equatable {
    /// The end; nil = none.
    public let until: WallInstant?
    /// The application's words; empty = none.
    public let reason: String

    /// A block with everything given.
    public init(until: WallInstant? = nil, reason: String = "") {
      self.until = until
      self.reason = reason
    }

    /// Whether it holds at an instant.
    public func holds(at now: WallInstant) -> Bool { until.map { $0 > now } ?? true }

    /// Byte for byte, as clients compare.
    public static func == (a: Block, b: Block) -> Bool { a.until == b.until && a.reason.isSame(as: b.reason) }
  }

  /// Why a user may not sign in.
  public enum Refusal: Sendable, Equatable {
    /// 70021.
    case tokenRevoked
    /// 70020.
    case blocked(isTemporary: Bool)
  }

  /// Nil = the user is not blocked. One that has ended counts as none.
  public var block: Block?
  /// Tokens issued before it are revoked; unset = none are.
  public var tokensBefore: WallInstant
  /// Whether the user's data is being deleted, which ends by itself.
  public var isBeingDeleted: Bool

  /// Nothing was decided.
  public static let unlimited = UserAccess()

  /// Decisions with everything given.
  public init(block: Block? = nil, tokensBefore: WallInstant = .unset, isBeingDeleted: Bool = false) {
    self.block = block
    self.tokensBefore = tokensBefore
    self.isBeingDeleted = isBeingDeleted
  }

  /// Why a user with an accepted token may not sign in at an instant; nil = may. A revoked token comes
  /// before a block, and while a deletion runs the answer is temporary, blocked or not.
  /// - Parameter issued: nil = the token does not say when; revocations concern it.
  public func refusal(ofTokenIssued issued: WallInstant?, now: WallInstant) -> Refusal? {
    if tokensBefore.isSet, issued.map({ $0 < tokensBefore }) ?? true { return .tokenRevoked }
    if isBeingDeleted { return .blocked(isTemporary: true) }
    if let block, block.holds(at: now) { return .blocked(isTemporary: false) }
    return nil
  }
}
