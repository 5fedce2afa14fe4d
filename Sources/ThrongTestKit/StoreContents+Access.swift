import GroupModel
import GroupRuntime

/// What is kept of users besides their texts: statuses, decisions about sign-ins, and reports.
extension StoreContents {
  /// What was decided about a user's sign-ins.
  struct Access {
    let number: Int64
    var block: UserAccess.Block?
    var tokensBefore = WallInstant.unset
  }

  mutating func put(_ status: String, _ user: UserID) -> Undo {
    let before = (users[user], statuses[user])
    users[user] = before.0 ?? .neverOnline
    statuses[user] = status.isEmpty ? nil : status
    return { contents in (contents.users[user], contents.statuses[user]) = before }
  }

  mutating func put(_ block: UserAccess.Block?, _ user: UserID, _ time: WallInstant) -> Undo {
    let before = access[user]
    if block != nil { makeAccess(user) }
    access[user]?.block = block
    return { $0.access[user] = before }
  }

  mutating func raiseTokens(_ user: UserID, _ instant: WallInstant, _ time: WallInstant) -> Undo {
    let before = access[user]
    makeAccess(user)
    access[user]?.tokensBefore = max(before?.tokensBefore ?? .unset, instant)
    return { $0.access[user] = before }
  }

  private mutating func makeAccess(_ user: UserID) {
    guard access[user] == nil else { return }
    lastAccess += 1
    access[user] = Access(number: lastAccess)
  }

  mutating func put(_ report: MessageReport) -> Undo {
    let before = reports[report.id]
    lastReport += 1
    reports[report.id] = NumberedReport(number: lastReport, report: report)
    return { $0.reports[report.id] = before }
  }

  mutating func close(_ id: String, _ note: String?) -> Undo {
    guard let before = reports[id] else { return { _ in } }
    var report = before.report
    (report.state, report.note) = (.closed, note)
    reports[id] = NumberedReport(number: before.number, report: report)
    return { $0.reports[id] = before }
  }

  /// What was decided about a user's sign-ins.
  func access(of user: UserID) -> UserAccess {
    UserAccess(
      block: access[user]?.block, tokensBefore: access[user]?.tokensBefore ?? .unset,
      isBeingDeleted: deletions[user].map { $0.endTime == nil } ?? false)
  }
}
