import GroupModel

/// Changes what the caller keeps about a group in their own list of conversations.
public struct SetConversation: GroupMethod {
  public let change: ConversationChange

  public static let specification = MethodSpecification(
    .setConversation, "Pins, hides or marks a group in the caller's own list of conversations.", callers: .user,
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, users: .nobody, asks: .never, tellsMembers: false, mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    var change = ConversationChange()
    change.isPinned = try reader.optionalFlag("isPinned", "Whether the group stands above others in the list.")
    change.isHidden = try reader.optionalFlag(
      "isHidden", "Whether the group is left out of the list, until a message counts as unread or mentions the caller.")
    change.isMarkedUnread = try reader.optionalFlag(
      "isMarkedUnread", "Whether the group looks unread, until markGroupMessageAsRead.")
    // An empty list is not absent here: it removes all marks.
    change.marks = try reader.optionalStrings(
      "marks", .optional(upTo: ConversationSettings.maxMarks), TextDomain(ConversationSettings.markBytes),
      "The application's own words for the group, in the place of all earlier ones; an empty list removes them."
    )?.uniqued { ExactText($0) }
    guard !change.isEmpty else {
      throw WireError(
        .invalidParams, "There is at least one of isPinned, isHidden, isMarkedUnread and marks", field: "isPinned")
    }
    self.change = change
  }
}

/// Makes the messages of a group up to now invisible to the caller.
public struct ClearGroupHistory: GroupMethod {
  public static let specification = MethodSpecification(
    .clearGroupHistory, "Makes all messages that a group has by now invisible to the caller, for good; nobody else notices.",
    callers: .user, result: Result.fields, errors: [.badGroupID, .noSuchGroup, .noRight])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, users: .nobody, asks: .never, tellsMembers: false, mayWait: false, audit: .change)

  /// Up to where the history is cleared.
  public struct Result: WireObject {
    /// The newest message that the caller does not see any more; 0 = there was none.
    public let clearedSeq: Int64

    public static let example = Result(clearedSeq: 0)

    /// With everything given.
    public init(clearedSeq: Int64) { self.clearedSeq = clearedSeq }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("clearedSeq", clearedSeq)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {}
}
