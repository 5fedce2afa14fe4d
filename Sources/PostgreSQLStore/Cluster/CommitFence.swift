import Cluster
import GroupModel
import GroupRuntime
import StoreEngine

/// Lets only commits through whose shard this node owns, and holds the shard until they are answered
/// (Cluster.md, "Fencing").
struct CommitFence: CommitAdmission {
  private let engine: LeaseEngine

  init(_ engine: LeaseEngine) { self.engine = engine }

  /// The commit, which ends its hold when it is answered; nil where the node does not own its shard.
  func admit(_ commit: Commit) -> Commit? {
    guard let shard = commit.shard else { return commit }
    guard let term = engine.beginCommit(under: shard) else { return nil }
    guard commit.generation.bind(to: term) else {
      engine.endCommit(under: shard, term: term)
      return nil
    }
    return Commit(changes: commit.changes, generation: commit.generation) { [engine] result in
      commit.completion(result)
      engine.endCommit(under: shard, term: term)
    }
  }

  /// Whether other nodes write to the database, too.
  var hasOtherNodes: Bool { engine.view.nodes.count > 1 }

  /// The database has refused a transaction: the lease must be looked at.
  func wasRefused() { engine.wake() }
}

extension Commit {
  /// The shard under which it was decided; nil for users' own changes, and for what was posted.
  fileprivate var shard: Shard? {
    for change in changes { if let group = change.group { return Shard(of: group) } }
    // What the application decides about a user: two nodes must not go on with one deletion.
    for change in changes { if let user = change.decidedUser { return Shard(of: user) } }
    // The presence of a user: the next owner of the shard must find it.
    if changes.count == 1, case .appendWebhook(let entry) = changes[0] { return Shard(of: entry.lane) }
    return nil
  }
}

extension StoreChange {
  /// The user whose shard's owner has decided it.
  fileprivate var decidedUser: UserID? {
    switch self {
    case .putDeletion(let deletion): deletion.userID
    case .putBlock(let user, _, at: _), .raiseTokensBefore(let user, _, at: _): user
    default: nil
    }
  }

  fileprivate var group: GroupID? {
    switch self {
    case .putGroup(let record, isNew: _): record.id
    case .putMember(_, in: let group, isKnown: _), .removeMember(_, from: let group, at: _), .putFormer(_, in: let group),
      .forgetFormer(_, in: let group), .putAttributes(_, in: let group), .putCounters(_, in: let group),
      .putReceiptMembers(_, from: _, in: let group), .addReadReceipts(_, of: _, in: let group),
      .endHidden(_, at: _, in: let group), .putLastShown(seq: _, at: _, in: let group), .putChangeSeq(_, at: _, in: let group),
      .removeReactions(seq: _, in: let group), .putStamp(revision: _, board: _, in: let group),
      .putChangeOrigin(_, seq: _, changeSeq: _, in: let group),
      .dismiss(let group, at: _, notifying: _):
      group
    case .putApplication(let application, asNewest: _): application.groupID
    case .noteGroup(_, in: let group), .removeApplications(_, in: let group): group
    case .putReport(let report): report.groupID
    case .append(let message), .revise(let message), .noteChange(let message): message.groupID
    case .updateReaction(let update): update.group
    case .notify, .putUserInfo, .putStatus, .putBlock, .raiseTokensBefore, .putDeletion, .forgetDeletion, .erase, .closeReport,
      .markApplicationsRead, .markNotificationsRead, .appendWebhook, .removeWebhooks, .giveUpWebhook,
      .removeWebhookFailures, .trimWebhookFailures:
      nil
    }
  }
}
