import GroupRuntime

/// The stores of a process, by what is stored. One object may be all of them.
public struct GatewayStores: Sendable {
  public let groups: any GroupStore
  public let messages: any MessageStore
  public let users: any UserStore
  public let personal: any PersonalStore
  public let webhooks: any WebhookStore
  public let access: any AccessStore
  public let erasure: any UserErasureStore
  public let reports: any ReportStore

  /// Stores with everything given.
  public init(
    groups: any GroupStore, messages: any MessageStore, users: any UserStore, personal: any PersonalStore,
    webhooks: any WebhookStore, access: any AccessStore, erasure: any UserErasureStore, reports: any ReportStore
  ) {
    self.groups = groups
    self.messages = messages
    self.users = users
    self.personal = personal
    self.webhooks = webhooks
    self.access = access
    self.erasure = erasure
    self.reports = reports
  }
}

extension GroupStore {
  /// Makes changes durable that belong to no group, and users that were remembered before.
  func commit(_ changes: [StoreChange]) async throws(StoreError) {
    let answer = await withCheckedContinuation { (continuation: CheckedContinuation<Commit.Answer, Never>) in
      self.commit(Commit(changes: changes, generation: CommitGeneration()) { continuation.resume(returning: $0) })
    }
    if case .failure(let error) = answer { throw error }
  }
}
