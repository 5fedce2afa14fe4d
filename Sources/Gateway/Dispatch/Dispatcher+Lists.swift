import GroupModel
import GroupRuntime
import WireProtocol

/// Methods with a row for each of several groups in their result (Protocol.md, "Bulk results").
extension Dispatcher {
  /// getJoinedGroupList: one number orders groups joined and groups left, so one page holds both up
  /// to the same place, at most `count` of each.
  func joinedGroups(_ request: GetJoinedGroupList, of caller: Caller) async throws(StoreError) -> Reply {
    guard let user = caller.userID else { return .missingUser }
    let since = request.updatedSince ?? .unset
    var left: [Membership] = []
    // Without `updatedSince`, `leftGroupIDList` is empty.
    if request.updatedSince != nil {
      left = try await stores.groups.departures(
        of: user, type: request.groupType, since: since, after: request.nextSeq, limit: request.count + 1)
    }
    let bound = left.count > request.count ? left[request.count - 1].groupNumber : .max
    var joined = try await stores.groups.listedMemberships(
      of: user, type: request.groupType, changedSince: since, after: request.nextSeq, limit: Dispatcher.groupsPerPage + 1)
    joined.removeAll { $0.groupNumber > bound }
    let gathered = await infos(of: joined, atMost: request.count, hasMore: false, .joinedInfo(updatedSince: since), by: caller)
    let page: InfoPage
    switch gathered {
    case .success(let gathered): page = gathered
    case .failure(let error): return .failure(error)
    }
    let end = page.next > 0 ? page.next : bound
    let departed = left.prefix { $0.groupNumber <= end }.map(\.groupID.rawValue)
    return .success(
      .joinedGroups(
        GetJoinedGroupList.Result(
          groupList: page.rows, leftGroupIDList: Array(departed), nextSeq: end == .max ? 0 : end)))
  }

  /// searchGroups: the store finds, and each group shows what the caller may know of it.
  func searchGroups(_ request: SearchGroups, for caller: Caller) async throws(StoreError) -> Reply {
    let query = GroupSearch(
      request.keywords, in: Set(request.fields), ignoresCase: request.ignoresCase, joinedOnly: request.joinedOnly,
      by: caller.userID)
    let found: GroupSearch.Page
    do throws(StoreError) {
      found = try await stores.groups.search(query, after: request.nextSeq, limit: request.count)
    } catch let error where error.kind == .unavailable {
      // The store refuses searches that come too fast, and logs its own faults.
      return .error(.temporary)
    }
    switch await infos(
      of: found.groups, hasMore: found.next > 0, next: found.next, .foundInfo(joinedOnly: request.joinedOnly), by: caller)
    {
    case .success(let page): return .success(.foundGroups(SearchGroups.Result(groupList: page.rows, nextSeq: page.next)))
    case .failure(let error): return .failure(error)
    }
  }

  /// Infos of groups, encoded because their bytes are bounded.
  struct InfoPage {
    var rows: [Encoded<GroupInfo>] = []
    var bytes = 0
    /// The place of the next page; 0 = there is none.
    var next: Int64 = 0

    mutating func append(_ row: Encoded<GroupInfo>) {
      rows.append(row)
      bytes += row.text.count
    }
  }

  /// The most groups that one page looks at.
  static let groupsPerPage = 1000

  /// Asks groups for their infos until the page is full.
  /// - Parameters:
  ///   - hasMore: more groups follow those given.
  ///   - next: the place of the next page then; nil = behind the last group.
  func infos(
    of groups: [Membership], atMost count: Int = .max, hasMore: Bool, next: Int64? = nil, _ row: RowOperation,
    by caller: Caller
  ) async -> Result<InfoPage, WireError> {
    var page = InfoPage()
    var rows = GroupAnswers(self, groups.count, by: caller) { RowRequest(operation: row, group: groups[$0].groupID) }
    for (index, membership) in groups.enumerated() {
      if Requester.hasLeft { return .failure(WireError(.temporary)) }
      // A group that has gone has no row; one that cannot be read must not look as if it had gone.
      switch await rows.next(wanted: count - page.rows.count) {
      case .success(.groupInfo(let info?)): page.append(Encoded(info, capacity: 768))
      case .success(.encoded(let text)): page.append(Encoded(text: text))
      case .success: break
      case .failure(let error) where error.code == .noSuchGroup: break
      case .failure(let error): return .failure(error)
      }
      let isFull = page.rows.count == count || page.bytes >= pageBytes || index + 1 == Dispatcher.groupsPerPage
      if isFull, index + 1 < groups.count {
        page.next = membership.groupNumber
        return .success(page)
      }
    }
    if hasMore { page.next = next ?? groups.last?.groupNumber ?? 0 }
    return .success(page)
  }

  /// getGroupUnreadCount: of the groups named, or of all that are listed.
  func unreadCounts(_ request: GetGroupUnreadCount, of caller: Caller) async throws(StoreError) -> Reply {
    guard let user = caller.userID else { return .missingUser }
    let isForAll = request.groupIDList.isEmpty
    let ids =
      isForAll
      ? try await stores.groups.memberships(of: user).filter(\.type.isListed).map(\.groupID)
      : request.groupIDList
    var rows: [GetGroupUnreadCount.Row] = []
    var counts = GroupAnswers(self, ids.count, by: caller) { RowRequest(operation: .unreadCount, group: ids[$0]) }
    for id in ids {
      if Requester.hasLeft { return .error(.temporary) }
      switch await counts.next() {
      case .success(.unreadCount(let count)): rows.append(GetGroupUnreadCount.Row(groupID: id, unreadCount: count))
      case .success: return .error(.internalError)
      // Left or disbanded a moment ago.
      case .failure(let error) where isForAll && (error.code == .noSuchGroup || error.code == .noRight): break
      case .failure(let error): return .failure(error)
      }
    }
    return .success(
      .unreadCounts(GetGroupUnreadCount.Result(totalCount: rows.reduce(0) { $0 + $1.unreadCount }, groups: rows)))
  }

  /// getGroupsInfo: a group that refuses has its error in its row.
  func groupsInfo(_ request: GetGroupsInfo, for caller: Caller) async -> Reply {
    var rows: [GetGroupsInfo.Row] = []
    let names = request.groupIDList.uniqued()
    var infos = GroupAnswers(self, names.count, by: caller) { index in
      GroupID(names[index]).map { RowRequest(operation: .info, group: $0) }
    }
    for name in names {
      if Requester.hasLeft { return .error(.temporary) }
      switch await infos.next() {
      case .success(.groupInfo(let info)):
        rows.append(GetGroupsInfo.Row(groupID: name, code: 0, info: info.map { Encoded($0, capacity: 768) }))
      case .success(.encoded(let text)): rows.append(GetGroupsInfo.Row(groupID: name, code: 0, info: Encoded(text: text)))
      case .success: return .error(.internalError)
      case .failure(let error) where error.code == .temporary: return .failure(error)
      case .failure(let error):
        rows.append(GetGroupsInfo.Row(groupID: name, code: error.code.rawValue, message: error.message))
      }
    }
    return .success(.groupsInfo(GetGroupsInfo.Result(resultList: rows)))
  }

  /// syncGroups: a row for each position, in their order; one that is repeated has one row.
  func syncGroups(_ request: SyncGroups, for caller: Caller) async -> Reply {
    var rows: [Encoded<SyncGroups.Row>] = []
    var bytes = 0
    let positions = request.groups.uniqued(by: { [$0.groupID, $0.epoch, "\($0.seq) \($0.changeSeq ?? -1)"] })
    var found = GroupAnswers(self, positions.count, by: caller) { [pageBytes] index in
      let position = positions[index]
      return GroupID(position.groupID).map { id in
        let sync = RowOperation.sync(
          epoch: position.epoch, seq: position.seq, changeSeq: position.changeSeq, bytes: pageBytes)
        return RowRequest(operation: sync, group: id)
      }
    }
    for position in positions {
      if Requester.hasLeft { return .error(.temporary) }
      let encoded: Encoded<SyncGroups.Row>
      switch await found.next(bytesLeft: max(0, pageBytes - bytes)) {
      case .success(.syncRow(let row)): encoded = Encoded(row, capacity: row.capacity)
      case .success(.encoded(let text)): encoded = Encoded(text: text)
      case .success: return .error(.internalError)
      case .failure(let error) where error.code == .temporary: return .failure(error)
      case .failure(let error):
        encoded = Encoded(SyncGroups.Row(groupID: position.groupID, code: error.code.rawValue, message: error.message))
      }
      rows.append(encoded)
      bytes += encoded.text.count + 1
    }
    return .success(.sync(SyncGroups.Result(groups: rows)))
  }
}
