import GroupModel

/// A reaction to a message: how many users gave it.
public struct ReactionCount: WireObject, Equatable {
  public let reaction: String
  public let count: Int

  public static let example = ReactionCount(reaction: "", count: 1)

  /// With everything given.
  public init(reaction: String, count: Int) {
    self.reaction = reaction
    self.count = count
  }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("reaction", reaction)
    writer.member("count", count)
  }
}

/// A reaction to a message for one reader.
public struct ReactionInfo: WireObject, Equatable {
  public let reaction: String
  public let count: Int
  /// Whether the reader gave it.
  public let byMe: Bool

  public static let example = ReactionInfo(reaction: "", count: 1, byMe: false)

  /// With everything given.
  public init(reaction: String, count: Int, byMe: Bool) {
    self.reaction = reaction
    self.count = count
    self.byMe = byMe
  }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("reaction", reaction)
    writer.member("count", count)
    writer.member("byMe", byMe)
  }
}
