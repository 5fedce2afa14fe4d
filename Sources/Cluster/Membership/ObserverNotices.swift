import Dispatch
import Synchronization

/// Tells observers of changes on a thread of its own, in order. Views that come while observers are
/// busy are one change.
final class ObserverNotices: Sendable {
  private struct State {
    var observers: [any ClusterObserver] = []
    var lost: [NodeNumber] = []
    var newest: ClusterView?
    /// The last view that the observers have heard of.
    var told = ClusterView.empty
  }

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "throng.cluster.observers")

  /// Returns when the observer has heard of the present view: it misses nothing that is posted later.
  /// Not to be called by an observer.
  func add(_ observer: any ClusterObserver) {
    queue.sync {
      let told = self.state.withLock { state in
        state.observers.append(observer)
        return state.told
      }
      observer.didChange(told, told.changes(since: .empty))
    }
  }

  func post(_ view: ClusterView) {
    let mustTell = state.withLock { state in
      defer { state.newest = view }
      return state.newest == nil && state.lost.isEmpty
    }
    if mustTell { queue.async { self.tell() } }
  }

  func post(lost node: NodeNumber) {
    let mustTell = state.withLock { state in
      state.lost.append(node)
      return state.newest == nil && state.lost.count == 1
    }
    if mustTell { queue.async { self.tell() } }
  }

  private func tell() {
    let (observers, lost, newest, told) = state.withLock { state in
      defer { (state.lost, state.newest, state.told) = ([], nil, state.newest ?? state.told) }
      return (state.observers, state.lost, state.newest, state.told)
    }
    for node in lost { for observer in observers { observer.didLose(node) } }
    guard let newest else { return }
    let changes = newest.changes(since: told)
    for observer in observers { observer.didChange(newest, changes) }
  }

  func willRelease(_ shards: [Shard]) async {
    for observer in state.withLock({ $0.observers }) { await observer.willRelease(shards) }
  }
}
