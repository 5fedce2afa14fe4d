import Cluster
import GroupModel
import WireProtocol

/// The answer of another node.
enum RemoteReply: Sendable {
  /// The node is not the shard's owner, and has done nothing.
  case moved
  case reply(Reply)
  case rows([RowReply])
  case sessions([SessionInfo])
  case count(Int64)
  /// Nil = there is no such trace.
  case traceEntries(TraceBatch?)
  case activeGroups([ActiveGroup])
  case administratorActions([AdministratorAction])
  case posted(PostedCall.Answer)
  case following(FollowReply)
}

// MARK: Bytes

extension RemoteReply {
  private enum Tag: UInt8 {
    case moved = 1
    case reply, rows, sessions, count, traceEntries, activeGroups, administratorActions, posted, following
  }

  func write(to writer: inout EntryWriter) {
    switch self {
    case .moved: writer.bytes.byte(Tag.moved.rawValue)
    case .reply(let reply):
      writer.bytes.byte(Tag.reply.rawValue)
      reply.write(to: &writer)
    case .rows(let rows):
      writer.bytes.byte(Tag.rows.rawValue)
      writer.bytes.count(rows.count)
      for row in rows {
        switch row {
        case .moved: writer.bytes.flag(false)
        case .reply(let reply):
          writer.bytes.flag(true)
          reply.write(to: &writer)
        }
      }
    case .sessions(let sessions):
      writer.bytes.byte(Tag.sessions.rawValue)
      writer.bytes.count(sessions.count)
      for session in sessions {
        writer.bytes.text(session.sessionID)
        writer.platform(session.platform)
        writer.bytes.optional(session.deviceID) { $0.text($1) }
        writer.bytes.text(session.address)
        writer.instant(session.loginTime)
      }
    case .count(let count):
      writer.bytes.byte(Tag.count.rawValue)
      writer.bytes.signed(count)
    case .traceEntries(let batch):
      writer.bytes.byte(Tag.traceEntries.rawValue)
      writer.bytes.flag(batch != nil)
      if let batch { writer.batch(batch) }
    case .activeGroups(let groups):
      writer.bytes.byte(Tag.activeGroups.rawValue)
      writer.bytes.list(groups) { writer, group in
        writer.text(group.groupID)
        for number in [group.events, group.deliveries, group.bytes, group.connections] { writer.signed(number) }
      }
    case .administratorActions(let actions):
      writer.bytes.byte(Tag.administratorActions.rawValue)
      writer.bytes.count(actions.count)
      for action in actions { writer.action(action) }
    case .posted(let answer):
      writer.bytes.byte(Tag.posted.rawValue)
      answer.write(to: &writer)
    case .following(let reply):
      writer.bytes.byte(Tag.following.rawValue)
      reply.write(to: &writer)
    }
  }

  init(from reader: inout EntryReader) throws(MalformedMessage) {
    let number = try reader.bytes.byte()
    guard let tag = Tag(rawValue: number) else { throw MalformedMessage("an unknown reply: \(number)") }
    switch tag {
    case .moved: self = .moved
    case .reply: self = .reply(try Reply(from: &reader))
    case .rows:
      let count = try reader.bytes.count()
      var rows: [RowReply] = []
      for _ in 0..<count { rows.append(try reader.bytes.flag() ? .reply(try Reply(from: &reader)) : .moved) }
      self = .rows(rows)
    case .sessions:
      let count = try reader.bytes.count()
      var sessions: [SessionInfo] = []
      for _ in 0..<count {
        sessions.append(
          SessionInfo(
            sessionID: try reader.bytes.text(), platform: try reader.platform(),
            deviceID: try reader.bytes.optional { (reader) throws(MalformedMessage) in try reader.text() },
            address: try reader.bytes.text(), loginTime: try reader.instant()))
      }
      self = .sessions(sessions)
    case .count: self = .count(try reader.bytes.signed())
    case .traceEntries: self = .traceEntries(try reader.bytes.flag() ? try reader.batch() : nil)
    case .activeGroups:
      self = .activeGroups(
        try reader.bytes.list { (reader) throws(MalformedMessage) in
          ActiveGroup(
            groupID: try reader.text(), events: try reader.signed(), deliveries: try reader.signed(), bytes: try reader.signed(),
            connections: try reader.signed())
        })
    case .administratorActions:
      let count = try reader.bytes.count()
      var actions: [AdministratorAction] = []
      for _ in 0..<count { actions.append(try reader.action()) }
      self = .administratorActions(actions)
    case .posted: self = .posted(try PostedCall.Answer(from: &reader))
    case .following: self = .following(try FollowReply(from: &reader))
    }
  }
}

extension PostedCall.Answer {
  private enum Tag: UInt8 {
    case text = 1
    case nothing, gone
  }

  fileprivate func write(to writer: inout EntryWriter) {
    switch self {
    case .text(let text):
      writer.bytes.byte(Tag.text.rawValue)
      writer.bytes.data(text)
    case .nothing: writer.bytes.byte(Tag.nothing.rawValue)
    case .gone: writer.bytes.byte(Tag.gone.rawValue)
    }
  }

  fileprivate init(from reader: inout EntryReader) throws(MalformedMessage) {
    let number = try reader.bytes.byte()
    guard let tag = Tag(rawValue: number) else { throw MalformedMessage("an unknown answer: \(number)") }
    switch tag {
    case .text: self = .text(try reader.bytes.data())
    case .nothing: self = .nothing
    case .gone: self = .gone
    }
  }
}

extension Reply {
  private enum Tag: UInt8 {
    case failure = 1
    case empty, text, noRow, number
  }

  fileprivate func write(to writer: inout EntryWriter) {
    switch self {
    case .failure(let error):
      writer.bytes.byte(Tag.failure.rawValue)
      writer.bytes.signed(Int64(error.code.rawValue))
      writer.bytes.flag(error.isTemporary)
      writer.bytes.text(error.message)
      writer.bytes.optional(error.field) { $0.text($1) }
      writer.bytes.optional(error.retryAfterMs) { $0.signed($1) }
    case .success(.empty): writer.bytes.byte(Tag.empty.rawValue)
    case .success(.groupInfo(nil)): writer.bytes.byte(Tag.noRow.rawValue)
    case .success(.unreadCount(let count)):
      writer.bytes.byte(Tag.number.rawValue)
      writer.bytes.signed(Int64(count))
    case .success(let value):
      writer.bytes.byte(Tag.text.rawValue)
      writer.bytes.data(value.text)
    }
  }

  fileprivate init(from reader: inout EntryReader) throws(MalformedMessage) {
    let number = try reader.bytes.byte()
    guard let tag = Tag(rawValue: number) else { throw MalformedMessage("an unknown result: \(number)") }
    switch tag {
    case .failure:
      guard let code = ErrorCode(rawValue: Int(try reader.bytes.signed())) else { throw MalformedMessage("an unknown error") }
      self = .failure(
        WireError(
          code: code, isTemporary: try reader.bytes.flag(), message: try reader.bytes.text(),
          field: try reader.bytes.optional { (reader) throws(MalformedMessage) in try reader.text() },
          retryAfterMs: try reader.bytes.optional { (reader) throws(MalformedMessage) in try reader.signed() }))
    case .empty: self = .empty
    case .text: self = .success(.encoded(try reader.bytes.data()))
    case .noRow: self = .success(.groupInfo(nil))
    case .number: self = .success(.unreadCount(Int(try reader.bytes.signed())))
    }
  }
}
