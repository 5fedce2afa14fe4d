import GroupModel

/// Takes after-events that have happened. Called on the executors of groups and by sessions; must
/// not block.
public protocol WebhookPoster: Sendable {
  /// Posts an entry behind those of its lane. A stored one is durable when this is called.
  func post(_ entry: WebhookEntry)

  /// Posts those again that were given up.
  /// - Returns: how many.
  func retryFailures() async throws(StoreError) -> Int

  /// Others have left entries in the store, or the lanes have changed that this process posts.
  func searchStore()

  /// A user is being deleted: nothing that is stored from now on shows what is theirs. What is on its way to
  /// the application goes as it is.
  func erase(_ user: UserID, _ messages: UserDeletion.MessageFate)

  /// How many wait.
  var pendingCount: Int { get }
}

extension WebhookPoster {
  /// One that stores nothing has nothing to erase.
  public func erase(_: UserID, _: UserDeletion.MessageFate) {}
}

/// Keeps after-events until the application has them, and those that were given up. They are
/// changed by `StoreChange`.
public protocol WebhookStore: Sendable {
  /// How many wait, and how many were given up.
  func webhookCounts() async throws(StoreError) -> WebhookCounts

  /// Entries that wait, by their number. Those of stored messages show them as they are now.
  /// - Parameters:
  ///   - lane: nil = of all lanes.
  ///   - after: only those with a larger number.
  ///   - limit: the maximum of their number.
  ///   - bytes: the `estimatedBytes` to read; one entry always fits.
  func webhooks(
    in lane: WebhookEntry.Lane?, after: Int64, limit: Int, bytes: Int
  ) async throws(StoreError) -> [WebhookEntry]

  /// Entries that were given up, by their number, the oldest first.
  /// - Parameters:
  ///   - after: only those with a larger number.
  ///   - limit: the maximum of their number.
  ///   - bytes: how many of data to read; one entry always fits.
  func webhookFailures(after: Int64, limit: Int, bytes: Int) async throws(StoreError) -> [WebhookFailure]
}

/// The numbers of stored entries.
public struct WebhookCounts: Sendable, Equatable {
  public let pending: Int
  public let failures: Int

  /// Numbers with everything given.
  public init(pending: Int, failures: Int) {
    self.pending = pending
    self.failures = failures
  }
}

/// An entry that was given up.
public struct WebhookFailure: Sendable {
  /// The place in the list: ascending, never used again.
  public let number: Int64
  /// With the number 0, because it does not wait.
  public let entry: WebhookEntry
  /// How often it was tried since the server started.
  public let attempts: Int
  /// Why the last attempt failed, or why there was none.
  public let lastError: String

  /// A failure with everything given.
  public init(number: Int64, entry: WebhookEntry, attempts: Int, lastError: String) {
    self.number = number
    self.entry = entry
    self.attempts = attempts
    self.lastError = lastError
  }
}
