import Cluster
import GroupModel
import GroupRuntime

/// What a node asks the owner of groups, and an owner those that follow them.
enum FollowRequest: Sendable {
  /// A unit whose arrival is answered: the owner stores nothing before the receiver follows the group.
  case confirm(GroupID, TopicUnit)
  /// Whether something is missing behind these stamps; at most `FollowedTopics.maxCompared`.
  case compare([FollowQuestion])
  /// What came behind a stamp; nil = the last state of a live room.
  case replay(GroupID, from: GroupStamp?, through: GroupStamp)
}

/// How far a node is with a group.
struct FollowQuestion: Sendable, Hashable {
  let group: GroupID
  /// Nil = the group has none, as a live room.
  let stamp: GroupStamp?
}

/// The answer to a `FollowRequest`.
enum FollowReply: Sendable {
  case confirmed
  case compared([Comparison])
  case replayed(GroupReplay)
}

/// Whether a node that follows a group has missed something, by the group's owner.
enum Comparison: UInt8, Sendable, CaseIterable {
  /// Nothing.
  case same = 1
  /// Something, and a unit with `TopicEvent.follow` is on its way.
  case different
  /// The group is not there, or has no members on that node.
  case gone
  /// The node that was asked is not the owner.
  case moved

  /// For metrics.
  var name: String {
    switch self {
    case .same: "same"
    case .different: "different"
    case .gone: "gone"
    case .moved: "moved"
    }
  }
}

// MARK: Bytes

extension FollowRequest {
  private enum Tag: UInt8 {
    case confirm = 1
    case compare, replay
  }

  func write(to writer: inout EntryWriter) {
    switch self {
    case .confirm(let group, let unit):
      writer.bytes.byte(Tag.confirm.rawValue)
      writer.group(group)
      writer.unit(unit)
    case .compare(let questions):
      writer.bytes.byte(Tag.compare.rawValue)
      writer.bytes.count(questions.count)
      for question in questions {
        writer.group(question.group)
        writer.optionalStamp(question.stamp)
      }
    case .replay(let group, let from, let through):
      writer.bytes.byte(Tag.replay.rawValue)
      writer.group(group)
      writer.optionalStamp(from)
      writer.stamp(through)
    }
  }

  init(from reader: inout EntryReader) throws(MalformedMessage) {
    let number = try reader.bytes.byte()
    guard let tag = Tag(rawValue: number) else { throw MalformedMessage("an unknown question of a follower: \(number)") }
    switch tag {
    case .confirm:
      let group = try reader.group()
      self = .confirm(group, try reader.unit())
    case .compare:
      let count = try reader.bytes.count()
      guard count <= FollowedTopics.maxCompared else { throw MalformedMessage("too many groups to compare") }
      var questions: [FollowQuestion] = []
      for _ in 0..<count { questions.append(FollowQuestion(group: try reader.group(), stamp: try reader.optionalStamp())) }
      self = .compare(questions)
    case .replay:
      let group = try reader.group()
      let from = try reader.optionalStamp()
      self = .replay(group, from: from, through: try reader.stamp())
    }
  }
}

extension FollowReply {
  private enum Tag: UInt8 {
    case confirmed = 1
    case compared, events, impossible
  }

  func write(to writer: inout EntryWriter) {
    switch self {
    case .confirmed: writer.bytes.byte(Tag.confirmed.rawValue)
    case .compared(let results):
      writer.bytes.byte(Tag.compared.rawValue)
      writer.bytes.data(results.map(\.rawValue))
    case .replayed(.events(let events)):
      writer.bytes.byte(Tag.events.rawValue)
      writer.bytes.list(events) { writer, event in
        writer.data(event.frame)
        writer.byte(event.kind.byte)
        writer.optional(event.users) { writer, users in writer.list(users) { $0.text($1.rawValue) } }
        writer.optional(event.sent) { writer, sent in
          writer.text(sent.sender.rawValue)
          writer.text(sent.clientMsgID)
        }
      }
    case .replayed(.impossible(let reason)):
      writer.bytes.byte(Tag.impossible.rawValue)
      writer.bytes.text(reason.rawValue)
    }
  }

  init(from reader: inout EntryReader) throws(MalformedMessage) {
    let number = try reader.bytes.byte()
    guard let tag = Tag(rawValue: number) else { throw MalformedMessage("an unknown answer to a follower: \(number)") }
    switch tag {
    case .confirmed: self = .confirmed
    case .compared:
      var results: [Comparison] = []
      for byte in try reader.bytes.data() {
        guard let result = Comparison(rawValue: byte) else { throw MalformedMessage("an unknown result: \(byte)") }
        results.append(result)
      }
      self = .compared(results)
    case .events:
      let count = try reader.bytes.count()
      var events: [ReplayedEvent] = []
      for _ in 0..<count { events.append(try reader.replayedEvent()) }
      self = .replayed(.events(events))
    case .impossible:
      guard let reason = GroupReplay.Reason(rawValue: try reader.bytes.text()) else {
        throw MalformedMessage("an unknown reason")
      }
      self = .replayed(.impossible(reason))
    }
  }
}

extension EntryWriter {
  fileprivate mutating func optionalStamp(_ stamp: GroupStamp?) {
    bytes.flag(stamp != nil)
    if let stamp { self.stamp(stamp) }
  }
}

extension EntryReader {
  /// As long as the contract allows.
  private static let maxClientMsgIDBytes = 256

  fileprivate mutating func optionalStamp() throws(MalformedMessage) -> GroupStamp? {
    try bytes.flag() ? try stamp() : nil
  }

  fileprivate mutating func replayedEvent() throws(MalformedMessage) -> ReplayedEvent {
    let frame = try bytes.data()
    let kind = try eventClass()
    let users = try bytes.flag() ? try self.users() : nil
    guard try bytes.flag() else { return ReplayedEvent(frame: frame, kind: kind, users: users) }
    let sender = try user()
    let id = try bytes.text()
    guard id.utf8.count <= EntryReader.maxClientMsgIDBytes else { throw MalformedMessage("no clientMsgID") }
    return ReplayedEvent(frame: frame, kind: kind, users: users, sent: (sender: sender, clientMsgID: id))
  }
}
