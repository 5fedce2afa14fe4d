import GroupModel
import WireProtocol

/// The services that all groups of a process share.
public struct GroupServices: Sendable {
  public let groups: any GroupStore
  public let messages: any MessageStore
  public let profiles: ProfileCache
  public let broker: any Broker
  public let clocks: any Clocks
  public let alarms: any Alarms
  public let rules: GroupRules
  public let observer: any GroupObserver
  /// Gets after-events; nil = there are none.
  public let webhooks: (any WebhookPoster)?
  /// Tells which groups are this node's; nil = all are.
  public let leadership: (any GroupLeadership)?
  /// What live rooms remember; nil = nothing.
  public let recent: RecentMessages?
  /// Gets the spans of traces; nil = nothing is traced.
  public let spans: (any SpanRecorder)?
  /// Whether decisions raise the stamps of their groups: other nodes follow them.
  public let keepsStamps: Bool

  /// Services of groups.
  public init(
    groups: any GroupStore, messages: any MessageStore, profiles: ProfileCache, broker: any Broker, clocks: any Clocks,
    alarms: any Alarms, rules: GroupRules, observer: any GroupObserver, webhooks: (any WebhookPoster)? = nil,
    leadership: (any GroupLeadership)? = nil, recent: RecentMessages? = nil, spans: (any SpanRecorder)? = nil,
    keepsStamps: Bool = false
  ) {
    self.groups = groups
    self.messages = messages
    self.profiles = profiles
    self.broker = broker
    self.clocks = clocks
    self.alarms = alarms
    var rules = rules
    rules.keepsStamps = keepsStamps
    self.rules = rules
    self.observer = observer
    self.webhooks = webhooks
    self.leadership = leadership
    self.recent = recent
    self.spans = spans
    self.keepsStamps = keepsStamps
  }
}

/// Receives facts for metrics and logs. Called on the executors of groups; must not block.
public protocol GroupObserver: Sendable {
  /// A message was accepted, delivered or dropped.
  func didCount(_ message: MessageCount)
  /// Signals were delivered, merged, dropped or refused.
  func didCount(_ signals: SignalCounts)
  /// A commit or a read of a group has failed.
  func storeFailed(_ error: StoreError, group: GroupID)
}
