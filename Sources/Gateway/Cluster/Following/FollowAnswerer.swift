import Cluster
import GroupModel
import GroupRuntime

/// Answers the nodes that follow groups, this one among them, for the groups that this node decides for
/// (Cluster.md, "Following").
package final class FollowAnswerer: FollowAnswers {
  /// How many groups of a question are loaded at once.
  private static let loadsAtOnce = 16

  private let router: ShardRouter
  private let registry: GroupRegistry
  private let store: any GroupStore
  private let topics: OwnTopics
  private let observer: StoreObserver

  /// - Parameter topics: those of the groups of `registry`.
  package init(
    router: ShardRouter, registry: GroupRegistry, store: any GroupStore, topics: OwnTopics, observer: StoreObserver
  ) {
    self.router = router
    self.registry = registry
    self.store = store
    self.topics = topics
    self.observer = observer
  }

  func compare(_ questions: [FollowQuestion], by node: NodeNumber) async -> [Comparison] {
    var results = Array(repeating: Comparison.moved, count: questions.count)
    var unknown: [Int] = []
    for (index, question) in questions.enumerated() where router.leads(question.group) {
      if follow(question.group, by: node) { results[index] = .different } else { unknown.append(index) }
    }
    guard !unknown.isEmpty else { return results }
    let stored: [GroupID: GroupStamp]
    do throws(StoreError) {
      stored = try await store.stamps(of: unknown.map { questions[$0].group })
    } catch {
      // The node asks again.
      observer.storeFailed(error)
      return results
    }
    var differing: [Int] = []
    for index in unknown {
      let question = questions[index]
      // The shard may have gone meanwhile.
      guard router.leads(question.group) else { continue }
      guard let found = stored[question.group] else {
        results[index] = .gone
        continue
      }
      guard let stamp = question.stamp, stamp != found else {
        results[index] = .same
        continue
      }
      if stamp.epoch != found.epoch, stamp != FollowState.unknownStamp { results[index] = .gone } else { differing.append(index) }
    }
    for (index, result) in await load(differing.map { ($0, questions[$0].group) }, for: node) { results[index] = result }
    return results
  }

  /// Tells the stamp of a group in memory once more, so that the node compares.
  /// - Returns: false where the node does not follow it.
  private func follow(_ group: GroupID, by node: NodeNumber) -> Bool {
    guard node == router.ownNode else { return topics.follow(group, by: node) }
    guard topics.isFollowed(group, by: node), let resident = registry.resident(group) else { return false }
    resident.executor.perform { [topics] in _ = topics.follow(group, by: node) }
    return true
  }

  /// Loads groups, which tells their stamps to all nodes with members.
  private func load(_ groups: [(Int, GroupID)], for node: NodeNumber) async -> [(Int, Comparison)] {
    await withTaskGroup(of: (Int, Comparison).self) { tasks in
      var waiting = groups[...]
      func loadNext() {
        guard let (index, group) = waiting.popFirst() else { return }
        tasks.addTask { (index, await self.load(group, for: node)) }
      }
      for _ in 0..<FollowAnswerer.loadsAtOnce { loadNext() }
      var results: [(Int, Comparison)] = []
      for await result in tasks {
        results.append(result)
        loadNext()
      }
      return results
    }
  }

  private func load(_ group: GroupID, for node: NodeNumber) async -> Comparison {
    let epoch = await withCheckedContinuation { (continuation: CheckedContinuation<String?, Never>) in
      registry.group(group).enqueue(.refresh { continuation.resume(returning: $0) })
    }
    // The group has gone meanwhile, or the store has failed: the next question tells.
    guard epoch != nil, router.leads(group) else { return .moved }
    return topics.isFollowed(group, by: node) ? .different : .gone
  }

  func replay(_ group: GroupID, from: GroupStamp?, through: GroupStamp) async -> GroupReplay? {
    guard router.leads(group) else { return nil }
    let replay = await withCheckedContinuation { (continuation: CheckedContinuation<GroupReplay, Never>) in
      registry.group(group).enqueue(.replay(from: from, through: through) { continuation.resume(returning: $0) })
    }
    // It says so of a group that has gone to another node, too.
    if case .impossible(.noGroup) = replay, !router.leads(group) { return nil }
    return replay
  }

  /// Performs what another node asks.
  /// - Parameter reply: is told the answer, once.
  func answer(_ request: FollowRequest, of node: NodeNumber, _ reply: @escaping @Sendable (RemoteReply) -> Void) {
    switch request {
    // `ClusterEntryHandler` has applied the unit.
    case .confirm: reply(.following(.confirmed))
    case .compare(let questions): Task { reply(.following(.compared(await compare(questions, by: node)))) }
    case .replay(let group, let from, let through):
      Task {
        let replay = await self.replay(group, from: from, through: through)
        reply(replay.map { .following(.replayed($0)) } ?? .moved)
      }
    }
  }
}
