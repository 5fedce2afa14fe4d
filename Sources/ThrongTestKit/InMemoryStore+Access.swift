import GroupModel
import GroupRuntime
import Synchronization

extension InMemoryStore: AccessStore {
  /// What was decided about a user's sign-ins.
  public func access(of user: UserID) async throws(StoreError) -> UserAccess { contents.withLock { $0.access(of: user) } }

  /// Blocked users by `userID`, without those whose block has ended.
  /// - Returns: nil where no page has ended there.
  public func blockedUsers(
    after number: Int64, at now: WallInstant, limit: Int
  ) async throws(StoreError) -> BlockedPage? {
    contents.withLock { contents in
      let start = contents.access.first { $0.value.number == number }?.key
      if number != 0, start == nil { return nil }
      let blocked = contents.access.compactMap { user, access -> (number: Int64, user: BlockedUser)? in
        guard let block = access.block, block.holds(at: now), start.map({ user > $0 }) ?? true else { return nil }
        return (number: access.number, user: BlockedUser(userID: user, block: block))
      }.sorted { $0.user.userID < $1.user.userID }
      let page = blocked.prefix(max(0, limit))
      return BlockedPage(users: page.map(\.user), next: page.count < blocked.count ? page.last?.number ?? number : 0)
    }
  }
}

extension InMemoryStore: ReportStore {
  /// Reports in a state, the newest first.
  /// - Parameters:
  ///   - group: nil = of all groups.
  ///   - before: only those with a smaller number; 0 = from the newest.
  public func reports(
    state: MessageReport.State, in group: GroupID?, before: Int64, limit: Int
  ) async throws(StoreError) -> [NumberedReport] {
    contents.withLock { contents in
      let found = contents.reports.values.filter { numbered in
        numbered.report.state == state && group ?? numbered.report.groupID == numbered.report.groupID
          && (before == 0 || numbered.number < before)
      }
      return Array(found.sorted { $0.number > $1.number }.prefix(max(0, limit)))
    }
  }

  /// The report with an id; nil = there is none.
  public func report(_ id: String) async throws(StoreError) -> NumberedReport? { contents.withLock { $0.reports[id] } }

  /// How many reports are open.
  public func openReports() async throws(StoreError) -> Int {
    contents.withLock { contents in contents.reports.values.count { $0.report.state == .open } }
  }
}
