import GroupModel
import GroupRuntime

/// `report` rows, without their numbers.
extension MessageReport: StoredRow {
  public static let columns = describe()
  public static var blank: MessageReport {
    MessageReport(
      id: "", groupID: GroupID(allowed: "-"), epoch: "", seq: nil, msgID: "", reporter: .administrator, time: .unset,
      message: [])
  }

  @inlinable public static func code<Coder: ColumnCoder>(_ row: inout MessageReport, _ coder: inout Coder) throws(StoreError) {
    var (id, groupID, epoch, seq, msgID) = (row.id, row.groupID, row.epoch, row.seq, row.msgID)
    var (reporter, category, text, time) = (row.reporter, row.category, row.text, row.time)
    try coder.column("id", &id)
    try coder.column("groupID", &groupID)
    try coder.column("epoch", &epoch)
    try coder.column("seq", &seq)
    try coder.column("msgID", &msgID)
    try coder.column("reporter", &reporter)
    try coder.column("category", &category)
    try coder.column("text", &text)
    try coder.column("time", &time)
    try coder.column("state", &row.state)
    try coder.column("note", &row.note)
    try coder.column("message", &row.message)
    guard Coder.isReader else { return }
    row = MessageReport(
      id: id, groupID: groupID, epoch: epoch, seq: seq, msgID: msgID, reporter: reporter, category: category, text: text,
      time: time, state: row.state, note: row.note, message: row.message)
  }
}

extension NumberedReport {
  /// Reads the number, and `MessageReport.columns`.
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> NumberedReport {
    NumberedReport(number: try reader.integer(), report: try MessageReport.read(&reader))
  }
}
