import GroupModel

/// Recalls a message.
public struct RevokeGroupMessage: GroupMethod {
  /// The message, by its place or by its ID.
  public enum Target: Sendable, Equatable {
    case seq(Int64)
    /// In live rooms that remember: also of a message that is still queued, and has no place.
    case msgID(String)

    /// The parameter that names it.
    public var parameter: String {
      switch self {
      case .seq: "seq"
      case .msgID: "msgID"
      }
    }
  }

  public let target: Target

  public static let specification = MethodSpecification(
    .revokeGroupMessage, "Takes a message back: it keeps its place and loses its content.",
    errors: [
      .badGroupID, .noSuchGroup, .noRight, .badValue, .messageUnknown, .recallTooLate, .recallNotYours, .recallUnsupported,
    ])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, users: .nobody, asks: .never, tellsMembers: true, mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    try reader.requireOne("seq", or: "msgID")
    let seq = try reader.optionalInteger("seq", in: .seqs, "The seq of the message that is taken back, in place of msgID.")
    let msgID = try reader.optionalString(
      "msgID", .msgID, "The msgID of the message, in place of seq; in live rooms that remember messages.")
    // Neither is given to a reader that describes the method.
    target = msgID.map { .msgID($0) } ?? .seq(seq ?? 1)
  }

  /// The recall of a message.
  public init(seq: Int64) { target = .seq(seq) }
}

/// Moves the read mark of the caller.
public struct MarkGroupMessageAsRead: GroupMethod {
  /// Nil = everything there is.
  public let seq: Int64?

  public static let specification = MethodSpecification(
    .markGroupMessageAsRead, "Notes up to which message the caller has read a group; never goes back.", callers: .user,
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, users: .nobody, asks: .never, tellsMembers: false, mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    seq = try reader.optionalInteger("seq", in: .seqs, "The seq up to which the caller has read; absent = all there is.")
  }
}

/// The numbers of unread messages.
public struct GetGroupUnreadCount: ServerMethod {
  /// Empty = all groups that getJoinedGroupList lists.
  public let groupIDList: [GroupID]

  public static let specification = MethodSpecification(
    .getGroupUnreadCount, "Counts the messages of groups that the caller has not read.", callers: .user,
    result: Result.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// A row for each group, and the sum.
  public struct Result: WireObject {
    public let totalCount: Int
    public let groups: [Row]

    public static let example = Result(totalCount: 0, groups: [])

    /// With everything given.
    public init(totalCount: Int, groups: [Row]) {
      self.totalCount = totalCount
      self.groups = groups
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("totalCount", totalCount)
      writer.member("groups", groups)
    }
  }

  /// The unread messages of a group.
  public struct Row: WireObject {
    public let groupID: GroupID
    public let unreadCount: Int

    public static let example = Row(groupID: .generate(), unreadCount: 0)

    /// With everything given.
    public init(groupID: GroupID, unreadCount: Int) {
      self.groupID = groupID
      self.unreadCount = unreadCount
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("groupID", groupID.rawValue)
      writer.member("unreadCount", unreadCount)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    let names =
      try reader.optionalStrings(
        "groupIDList", .optional(upTo: 200), .groupID, "The groups; absent or empty = all that getJoinedGroupList lists.") ?? []
    groupIDList = names.uniqued().compactMap { GroupID($0) }
  }
}

/// The system notifications of the caller.
public struct GetSystemNotificationList: ServerMethod {
  public let nextSeq: Int64
  public let count: Int

  public static let specification = MethodSpecification(
    .getSystemNotificationList, "Lists what has happened to the caller in groups, newest first.", callers: .user,
    result: Result.fields, errors: [.badValue])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// A page of notifications.
  public struct Result: WireObject {
    public let notificationList: [NotificationInfo]
    public let unreadCount: Int
    /// 0 = there is no more.
    public let nextSeq: Int64

    public static let example = Result(notificationList: [], unreadCount: 0, nextSeq: 0)

    /// With everything given.
    public init(notificationList: [NotificationInfo], unreadCount: Int, nextSeq: Int64) {
      self.notificationList = notificationList
      self.unreadCount = unreadCount
      self.nextSeq = nextSeq
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("notificationList", notificationList)
      writer.member("unreadCount", unreadCount)
      writer.member("nextSeq", nextSeq)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    nextSeq = try reader.nextSeq()
    count = try reader.count(upTo: 100, otherwise: 50, "The most notifications of the page; absent = 50.")
  }
}

/// Marks notifications as read.
public struct SetSystemNotificationRead: ServerMethod {
  /// Nil = the newest.
  public let notificationID: String?

  public static let specification = MethodSpecification(
    .setSystemNotificationRead, "Marks a notification and older ones as read by the caller.", callers: .user,
    errors: [.badValue])

  public static let traits: MethodTraits<Self> = .writes(.membership, at: .here, asks: .never, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    notificationID = try reader.optionalString(
      "notificationID", .any, "The newest notification that the caller has read; absent = all there are.")
  }
}
