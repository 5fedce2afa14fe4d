import GroupModel
import GroupRuntime
import Synchronization
import WireProtocol

extension InMemoryStore {
  /// Groups that match a search, by `groupNumber` ascending after `after`. Reads 20,000 groups at
  /// most.
  public func search(_ query: GroupSearch, after: Int64, limit: Int) async throws(StoreError) -> GroupSearch.Page {
    if limit <= 0 { return GroupSearch.Page(groups: [], next: after) }
    return contents.withLock { contents in
      let groups = contents.groups.values.filter { $0.number > after }.sorted { $0.number < $1.number }
      var found: [Membership] = []
      for (index, group) in groups.enumerated() {
        if found.count == limit || index == 20_000 { return GroupSearch.Page(groups: found, next: groups[index - 1].number) }
        if group.matches(query, contents.userInfos) { found.append(group.membership) }
      }
      return GroupSearch.Page(groups: found, next: 0)
    }
  }
}

extension InMemoryStore {
  /// Messages that match a search. Every page is full but the last.
  public func messages(
    matching search: MessageSearch, after place: Int64, limit: Int
  ) async throws(StoreError) -> MessageSearch.Page {
    contents.withLock { contents in
      let (first, below) = MessageSearch.position(at: place)
      let groups = contents.groups.values.filter { group in
        group.number >= first && (search.groups.isEmpty || search.groups.contains(group.record.id))
      }
      var found: [MessageSearch.Found] = []
      for group in groups.sorted(by: { $0.number < $1.number }) {
        guard let visible = group.visibility(to: search.reader) else { continue }
        for message in group.messages.reversed() where visible.contains(message) && search.matches(message) {
          guard let seq = message.seq, group.number > first || below.map({ seq < $0 }) ?? true else { continue }
          if found.count == limit { return MessageSearch.Page(found: found, next: found.last?.place ?? 0) }
          var next = MessageSearch.Found(message: message, place: MessageSearch.place(group: group.number, seq: seq))
          next.replyCount = min(ReplyCount.max, group.replies(to: seq, visible: visible).count)
          found.append(next)
        }
      }
      return MessageSearch.Page(found: found, next: 0)
    }
  }
}

extension StoreContents.Group {
  /// What a reader may see; nil = the reader is no member.
  fileprivate func visibility(to reader: UserID?) -> Visibility? {
    let newest = firstSeq + Int64(messages.count) - 1
    guard let reader else { return Visibility(ofApplicationThrough: newest) }
    guard let member = members[reader] else { return nil }
    return Visibility(
      of: reader, from: member.firstVisibleSeq, earlier: member.earlierVisibleRanges, clearedThrough: member.clearedSeq,
      through: newest, under: record.policy.historyVisibility)
  }

  fileprivate func matches(_ query: GroupSearch, _ infos: [UserID: UserInfo]) -> Bool {
    isFound(by: query.reader, joinedOnly: query.joinedOnly) && texts(for: query, infos).contains(where: query.matches)
  }

  private func isFound(by reader: UserID?, joinedOnly: Bool) -> Bool {
    guard let reader else { return true }
    if members[reader] != nil || record.type.everyoneIsMember { return true }
    if joinedOnly { return false }
    return record.policy.isSearchable && record.type.isVisibleToNonMembers
  }

  private func texts(for query: GroupSearch, _ infos: [UserID: UserInfo]) -> [String] {
    var texts: [String] = []
    if query.fields.contains(.groupID) { texts.append(record.id.rawValue) }
    if query.fields.contains(.groupName) { texts.append(record.name) }
    let seen = members(seenBy: query.reader)
    if query.fields.contains(.memberUserID) { texts += seen.map(\.userID.rawValue) }
    if query.fields.contains(.memberNameCard) { texts += seen.map(\.nameCard) }
    if query.fields.contains(.memberNickName) { texts += seen.compactMap { infos[$0.userID]?.nickName } }
    return texts
  }

  private func members(seenBy reader: UserID?) -> [Member] {
    guard let reader else { return Array(members.values) }
    guard let member = members[reader], !record.type.everyoneIsMember else { return [] }
    return record.policy.isMemberVisible || member.role.isManager ? Array(members.values) : [member]
  }
}
