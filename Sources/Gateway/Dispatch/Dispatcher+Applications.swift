import GroupModel
import GroupRuntime
import WireProtocol

/// Lists of applications over all groups, and decisions (Protocol.md, "Applications").
extension Dispatcher {
  func applications(_ request: GetGroupApplicationList, for caller: Caller) async throws(StoreError) -> Reply {
    let found = try await stores.personal.applications(
      decidableBy: caller.userID, before: request.nextSeq, limit: request.count + 1)
    let unread = try await stores.personal.unreadApplications(of: caller.userID, limit: unreadLimit)
    let readThrough = try await readApplications(by: caller.userID)
    let page = found.prefix(request.count)
    let views = page.map { row in
      ApplicationInfo(
        row.application, reader: caller.userID ?? .administrator, isRead: row.application.addTime <= readThrough)
    }
    return .success(
      .applications(
        GetGroupApplicationList.Result(
          applicationList: views, unreadCount: unread,
          nextSeq: found.count > page.count ? page.last?.number ?? 0 : 0)))
  }

  /// Application administrators have no read mark.
  private func readApplications(by user: UserID?) async throws(StoreError) -> WallInstant {
    guard let user else { return .unset }
    return try await stores.personal.applicationsReadThrough(by: user)
  }

  /// 10004 where the application is unknown, 10010 where its group is gone; the group decides on
  /// the other errors (Protocol.md, "Decisions").
  func decide(_ request: ApplicationDecision, by caller: Caller) async throws(StoreError) -> Reply {
    guard let stored = try await stores.personal.application(request.applicationID) else {
      return .error(.badValue, "No such application", field: "applicationID")
    }
    guard !stored.isGroupGone else { return .error(.noSuchGroup) }
    let application = stored.application
    let users = ConcernedUsers(joining: request.agrees ? [application.candidate] : [])
    return try await withFacts(about: users, by: caller) { (unknown, atGroupLimit) async throws(StoreError) in
      let facts = UserFacts(unknown: unknown, atGroupLimit: atGroupLimit)
      return await self.registry.group(application.groupID).ask(
        .decide(application, agrees: request.agrees, reason: request.reason ?? "", facts), by: caller)
    }
  }

  /// An instant in the future means now: later applications stay unread.
  func markApplicationsRead(_ request: SetGroupApplicationRead, by caller: Caller) async -> Reply {
    guard let user = caller.userID else { return .missingUser }
    let now = clocks.wall
    return await commit([.markApplicationsRead(user, through: min(request.timestamp ?? now, now))])
  }
}

extension Reply {
  /// The reply to an application administrator where the method needs a user.
  static var missingUser: Reply { .error(.invalidParams, "asUser is missing", field: "asUser") }
}
