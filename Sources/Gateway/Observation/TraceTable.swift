import GroupModel
import WireProtocol

/// The new entries of a trace on one node.
struct TraceBatch: Sendable {
  let entries: [TraceEntry]
  /// The number of the next entry.
  let next: Int64
  /// Entries before these that were not kept.
  let lost: Int64
  /// Nothing more is noted.
  let isOver: Bool
}

/// The traces of a node as a value. The newest few are kept, each with its newest entries.
struct TraceTable: Sendable {
  /// The traces that are kept, ended ones included; one more forgets the oldest.
  static let maxTraces = 8
  /// The entries that a trace keeps.
  static let maxEntries = 1000

  private struct Trace: Sendable {
    let id: String
    let subject: BeginTrace.Subject
    let end: MonotonicInstant
    let endTime: WallInstant
    var entries: [TraceEntry] = []
    /// The number of the first entry that is kept, from 1.
    var first: Int64 = 1

    /// The number of the next entry.
    var next: Int64 { first + Int64(entries.count) }
  }

  private var traces: [Trace] = []

  /// How many are kept.
  var count: Int { traces.count }

  /// Begins a trace; one that has begun goes on.
  mutating func begin(_ subject: BeginTrace.Subject, id: String, until end: MonotonicInstant, endTime: WallInstant) {
    if knows(id) { return }
    if traces.count == TraceTable.maxTraces { traces.removeFirst() }
    traces.append(Trace(id: id, subject: subject, end: end, endTime: endTime))
  }

  /// Ends a trace and forgets it.
  /// - Returns: false where there is none.
  mutating func end(_ id: String) -> Bool {
    guard let index = traces.firstIndex(where: { $0.id == id }) else { return false }
    traces.remove(at: index)
    return true
  }

  /// Forgets traces by their IDs.
  mutating func forget(where isForgotten: (String) -> Bool) { traces.removeAll { isForgotten($0.id) } }

  /// Whether there is such a trace.
  func knows(_ id: String) -> Bool { traces.contains { $0.id == id } }

  /// The traces that have not ended.
  func running(at now: MonotonicInstant) -> [(id: String, subject: BeginTrace.Subject, left: Duration)] {
    traces.filter { now < $0.end }.map { ($0.id, $0.subject, $0.end - now) }
  }

  /// Whether any trace has not ended.
  func isNoting(at now: MonotonicInstant) -> Bool { traces.contains { now < $0.end } }

  /// The subjects of traces that have not ended.
  func subjects(at now: MonotonicInstant) -> [BeginTrace.Subject] { traces.filter { now < $0.end }.map(\.subject) }

  /// Notes an entry in the traces of a subject.
  mutating func note(_ entry: TraceEntry, about subjects: [BeginTrace.Subject], at now: MonotonicInstant) {
    for index in traces.indices where now < traces[index].end && subjects.contains(traces[index].subject) {
      traces[index].entries.append(entry)
      // By a tenth at a time, because removing from the front moves all others.
      guard traces[index].entries.count > TraceTable.maxEntries else { continue }
      traces[index].entries.removeFirst(TraceTable.maxEntries / 10)
      traces[index].first += Int64(TraceTable.maxEntries / 10)
    }
  }

  /// When a trace ends; nil where there is no such trace.
  func endTime(of id: String) -> WallInstant? { traces.first { $0.id == id }?.endTime }

  /// All entries from a number on; nil where there is no such trace.
  func batch(of id: String, from position: Int64, at now: MonotonicInstant) -> TraceBatch? {
    guard let trace = traces.first(where: { $0.id == id }) else { return nil }
    let begin = min(max(position, trace.first), trace.next)
    return TraceBatch(
      entries: Array(trace.entries[Int(begin - trace.first)...]), next: trace.next, lost: max(0, begin - max(position, 1)),
      isOver: now >= trace.end)
  }

  /// A page of entries from a number on; nil where there is no such trace.
  func page(of id: String, from position: Int64, count: Int, at now: MonotonicInstant) -> GetTrace.Result? {
    guard let trace = traces.first(where: { $0.id == id }) else { return nil }
    let begin = min(max(position, trace.first), trace.next)
    let entries = trace.entries[Int(begin - trace.first)...].prefix(count)
    let next = begin + Int64(entries.count)
    let isOver = next == trace.next && now >= trace.end
    return GetTrace.Result(
      entryList: Array(entries), nextSeq: isOver ? 0 : next, endTime: trace.endTime, lost: trace.first - 1)
  }
}
