import Gateway
import GroupModel
import GroupRuntime
import Logging

/// The groups, the sessions of users, and the way between them, on one node or on several.
struct DeliveryComposition: Sendable {
  /// The sessions of this process.
  let directory: SessionDirectory
  let profiles: ProfileCache
  /// The groups in memory.
  let registry: GroupRegistry
  /// The sessions of all nodes; nil = this process is alone.
  let clusterUsers: ClusterUserDirectory?
  /// The groups with sessions of this process, and those that it decides for; nil = this process is alone.
  let topics: (followed: FollowedTopics, own: OwnTopics)?
  /// The sessions of users, wherever they are.
  let sessions: any UserDirectory
  let absenceTimers: AbsenceTimers
  let recorder: PresenceRecorder
  let statuses: Statuses

  /// - Parameters:
  ///   - recent: what live rooms remember; nil = nothing.
  ///   - poster: nil = webhooks are off.
  ///   - network: nil = this process is alone.
  ///   - spans: gets those of groups; nil = nothing is traced.
  init(
    _ configuration: GatewayConfiguration, _ stores: GatewayStores, rules: GroupRules, recent: RecentMessages?,
    clocks: any Clocks, alarms: any Alarms, poster: (any WebhookPoster)?,
    network: ClusterNetwork?, tracer: Tracer, observer: StoreObserver, logger: Logger, spans: (any SpanRecorder)? = nil
  ) {
    let recorder = PresenceRecorder(
      rules.webhooks, users: stores.users, groups: stores.groups, clocks: clocks, poster: poster)
    let isAlone = network == nil
    let statuses = Statuses(configuration, clocks: clocks)
    network?.presence.statuses = statuses
    let directory = SessionDirectory(statuses: isAlone ? statuses : nil) { user, platform, isHere in
      // On several nodes, the owner of the user's shard does it (`PresenceKeeper`).
      if isAlone { recorder.note(user, on: platform, isHere: isHere) }
    }
    let topics = network.map { network in
      (
        followed: FollowedTopics(directory: directory, network: network, clocks: clocks, logger: logger), own: OwnTopics()
      )
    }
    let broker: any Broker =
      if let network, let topics {
        ClusterBroker(
          directory: directory, network: network, followed: topics.followed, topics: topics.own, tracer: tracer)
      } else {
        LocalBroker(directory: directory, tracer: tracer)
      }
    let profiles = ProfileCache(store: stores.users)
    let registry = GroupRegistry(
      services: GroupServices(
        groups: stores.groups, messages: stores.messages, profiles: profiles, broker: broker, clocks: clocks, alarms: alarms,
        rules: rules, observer: observer, webhooks: poster, leadership: network?.router, recent: recent, spans: spans,
        keepsStamps: !isAlone),
      executors: [])
    let clusterUsers = network.map {
      ClusterUserDirectory(
        directory: directory, registry: registry, profiles: profiles, statuses: statuses, network: $0)
    }
    absenceTimers = AbsenceTimers(
      groups: stores.groups, observer: observer, grace: rules.limits.offlineGrace, directory: directory, registry: registry,
      clusterUsers: clusterUsers)
    sessions =
      clusterUsers
      ?? LocalUserDirectory(
        directory: directory, registry: registry, profiles: profiles, absenceTimers: absenceTimers, statuses: statuses,
        clocks: clocks)
    self.directory = directory
    self.profiles = profiles
    self.registry = registry
    self.clusterUsers = clusterUsers
    self.topics = topics
    self.recorder = recorder
    self.statuses = statuses
  }
}
