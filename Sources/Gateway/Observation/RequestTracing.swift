import GroupModel
import Synchronization
import WireProtocol

/// Begins and ends the spans of requests (Operations.md, "Tracing"). While tracing is off, a request of a
/// WebSocket costs one load.
package final class RequestTracing: Sendable {
  private let recorder: (any SpanRecorder)?
  /// Of 2⁶⁴ requests without a parent so many are sampled, less one; nil = none.
  private let lastSampled: UInt64?
  /// The state of a generator that is good enough to choose by.
  private let random: Atomic<UInt64>

  /// - Parameters:
  ///   - recorder: nil = tracing is off, and a context that a request brings along is passed on as it is.
  ///   - sampling: the share of requests that begin a trace, 0 to 1; a parent that is sampled, or is
  ///     not, has decided already.
  package init(recorder: (any SpanRecorder)?, sampling: Double) {
    self.recorder = recorder
    lastSampled =
      switch sampling {
      case ...0: nil
      case 1...: UInt64.max
      default: UInt64(sampling * 0x1p64)
      }
    random = Atomic(.random(in: 0 ... .max))
  }

  /// The span of a request that begins; nil = it belongs to no trace.
  /// - Parameter parent: as the request tells it; nil = it tells none.
  func begin(_ parent: TraceContext?, group: GroupID?) -> RequestSpan? {
    if let parent {
      guard recorder != nil, parent.isSampled else {
        return RequestSpan(context: parent, parentID: nil, isRecorded: false, group: group)
      }
      return RequestSpan(context: parent.child(), parentID: parent.spanID, isRecorded: true, group: group)
    }
    guard recorder != nil, chooses() else { return nil }
    return RequestSpan(context: .begin(), parentID: nil, isRecorded: true, group: group)
  }

  /// Whether `begin` without a parent may return a span.
  var beginsTraces: Bool { lastSampled != nil && recorder != nil }

  private func chooses() -> Bool {
    guard let lastSampled else { return false }
    // SplitMix64.
    var mixed = random.wrappingAdd(0x9e37_79b9_7f4a_7c15, ordering: .relaxed).newValue
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31 <= lastSampled
  }

  /// The request is answered.
  func end(
    _ span: RequestSpan, of method: String, _ reply: Reply, over transport: Span.Transport, from start: MonotonicInstant,
    to end: MonotonicInstant
  ) {
    guard span.isRecorded, let recorder else { return }
    recorder.record(
      Span(
        .request(method: method, code: reply.code, group: span.group, transport: transport), in: span.context,
        parentID: span.parentID, from: start, to: end))
  }
}

/// A request in a trace. A class, because few requests have one.
final class RequestSpan: Sendable {
  /// The context of what the request causes.
  let context: TraceContext
  fileprivate let parentID: UInt64?
  /// Whether the trace is sampled here.
  fileprivate let isRecorded: Bool
  fileprivate let group: GroupID?

  fileprivate init(context: TraceContext, parentID: UInt64?, isRecorded: Bool, group: GroupID?) {
    self.context = context
    self.parentID = parentID
    self.isRecorded = isRecorded
    self.group = group
  }
}
