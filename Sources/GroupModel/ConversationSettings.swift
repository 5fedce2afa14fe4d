/// What a user keeps about a group in their own list of conversations. It ends with the membership,
/// and nobody else sees it.
public struct ConversationSettings: Sendable, Equatable {
  /// Whether the group stands above others.
  public var isPinned = false
  /// Whether the group is left out, until a message counts as unread for the user or mentions them.
  public var isHidden = false
  /// Whether the user wants the group to look unread, until they mark its messages as read.
  public var isMarkedUnread = false
  /// The application's words for the group, each once, in the order given: at most `maxMarks`.
  public var marks: [String] = []

  /// The most marks of a group.
  public static let maxMarks = 8
  /// The bytes of UTF-8 that a mark may have.
  public static let markBytes = 1...32

  /// Nothing chosen.
  public init() {}

  /// Whether nothing is chosen.
  public var isEmpty: Bool { self == ConversationSettings() }

  /// Takes what is given.
  /// - Returns: what differs from before; nil where nothing does.
  public mutating func apply(_ wanted: ConversationChange) -> ConversationChange? {
    var change = ConversationChange()
    change.isPinned = Self.replace(&isPinned, by: wanted.isPinned)
    change.isHidden = Self.replace(&isHidden, by: wanted.isHidden)
    change.isMarkedUnread = Self.replace(&isMarkedUnread, by: wanted.isMarkedUnread)
    if let given = wanted.marks, given.map(ExactText.init) != marks.map(ExactText.init) {
      marks = given
      change.marks = given
    }
    return change.isEmpty ? nil : change
  }

  /// The new value, where there is one that differs.
  private static func replace(_ value: inout Bool, by given: Bool?) -> Bool? {
    guard let given, given != value else { return nil }
    value = given
    return given
  }

  public static func == (a: ConversationSettings, b: ConversationSettings) -> Bool {
    a.isPinned == b.isPinned && a.isHidden == b.isHidden && a.isMarkedUnread == b.isMarkedUnread
      && a.marks.map(ExactText.init) == b.marks.map(ExactText.init)
  }
}

/// What a user wants to change about a group in their own list of conversations, or what has
/// changed; nil = it stays.
public struct ConversationChange: Sendable, Equatable {
  /// Whether the group stands above others.
  public var isPinned: Bool?
  /// Whether the group is left out.
  public var isHidden: Bool?
  /// Whether the group looks unread.
  public var isMarkedUnread: Bool?
  /// All marks; empty = none any more.
  public var marks: [String]?

  /// Nothing.
  public init() {}

  /// Whether nothing changes.
  public var isEmpty: Bool { isPinned == nil && isHidden == nil && isMarkedUnread == nil && marks == nil }

  public static func == (a: ConversationChange, b: ConversationChange) -> Bool {
    a.isPinned == b.isPinned && a.isHidden == b.isHidden && a.isMarkedUnread == b.isMarkedUnread
      && a.marks?.map(ExactText.init) == b.marks?.map(ExactText.init)
  }
}
