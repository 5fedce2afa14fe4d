import Cluster
import GroupModel
import GroupRuntime

/// Takes what other nodes tell this one.
package final class ClusterEntryHandler: Sendable {
  private let links: ClusterLinks
  private let requests: RemoteRequests
  private let handler: RemoteRequestHandler
  private let presence: ClusterPresence
  private let users: ClusterUserDirectory
  private let topics: FollowedTopics
  private let directory: SessionDirectory
  private let statuses: Statuses
  private let budgets: UserBudgets
  private let connectionLimiter: ConnectionLimiter
  /// Nil = webhooks are off.
  private let poster: (any WebhookPoster)?
  private let clocks: any Clocks

  /// - Parameter handler: performs what other nodes ask; `network.requests` has what this node asks
  ///   them.
  package init(
    _ network: ClusterNetwork, handler: RemoteRequestHandler, users: ClusterUserDirectory, topics: FollowedTopics,
    directory: SessionDirectory, statuses: Statuses, budgets: UserBudgets, connectionLimiter: ConnectionLimiter,
    poster: (any WebhookPoster)?, clocks: any Clocks
  ) {
    (links, requests, presence) = (network.links, network.requests, network.presence)
    self.handler = handler
    self.users = users
    self.topics = topics
    self.directory = directory
    self.statuses = statuses
    self.budgets = budgets
    self.connectionLimiter = connectionLimiter
    self.poster = poster
    self.clocks = clocks
  }

  func didReceive(_ entry: ClusterEntry, from node: NodeNumber) {
    switch entry {
    case .sessionBegan(let user, let session):
      users.notify(presence.didReceive(entry, from: node))
      users.didBegin(session, of: user, on: node)
    case .wantsGroups(let user): users.didAskForGroups(of: user, node)
    case .snapshotBegan, .sessionCompleted, .sessionEnded: users.notify(presence.didReceive(entry, from: node))
    case .snapshotEnded:
      users.notify(presence.didReceive(entry, from: node))
      users.tellLate(node)
    case .replace(let user, let key):
      directory.sessions(of: user).first { $0.session.key == key }?.session.replace()
    case .unit(let group, let unit): topics.didReceive(unit, of: group, from: node)
    case .expectFollow(let expected, let instant): topics.expect(expected, before: instant)
    case .missed(let users): directory.loseTouch(users)
    case .webhooksWait: poster?.searchStore()
    case .charged(let user, let requests): budgets.charge(requests, of: user, at: clocks.monotonic)
    case .badToken(let address): _ = connectionLimiter.noteBadToken(from: address, at: clocks.monotonic)
    case .statusChanged(let user, let customStatus): statuses.statusChanged(of: user, to: customStatus)
    case .request(let number, let request):
      // Behind the units of before, as all that comes from the node.
      if case .following(.confirm(let group, let unit)) = request { topics.didReceive(unit, of: group, from: node) }
      handler.perform(request, from: node) { [links] reply, mayWait in
        links.send(.reply(number: number, reply), to: node, mayWait: mayWait)
      }
    case .reply(let number, let reply): requests.didReceive(reply, to: number, from: node)
    }
  }
}
