import GroupModel
import GroupRuntime
import Synchronization
import ThrongTestKit

/// Stored messages whose reading fails or waits when told to. Who waits has read already, so what
/// it gets may be out of date.
final class MessageReadGate: MessageStore {
  private struct State {
    var failure: StoreError?
    var isHeld = false
    /// The names of the reads since `takeReads`.
    var reads: [String] = []
    var waiting: [CheckedContinuation<Void, Never>] = []
    var arrivals: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let store: InMemoryStore
  private let state = Mutex(State())

  init(_ store: InMemoryStore) { self.store = store }

  func fail(with failure: StoreError?) { state.withLock { $0.failure = failure } }

  /// From now on readings wait.
  func hold() { state.withLock { $0.isHeld = true } }

  /// Returns when as many readings wait.
  func waitForReadings(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.waiting.count < count { state.arrivals.append((count, continuation)) }
        return state.waiting.count >= count
      }
      if isThere { continuation.resume() }
    }
  }

  /// The reading that has waited longest goes on.
  func releaseOne() { state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }?.resume() }

  /// The waiting reads continue, and no later one waits.
  func release() {
    let waiting = state.withLock { state in
      state.isHeld = false
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// The names of the reads since the last call, in their order.
  func takeReads() -> [String] {
    state.withLock { state in
      defer { state.reads = [] }
      return state.reads
    }
  }

  private func note(_ name: String) { state.withLock { $0.reads.append(name) } }

  private func pass() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let resumed = state.withLock { state -> [CheckedContinuation<Void, Never>] in
        guard state.isHeld else { return [continuation] }
        state.waiting.append(continuation)
        let arrived = state.arrivals.filter { $0.count <= state.waiting.count }
        state.arrivals.removeAll { $0.count <= state.waiting.count }
        return arrived.map(\.continuation)
      }
      for continuation in resumed { continuation.resume() }
    }
  }

  func messages(
    of group: GroupID, in range: ClosedRange<Int64>, newestFirst: Bool, limit: Int
  ) async throws(StoreError) -> [Message] {
    note("messages in a range")
    if let failure = state.withLock({ $0.failure }) { throw failure }
    let found = try await store.messages(of: group, in: range, newestFirst: newestFirst, limit: limit)
    await pass()
    return found
  }

  func messages(of group: GroupID, seqs: [Int64]) async throws(StoreError) -> [Message] {
    note("messages")
    if let failure = state.withLock({ $0.failure }) { throw failure }
    let found = try await store.messages(of: group, seqs: seqs)
    await pass()
    return found
  }

  func changedMessages(
    of group: GroupID, after changeSeq: Int64, in ranges: [ClosedRange<Int64>], limit: Int
  ) async throws(StoreError) -> ChangedMessages {
    try await store.changedMessages(of: group, after: changeSeq, in: ranges, limit: limit)
  }

  func changeOrigins(of group: GroupID, seqs: [Int64]) async throws(StoreError) -> [Int64: StoredChangeOrigin] {
    note("changeOrigins")
    return try await store.changeOrigins(of: group, seqs: seqs)
  }

  func reactions(
    of group: GroupID, to seqs: [Int64], reader: UserID?, users: Int
  ) async throws(StoreError) -> [Int64: [StoredReaction]] {
    note("reactions")
    return try await store.reactions(of: group, to: seqs, reader: reader, users: users)
  }

  func unreadCount(
    of group: GroupID, in range: ClosedRange<Int64>, reader: UserID, managersOnly: Bool, skipsFlagged: Bool, limit: Int
  ) async throws(StoreError) -> Int {
    if let failure = state.withLock({ $0.failure }) { throw failure }
    return try await store.unreadCount(
      of: group, in: range, reader: reader, managersOnly: managersOnly, skipsFlagged: skipsFlagged, limit: limit)
  }

  func hiddenSeqs(
    of group: GroupID, from reader: UserID, in range: ClosedRange<Int64>, newestFirst: Bool, limit: Int
  ) async throws(StoreError) -> [Int64] {
    note("hiddenSeqs")
    return try await store.hiddenSeqs(of: group, from: reader, in: range, newestFirst: newestFirst, limit: limit)
  }

  func replies(
    to seq: Int64, in group: GroupID, visible: Visibility, after: Int64, limit: Int
  ) async throws(StoreError) -> (messages: [Message], total: Int) {
    note("replies")
    return try await store.replies(to: seq, in: group, visible: visible, after: after, limit: limit)
  }

  func replyCounts(
    of group: GroupID, to seqs: [Int64], visible: Visibility
  ) async throws(StoreError) -> [Int64: Int] {
    note("replyCounts")
    return try await store.replyCounts(of: group, to: seqs, visible: visible)
  }

  func firstSeq(of group: GroupID, notBefore: WallInstant) async throws(StoreError) -> Int64? {
    try await store.firstSeq(of: group, notBefore: notBefore)
  }

  func sentMessage(
    of group: GroupID, epoch: String, from sender: UserID, clientMsgID: String, since: WallInstant, most: Int64
  ) async throws(StoreError) -> SentSearch {
    note("sentMessage")
    if let failure = state.withLock({ $0.failure }) { throw failure }
    let found = try await store.sentMessage(
      of: group, epoch: epoch, from: sender, clientMsgID: clientMsgID, since: since, most: most)
    await pass()
    return found
  }

  func messages(
    matching search: MessageSearch, after place: Int64, limit: Int
  ) async throws(StoreError) -> MessageSearch.Page {
    try await store.messages(matching: search, after: place, limit: limit)
  }

  func confirmable(
    _ seqs: [Int64], of group: GroupID, epoch: String, by reader: UserID
  ) async throws(StoreError) -> [Int64] {
    if let failure = state.withLock({ $0.failure }) { throw failure }
    let found = try await store.confirmable(seqs, of: group, epoch: epoch, by: reader)
    await pass()
    return found
  }

  func receiptCounts(of seqs: [Int64], in group: GroupID, epoch: String) async throws(StoreError) -> [ReceiptCount] {
    if let failure = state.withLock({ $0.failure }) { throw failure }
    let found = try await store.receiptCounts(of: seqs, in: group, epoch: epoch)
    await pass()
    return found
  }

  func readers(of seq: Int64, in group: GroupID, epoch: String) async throws(StoreError) -> MessageReaders? {
    if let failure = state.withLock({ $0.failure }) { throw failure }
    let found = try await store.readers(of: seq, in: group, epoch: epoch)
    await pass()
    return found
  }
}
