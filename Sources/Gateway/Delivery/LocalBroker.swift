import GroupModel
import GroupRuntime
import Synchronization
import WebSocketTransport

/// Carries frames inside one process: from a group's executor to the loops of its members'
/// connections.
package final class LocalBroker: Broker {
  private let directory: SessionDirectory
  private let tracer: Tracer

  /// - Parameter directory: has the sessions of this process.
  package init(directory: SessionDirectory, tracer: Tracer) {
    self.directory = directory
    self.tracer = tracer
  }

  package func openTopic(of group: GroupID) -> any GroupTopic { LocalTopic(group, directory: directory, tracer: tracer) }

  package var usersSignedIn: Int { directory.userCount }

  package func noteSuspendedRoom(of users: [UserID]) { directory.noteSuspendedRoom(of: users) }

  package func signedIn(among users: [UserID]) -> [UserID] { directory.signedIn(among: users) }

  package func signedInUsers() -> [UserID] { directory.signedInUsers() }
}

/// A group's topic: one fan-out log on each loop that has, or had, members of it.
///
/// Calls come one at a time (`GroupTopic`), but from threads that differ from topic to topic, which
/// the compiler cannot see: hence a mutex, which is never contended.
final class LocalTopic: GroupTopic {
  private struct State {
    /// Another one behind each `close`.
    let number = TopicNumber()
    var loopTopics: [LoopTopic] = []
    var attached: Set<UserID> = []
  }

  private let group: GroupID
  private let directory: SessionDirectory
  /// Nil = its events are noted elsewhere.
  private let tracer: Tracer?
  private let state = Mutex(State())

  init(_ group: GroupID, directory: SessionDirectory, tracer: Tracer? = nil) {
    self.group = group
    self.directory = directory
    self.tracer = tracer
  }

  func attach(_ user: UserID, receiving option: ReceiveOption) -> Bool {
    let connections = directory.attach(group, to: user, by: state.withLock { $0.number })
    if connections.isEmpty {
      state.withLock { _ = $0.attached.remove(user) }
      return false
    }
    state.withLock { _ = $0.attached.insert(user) }
    for connection in connections {
      let loopTopic = loopTopic(of: connection.loop)
      loopTopic.loop.perform { loopTopic.topic().subscribe(connection, mask: option.mask) }
    }
    return true
  }

  func detach(_ user: UserID) {
    let number = state.withLock { state in
      state.attached.remove(user)
      return state.number
    }
    for connection in directory.detach(group, from: user, by: number) {
      let loopTopic = loopTopic(of: connection.loop)
      loopTopic.loop.perform { loopTopic.topic().unsubscribe(connection) }
    }
  }

  func resetCompression() {
    for loopTopic in state.withLock({ $0.loopTopics }) { loopTopic.loop.perform { loopTopic.topic().resetCompression() } }
  }

  func publish(_ frame: [UInt8], _ kind: EventClass, except session: SessionKey?) {
    if let tracer, tracer.isActive {
      let attached = state.withLock { $0.attached }
      tracer.noteEvent(frame, of: group) { attached.contains($0) }
    }
    for loopTopic in state.withLock({ $0.loopTopics }) {
      if loopTopic.loop.isCurrent {
        loopTopic.append(frame, kind, except: session)
      } else {
        loopTopic.loop.enqueue { loopTopic.append(frame, kind, except: session) }
      }
    }
  }

  func send(_ frame: [UInt8], to users: [UserID], except session: SessionKey?) {
    if let tracer, tracer.isActive { tracer.noteEvent(frame, of: group) { users.contains($0) } }
    for user in users {
      for entry in directory.sessions(of: user) where entry.session.key != session {
        let connection = entry.connection
        let loopTopic = loopTopic(of: connection.loop)
        loopTopic.loop.perform { loopTopic.topic().send(frame, to: connection) }
      }
    }
  }

  func send(_ frame: [UInt8], to session: SessionKey) {
    guard let loopTopic = state.withLock({ $0.loopTopics.first { $0.loop.index == session.loop } }) else { return }
    loopTopic.loop.perform { loopTopic.topic().send(frame, to: Connection(number: session.connection, on: loopTopic.loop)) }
  }

  func close() {
    let closed = state.withLock { state in
      defer { state = State() }
      return state
    }
    directory.detach(group, fromAll: closed.attached, by: closed.number)
    for loopTopic in closed.loopTopics { loopTopic.loop.perform { loopTopic.close() } }
  }

  func suspend() {
    directory.noteSuspendedRoom(of: Array(state.withLock { $0.attached }))
    close()
  }

  /// The users whose sessions are attached.
  var attachedUsers: Set<UserID> { state.withLock { $0.attached } }

  /// Whether no user is attached.
  var isEmpty: Bool { state.withLock { $0.attached.isEmpty } }

  private func loopTopic(of loop: EventLoop) -> LoopTopic {
    state.withLock { state in
      if let loopTopic = state.loopTopics.first(where: { $0.loop === loop }) { return loopTopic }
      let loopTopic = LoopTopic(loop, group)
      state.loopTopics.append(loopTopic)
      return loopTopic
    }
  }
}

/// The part of a topic that lives on one loop.
private final class LoopTopic: @unchecked Sendable {
  let loop: EventLoop
  private let group: GroupID
  /// @unchecked: used on `loop`'s thread only, because every caller goes through `loop`.
  private var opened: Topic?

  init(_ loop: EventLoop, _ group: GroupID) {
    self.loop = loop
    self.group = group
  }

  func topic() -> Topic {
    if let opened { return opened }
    let topic = Topic(on: loop, name: group.rawValue)
    opened = topic
    return topic
  }

  func append(_ frame: [UInt8], _ kind: EventClass, except session: SessionKey?) {
    let own = session.flatMap { $0.loop == loop.index ? Connection(number: $0.connection, on: loop) : nil }
    topic().publish(frame, kind.reliability, kind: kind.bit, except: own)
  }

  func close() { opened = nil }
}

/// The bits of a subscription's mask: which frames it receives.
private enum FrameKind {
  static let event: UInt8 = 1
  static let memberMessage: UInt8 = 2
  static let managerMessage: UInt8 = 4
  static let signal: UInt8 = 8
}

extension EventClass {
  fileprivate var bit: UInt8 {
    switch self {
    case .control, .notice: FrameKind.event
    case .storedChat(let fromManager), .liveChat(let fromManager):
      fromManager ? FrameKind.managerMessage : FrameKind.memberMessage
    case .signal: FrameKind.signal
    }
  }

  /// Slow connections may miss skippable frames.
  fileprivate var reliability: Reliability {
    switch self {
    case .control, .storedChat: .lossless
    case .notice, .liveChat, .signal: .skippable
    }
  }
}

extension ReceiveOption {
  fileprivate var mask: UInt8 {
    switch self {
    case .receive, .receiveNotNotify, .notifyFromManagers:
      FrameKind.event | FrameKind.signal | FrameKind.memberMessage | FrameKind.managerMessage
    case .receiveFromManagers: FrameKind.event | FrameKind.signal | FrameKind.managerMessage
    case .notReceive: FrameKind.event
    }
  }
}

/// Groups run on the loops, so that a message between a session and a group of one loop needs no
/// hop.
extension LoopExecutor: GroupExecutor {}
