import Cluster
import GroupRuntime

extension Server {
  /// Registers the metrics of a node.
  func collectCluster() {
    guard let engines else { return }
    metrics.collect("throng_cluster_nodes", help: "Nodes of the cluster.", type: .gauge) {
      [(labels: [], value: Double(engines.lease.view.nodes.count))]
    }
    metrics.collect("throng_cluster_shards", help: "Shards that this node owns.", type: .gauge) {
      let view = engines.lease.view
      return [(labels: [], value: Double(view.ownNode.map { view.shards(of: $0).count } ?? 0))]
    }
    metrics.collect(
      "throng_cluster_lease_seconds", help: "How long this node may decide without another renewal of its lease.", type: .gauge
    ) { [(labels: [], value: engines.lease.leaseRemaining / .seconds(1))] }
    collectBus(engines.bus)
  }

  private func collectBus(_ bus: any Bus) {
    let collect = { (name: String, help: String, type: ScrapedType, read: @escaping @Sendable (BusCounters) -> [(String, Int)]) in
      self.metrics.collect(name, help: help, type: type) {
        read(bus.counters).map { (labels: $0.0.isEmpty ? [] : [("direction", $0.0)], value: Double($0.1)) }
      }
    }
    collect("throng_bus_messages_total", "Messages on the bus between nodes.", .counter) {
      [("published", $0.publishedMessages), ("received", $0.receivedMessages)]
    }
    collect("throng_bus_bytes_total", "Bytes of messages on the bus between nodes.", .counter) {
      [("published", $0.publishedBytes), ("received", $0.receivedBytes)]
    }
    collect("throng_bus_refused_total", "Messages that the bus did not take or lost on their way out.", .counter) {
      [("", $0.refusedMessages)]
    }
    collect("throng_bus_gaps_total", "How often messages of the bus may have been missed.", .counter) { [("", $0.gaps)] }
    collect("throng_bus_strange_total", "Notifications and parts of messages on the bus that no node has sent.", .counter) {
      [("", $0.strangeMessages)]
    }
    collect("throng_bus_reconnects_total", "How often the bus was connected again.", .counter) { [("", $0.reconnects)] }
  }
}
