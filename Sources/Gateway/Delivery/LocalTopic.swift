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

  func attach(_ user: UserID, receiving option: ReceiveOption) -> Bool {
    let connections = directory.attach(group, to: user)
    if connections.isEmpty {
      state.withLock { _ = $0.attached.remove(user) }
      return false
    }
    state.withLock { _ = $0.attached.insert(user) }
    for connection in connections {
      let shard = shard(of: connection.loop)
      shard.loop.perform { shard.topic().subscribe(connection, mask: option.mask) }
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
    for shard in state.withLock({ $0.shards }) {
      if shard.loop.isCurrent {
        shard.publish(frame, kind, except: session)
      } else {
        shard.loop.enqueue { shard.publish(frame, kind, except: session) }
      }
    }
  }

  func send(_ frame: [UInt8], to users: [UserID], except session: SessionKey?) {
    for user in users {
      for entry in directory.sessions(of: user) where entry.session.key != session {
        let connection = entry.connection
        let shard = shard(of: connection.loop)
        shard.loop.perform { shard.topic().send(frame, to: connection) }
      }
    }
  }

  func send(_ frame: [UInt8], to session: SessionKey) {
    guard let shard = state.withLock({ $0.shards.first { $0.loop.index == session.loop } }) else { return }
    shard.loop.perform { shard.topic().send(frame, to: Connection(number: session.connection, on: shard.loop)) }
  }

  func close() {
    let (shards, attached) = state.withLock { state in
      defer { state = State() }
      return (state.shards, state.attached)
    }
    for user in attached { _ = directory.detach(group, from: user) }
    for shard in shards { shard.loop.perform { shard.close() } }
  }

  func suspend() {
    directory.noteSuspendedRoom(of: Array(state.withLock { $0.attached }))
    close()
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
  /// Touched on `loop`'s thread only: every use is one that `loop` performs. That is the proof of the unchecked conformance.
  private var opened: Topic?

  init(_ loop: EventLoop) { self.loop = loop }

  func topic() -> Topic {
    if let opened { return opened }
    let topic = Topic(on: loop)
    opened = topic
    return topic
  }

  func publish(_ frame: [UInt8], _ kind: EventClass, except session: SessionKey?) {
    let own = session.flatMap { $0.loop == loop.index ? Connection(number: $0.connection, on: loop) : nil }
    topic().publish(frame, lane: kind.lane, kind: kind.bit, except: own)
  }

  func close() { opened = nil }
}

/// The bits that a subscription's mask is compared with: what happened, and who speaks.
private enum KindBit {
  static let happening: UInt8 = 1
  static let chatOfMembers: UInt8 = 2
  static let chatOfManagers: UInt8 = 4
}

extension EventClass {
  fileprivate var bit: UInt8 {
    switch self {
    case .control, .notice: KindBit.happening
    case .storedChat(let fromManager), .liveChat(let fromManager):
      fromManager ? KindBit.chatOfManagers : KindBit.chatOfMembers
    }
  }

  /// What a slow connection may miss.
  fileprivate var lane: Lane {
    switch self {
    case .control, .storedChat: .lossless
    case .notice, .liveChat: .skippable
    }
  }
}

extension ReceiveOption {
  fileprivate var mask: UInt8 {
    switch self {
    case .receive, .receiveNotNotify: KindBit.happening | KindBit.chatOfMembers | KindBit.chatOfManagers
    case .receiveFromManagers: KindBit.happening | KindBit.chatOfManagers
    case .notReceive: KindBit.happening
    }
  }
}
