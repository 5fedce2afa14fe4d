import GroupModel
import Synchronization

/// Keeps the spans that have ended, to be looked at.
final class RecordingSpans: SpanRecorder {
  private let kept = Mutex<[Span]>([])

  /// The spans so far, in the order of their ends.
  var spans: [Span] { kept.withLock { $0 } }

  func record(_ span: Span) { kept.withLock { $0.append(span) } }
}

extension Span {
  /// The method of a request's span; nil = it is none.
  var method: String? { if case .request(let method, _, _, _) = operation { method } else { nil } }

  /// Whether it is a group's decision.
  var isDecision: Bool { if case .decide = operation { true } else { false } }

  /// Whether it is a commit.
  var isCommit: Bool { if case .commit = operation { true } else { false } }
}
