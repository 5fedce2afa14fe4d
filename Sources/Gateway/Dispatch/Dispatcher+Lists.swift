import GroupModel
import GroupRuntime
import WireProtocol

/// Methods whose answer has a row for each of several groups (contract section 4).
extension Dispatcher {
  /// getJoinedGroupList: a page goes on behind the number of the last group that was looked at.
  func joinedGroups(_ request: GetJoinedGroupList, of caller: Caller) async throws(StoreError) -> Reply {
    guard let user = caller.userID else { return .error(.invalidParams, "asUser is missing", field: "asUser") }
    let joined = try await memberships(of: user).filter { membership in
      membership.type.isListed && membership.groupNumber > request.nextSeq
        && request.groupType ?? membership.type == membership.type
    }
    var rows: [[UInt8]] = []
    var bytes = 0
    var nextSeq: Int64 = 0
    for (index, membership) in joined.enumerated() {
      let reply = await registry.group(membership.groupID).ask(.joinedInfo(updatedSince: request.updatedSince ?? 0), by: caller)
      // A group that has gone meanwhile has no row; one that cannot be read must not look as if it had gone.
      switch reply {
      case .success(let row) where row.first == UInt8(ascii: "{"):
        rows.append(row)
        bytes += row.count
      case .success: break
      case .failure(let error) where error.code == .noSuchGroup: break
      case .failure(let error): return .failure(error)
      }
      if rows.count == request.count || bytes >= pageBytes, index + 1 < joined.count {
        nextSeq = membership.groupNumber
        break
      }
    }
    let left = try await leftGroups(of: user, since: request.updatedSince)
    return .object(capacity: 128 + bytes) { writer in
      writer.key("groupList")
      writer.array(rows) { $0.raw($1) }
      writer.member("leftGroupIDList", left.map(\.rawValue))
      writer.member("nextSeq", nextSeq)
    }
  }

  /// getGroupsInfo: "10010, 10015, 10007 are row codes".
  func groupsInfo(_ request: GetGroupsInfo, for caller: Caller) async -> Reply {
    await rows(of: request.groupIDList, key: "resultList") { name, _ in
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

  /// syncGroups: a row for each position, in their order.
  func syncGroups(_ request: SyncGroups, for caller: Caller) async -> Reply {
    await rows(of: request.groups, key: "groups") { position, used in
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
