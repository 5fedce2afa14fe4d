import GroupModel
import GroupRuntime
import Synchronization
import WireProtocol

/// Notes what traced users and groups do (Protocol.md, "Observation"). Without a trace a request or
/// an event costs one load of `isActive`.
package final class Tracer: Sendable {
  private let clocks: any Clocks
  private let table = Mutex(TraceTable())
  private let active = Atomic<Bool>(false)

  /// A tracer without traces.
  package init(clocks: any Clocks) { self.clocks = clocks }

  /// Whether anything may have to be noted.
  var isActive: Bool { active.load(ordering: .relaxed) }

  /// How many traces are kept, ended ones included.
  var count: Int { table.withLock { $0.count } }

  /// Begins a trace; one that has begun goes on.
  /// - Returns: when it ends.
  func begin(_ subject: BeginTrace.Subject, id: String, for duration: Duration) -> WallInstant {
    let endTime = clocks.wall + duration
    table.withLock { table in
      table.begin(subject, id: id, until: clocks.monotonic + duration, endTime: endTime)
      active.store(true, ordering: .relaxed)
    }
    return endTime
  }

  /// A page of the entries of this node; nil where there is no such trace.
  func page(of request: GetTrace) -> GetTrace.Result? {
    let now = clocks.monotonic
    return table.withLock { $0.page(of: request.traceID, from: request.nextSeq, count: request.count, at: now) }
  }

  /// The entries of this node from a number on; nil where there is no such trace.
  func batch(of id: String, from position: Int64) -> TraceBatch? {
    let now = clocks.monotonic
    return table.withLock { $0.batch(of: id, from: position, at: now) }
  }

  /// When a trace ends; nil where there is no such trace.
  func endTime(of id: String) -> WallInstant? { table.withLock { $0.endTime(of: id) } }

  /// The traces that have not ended.
  var running: [(id: String, subject: BeginTrace.Subject, left: Duration)] {
    let now = clocks.monotonic
    return table.withLock { $0.running(at: now) }
  }

  /// Ends a trace and forgets it.
  /// - Returns: false where there is none.
  func end(_ id: String) -> Bool {
    table.withLock { table in
      defer { active.store(table.isNoting(at: clocks.monotonic), ordering: .relaxed) }
      return table.end(id)
    }
  }

  /// Ends and forgets traces by their IDs.
  func forget(where isForgotten: (String) -> Bool) {
    table.withLock { table in
      table.forget(where: isForgotten)
      active.store(table.isNoting(at: clocks.monotonic), ordering: .relaxed)
    }
  }

  /// Notes an entry for its user and its group.
  func note(_ entry: TraceEntry) {
    let subjects = [entry.userID.map { BeginTrace.Subject.user($0) }, entry.groupID.map { .group($0) }].compactMap(\.self)
    note(entry, about: subjects)
  }

  /// Notes an event of a group.
  /// - Parameter reaches: whether a user gets it.
  func noteEvent(_ frame: [UInt8], of group: GroupID, reaches: (UserID) -> Bool) {
    let entry = TraceEntry(
      .event, Tracer.name(of: frame), at: clocks.wall, groupID: group, bytes: Int64(frame.count))
    let traced = table.withLock { $0.subjects(at: clocks.monotonic) }
    note(
      entry,
      about: traced.filter { subject in
        switch subject {
        case .group(let id): id == group
        case .user(let user): reaches(user)
        }
      })
  }

  private func note(_ entry: TraceEntry, about subjects: [BeginTrace.Subject]) {
    let now = clocks.monotonic
    table.withLock { table in
      table.note(entry, about: subjects, at: now)
      if !table.isNoting(at: now) { active.store(false, ordering: .relaxed) }
    }
  }

  /// The event's name: the first string behind `"method":` in a frame of ours.
  static func name(of frame: [UInt8]) -> String {
    let key = Array(#""method":""#.utf8)
    guard let place = frame.prefix(64).firstRange(of: key) else { return "" }
    return String(decoding: frame[place.upperBound...].prefix { $0 != UInt8(ascii: "\"") }.prefix(64), as: UTF8.self)
  }
}
