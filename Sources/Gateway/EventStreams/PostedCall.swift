import GroupModel

/// A request, or a batch, of an event stream's session, which waits for its own answer. A class, so that
/// a session can tell one from another.
final class PostedCall: Sendable {
  /// What becomes of it.
  enum Answer: Sendable, Equatable {
    /// The response, or the array of a batch.
    case text([UInt8])
    /// No request in it has an id.
    case nothing
    /// The stream has ended: it may have been performed, or not.
    case gone
  }

  /// The trace that the request tells of; nil = none.
  let trace: TraceContext?
  private let body: @Sendable (Answer) -> Void

  /// - Parameter body: is told the answer, on any thread.
  init(in trace: TraceContext?, _ body: @escaping @Sendable (Answer) -> Void) {
    self.trace = trace
    self.body = body
  }

  func answer(_ answer: Answer) { body(answer) }
}
