/// A part of a trace that has ended: what the server did, and when.
public struct Span: Sendable {
  /// What was done, with what a reader wants to know of it.
  public enum Operation: Sendable, Equatable {
    /// A client's or the backend's request, from its arrival to its answer.
    /// - Parameter code: of the answer; 0 = success.
    case request(method: String, code: Int, group: GroupID?, transport: Transport)
    /// A group's decision.
    case decide(group: GroupID)
    /// A decision on its way to the disk.
    case commit(group: GroupID, changes: Int, isStored: Bool)
    /// An attempt to tell or ask the application.
    case webhook(WebhookType, status: Int?, failure: String?)
  }

  /// How a request came.
  public enum Transport: String, Sendable, CaseIterable { case webSocket, http }

  /// The trace, and the span's own ID.
  public let context: TraceContext
  /// The span that has caused it; nil = the trace begins with it.
  public let parentID: UInt64?
  public let operation: Operation
  public let start: MonotonicInstant
  public let end: MonotonicInstant

  /// A span with everything given.
  public init(
    _ operation: Operation, in context: TraceContext, parentID: UInt64?, from start: MonotonicInstant,
    to end: MonotonicInstant
  ) {
    self.operation = operation
    self.context = context
    self.parentID = parentID
    self.start = start
    self.end = end
  }

  /// A span that another one has caused.
  public init(_ operation: Operation, causedBy parent: TraceContext, from start: MonotonicInstant, to end: MonotonicInstant) {
    self.init(operation, in: parent.child(), parentID: parent.spanID, from: start, to: end)
  }
}

/// Takes spans on their way to a collector (Operations.md, "Tracing").
public protocol SpanRecorder: Sendable {
  /// Takes a span of a trace that is sampled. Called on the executors of groups and sessions; must not
  /// block.
  func record(_ span: Span)
}
