import GroupModel

/// Keeps reported messages. They are changed by `StoreChange`.
public protocol ReportStore: Sendable {
  /// Reports in a state, the newest first, at most `limit`.
  /// - Parameters:
  ///   - group: nil = of all groups.
  ///   - before: only those with a smaller number; 0 = from the newest.
  func reports(
    state: MessageReport.State, in group: GroupID?, before: Int64, limit: Int
  ) async throws(StoreError) -> [NumberedReport]

  /// The report with an id; nil = there is none.
  func report(_ id: String) async throws(StoreError) -> NumberedReport?

  /// How many reports are open.
  func openReports() async throws(StoreError) -> Int
}

/// A report in a list: larger numbers are newer; a report that is renewed gets a new one.
public struct NumberedReport: Sendable, Equatable {
  public let number: Int64
  public let report: MessageReport

  /// A report with its number.
  public init(number: Int64, report: MessageReport) {
    self.number = number
    self.report = report
  }
}
