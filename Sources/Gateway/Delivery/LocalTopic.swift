import GroupModel
import GroupRuntime
import Synchronization
import WebSocketTransport

/// A group's topic: one fan-out log on each loop that has members of it.
///
/// The shards are found by the group's executor alone (`GroupTopic` says so), but which thread that is may differ from topic to
/// topic, so a mutex stands in for what the compiler cannot see; it is never contended.
final class LocalTopic: GroupTopic {
  private struct State {
    var shards: [Shard] = []
    var attached: Set<UserID> = []
  }

  private let group: GroupID
  private let directory: SessionDirectory
  private let state = Mutex(State())

  init(_ group: GroupID, directory: SessionDirectory) {
    self.group = group
    self.directory = directory
  }

  func attach(_ user: UserID) -> Bool {
    let connections = directory.attach(group, to: user)
    if connections.isEmpty {
      state.withLock { _ = $0.attached.remove(user) }
      return false
    }
    state.withLock { _ = $0.attached.insert(user) }
    for connection in connections {
      let shard = shard(of: connection.loop)
      shard.loop.perform { shard.topic().subscribe(connection) }
    }
    return true
  }

  func detach(_ user: UserID) {
    state.withLock { _ = $0.attached.remove(user) }
    for connection in directory.detach(group, from: user) {
      let shard = shard(of: connection.loop)
      shard.loop.perform { shard.topic().unsubscribe(connection) }
    }
  }

  func publish(_ frame: [UInt8], _ kind: EventClass, except session: SessionKey?) {
    let lane: Lane = kind == .liveChat ? .skippable : .lossless
    for shard in state.withLock({ $0.shards }) {
      shard.loop.perform {
        let own = session.flatMap { $0.loop == shard.loop.index ? Connection(number: $0.connection, on: shard.loop) : nil }
        shard.topic().publish(frame, lane: lane, kind: kind.bit, except: own)
      }
    }
  }

  func send(_ frame: [UInt8], to users: [UserID]) {
    for user in users {
      for connection in directory.sessions(of: user).map(\.connection) {
        let shard = shard(of: connection.loop)
        shard.loop.perform { shard.topic().send(frame, to: connection) }
      }
    }
  }

  func close() {
    let (shards, attached) = state.withLock { state in
      defer { state = State() }
      return (state.shards, state.attached)
    }
    for user in attached { _ = directory.detach(group, from: user) }
    for shard in shards { shard.loop.perform { shard.close() } }
  }

  private func shard(of loop: EventLoop) -> Shard {
    state.withLock { state in
      if let shard = state.shards.first(where: { $0.loop === loop }) { return shard }
      let shard = Shard(loop)
      state.shards.append(shard)
      return shard
    }
  }
}

/// The part of a topic that lives on one loop.
private final class Shard: @unchecked Sendable {
  let loop: EventLoop
  /// Touched on `loop`'s thread only: every use stands inside `loop.perform`. That is the proof of the unchecked conformance.
  private var opened: Topic?

  init(_ loop: EventLoop) { self.loop = loop }

  func topic() -> Topic {
    if let opened { return opened }
    let topic = Topic(on: loop)
    opened = topic
    return topic
  }

  func close() { opened = nil }
}

extension EventClass {
  /// The class bit that a subscription's mask is compared with.
  fileprivate var bit: UInt8 {
    switch self {
    case .control: 1
    case .storedChat, .liveChat: 2
    }
  }
}
