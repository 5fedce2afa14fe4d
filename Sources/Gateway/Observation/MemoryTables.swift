import GroupRuntime
import Synchronization

/// A table that the process keeps in memory, with the number of its entries: none grows without bound
/// (Operations.md, "Metrics").
package struct MemoryTable: Sendable {
  /// As the label `table` shows it.
  package let name: String
  /// How many entries it has now. May be called on any thread.
  package let count: @Sendable () -> Int

  /// - Parameters:
  ///   - name: as the label `table` shows it.
  ///   - count: how many entries it has now; called on any thread.
  package init(_ name: String, count: @escaping @Sendable () -> Int) {
    self.name = name
    self.count = count
  }
}

extension MemoryTable {
  /// The tables of groups, users and connections, which every process has.
  package static func all(
    registry: GroupRegistry, profiles: ProfileCache, directory: SessionDirectory, absenceTimers: AbsenceTimers,
    statuses: Statuses, budgets: UserBudgets, quotas: GroupQuotas, connections: ConnectionLimiter, dispatcher: Dispatcher,
    streams: StreamDirectory, eventStreams: EventStreams, refusals: RefusalLog, observation: Observation
  ) -> [MemoryTable] {
    [
      MemoryTable("groups") { registry.residentCount },
      MemoryTable("slowModes") { registry.slowModeCount },
      MemoryTable("profiles") { profiles.count },
      MemoryTable("users") { directory.userCount },
      MemoryTable("absences") { absenceTimers.count },
      MemoryTable("statusMarks") { statuses.markCount },
      MemoryTable("budgets") { budgets.count },
      MemoryTable("quotas") { quotas.userCount },
      MemoryTable("quotaTurns") { quotas.scopeCount },
      MemoryTable("addresses") { connections.addressCount },
      MemoryTable("orders") { dispatcher.requestOrder.count },
      MemoryTable("turns") { dispatcher.reportTurns.count + dispatcher.userInfos.turnCount + dispatcher.access.turnCount },
      MemoryTable("reporters") { dispatcher.reportLimiter.withLock { $0.count } },
      MemoryTable("streams") { streams.count },
      MemoryTable("posts") { eventStreams.postCount },
      MemoryTable("refusedPairs") { refusals.pairCount },
      MemoryTable("traces") { observation.traceCount },
    ]
  }
}

extension ClusterNode {
  /// The tables of a node among several.
  package var tables: [MemoryTable] {
    [
      MemoryTable("clusterUsers") { [presence = network.presence] in presence.userCount },
      MemoryTable("absentSessions") { [presence = network.presence] in presence.absentCount },
      MemoryTable("remoteRequests") { [requests = network.requests] in requests.count },
      MemoryTable("waitingRequests") { [router = network.router] in router.waitingCount },
      MemoryTable("remoteTopics") { [topics] in topics.count },
      MemoryTable("unconfirmedUsers") { [users] in users.unconfirmedCount },
    ]
  }
}
