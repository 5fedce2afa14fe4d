import GroupModel
import WireProtocol

/// Telling senders of read receipts, in rounds (Protocol.md, "Read receipts").
extension Group {
  /// Messages have new receipts, which are durable.
  func noteReceipts(_ seqs: [Int64]) {
    receiptNotices.add(seqs)
    scheduleReceiptRound()
  }

  private func scheduleReceiptRound() {
    let now = services.clocks.monotonic
    guard !awaitsReceiptAlarm, let due = receiptNotices.due(at: now) else { return }
    if due <= now { return beginReceiptRound() }
    awaitsReceiptAlarm = true
    services.alarms.schedule(at: due, on: executor) { [weak self] in
      self?.assumeIsolated { group in
        group.awaitsReceiptAlarm = false
        group.scheduleReceiptRound()
      }
    }
  }

  /// Reads the counts of the messages, and tells their senders. The last state always arrives: a
  /// receipt that comes meanwhile has another round, and one that fails is repeated.
  private func beginReceiptRound() {
    let seqs = receiptNotices.beginRound()
    let epoch = box?.state.record.epoch
    let reading = readings.begin(for: nil)
    Task {
      let counts = await receiptCounts(of: seqs, epoch: epoch)
      _ = readings.end(reading, nil)
      endReceiptRound(of: seqs, epoch: epoch, counts)
      forgetChanges()
      scheduleReceiptRound()
    }
  }

  /// - Parameter counts: nil = the group was not loaded, or the store has failed.
  private func endReceiptRound(of seqs: [Int64], epoch: String?, _ counts: [ReceiptCount]?) {
    let now = services.clocks.now
    switch phase {
    case .loaded(let box) where epoch != nil && box.state.record.epoch != epoch:
      receiptNotices.endRound(at: now.monotonic)
    case .loaded(let box):
      guard let counts else { return receiptNotices.repeatRound(seqs, at: now.monotonic + Group.backoffTime) }
      tell {
        for effect in box.state.receiptEvents(counts, at: now.wall) { perform(effect) }
        receiptNotices.endRound(at: now.monotonic)
      }
    case .absent where pipeline.isEmpty, .retired:
      receiptNotices.removeAll()
      receiptNotices.endRound(at: now.monotonic)
    case .unloaded:
      load(for: nil)
      receiptNotices.repeatRound(seqs, at: now.monotonic + Group.backoffTime)
    case .absent, .loading, .attaching: receiptNotices.repeatRound(seqs, at: now.monotonic + Group.backoffTime)
    }
  }

  private nonisolated func receiptCounts(of seqs: [Int64], epoch: String?) async -> [ReceiptCount]? {
    guard let epoch else { return nil }
    let (store, id) = (services.messages, id)
    do throws(StoreError) {
      // For the server: the events are due also when the session behind them has ended.
      return try await Requester.asking(nil) { () async throws(StoreError) in
        try await store.receiptCounts(of: seqs, in: id, epoch: epoch)
      }
    } catch {
      services.observer.storeFailed(error, group: id)
      return nil
    }
  }
}

extension Requester {
  /// Reads in the turn of a requester; nil = the server's.
  static func asking<Value: Sendable>(
    _ requester: Requester?, _ read: @Sendable () async throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    let result = await $current.withValue(requester) { () async -> Result<Value, StoreError> in
      do throws(StoreError) { return .success(try await read()) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
