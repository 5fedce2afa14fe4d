import GroupModel

/// What was read to tell it again.
struct ReplayFound: Sendable {
  /// A message that was changed.
  struct Change: Sendable {
    let message: Message
    let origin: ChangeOrigin
    /// The message's, where a reaction was added or removed.
    let reactions: [StoredReaction]
  }

  /// Ascending by `seq`, as they are now.
  var messages: [Message] = []
  /// Ascending by `changeSeq`.
  var changes: [Change] = []
  var receipts: [ReceiptCount] = []
}

/// Reads what is told again from the store.
struct ReplayReader: Sendable {
  let group: GroupID
  let store: any MessageStore

  /// - Returns: why it cannot be told where what was read does not say it exactly.
  func read(_ plan: ReplayPlan) async throws(StoreError) -> Result<ReplayFound, GroupReplay.Reason> {
    var found = ReplayFound()
    if let range = plan.messages {
      found.messages = try await store.messages(of: group, in: range, newestFirst: false, limit: range.count)
      // Retention may have removed some meanwhile, or the group has ended.
      guard found.messages.count == range.count, found.messages.allSatisfy({ $0.isOf(plan.epoch) }) else {
        return .failure(.retention)
      }
      guard found.messages.reduce(0, { $0 + $1.byteCount }) <= ReplayPlan.maxBytes else { return .failure(.tooMuch) }
    }
    if let wanted = plan.changes {
      switch try await changes(wanted, epoch: plan.epoch) {
      case .success(let changes): found.changes = changes
      case .failure(let reason): return .failure(reason)
      }
    }
    if let range = plan.receipts { found.receipts = try await receipts(of: range, epoch: plan.epoch) }
    return .success(found)
  }

  private func changes(
    _ wanted: ReplayPlan.Changes, epoch: String
  ) async throws(StoreError) -> Result<[ReplayFound.Change], GroupReplay.Reason> {
    // Those behind the last that is wanted, too: they tell whether one before them is told by them.
    let changed = try await store.changedMessages(
      of: group, after: wanted.after, in: [wanted.seqs], limit: ReplayPlan.maxCount)
    guard changed.cutAt == nil else { return .failure(.tooMuch) }
    let messages = changed.messages.filter { $0.isOf(epoch) }
    let origins = try await store.changeOrigins(of: group, seqs: messages.compactMap(\.seq))
    var told: [(message: Message, origin: ChangeOrigin)] = []
    for message in messages {
      guard let seq = message.seq, let stored = origins[seq], stored.changeSeq >= message.changeSeq else {
        return .failure(.unknownChange)
      }
      // A recall makes all that was before it void.
      guard stored.origin.kind == .revoked || stored.otherSeq <= wanted.after else { return .failure(.unknownChange) }
      // Its event follows.
      guard stored.changeSeq <= wanted.through else { continue }
      if stored.origin.kind != .silent { told.append((message, stored.origin)) }
    }
    let reacted = told.filter { $0.origin.kind == .reaction }.compactMap(\.message.seq)
    let reactions = reacted.isEmpty ? [:] : try await store.reactions(of: group, to: reacted, reader: nil, users: 0)
    return .success(
      told.map { ReplayFound.Change(message: $0.message, origin: $0.origin, reactions: reactions[$0.message.seq ?? 0] ?? []) })
  }

  private func receipts(of range: ClosedRange<Int64>, epoch: String) async throws(StoreError) -> [ReceiptCount] {
    let messages = try await store.messages(of: group, in: range, newestFirst: false, limit: range.count)
    let seqs = messages.filter { $0.needReadReceipt && !$0.isRevoked && $0.isOf(epoch) }.compactMap(\.seq)
    return seqs.isEmpty ? [] : try await store.receiptCounts(of: seqs, in: group, epoch: epoch)
  }
}

extension Message {
  /// Whether it belongs to the group of that epoch.
  func isOf(_ epoch: String) -> Bool { msgID.hasPrefix(epoch + "-") }
}
