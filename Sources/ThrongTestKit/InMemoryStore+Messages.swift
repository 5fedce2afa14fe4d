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

  /// How messages were changed the last time; one of which nothing tells is absent.
  public func changeOrigins(of group: GroupID, seqs: [Int64]) async throws(StoreError) -> [Int64: StoredChangeOrigin] {
    contents.withLock { contents in
      guard let group = contents.groups[group] else { return [:] }
      return group.origins.filter { seq, origin in
        seqs.contains(seq) && group.messages(in: seq...seq).first?.changeSeq == origin.changeSeq
      }
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
  /// - Parameters:
  ///   - managersOnly: only those with `isFromManager`.
  ///   - skipsFlagged: only those with `countsAsUnread`.
  public func unreadCount(
    of group: GroupID, in range: ClosedRange<Int64>, reader: UserID, managersOnly: Bool, skipsFlagged: Bool, limit: Int
  ) async throws(StoreError) -> Int {
    contents.withLock { contents in
      let unread = (contents.groups[group]?.messages ?? []).filter { message in
        range.contains(message.seq ?? 0) && message.isChat && message.sender != reader && !message.isRevoked
          && (message.isFromManager || !managersOnly) && (message.countsAsUnread || !skipsFlagged)
      }
      return min(limit, unread.count)
    }
  }

  /// The `seq` of messages in the range that name others than `reader`, who did not send them either.
  public func hiddenSeqs(
    of group: GroupID, from reader: UserID, in range: ClosedRange<Int64>, newestFirst: Bool, limit: Int
  ) async throws(StoreError) -> [Int64] {
    contents.withLock { contents in
      let hidden = (contents.groups[group]?.messages(in: range) ?? []).filter { message in
        message.isTargeted && message.sender != reader && message.extras?.toUserIDList.contains(reader) == false
      }.compactMap(\.seq)
      return Array((newestFirst ? hidden.reversed() : hidden).prefix(max(0, limit)))
    }
  }

  /// Replies to a message, and how many there are of them.
  public func replies(
    to seq: Int64, in group: GroupID, visible: Visibility, after: Int64, limit: Int
  ) async throws(StoreError) -> (messages: [Message], total: Int) {
    contents.withLock { contents in
      let replies = contents.groups[group]?.replies(to: seq, visible: visible) ?? []
      let page = replies.filter { $0.seq ?? 0 > after }.prefix(max(0, limit))
      return (messages: Array(page), total: min(ReplyCount.max, replies.count))
    }
  }

  /// How many replies messages have; those without any are absent.
  public func replyCounts(
    of group: GroupID, to seqs: [Int64], visible: Visibility
  ) async throws(StoreError) -> [Int64: Int] {
    contents.withLock { contents in
      let counts = Set(seqs).map { seq in
        (seq, min(ReplyCount.max, contents.groups[group]?.replies(to: seq, visible: visible).count ?? 0))
      }
      return Dictionary(counts.filter { $0.1 > 0 }) { $1 }
    }
  }

  /// The `seq` of the first message with a timestamp at or after an instant; nil where there is
  /// none.
  public func firstSeq(of group: GroupID, notBefore: WallInstant) async throws(StoreError) -> Int64? {
    contents.withLock { $0.groups[group]?.messages.first { $0.timestamp >= notBefore }?.seq }
  }

  /// Looks for a message that was sent before.
  public func sentMessage(
    of group: GroupID, epoch: String, from sender: UserID, clientMsgID: String, since: WallInstant, most: Int64
  ) async throws(StoreError) -> SentSearch {
    contents.withLock { contents in
      guard let group = contents.groups[group], group.record.epoch == epoch else { return .absent }
      let messages = group.messages.filter { $0.timestamp >= since }
      // `removedTime` leaves out what was never a last message.
      let isInexact = !group.record.messageFeatures.isDisjoint(with: .uncounted) && messages.count == group.messages.count
      if group.firstSeq > 1, group.removedTime >= since || isInexact { return .removed }
      if messages.count > most { return .tooMany }
      let found = messages.first { $0.sender == sender && $0.clientMsgID?.isSame(as: clientMsgID) == true }
      return found.flatMap(SentMessage.init).map(SentSearch.found) ?? .absent
    }
  }
}

extension StoreContents.Group {
  /// The replies to a message that a reader may see and that are not recalled, ascending.
  func replies(to seq: Int64, visible: Visibility) -> [Message] {
    messages.filter { $0.extras?.replyTo?.seq == seq && !$0.isRevoked && visible.contains($0) }
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
