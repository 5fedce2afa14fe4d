import GroupModel
import GroupRuntime
import WireProtocol

/// Methods whose answer has a row for each of several groups (contract section 4).
extension Dispatcher {
  /// getJoinedGroupList: groups joined and groups left go by one number, so one page holds both up to the same place.
  func joinedGroups(_ request: GetJoinedGroupList, of caller: Caller) async throws(StoreError) -> Reply {
    guard let user = caller.userID else { return .needsUser }
    let since = request.updatedSince ?? 0
    var left: [Membership] = []
    // "`[]` without it": only who says since when is told of groups left.
    if request.updatedSince != nil {
      left = try await stores.groups.departures(
        of: user, type: request.groupType, since: since, after: request.nextSeq, limit: Dispatcher.groupsPerPage + 1)
    }
    let bound = left.count > Dispatcher.groupsPerPage ? left[Dispatcher.groupsPerPage - 1].groupNumber : .max
    var joined = try await stores.groups.listedMemberships(
      of: user, type: request.groupType, changedSince: since, after: request.nextSeq, limit: Dispatcher.groupsPerPage + 1)
    joined.removeAll { $0.groupNumber > bound }
    let gathered = await infos(of: joined, atMost: request.count, hasMore: false, .joinedInfo(updatedSince: since), by: caller)
    guard case .success(let page) = gathered else { return gathered.map { _ in [] } }
    let end = page.next > 0 ? page.next : bound
    let departed = left.prefix { $0.groupNumber <= end }.map(\.groupID.rawValue)
    return .object(capacity: 128 + page.bytes + departed.count * 32) { writer in
      writer.key("groupList")
      writer.array(page.rows) { $0.raw($1) }
      writer.member("leftGroupIDList", departed)
      writer.member("nextSeq", end == .max ? 0 : end)
    }
  }

  /// searchGroups: the store finds, and each group shows what the caller may know of it.
  func searchGroups(_ request: SearchGroups, for caller: Caller) async throws(StoreError) -> Reply {
    let query = GroupSearch(
      request.keywords, in: Set(request.fields), ignoresCase: request.ignoresCase, by: caller.userID)
    let found: GroupSearch.Page
    do throws(StoreError) {
      found = try await stores.groups.search(query, after: request.nextSeq, limit: request.count)
    } catch let error where error.kind == .unavailable {
      // Not a fault to log: so the store refuses who searches faster than it can. It logs its own faults itself.
      return .error(.temporary)
    }
    let gathered = await infos(of: found.groups, hasMore: found.next > 0, next: found.next, .foundInfo, by: caller)
    return gathered.flatMap { page in
      .object(capacity: 128 + page.bytes) { writer in
        writer.key("groupList")
        writer.array(page.rows) { $0.raw($1) }
        writer.member("nextSeq", page.next)
      }
    }
  }

  /// Infos of groups, as JSON.
  struct InfoPage {
    var rows: [[UInt8]] = []
    var bytes = 0
    /// Where the list goes on; 0 = nowhere.
    var next: Int64 = 0
  }

  /// How many groups one page looks at, or names as left, at most.
  static let groupsPerPage = 1000

  /// Asks groups for their infos until the page is full.
  /// - Parameters:
  ///   - hasMore: more groups follow those given.
  ///   - next: where the list goes on then; without it, behind the last of them.
  func infos(
    of groups: [Membership], atMost count: Int = .max, hasMore: Bool, next: Int64? = nil, _ request: GroupRequest,
    by caller: Caller
  ) async -> Result<InfoPage, WireError> {
    var page = InfoPage()
    for (index, membership) in groups.enumerated() {
      if Requester.hasLeft { return .failure(WireError(.temporary)) }
      let reply = await registry.group(membership.groupID).ask(request, by: caller)
      // A group that has gone meanwhile has no row; one that cannot be read must not look as if it had gone.
      switch reply {
      case .success(let row) where row.first == UInt8(ascii: "{"):
        page.rows.append(row)
        page.bytes += row.count
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
    guard let user = caller.userID else { return .needsUser }
    let isForAll = request.groupIDList.isEmpty
    let ids =
      isForAll
      ? try await stores.groups.memberships(of: user).filter(\.type.isListed).map(\.groupID)
      : request.groupIDList.withoutRepetitions()
    var rows: [(id: GroupID, count: Int)] = []
    for id in ids {
      if Requester.hasLeft { return .error(.temporary) }
      switch await registry.group(id).ask(.unreadCount, by: caller) {
      case .success(let text): rows.append((id, Int(String(decoding: text, as: UTF8.self)) ?? 0))
      // Left or disbanded a moment ago.
      case .failure(let error) where isForAll && (error.code == .noSuchGroup || error.code == .noRight): break
      case .failure(let error): return .failure(error)
      }
    }
    let counted = rows
    return .object(capacity: 64 + counted.count * 96) { writer in
      writer.member("totalCount", counted.reduce(0) { $0 + $1.count })
      writer.key("groups")
      writer.array(counted) { writer, row in
        writer.object { writer in
          writer.member("groupID", row.id.rawValue)
          writer.member("unreadCount", row.count)
        }
      }
    }
  }

  /// getGroupsInfo: "10010, 10015, 10007 are row codes".
  func groupsInfo(_ request: GetGroupsInfo, for caller: Caller) async -> Reply {
    await rows(of: request.groupIDList.withoutRepetitions(), key: "resultList") { name, _ in
      await self.row(name) { id in
        let reply = await self.registry.group(id).ask(.info, by: caller)
        return reply.map { info in
          JSONWriter.text(capacity: info.count + 96) { writer in
            writer.object { writer in
              writer.member("groupID", name)
              writer.member("code", 0)
              writer.key("info")
              writer.raw(info)
            }
          }
        }
      }
    }
  }

  /// syncGroups: a row for each position, in their order; one that is repeated has one row.
  func syncGroups(_ request: SyncGroups, for caller: Caller) async -> Reply {
    await rows(of: request.groups.withoutRepetitions { [$0.groupID, $0.epoch, String($0.seq)] }, key: "groups") {
      position, used in
      await self.row(position.groupID) { id in
        let room = max(0, self.pageBytes - used)
        return await self.registry.group(id).ask(.sync(epoch: position.epoch, seq: position.seq, bytes: room), by: caller)
      }
    }
  }

  /// - Parameter row: is told how many bytes the rows before it take.
  private func rows<Item: Sendable>(
    of items: [Item], key: StaticString, _ row: @Sendable (Item, Int) async -> Result<[UInt8], WireError>
  ) async -> Reply {
    var rows: [[UInt8]] = []
    var bytes = 0
    for item in items {
      if Requester.hasLeft { return .error(.temporary) }
      switch await row(item, bytes) {
      case .success(let text):
        rows.append(text)
        bytes += text.count + 1
      case .failure(let error): return .failure(error)
      }
    }
    return .object(capacity: 64 + bytes) { writer in
      writer.key(key)
      writer.array(rows) { $0.raw($1) }
    }
  }

  /// One row: what the group answers, or its error as a row. A failure of the server is an error of the whole call.
  private func row(_ name: String, _ ask: @Sendable (GroupID) async -> Reply) async -> Result<[UInt8], WireError> {
    guard let id = GroupID(name) else { return .success(errorRow(name, WireError(.badGroupID))) }
    switch await ask(id) {
    case .success(let text): return .success(text)
    case .failure(let error) where error.code == .temporary: return .failure(error)
    case .failure(let error): return .success(errorRow(name, error))
    }
  }

  private func errorRow(_ name: String, _ error: WireError) -> [UInt8] {
    JSONWriter.text { writer in
      writer.object { writer in
        writer.member("groupID", name)
        writer.member("code", error.code.rawValue)
        writer.member("message", error.message)
      }
    }
  }
}

extension Array {
  /// The first of each key, in their order: what is asked for twice is answered once.
  fileprivate func withoutRepetitions<Key: Hashable>(by key: (Element) -> Key) -> [Element] {
    var seen: Set<Key> = []
    return filter { seen.insert(key($0)).inserted }
  }
}

extension Array where Element: Hashable {
  fileprivate func withoutRepetitions() -> [Element] { withoutRepetitions { $0 } }
}
