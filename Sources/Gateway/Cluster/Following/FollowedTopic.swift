import Cluster
import GroupModel
import GroupRuntime
import Synchronization

/// A group whose events come in units, and the sessions of this node that get them.
///
/// Units, answers and the clock come from several threads: what a unit changes is delivered before the
/// next one is looked at.
final class FollowedTopic: Sendable {
  /// What a change has brought.
  struct Outcome: Sendable {
    /// Whether this node follows the group no longer; nothing was changed where it was so before.
    var isEnded = false
    /// Whether `FollowedTopics` has to look at the topic.
    var mustNote = false
    /// Replays to be asked for.
    var replays: [(node: NodeNumber, from: GroupStamp?, through: GroupStamp)] = []
    /// Sessions to close, with the reason: outside of the lock, because groups hear of their end.
    var losses: [(reason: FollowLoss, users: Set<UserID>)] = []
    /// How many events were told again.
    var toldAgain = 0
  }

  /// The users whom the last `follow` has attached, and nobody before.
  private struct Additions: Sendable {
    /// Of the group's shard.
    private(set) var term: Int64 = 0
    /// Nil = all of them: there were no others.
    private var users: Set<UserID>? = []

    mutating func add(_ listed: Set<UserID>, to attached: Set<UserID>, in term: Int64) {
      if term != self.term {
        self.term = term
        users = []
      }
      if attached.isEmpty { users = nil } else { users?.formUnion(listed.subtracting(attached)) }
    }

    func contains(_ user: UserID) -> Bool { users?.contains(user) ?? true }
  }

  let group: GroupID
  let local: LocalTopic
  private let state: Mutex<FollowState>
  private let additions = Mutex(Additions())
  /// Finds the session that gets a reply instead of its own message.
  private let senders: any AwaitedSenders

  init(_ group: GroupID, local: LocalTopic, _ state: FollowState, senders: any AwaitedSenders) {
    self.group = group
    self.local = local
    self.state = Mutex(state)
    self.senders = senders
  }

  /// Whether nobody has to ask anything of it.
  var isSettled: Bool { state.withLock { $0.isSettled } }

  /// Whether the owner may not know that this node follows the group.
  var isUnknownToOwner: Bool { state.withLock { $0.isUnknownToOwner && $0.phase != .ended } }

  var isEnded: Bool { state.withLock { $0.phase == .ended } }

  /// A unit of a node has come.
  func receive(_ unit: TopicUnit, from node: NodeNumber, at now: MonotonicInstant) -> Outcome {
    update { $0.receive(unit, from: node, at: now) }
  }

  /// Changes the state, and delivers what follows from it.
  func update(_ body: (inout FollowState) -> [FollowState.Action]) -> Outcome {
    state.withLock { state in
      if state.phase == .ended { return Outcome(isEnded: true) }
      let (wasSettled, wasUnknown) = (state.isSettled, state.isUnknownToOwner)
      let actions = body(&state)
      var outcome = Outcome(isEnded: state.phase == .ended)
      for action in actions { perform(action, &outcome) }
      if outcome.isEnded { local.close() }
      outcome.mustNote =
        outcome.isEnded || wasSettled != state.isSettled || wasUnknown != state.isUnknownToOwner
      return outcome
    }
  }

  /// The question for the shard's owner, which is asked now; nil where there is none.
  func ask() -> (question: FollowState.Question?, shardOwner: NodeNumber?) {
    state.withLock { ($0.ask(), $0.shardOwner) }
  }

  /// Whether a user is attached, and was so by an owner of an earlier term.
  func hadAttached(_ user: UserID, before term: Int64) -> Bool {
    state.withLock { _ in
      local.attachedUsers.contains(user) && additions.withLock { $0.term < term || !$0.contains(user) }
    }
  }

  private func perform(_ action: FollowState.Action, _ outcome: inout Outcome) {
    switch action {
    case .deliver(let events): for event in events { deliver(event) }
    case .tellAgain(let events):
      outcome.toldAgain += events.count
      for event in events { tellAgain(event) }
    case .askReplay(let node, let from, let through): outcome.replays.append((node, from, through))
    case .loseTouch(let reason, let also):
      outcome.losses.append((reason, local.attachedUsers.union(also)))
      local.close()
    case .loseTouchOnly(let users): outcome.losses.append((.unplaced, Set(users)))
    }
  }

  private func deliver(_ event: TopicEvent) {
    switch event {
    case .follow(let users, let term, _):
      let (listed, attached) = (Set(users.map(\.user)), local.attachedUsers)
      for user in attached.subtracting(listed) { local.detach(user) }
      for user in users { _ = local.attach(user.user, receiving: user.option) }
      additions.withLock { $0.add(listed, to: attached, in: term) }
    case .attach(let user): _ = local.attach(user.user, receiving: user.option)
    case .detach(let user): local.detach(user)
    case .resetCompression: local.resetCompression()
    case .publish(let kind, let except, let frame): local.publish(frame, kind, except: except)
    case .send(let users, let except, let frame): local.send(frame, to: users, except: except)
    case .sendToSession(let session, let frame): local.send(frame, to: session)
    case .close: local.close()
    }
  }

  private func tellAgain(_ event: ReplayedEvent) {
    let session = event.sent.flatMap { senders.awaitedSend($0.sender, $0.clientMsgID, in: group) }
    if let users = event.users {
      local.send(event.frame, to: users, except: session)
    } else {
      local.publish(event.frame, event.kind, except: session)
    }
  }
}

/// Knows the sends of this node's sessions that wait for their replies.
protocol AwaitedSenders: Sendable {
  /// The session that waits for the reply to a send; nil where there is none.
  func awaitedSend(_ sender: UserID, _ clientMsgID: String, in group: GroupID) -> SessionKey?
}
