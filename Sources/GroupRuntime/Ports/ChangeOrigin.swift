import GroupModel

/// How a stored message was changed the last time, to tell it again (`GroupReplay`). Kept only by nodes
/// of a cluster.
public struct ChangeOrigin: Sendable, Equatable {
  /// The kind of a change.
  public enum Kind: String, CaseIterable, Sendable {
    case revoked
    case modified
    case reaction
    /// It was pinned, or is not any more.
    case pinned
    /// Nobody was told: a reaction has gone with its user.
    case silent
  }

  /// The kind of the change.
  public let kind: Kind
  /// Who has changed it; `.administrator` for the application.
  public let user: UserID
  /// The platform of that user's session.
  public let platform: Platform
  /// The reaction; nil = the change is of another kind.
  public let reaction: String?
  /// Whether the reaction or the pin was added; true for a change of another kind.
  public let isAdded: Bool

  /// An origin with everything given.
  public init(_ kind: Kind, by user: UserID, on platform: Platform, reaction: String? = nil, isAdded: Bool = true) {
    self.kind = kind
    self.user = user
    self.platform = platform
    self.reaction = reaction
    self.isAdded = isAdded
  }
}

/// The origin of a message's last change, as it is stored.
public struct StoredChangeOrigin: Sendable, Equatable {
  /// The origin of the last change.
  public let origin: ChangeOrigin
  /// The number of that change.
  public let changeSeq: Int64
  /// The number of the last change of another kind before it; 0 = there was none.
  public let otherSeq: Int64

  /// With everything given.
  public init(_ origin: ChangeOrigin, changeSeq: Int64, otherSeq: Int64 = 0) {
    self.origin = origin
    self.changeSeq = changeSeq
    self.otherSeq = otherSeq
  }
}
