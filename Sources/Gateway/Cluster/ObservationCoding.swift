import Cluster
import GroupModel
import WireProtocol

extension EntryWriter {
  mutating func subject(_ subject: BeginTrace.Subject) {
    switch subject {
    case .user(let user):
      bytes.flag(true)
      self.user(user)
    case .group(let group):
      bytes.flag(false)
      self.group(group)
    }
  }

  mutating func batch(_ batch: TraceBatch) {
    bytes.signed(batch.next)
    bytes.signed(batch.lost)
    bytes.flag(batch.isOver)
    bytes.count(batch.entries.count)
    for entry in batch.entries { self.entry(entry) }
  }

  private mutating func entry(_ entry: TraceEntry) {
    instant(entry.time)
    bytes.text(entry.kind.rawValue)
    bytes.text(entry.name)
    bytes.optional(entry.userID) { $0.text($1.rawValue) }
    bytes.optional(entry.groupID) { $0.text($1.rawValue) }
    bytes.optional(entry.sessionID) { $0.text($1) }
    for number in [entry.code, entry.bytes, entry.microseconds] { bytes.optional(number) { $0.signed($1) } }
    bytes.optional(entry.unknownParameters) { $0.text($1) }
  }

  mutating func action(_ action: AdministratorAction) {
    instant(action.time)
    bytes.text(action.method)
    bytes.text(action.by)
    bytes.signed(action.code)
    for name in [action.groupID, action.userID, action.applicationID, action.asUser, action.reason] {
      bytes.optional(name) { $0.text($1) }
    }
    bytes.list(action.userIDList ?? []) { $0.text($1) }
    bytes.optional(action.userCount) { $0.signed($1) }
  }
}

extension EntryReader {
  mutating func subject() throws(MalformedMessage) -> BeginTrace.Subject {
    try bytes.flag() ? .user(try user()) : .group(try group())
  }

  mutating func batch() throws(MalformedMessage) -> TraceBatch {
    let (next, lost, isOver) = (try bytes.signed(), try bytes.signed(), try bytes.flag())
    let count = try bytes.count()
    var entries: [TraceEntry] = []
    for _ in 0..<count { entries.append(try entry()) }
    return TraceBatch(entries: entries, next: next, lost: lost, isOver: isOver)
  }

  private mutating func entry() throws(MalformedMessage) -> TraceEntry {
    let time = try instant()
    guard let kind = TraceEntry.Kind(rawValue: try bytes.text()) else { throw MalformedMessage("no kind of a trace") }
    return TraceEntry(
      kind, try bytes.text(), at: time, userID: try bytes.flag() ? try user() : nil,
      groupID: try bytes.flag() ? try group() : nil,
      sessionID: try optionalText(), code: try optionalNumber(), bytes: try optionalNumber(), microseconds: try optionalNumber(),
      unknownParameters: try optionalText())
  }

  mutating func action() throws(MalformedMessage) -> AdministratorAction {
    let (time, method, by, code) = (try instant(), try bytes.text(), try bytes.text(), try bytes.signed())
    let (groupID, userID, applicationID) = (try optionalText(), try optionalText(), try optionalText())
    let (asUser, reason) = (try optionalText(), try optionalText())
    let users = try bytes.list { (reader) throws(MalformedMessage) in try reader.text() }
    return AdministratorAction(
      time: time, method: method, by: by, code: code, groupID: groupID, userID: userID, applicationID: applicationID,
      asUser: asUser, userIDList: users.isEmpty ? nil : users, userCount: try optionalNumber(), reason: reason)
  }

  private mutating func optionalText() throws(MalformedMessage) -> String? { try bytes.flag() ? try bytes.text() : nil }

  private mutating func optionalNumber() throws(MalformedMessage) -> Int64? { try bytes.flag() ? try bytes.signed() : nil }
}
