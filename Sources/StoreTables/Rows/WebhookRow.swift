import GroupModel
import GroupRuntime
import WireProtocol

/// A `webhook` row: an entry with data of its own, or the place of the stored message of which it
/// tells. SQLite keeps messages that follow each other as one row, with the place of the first.
public struct WebhookRow: StoredRow {
  public var number: Int64
  public var lane: WebhookEntry.Lane
  /// The number of the message's group; nil = the entry has data.
  public var groupNumber: Int64?
  public var seq: Int64?
  var id: String?
  var type: WebhookType?
  var timestamp: WallInstant?
  var since: WallInstant?
  var data: [UInt8]?
  /// Of the request that has caused it; nil = none is known.
  public var trace: TraceContext?

  public static let columns = describe()
  public static var blank: WebhookRow { WebhookRow(number: 0, lane: .user(.administrator)) }

  /// The row of an entry, with its data.
  public init(_ entry: WebhookEntry, number: Int64) {
    self.init(
      number: number, lane: entry.lane, id: entry.id, type: entry.type, timestamp: entry.timestamp, since: entry.since,
      data: entry.data, trace: entry.trace)
  }

  private init(
    number: Int64, lane: WebhookEntry.Lane, id: String? = nil, type: WebhookType? = nil, timestamp: WallInstant? = nil,
    since: WallInstant? = nil, data: [UInt8]? = nil, trace: TraceContext? = nil
  ) {
    (self.number, self.lane, self.trace) = (number, lane, trace)
    (self.id, self.type, self.timestamp, self.since, self.data) = (id, type, timestamp, since, data)
  }

  public static func code<Coder: ColumnCoder>(_ row: inout WebhookRow, _ coder: inout Coder) throws(StoreError) {
    try coder.column("number", &row.number)
    try coder.column("lane", &row.lane)
    try coder.column("groupNumber", &row.groupNumber)
    try coder.column("seq", &row.seq)
    try coder.column("id", &row.id)
    try coder.column("type", &row.type)
    try coder.column("timestamp", &row.timestamp)
    try coder.column("since", &row.since)
    try coder.column("data", &row.data)
    try coder.column("trace", &row.trace)
  }

  /// The entry that has data of its own.
  public func entry() throws(StoreError) -> WebhookEntry {
    guard let id, let type, let timestamp, let since, let data else {
      throw StoreError(.inconsistent, "webhook \(number) has neither data nor a message")
    }
    return WebhookEntry(id: id, type, data: data, in: lane, at: timestamp, since: since, number: number, trace: trace)
  }
}

extension WebhookEntry {
  /// Stands for the event of a message that is gone. Nothing removes a message before its events have
  /// copies, but what comes behind it must not wait for a damaged table.
  public init(lostMessage seq: Int64, in lane: Lane, groupNumber: Int64, number: Int64) {
    let data = JSONWriter.text(capacity: 128) { writer in
      writer.object { writer in
        if case .group(let group) = lane { writer.member("groupID", group.rawValue) }
        writer.key("message")
        writer.object { $0.member("seq", Int(seq)) }
      }
    }
    let time = WallInstant(milliseconds: 0)
    self.init(id: "\(groupNumber)-\(seq)", .messageSent, data: data, in: lane, at: time, since: time, number: number)
  }
}

/// `webhookFailure` rows, without their numbers.
extension WebhookFailure: StoredRow {
  public static let columns = describe()
  public static var blank: WebhookFailure { WebhookFailure(number: 0, entry: noEntry, attempts: 0, lastError: "") }

  private static let noEntry = WebhookEntry(
    id: "", .userOffline, data: [], in: .user(.administrator), at: .unset, since: .unset, number: 0)

  public static func code<Coder: ColumnCoder>(_ row: inout WebhookFailure, _ coder: inout Coder) throws(StoreError) {
    var (id, lane, type, timestamp) = (row.entry.id, row.entry.lane, row.entry.type, row.entry.timestamp)
    var (attempts, error, data) = (row.attempts, row.lastError, Coder.isReader ? [] : row.entry.data)
    var trace = row.entry.trace
    try coder.column("id", &id)
    try coder.column("lane", &lane)
    try coder.column("type", &type)
    try coder.column("timestamp", &timestamp)
    try coder.column("attempts", &attempts)
    try coder.column("lastError", &error)
    try coder.column("data", &data)
    try coder.column("trace", &trace)
    guard Coder.isReader else { return }
    let entry = WebhookEntry(id: id, type, data: data, in: lane, at: timestamp, since: timestamp, number: 0, trace: trace)
    row = WebhookFailure(number: 0, entry: entry, attempts: attempts, lastError: error)
  }

  /// The columns that `readNumbered` reads.
  public static let numberedColumns = "number, " + columns.names

  /// Reads `numberedColumns`.
  public static func readNumbered<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> WebhookFailure {
    let number = try reader.integer()
    let failure = try read(&reader)
    return WebhookFailure(number: number, entry: failure.entry, attempts: failure.attempts, lastError: failure.lastError)
  }
}
