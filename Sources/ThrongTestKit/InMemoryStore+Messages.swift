import GroupModel
import GroupRuntime
import Synchronization

extension InMemoryStore: MessageStore {
  /// Stored messages of a group with `seq` in the range; none where there is no such group.
  public func messages(
    of group: GroupID, in range: ClosedRange<Int64>, newestFirst: Bool, limit: Int
  ) async throws(StoreError) -> [Message] {
    contents.withLock { contents in
      let matching = contents.groups[group]?.messages(in: range) ?? []
      return newestFirst ? Array(matching.reversed().prefix(max(0, limit))) : Array(matching.prefix(max(0, limit)))
    }
  }

  /// Stored messages of a group by their `seq`, in that order; unknown ones are left out.
  public func messages(of group: GroupID, seqs: [Int64]) async throws(StoreError) -> [Message] {
    contents.withLock { contents in
      let messages = contents.groups[group]?.messages ?? []
      return seqs.compactMap { seq in messages.first { $0.seq == seq } }
    }
  }

  /// Messages that were changed after a change, ascending by it, as they are now.
  public func changedMessages(
    of group: GroupID, after changeSeq: Int64, in ranges: [ClosedRange<Int64>], limit: Int
  ) async throws(StoreError) -> ChangedMessages {
    contents.withLock { contents in
      let changed = (contents.groups[group]?.messages ?? []).filter { message in
        message.changeSeq > changeSeq && ranges.contains { $0.contains(message.seq ?? 0) }
      }.sorted { $0.changeSeq < $1.changeSeq }
      let page = Array(changed.prefix(limit))
      return ChangedMessages(messages: page, cutAt: page.count < changed.count ? page.last?.changeSeq : nil)
    }
  }

  /// The reactions to messages, in the order in which they came; a message without any is absent.
  public func reactions(
    of group: GroupID, to seqs: [Int64], reader: UserID?, users: Int
  ) async throws(StoreError) -> [Int64: [StoredReaction]] {
    contents.withLock { contents in
      let reactions = (contents.groups[group]?.reactions ?? [:]).filter { seqs.contains($0.key) }
      return reactions.mapValues { $0.map { $0.shown(to: reader, users: users) } }
    }
  }

  /// The number of messages with `seq` in the range that are Text or Custom, not by `reader`, and
  /// not recalled.
  /// - Parameter managersOnly: only those with `isFromManager`.
  public func unreadCount(
    of group: GroupID, in range: ClosedRange<Int64>, reader: UserID, managersOnly: Bool, limit: Int
  ) async throws(StoreError) -> Int {
    contents.withLock { contents in
      let unread = (contents.groups[group]?.messages ?? []).filter { message in
        range.contains(message.seq ?? 0) && message.isChat && message.sender != reader && !message.isRevoked
          && (message.isFromManager || !managersOnly)
      }
      return min(limit, unread.count)
    }
  }

  /// The `seq` of the first message with a timestamp at or after an instant; nil where there is
  /// none.
  public func firstSeq(of group: GroupID, notBefore: WallInstant) async throws(StoreError) -> Int64? {
    contents.withLock { $0.groups[group]?.messages.first { $0.timestamp >= notBefore }?.seq }
  }
}

extension StoredReaction {
  /// As one reader gets it.
  /// - Parameter users: how many are named.
  public func shown(to reader: UserID?, users: Int) -> StoredReaction {
    var shown = self
    shown.isByReader = reader.map(self.users.contains) ?? false
    shown.users = Array(self.users.prefix(users))
    return shown
  }
}
