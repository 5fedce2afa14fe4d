/// The messages of a stored group that a reader may see (Protocol.md, "History"): one answer for
/// every list, look-up, count and event.
public struct Visibility: Sendable, Equatable {
  /// The reader of messages.
  public enum Reader: Sendable, Equatable {
    case user(UserID)
    /// An application administrator, who sees everything.
    case application
  }

  /// The reader.
  public let reader: Reader
  /// The reader; nil = an application administrator.
  public var userID: UserID? { if case .user(let user) = reader { user } else { nil } }
  /// The places that the reader's memberships, the group's policy and a clearing of the history
  /// leave, as disjoint ascending ranges of `seq`. Some of the messages there may be addressed to
  /// others.
  public let ranges: [ClosedRange<Int64>]

  private init(_ reader: Reader, _ ranges: [ClosedRange<Int64>]) {
    self.reader = reader
    self.ranges = ranges
  }

  /// The messages of a member, if none were removed.
  /// - Parameters:
  ///   - first: the first of the membership.
  ///   - earlier: those of past memberships, ascending, all below `first`.
  ///   - cleared: the user has cleared the history up to this one; 0 = nothing.
  ///   - newest: the newest of the group; 0 = there is none.
  ///   - policy: the group's, as it is now.
  public init(
    of user: UserID, from first: Int64, earlier: [ClosedRange<Int64>] = [], clearedThrough cleared: Int64 = 0,
    through newest: Int64, under policy: HistoryVisibility
  ) {
    let joined = first <= newest ? earlier + [first...newest] : earlier
    let all = newest > 0 ? [1...newest] : []
    let ranges = policy == .all ? all : joined
    self.init(
      .user(user),
      ranges.compactMap { $0.upperBound > cleared ? max($0.lowerBound, cleared + 1)...$0.upperBound : nil })
  }

  /// The messages that an application administrator sees, if none were removed.
  public init(ofApplicationThrough newest: Int64) {
    self.init(.application, newest > 0 ? [1...newest] : [])
  }

  // MARK: Asking

  /// Whether the reader may see the message.
  public func contains(_ message: Message) -> Bool {
    guard let seq = message.seq, contains(seq: seq) else { return false }
    return message.extras.map { isAddressed(to: $0.toUserIDList, from: message.sender) } ?? true
  }

  /// Whether the reader may see what stands at a place, unless it is addressed to others.
  public func contains(seq: Int64) -> Bool {
    var (low, high) = (ranges.startIndex, ranges.endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if ranges[middle].upperBound < seq { low = middle + 1 } else { high = middle }
    }
    return low < ranges.endIndex && ranges[low].contains(seq)
  }

  /// Whether a message is for the reader.
  /// - Parameter targets: the members whom it names; empty = everybody.
  public func isAddressed(to targets: [UserID], from sender: UserID) -> Bool {
    switch reader {
    case .application: true
    case .user(let user): targets.isEmpty || sender == user || targets.contains(user)
    }
  }

  /// The same without single messages: those that are addressed to others.
  /// - Parameter hidden: ascending.
  public func without(_ hidden: [Int64]) -> Visibility {
    if hidden.isEmpty { return self }
    var parts: [ClosedRange<Int64>] = []
    var remaining = hidden[...]
    for range in ranges {
      var next = range.lowerBound
      remaining = remaining.drop { $0 < next }
      while let seq = remaining.first, seq <= range.upperBound {
        if next < seq { parts.append(next...seq - 1) }
        next = seq + 1
        remaining = remaining.drop { $0 < next }
      }
      if next <= range.upperBound { parts.append(next...range.upperBound) }
    }
    return Visibility(reader, parts)
  }
}
