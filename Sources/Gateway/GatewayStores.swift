import GroupRuntime

/// The stores of a process, by what is stored. One object may be all of them.
public struct GatewayStores: Sendable {
  public let groups: any GroupStore
  public let messages: any MessageStore
  public let users: any UserStore
  public let personal: any PersonalStore
  public let webhooks: any WebhookStore

  /// Stores with everything given.
  public init(
    groups: any GroupStore, messages: any MessageStore, users: any UserStore, personal: any PersonalStore,
    webhooks: any WebhookStore
  ) {
    self.groups = groups
    self.messages = messages
    self.users = users
    self.personal = personal
    self.webhooks = webhooks
  }
}
