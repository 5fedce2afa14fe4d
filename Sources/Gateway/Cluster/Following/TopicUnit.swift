import Cluster
import GroupModel
import GroupRuntime

/// What the owner of a group tells another node of one decision: all of it in one message, so that it
/// arrives as a whole or not at all (Cluster.md, "Events between nodes").
struct TopicUnit: Sendable, Equatable {
  /// How far the node is with the group behind it; nil = nothing of it is stored.
  var step: StampStep?
  var events: [TopicEvent]

  /// A unit with everything given.
  init(_ step: StampStep? = nil, _ events: [TopicEvent] = []) {
    self.step = step
    self.events = events
  }

  /// The term from which on its sender is the owner; nil where it does not begin to be followed.
  var followTerm: Int64? {
    for case .follow(_, let term, _) in events { return term }
    return nil
  }

  var isFollow: Bool { followTerm != nil }

  /// Whether it repeats that the receiver follows, which was told of later stamps since.
  var isRepeatedFollow: Bool {
    for case .follow(_, _, let isRepeated) in events { return isRepeated }
    return false
  }

  /// All users that are attached; none where the receiver does not begin to follow.
  var followedUsers: [AttachedUser] {
    for case .follow(let users, _, _) in events { return users }
    return []
  }

  /// Whether it attaches so many users that a loop must not do that itself.
  var isLong: Bool { followedUsers.count > TopicUnit.attachedAtOnce }

  /// How many users a loop attaches at once.
  static let attachedAtOnce = 1000

  /// Whether it may wait for a frame of many: nobody waits for news of members.
  var mayWait: Bool { events.allSatisfy(\.mayWait) }
}

/// A stamp as a unit tells it.
enum StampStep: Sendable, Equatable {
  /// In full, beside `TopicEvent.follow`: the events of the unit came before it, or change no stamp.
  case whole(GroupStamp)
  /// The components that differ from where the sender's last unit ended.
  case change(StampChange)
}

/// The components of a stamp that another one has not.
struct StampChange: Sendable, Equatable {
  var seq, changeSeq, revision, board: Int64?

  /// The difference from one stamp to another of the same epoch.
  init(from: GroupStamp, to: GroupStamp) {
    seq = from.seq == to.seq ? nil : to.seq
    changeSeq = from.changeSeq == to.changeSeq ? nil : to.changeSeq
    revision = from.revision == to.revision ? nil : to.revision
    board = from.board == to.board ? nil : to.board
  }

  /// A difference with everything given; nil = the same.
  init(seq: Int64? = nil, changeSeq: Int64? = nil, revision: Int64? = nil, board: Int64? = nil) {
    (self.seq, self.changeSeq, self.revision, self.board) = (seq, changeSeq, revision, board)
  }

  var isEmpty: Bool { seq == nil && changeSeq == nil && revision == nil && board == nil }

  /// The stamp behind a change of this one.
  func applied(to stamp: GroupStamp) -> GroupStamp {
    GroupStamp(
      epoch: stamp.epoch, seq: seq ?? stamp.seq, changeSeq: changeSeq ?? stamp.changeSeq,
      revision: revision ?? stamp.revision, board: board ?? stamp.board)
  }
}

/// A user whom the owner of a group has attached on a node.
struct AttachedUser: Sendable, Hashable {
  let user: UserID
  let option: ReceiveOption

  /// A user with a choice of chat.
  init(_ user: UserID, _ option: ReceiveOption) {
    self.user = user
    self.option = option
  }
}

/// A part of a unit: a call of the owner's topic.
enum TopicEvent: Sendable, Equatable {
  /// The receiver follows the sender from now on: all of its users that are attached, and no others. The
  /// term of the shard tells it from a former owner's, which may come late.
  /// - Parameter isRepeated: the receiver was told so before, and of later stamps since.
  case follow([AttachedUser], term: Int64, isRepeated: Bool = false)
  case attach(AttachedUser)
  case detach(UserID)
  /// Frames behind it are compressed without those before it.
  case resetCompression
  case publish(EventClass, except: SessionKey?, frame: [UInt8])
  case send([UserID], except: SessionKey?, frame: [UInt8])
  case sendToSession(SessionKey, frame: [UInt8])
  /// Behind the last frame: the receiver follows the group no longer.
  case close

  fileprivate var mayWait: Bool {
    switch self {
    case .follow, .attach, .detach, .resetCompression, .send: true
    case .publish, .sendToSession, .close: false
    }
  }

  /// About how many bytes it keeps while it waits for a replay.
  var keptBytes: Int {
    switch self {
    case .follow(let users, _, _): 64 + 32 * users.count
    case .attach, .detach, .resetCompression, .close: 64
    case .publish(_, _, let frame), .sendToSession(_, let frame): 64 + frame.count
    case .send(let users, _, let frame): 64 + 16 * users.count + frame.count
    }
  }
}

// MARK: Bytes

extension EntryWriter {
  private enum Mask {
    static let seq: UInt8 = 1
    static let changeSeq: UInt8 = 2
    static let revision: UInt8 = 4
    static let board: UInt8 = 8
    static let whole: UInt8 = 0x80
  }

  mutating func unit(_ unit: TopicUnit) {
    switch unit.step {
    case nil: bytes.byte(0)
    case .whole(let stamp):
      bytes.byte(Mask.whole)
      self.stamp(stamp)
    case .change(let change):
      var mask: UInt8 = 0
      if change.seq != nil { mask |= Mask.seq }
      if change.changeSeq != nil { mask |= Mask.changeSeq }
      if change.revision != nil { mask |= Mask.revision }
      if change.board != nil { mask |= Mask.board }
      bytes.byte(mask)
      for number in [change.seq, change.changeSeq, change.revision, change.board] {
        if let number { bytes.signed(number) }
      }
    }
    bytes.count(unit.events.count)
    for event in unit.events { self.event(event) }
  }

  mutating func stamp(_ stamp: GroupStamp) {
    bytes.text(stamp.epoch)
    for number in [stamp.seq, stamp.changeSeq, stamp.revision, stamp.board] { bytes.signed(number) }
  }

  private mutating func event(_ event: TopicEvent) {
    switch event {
    case .follow(let users, let term, let isRepeated):
      bytes.byte(EventTag.follow.rawValue)
      bytes.signed(term)
      bytes.flag(isRepeated)
      bytes.count(users.count)
      for user in users { attached(user) }
    case .attach(let user):
      bytes.byte(EventTag.attach.rawValue)
      attached(user)
    case .detach(let user):
      bytes.byte(EventTag.detach.rawValue)
      self.user(user)
    case .resetCompression: bytes.byte(EventTag.resetCompression.rawValue)
    case .publish(let kind, let except, let frame):
      bytes.byte(EventTag.publish.rawValue)
      bytes.byte(kind.byte)
      optionalKey(except)
      bytes.data(frame)
    case .send(let users, let except, let frame):
      bytes.byte(EventTag.send.rawValue)
      bytes.list(users) { $0.text($1.rawValue) }
      optionalKey(except)
      bytes.data(frame)
    case .sendToSession(let key, let frame):
      bytes.byte(EventTag.sendToSession.rawValue)
      self.key(key)
      bytes.data(frame)
    case .close: bytes.byte(EventTag.close.rawValue)
    }
  }

  private mutating func attached(_ user: AttachedUser) {
    self.user(user.user)
    option(user.option)
  }
}

extension EntryReader {
  /// An epoch is a short random text.
  private static let maxEpochBytes = 64

  mutating func unit() throws(MalformedMessage) -> TopicUnit {
    let step = try step()
    let count = try bytes.count()
    var events: [TopicEvent] = []
    // Each takes a byte at least, so a count beyond the bytes ends with them.
    for _ in 0..<count { events.append(try event()) }
    return TopicUnit(step, events)
  }

  private mutating func step() throws(MalformedMessage) -> StampStep? {
    let mask = try bytes.byte()
    if mask == 0 { return nil }
    if mask == 0x80 { return .whole(try stamp()) }
    guard mask < 0x10 else { throw MalformedMessage("an unknown part of a stamp: \(mask)") }
    var change = StampChange()
    if mask & 1 != 0 { change.seq = try bytes.signed() }
    if mask & 2 != 0 { change.changeSeq = try bytes.signed() }
    if mask & 4 != 0 { change.revision = try bytes.signed() }
    if mask & 8 != 0 { change.board = try bytes.signed() }
    return .change(change)
  }

  mutating func stamp() throws(MalformedMessage) -> GroupStamp {
    let epoch = try bytes.text()
    guard epoch.utf8.count <= EntryReader.maxEpochBytes else { throw MalformedMessage("no epoch") }
    return GroupStamp(
      epoch: epoch, seq: try bytes.signed(), changeSeq: try bytes.signed(), revision: try bytes.signed(),
      board: try bytes.signed())
  }

  private mutating func event() throws(MalformedMessage) -> TopicEvent {
    let number = try bytes.byte()
    guard let tag = EventTag(rawValue: number) else { throw MalformedMessage("an unknown event: \(number)") }
    switch tag {
    case .follow:
      let (term, isRepeated) = (try bytes.signed(), try bytes.flag())
      let count = try bytes.count()
      var users: [AttachedUser] = []
      for _ in 0..<count { users.append(try attached()) }
      return .follow(users, term: term, isRepeated: isRepeated)
    case .attach: return .attach(try attached())
    case .detach: return .detach(try user())
    case .resetCompression: return .resetCompression
    case .publish: return .publish(try eventClass(), except: try optionalKey(), frame: try bytes.data())
    case .send: return .send(try users(), except: try optionalKey(), frame: try bytes.data())
    case .sendToSession: return .sendToSession(try key(), frame: try bytes.data())
    case .close: return .close
    }
  }

  private mutating func attached() throws(MalformedMessage) -> AttachedUser {
    AttachedUser(try user(), try option())
  }
}

private enum EventTag: UInt8 {
  case follow = 1
  case attach, detach, resetCompression, publish, send, sendToSession, close
}
