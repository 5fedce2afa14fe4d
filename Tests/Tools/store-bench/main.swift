// Measures commits of a store: each group has one message in flight, as a sender who waits has.
// Usage: store-bench URL GROUPS SECONDS     URL: sqlite:DIRECTORY, or what libpq takes
import Dispatch
import Foundation
import GroupModel
import GroupRuntime
import Logging
import PostgreSQLStore
import SQLiteStore
import Synchronization

/// The commits of one group, one behind the other.
final class Sender: Sendable {
  private let store: any GroupStore
  private let group: GroupID
  private let generation = CommitGeneration()
  private let run: Run
  private let content = String(repeating: "What a nice day it is. ", count: 3)

  init(_ number: Int, _ store: any GroupStore, _ run: Run) {
    self.store = store
    self.run = run
    group = GroupID.generate()
  }

  private func commit(_ changes: [StoreChange], then body: @escaping @Sendable () -> Void) {
    let start = DispatchTime.now().uptimeNanoseconds
    store.commit(
      Commit(changes: changes, generation: generation) { [run] result in
        guard case .success = result else { fatalError("\(result)") }
        run.note(DispatchTime.now().uptimeNanoseconds - start)
        body()
      })
  }

  func begin() {
    let policy = GroupPolicy(
      joinMode: .auth, inviteMode: .nobody, beInviteMode: .none, updateInfoMode: .admin, updateCustomMode: .owner,
      ownerQuitMode: .forbid, memberChangeNotification: true, isSearchable: false, isMemberVisible: true,
      historyVisibility: .joined)
    let record = GroupRecord(
      id: group, type: .public, epoch: "e", createTime: WallInstant(milliseconds: 1), owner: .administrator, name: "bench",
      maxMemberNum: 100, policy: policy)
    commit([.putGroup(record, isNew: true)]) { self.send(1) }
  }

  private func send(_ seq: Int64) {
    if run.isOver { return run.leave() }
    let message = Message(
      msgID: "e-\(seq)", groupID: group, seq: seq, sender: .administrator, nameCard: "",
      timestamp: WallInstant(milliseconds: 1_700_000_000_000 + seq), content: .text(content), priority: .normal,
      clientMsgID: "c\(seq)", platform: .web)
    commit([.append(message)]) { self.send(seq + 1) }
  }
}

/// The measurements of all senders.
final class Run: Sendable {
  private struct State {
    var latencies: [UInt64] = []
    var isMeasuring = false
  }

  private let state = Mutex(State())
  private let over = Atomic(false)
  private let ended = DispatchGroup()

  var isOver: Bool { over.load(ordering: .relaxed) }

  func note(_ nanoseconds: UInt64) {
    state.withLock { if $0.isMeasuring { $0.latencies.append(nanoseconds) } }
  }

  func enter() { ended.enter() }
  func leave() { ended.leave() }

  func measure(_ isMeasuring: Bool) { state.withLock { $0.isMeasuring = isMeasuring } }

  func finish() -> [UInt64] {
    over.store(true, ordering: .relaxed)
    ended.wait()
    return state.withLock { $0.latencies.sorted() }
  }
}

/// The CPU time of this process, in seconds.
func cpuTime() -> Double {
  var usage = rusage()
  getrusage(RUSAGE_SELF.rawValue, &usage)
  return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let groups = Int(arguments[2]), let seconds = Double(arguments[3]) else {
  print("Usage: store-bench URL GROUPS SECONDS")
  exit(64)
}
let logger = Logger(label: "store-bench")
let store: any GroupStore =
  arguments[1].hasPrefix("sqlite:")
  ? try SQLiteStore.open(directory: String(arguments[1].dropFirst(7)), sync: .full, logger: logger) { fault in
    print("the disk has failed: \(fault)")
    exit(74)
  }
  : try PostgreSQLStore.open(arguments[1], logger: logger)
let run = Run()
for number in 0..<groups {
  run.enter()
  Sender(number, store, run).begin()
}
Thread.sleep(forTimeInterval: 2)
run.measure(true)
let (start, cpuStart) = (DispatchTime.now().uptimeNanoseconds, cpuTime())
Thread.sleep(forTimeInterval: seconds)
run.measure(false)
let (time, cpu) = (Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9, cpuTime() - cpuStart)
let latencies = run.finish()
(store as? SQLiteStore)?.close()
(store as? PostgreSQLStore)?.close()
func percentile(_ part: Double) -> Double {
  Double(latencies[min(latencies.count - 1, Int(part * Double(latencies.count)))]) / 1e6
}
print(
  String(
    format: "%d groups: %.0f commits/s, p50 %.2f ms, p99 %.2f ms, %.1f µs of CPU in this process each", groups,
    Double(latencies.count) / time, percentile(0.5), percentile(0.99), cpu / Double(latencies.count) * 1e6))
