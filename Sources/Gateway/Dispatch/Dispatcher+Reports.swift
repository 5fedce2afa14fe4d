import CoreMetrics
import GroupModel
import GroupRuntime
import Synchronization
import WireProtocol

/// Reports of messages (Protocol.md, "Reports").
extension Dispatcher {
  /// How many reports of a user succeed in a minute.
  static let reportsPerMinute = 10

  /// reportMessage, at the owner of the caller's shard. The group decides with "may it succeed", so that
  /// the rate comes last among the errors and counts what has succeeded, whichever node has the group.
  func report(_ request: ReportMessage, by caller: Caller) async throws(StoreError) -> Reply {
    guard let user = caller.userID else { return .missingUser }
    // One after the other: none of two at once may take the place of the other.
    await reportTurns.acquire(user)
    defer { reportTurns.release(user) }
    let wait = reportLimiter.withLock { $0.wait(user, at: clocks.monotonic) }
    switch await askGroup(about: request, mayPass: wait == nil, by: caller) {
    case .failure(let error) where error.code == .attributeCallsTooOften:
      return .failure(WireError(.attributeCallsTooOften, retryAfterMs: wait))
    case .failure(let error): return .failure(error)
    case .success(let value):
      _ = reportLimiter.withLock { $0.acquire(user, at: clocks.monotonic) }
      reportsTotal.increment()
      return .success(value)
    }
  }

  private func askGroup(about request: ReportMessage, mayPass: Bool, by caller: Caller) async -> Reply {
    let row = RowRequest(operation: .report(request, mayPass: mayPass), group: request.groupID)
    guard let router else { return await registry.group(row.group).ask(row.operation.operation, by: caller) }
    return await self.row(row, by: caller, router)
  }

  /// listReports: a page ends where its bytes do, with one report at least.
  func reports(_ request: ListReports, for _: Caller) async throws(StoreError) -> Reply {
    let found = try await stores.reports.reports(
      state: request.state, in: request.groupID, before: request.nextSeq, limit: request.count + 1)
    var page: [ReportInfo] = []
    var bytes = 0
    for (index, row) in found.prefix(request.count).enumerated() {
      let info = ReportInfo(row.report)
      bytes += info.byteCount
      guard page.isEmpty || bytes <= pageBytes else {
        return .success(.reports(ListReports.Result(reportList: page, nextSeq: found[index - 1].number)))
      }
      page.append(info)
    }
    let hasMore = found.count > request.count
    let next = hasMore ? found[request.count - 1].number : 0
    return .success(.reports(ListReports.Result(reportList: page, nextSeq: next)))
  }

  func closeReport(_ request: CloseReport, by _: Caller) async throws(StoreError) -> Reply {
    guard try await stores.reports.report(request.reportID) != nil else {
      return .error(.badValue, "No such report", field: "reportID")
    }
    return await commit([.closeReport(request.reportID, note: request.note, at: clocks.wall)])
  }
}
