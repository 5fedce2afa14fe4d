import GroupModel

/// A search by searchGroupMessages (Protocol.md, "Search of messages"). It finds texts that the
/// reader may see and nobody has recalled: group by group in the order in which the groups were
/// created, the newest first in each.
public struct MessageSearch: Sendable {
  /// A message that was found, and its place in the order.
  public struct Found: Sendable, Equatable {
    public let message: Message
    public let place: Int64
    /// How many replies it has that the reader may see, at most `ReplyCount.max`.
    public var replyCount = 0

    /// A message without replies.
    public init(message: Message, place: Int64) {
      self.message = message
      self.place = place
    }
  }

  /// A page of results.
  public struct Page: Sendable, Equatable {
    public let found: [Found]
    /// The place behind which the next page begins; 0 = this is the last.
    public let next: Int64

    /// A page with everything given.
    public init(found: [Found], next: Int64) {
      self.found = found
      self.next = next
    }
  }

  /// The user who searches; nil = an application administrator, who may see everything.
  public let reader: UserID?
  /// Where to search; empty = in all groups of the reader.
  public let groups: [GroupID]
  /// Whose messages; empty = everybody's.
  public let senders: Set<UserID>
  /// The first and last instants.
  public let from: WallInstant?
  public let to: WallInstant?
  public let keywords: [String]
  private let foldedKeywords: [String]

  /// A search for texts that hold any of the keywords, whatever the case.
  public init(
    _ keywords: [String], in groups: [GroupID] = [], by reader: UserID?, senders: Set<UserID> = [], from: WallInstant? = nil,
    to: WallInstant? = nil
  ) {
    self.reader = reader
    self.groups = groups
    self.senders = senders
    self.from = from
    self.to = to
    self.keywords = keywords
    foldedKeywords = keywords.map { $0.lowercased() }
  }

  /// Whether a message of this sender with this text is looked for.
  public func matches(_ text: String, from sender: UserID) -> Bool {
    guard senders.isEmpty || senders.contains(sender) else { return false }
    let text = text.lowercased()
    return foldedKeywords.contains { text.utf8.contains(sequence: $0.utf8) }
  }

  /// Whether the message is looked for, apart from its group.
  public func matches(_ message: Message) -> Bool {
    guard case .text(let text) = message.content, !message.isRevoked, message.timestamp >= from ?? .distantPast,
      message.timestamp <= to ?? .distantFuture
    else { return false }
    return matches(text, from: message.sender)
  }

  // MARK: Places

  // A place must fit into a number of JavaScript: 2²⁵ groups of 2²⁸ messages.
  private static let seqBits: Int64 = 28
  private static let lastSeq: Int64 = 1 << seqBits - 1
  private static let lastGroup: Int64 = 1 << 25 - 1

  /// The place of a message; 0 where the number of the group has none.
  public static func place(group: Int64, seq: Int64) -> Int64 {
    group <= lastGroup ? group << seqBits | min(seq, lastSeq) : 0
  }

  /// The first group to look at, and the bound of its messages; none where the page begins there.
  public static func position(at place: Int64) -> (group: Int64, below: Int64?) {
    place > 0 ? (place >> seqBits, place & lastSeq) : (0, nil)
  }
}
