/// The message that a reply answers.
public struct ReplyReference: Sendable, Hashable {
  /// Its place in the history of its group.
  public let seq: Int64
  /// Its sender.
  public let sender: UserID

  /// A message by its place.
  public init(seq: Int64, sender: UserID) {
    self.seq = seq
    self.sender = sender
  }
}

/// The parts that most messages have not (Protocol.md, "Sending"). A class: a message without them
/// is one word larger, and stored as before. `@_eagerMove`, as strings and arrays are: a value with any
/// other object lives to the end of its scope, and so messages would be copied on their way.
@_eagerMove
public final class MessageExtras: Sendable, Equatable {
  /// The application's data beside the content, never empty; nil = none.
  public let `extension`: String?
  /// The message that this one answers; nil = it is no reply.
  public let replyTo: ReplyReference?
  /// Whether it was sent as one that does not count as unread.
  public let isExcludedFromUnreadCount: Bool
  /// Whether it was sent as one that does not become its group's last message.
  public let isExcludedFromLastMessage: Bool
  /// The only members who see it besides its sender, each once; empty = everybody does.
  public let toUserIDList: [UserID]

  /// Nil where nothing is given; an empty extension is none.
  public init?(
    extension text: String? = nil, replyTo: ReplyReference? = nil, isExcludedFromUnreadCount: Bool = false,
    isExcludedFromLastMessage: Bool = false, toUserIDList: [UserID] = []
  ) {
    let isGiven =
      text?.isEmpty == false || replyTo != nil || isExcludedFromUnreadCount || isExcludedFromLastMessage || !toUserIDList.isEmpty
    guard isGiven else { return nil }
    self.extension = text?.isEmpty == false ? text : nil
    self.replyTo = replyTo
    self.isExcludedFromUnreadCount = isExcludedFromUnreadCount
    self.isExcludedFromLastMessage = isExcludedFromLastMessage
    self.toUserIDList = toUserIDList
  }

  /// The same with another extension; nil where nothing is left.
  public func with(extension text: String?) -> MessageExtras? {
    MessageExtras(
      extension: text, replyTo: replyTo, isExcludedFromUnreadCount: isExcludedFromUnreadCount,
      isExcludedFromLastMessage: isExcludedFromLastMessage, toUserIDList: toUserIDList)
  }

  /// The bytes of what may be long.
  public var byteCount: Int { toUserIDList.reduce(self.extension?.utf8.count ?? 0) { $0 + $1.rawValue.utf8.count } }

  /// What a group has that has a message with these.
  public var features: MessageFeatures {
    var features: MessageFeatures = []
    if !toUserIDList.isEmpty { features.insert(.targeted) }
    if replyTo != nil { features.insert(.replies) }
    if isExcludedFromUnreadCount || isExcludedFromLastMessage { features.insert(.excluded) }
    return features
  }

  public static func == (a: MessageExtras, b: MessageExtras) -> Bool {
    let isSameText =
      switch (a.extension, b.extension) {
      case (nil, nil): true
      case (let one?, let other?): one.isSame(as: other)
      case (nil, _), (_, nil): false
      }
    return isSameText && a.replyTo == b.replyTo && a.isExcludedFromUnreadCount == b.isExcludedFromUnreadCount
      && a.isExcludedFromLastMessage == b.isExcludedFromLastMessage && a.toUserIDList == b.toUserIDList
  }
}
