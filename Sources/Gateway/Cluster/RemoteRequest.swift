import Cluster
import GroupModel
import GroupRuntime
import WireProtocol

/// A request of one node to another.
enum RemoteRequest: Sendable {
  /// A client's request, or one of the application's, for the owner of a shard: its text as it came.
  case call(RequestText, by: Caller, shard: Shard)
  /// Rows of answers over several groups: the receiver may answer the first of them only.
  case rows([RowRequest], by: Caller)
  /// What a node that follows groups asks their owner, and what the owner asks it.
  case following(FollowRequest)
  /// A user's sessions have changed: groups of the receiver attach them.
  case presence(Group.Presence, in: [Membership])
  /// A user's texts have changed.
  case userInfo(UserID, UserProfile?, frame: [UInt8]?, except: SessionKey?)
  /// Ends the receiver's sessions of a user; answered with their number.
  case endSessions(UserID, SessionEnding)
  /// The receiver's sessions of a user.
  case sessions(of: UserID)
  /// What a group of the receiver erases of a user who is deleted.
  case erase(GroupErasure, of: UserID, in: GroupID)
  /// The receiver's live rooms recall a few of the messages that they remember of a user; answered with the
  /// number of those that are left.
  case recallRecent(UserID)
  /// The receiver remembers nothing of a user who is deleted.
  case forgetUser(UserID, UserDeletion.MessageFate)
  /// Begins a trace on the receiver, where it has not begun.
  case beginTrace(String, BeginTrace.Subject, Duration)
  /// The receiver's own entries of a trace, from a number on.
  case traceEntries(String, from: Int64)
  /// A page of a trace that was begun on the receiver.
  case readTrace(String, from: Int64, count: Int)
  /// Ends a trace on the receiver; answered with 1 where there was one.
  case endTrace(String)
  /// The receiver's busiest groups.
  case activeGroups
  /// The latest actions of administrators on the receiver.
  case administratorActions(Int, through: WallInstant)
  /// For how long the receiver has been running, in seconds.
  case uptime
  /// The receiver's metrics, as the text of Prometheus.
  case metrics
  /// A request, or a batch, that came by HTTP for an event stream of the receiver, and its trace.
  case post([UInt8], key: String, TraceContext?)
}

extension RemoteRequest {
  /// Whether rows that it asks for may change something. As a rule rows are only read.
  var writes: Bool { if case .rows(let rows, _) = self { rows.contains(where: \.operation.writes) } else { false } }
}

/// The operations of `Dispatcher` over several groups.
enum RowOperation: Sendable, Equatable {
  case info
  case foundInfo(joinedOnly: Bool)
  case joinedInfo(updatedSince: WallInstant)
  case unreadCount
  case sync(epoch: String, seq: Int64, changeSeq: Int64?, bytes: Int)
  /// A report, which may be decided twice: the second is the first again.
  indirect case report(ReportMessage, mayPass: Bool)

  var operation: GroupOperation {
    switch self {
    case .info: .info
    case .foundInfo(let joinedOnly): .foundInfo(joinedOnly: joinedOnly)
    case .joinedInfo(let since): .joinedInfo(updatedSince: since)
    case .unreadCount: .unreadCount
    case .sync(let epoch, let seq, let changeSeq, let bytes): .sync(epoch: epoch, seq: seq, changeSeq: changeSeq, bytes: bytes)
    case .report(let request, let mayPass): .report(request, mayPass: mayPass)
    }
  }

  /// Whether it may change something: an answer that is lost does not say that nothing was done.
  var writes: Bool { if case .report = self { true } else { false } }
}

/// The text of a request as it came, while the request may have to travel. A class: on one node, where
/// there is none, a request carries one word.
public final class RequestText: Sendable {
  /// A request, or a batch.
  let text: [UInt8]
  /// Which request of a batch; 0 without one.
  let index: Int
  /// Whether it came to the application's interface.
  let servesApplication: Bool

  init(text: [UInt8], index: Int, servesApplication: Bool) {
    self.text = text
    self.index = index
    self.servesApplication = servesApplication
  }
}

// MARK: Bytes

extension RemoteRequest {
  private enum Tag: UInt8 {
    case call = 1
    case rows, presence, userInfo, endSessions, sessions
    case erase, recallRecent, forgetUser, following
    case beginTrace = 16
    case traceEntries, readTrace, endTrace, activeGroups, administratorActions, uptime, metrics
    case post = 32
  }

  func write(to writer: inout EntryWriter) {
    switch self {
    case .call(let text, let caller, let shard):
      writer.bytes.byte(Tag.call.rawValue)
      writer.bytes.count(shard.number)
      writer.caller(caller)
      writer.bytes.flag(text.servesApplication)
      writer.bytes.count(text.index)
      writer.bytes.data(text.text)
    case .rows(let rows, let caller):
      writer.bytes.byte(Tag.rows.rawValue)
      writer.caller(caller)
      writer.bytes.count(rows.count)
      for row in rows {
        row.operation.write(to: &writer)
        writer.group(row.group)
      }
    case .following(let request):
      writer.bytes.byte(Tag.following.rawValue)
      request.write(to: &writer)
    case .presence(let presence, let memberships):
      writer.bytes.byte(Tag.presence.rawValue)
      writer.user(presence.user)
      writer.bytes.optional(presence.awaySince) { $0.signed($1.milliseconds) }
      writer.bytes.list(memberships) { writer, membership in
        writer.text(membership.groupID.rawValue)
        writer.text(membership.type.rawValue)
        writer.signed(membership.groupNumber)
      }
    case .userInfo(let user, let profile, let frame, let except):
      writer.bytes.byte(Tag.userInfo.rawValue)
      writer.user(user)
      writer.profile(profile)
      writer.bytes.optional(frame) { $0.data($1) }
      writer.optionalKey(except)
    case .endSessions(let user, let ending):
      writer.bytes.byte(Tag.endSessions.rawValue)
      writer.user(user)
      ending.write(to: &writer)
    case .sessions(let user):
      writer.bytes.byte(Tag.sessions.rawValue)
      writer.user(user)
    case .erase(let erasure, of: let user, in: let group):
      writer.bytes.byte(Tag.erase.rawValue)
      erasure.write(to: &writer)
      writer.user(user)
      writer.group(group)
    case .recallRecent(let user):
      writer.bytes.byte(Tag.recallRecent.rawValue)
      writer.user(user)
    case .forgetUser(let user, let messages):
      writer.bytes.byte(Tag.forgetUser.rawValue)
      writer.user(user)
      writer.bytes.flag(messages == .revoke)
    case .beginTrace(let id, let subject, let duration):
      writer.bytes.byte(Tag.beginTrace.rawValue)
      writer.bytes.text(id)
      writer.subject(subject)
      writer.bytes.number(UInt64(max(0, duration.wholeMilliseconds)))
    case .traceEntries(let id, let position):
      writer.bytes.byte(Tag.traceEntries.rawValue)
      writer.bytes.text(id)
      writer.bytes.signed(position)
    case .readTrace(let id, let position, let count):
      writer.bytes.byte(Tag.readTrace.rawValue)
      writer.bytes.text(id)
      writer.bytes.signed(position)
      writer.bytes.count(count)
    case .endTrace(let id):
      writer.bytes.byte(Tag.endTrace.rawValue)
      writer.bytes.text(id)
    case .activeGroups: writer.bytes.byte(Tag.activeGroups.rawValue)
    case .administratorActions(let count, let instant):
      writer.bytes.byte(Tag.administratorActions.rawValue)
      writer.bytes.count(count)
      writer.instant(instant)
    case .uptime: writer.bytes.byte(Tag.uptime.rawValue)
    case .metrics: writer.bytes.byte(Tag.metrics.rawValue)
    case .post(let body, let key, let trace):
      writer.bytes.byte(Tag.post.rawValue)
      writer.bytes.text(key)
      writer.trace(trace)
      writer.bytes.data(body)
    }
  }

  init(from reader: inout EntryReader) throws(MalformedMessage) {
    let number = try reader.bytes.byte()
    guard let tag = Tag(rawValue: number) else { throw MalformedMessage("an unknown request: \(number)") }
    switch tag {
    case .call:
      guard let shard = Shard(try reader.bytes.count()) else { throw MalformedMessage("no shard") }
      let caller = try reader.caller()
      let servesApplication = try reader.bytes.flag()
      let index = try reader.bytes.count()
      let text = RequestText(text: try reader.bytes.data(), index: index, servesApplication: servesApplication)
      self = .call(text, by: caller, shard: shard)
    case .rows:
      let caller = try reader.caller()
      let count = try reader.bytes.count()
      var rows: [RowRequest] = []
      for _ in 0..<count { rows.append(RowRequest(operation: try RowOperation(from: &reader), group: try reader.group())) }
      self = .rows(rows, by: caller)
    case .following: self = .following(try FollowRequest(from: &reader))
    case .presence:
      let user = try reader.user()
      let since = try reader.bytes.optional { (reader) throws(MalformedMessage) in try reader.signed() }
      let memberships = try reader.bytes.list { (reader) throws(MalformedMessage) in
        guard let group = GroupID(try reader.text()), let type = GroupType(rawValue: try reader.text()) else {
          throw MalformedMessage("no membership")
        }
        return Membership(groupID: group, type: type, groupNumber: try reader.signed())
      }
      self = .presence(Group.Presence(of: user, awaySince: since.map { WallInstant(milliseconds: $0) }), in: memberships)
    case .userInfo:
      self = .userInfo(
        try reader.user(), try reader.profile(),
        frame: try reader.bytes.optional { (reader) throws(MalformedMessage) in try reader.data() },
        except: try reader.optionalKey())
    case .endSessions: self = .endSessions(try reader.user(), try SessionEnding(from: &reader))
    case .sessions: self = .sessions(of: try reader.user())
    case .erase:
      let erasure = try GroupErasure(from: &reader)
      self = .erase(erasure, of: try reader.user(), in: try reader.group())
    case .recallRecent: self = .recallRecent(try reader.user())
    case .forgetUser:
      let user = try reader.user()
      self = .forgetUser(user, try reader.bytes.flag() ? .revoke : .keep)
    case .beginTrace:
      let (id, subject) = (try reader.bytes.text(), try reader.subject())
      // No trace lasts longer than its method allows.
      let milliseconds = min(try reader.bytes.number(), UInt64(BeginTrace.longest.wholeMilliseconds))
      self = .beginTrace(id, subject, .milliseconds(Int64(milliseconds)))
    case .traceEntries: self = .traceEntries(try reader.bytes.text(), from: try reader.bytes.signed())
    case .readTrace:
      self = .readTrace(try reader.bytes.text(), from: try reader.bytes.signed(), count: try reader.bytes.count())
    case .endTrace: self = .endTrace(try reader.bytes.text())
    case .activeGroups: self = .activeGroups
    case .administratorActions: self = .administratorActions(try reader.bytes.count(), through: try reader.instant())
    case .uptime: self = .uptime
    case .metrics: self = .metrics
    case .post:
      let (key, trace) = (try reader.bytes.text(), try reader.trace())
      self = .post(try reader.bytes.data(), key: key, trace)
    }
  }
}

extension GroupErasure {
  private enum Tag: UInt8 {
    case leave = 1
    case records, reaction, recall, texts
  }

  fileprivate func write(to writer: inout EntryWriter) {
    switch self {
    case .leave: writer.bytes.byte(Tag.leave.rawValue)
    case .records: writer.bytes.byte(Tag.records.rawValue)
    case .reaction(let seq, let reaction):
      writer.bytes.byte(Tag.reaction.rawValue)
      writer.bytes.signed(seq)
      writer.bytes.text(reaction)
    case .recall(let seq):
      writer.bytes.byte(Tag.recall.rawValue)
      writer.bytes.signed(seq)
    case .texts: writer.bytes.byte(Tag.texts.rawValue)
    }
  }

  fileprivate init(from reader: inout EntryReader) throws(MalformedMessage) {
    let number = try reader.bytes.byte()
    guard let tag = Tag(rawValue: number) else { throw MalformedMessage("an unknown erasure: \(number)") }
    switch tag {
    case .leave: self = .leave
    case .records: self = .records
    case .reaction:
      let seq = try reader.bytes.signed()
      self = .reaction(seq: seq, try reader.bytes.text())
    case .recall: self = .recall(seq: try reader.bytes.signed())
    case .texts: self = .texts
    }
  }
}

extension RowOperation {
  private enum Tag: UInt8 {
    case info = 1
    case foundInfo, joinedInfo, unreadCount, sync, report
  }

  fileprivate func write(to writer: inout EntryWriter) {
    switch self {
    case .info: writer.bytes.byte(Tag.info.rawValue)
    case .foundInfo(let joinedOnly):
      writer.bytes.byte(Tag.foundInfo.rawValue)
      writer.bytes.flag(joinedOnly)
    case .joinedInfo(let since):
      writer.bytes.byte(Tag.joinedInfo.rawValue)
      writer.instant(since)
    case .unreadCount: writer.bytes.byte(Tag.unreadCount.rawValue)
    case .sync(let epoch, let seq, let changeSeq, let bytes):
      writer.bytes.byte(Tag.sync.rawValue)
      writer.bytes.text(epoch)
      writer.bytes.signed(seq)
      writer.bytes.optional(changeSeq) { $0.signed($1) }
      writer.bytes.count(bytes)
    case .report(let request, let mayPass):
      writer.bytes.byte(Tag.report.rawValue)
      writer.group(request.groupID)
      switch request.target {
      case .seq(let seq):
        writer.bytes.flag(true)
        writer.bytes.signed(seq)
      case .msgID(let id):
        writer.bytes.flag(false)
        writer.bytes.text(id)
      }
      writer.bytes.optional(request.category) { $0.text($1) }
      writer.bytes.optional(request.text) { $0.text($1) }
      writer.bytes.flag(mayPass)
    }
  }

  fileprivate init(from reader: inout EntryReader) throws(MalformedMessage) {
    let number = try reader.bytes.byte()
    guard let tag = Tag(rawValue: number) else { throw MalformedMessage("an unknown row: \(number)") }
    switch tag {
    case .info: self = .info
    case .foundInfo: self = .foundInfo(joinedOnly: try reader.bytes.flag())
    case .joinedInfo: self = .joinedInfo(updatedSince: try reader.instant())
    case .unreadCount: self = .unreadCount
    case .sync:
      self = .sync(
        epoch: try reader.bytes.text(), seq: try reader.bytes.signed(),
        changeSeq: try reader.bytes.optional { (reader) throws(MalformedMessage) in try reader.signed() },
        bytes: try reader.bytes.count())
    case .report:
      let group = try reader.group()
      let target: RevokeGroupMessage.Target =
        try reader.bytes.flag() ? .seq(try reader.bytes.signed()) : .msgID(try reader.bytes.text())
      let category = try reader.bytes.optional { (reader) throws(MalformedMessage) in try reader.text() }
      let text = try reader.bytes.optional { (reader) throws(MalformedMessage) in try reader.text() }
      self = .report(
        ReportMessage(groupID: group, target: target, category: category, text: text), mayPass: try reader.bytes.flag())
    }
  }
}
