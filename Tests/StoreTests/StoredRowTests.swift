import GroupModel
import GroupRuntime
import StoreTables
import Testing
import ThrongTestKit

/// The description of stored rows.
@Suite struct StoredRowTests {
  /// What comes back of a row that was written. Each value is one of its column's.
  private func readBack<Row: StoredRow>(_ row: Row) throws -> Row {
    var values = StoredValues()
    try row.write(to: &values)
    #expect(values.row.count == Row.columns.count)
    for (column, value) in zip(Row.columns, values.row) {
      // A file has no truth values.
      let value = if case .flag(let flag) = value { StoredValue.integer(flag ? 1 : 0) } else { value }
      #expect(column.domain.contains(value), "\(Row.self).\(column.name): \(value)")
    }
    var reader = RowOfValues(Row.columns.map(\.name), values.row)
    return try Row.read(&reader)
  }

  @Test func whatACodecWritesItReads() throws {
    var member = Member.sample(bob, ordinal: 7)
    (member.role, member.inviter, member.unreadSinceSeq, member.unreadBase) = (.custom(300), alice, nil, 3)
    (member.nameCard, member.customInfo, member.muteUntil, member.mutedAt) = ("a\0b", ["k": "v"], .distantFuture, 5)
    (member.earlierVisibleRanges, member.receiveOption) = ([1...2, 4...9], .receiveFromManagers)
    member.setUnheardRanges([3...Member.noEnd])
    (member.infoTime, member.clearedSeq) = (77, 12)
    (member.conversation.isPinned, member.conversation.isMarkedUnread) = (true, true)
    member.conversation.marks = ["star", "a\0b", "e\u{301}"]
    #expect(try readBack(member) == member)

    var former = FormerMember(userID: bob, visibleRanges: [1...1], muteUntil: 8, bannedUntil: 9, leftTime: 7)
    (former.mutedAt, former.banReason, former.quitTime) = (6, "reason", 7)
    (former.isListed, former.role, former.clearedSeq) = (true, .custom(100), 3)
    #expect(try readBack(former) == former)

    var record = GroupRecord.sample()
    (record.mute, record.changeSeq, record.customInfo) = (
      GroupMute(mode: .custom, roles: [.admin, .custom(200)], muteUntil: 4), 5, ["a": ""]
    )
    (record.nextOrdinal, record.importedThroughSeq, record.serverCustomInfo, record.mutedAt) = (3, 2, "{}", 1)
    (record.messageFeatures, record.lastShownSeq, record.lastShownTime) = ([.targeted, .excluded], 8, 9)
    (record.departuresSince, record.policy.historyVisibility) = (10, .all)
    (record.policy.slowMode, record.policy.attributeMode, record.listsUsers) = (86_400, .holder, false)
    (record.revision, record.board) = (11, 12)
    #expect(try readBack(record) == record)

    let info = UserInfo(userID: bob, nickName: "N", customInfo: ["k": "v"])
    #expect(try readBack(info) == info)
    let notification = SystemNotification.sample(.kickedOff, data: "data")
    #expect(try readBack(notification) == notification)
    for report in [MessageReport.sample(by: bob), .sample(by: carol, isPlain: true)] {
      #expect(try readBack(report) == report)
    }
    for application in [GroupApplication.sample("a"), .sample("b").handled()] {
      #expect(try readBack(application) == application)
    }
  }

  @Test func aMessageComesBackWithWhatHasChangedSince() throws {
    var message = Message.sample(4, clientMsgID: "c", isFromManager: true)
    var values = StoredValues()
    try message.write(to: &values)
    let names = Message.columns.map(\.name) + ["changeSeq", "editTime", "pinned"] + MessageExtrasRow.columns.map(\.name)
    let noExtras = Array(repeating: StoredValue.null, count: MessageExtrasRow.columns.count)
    var plain = RowOfValues(names, values.row + [.null, .null, .null] + noExtras)
    #expect(try Message.read(of: message.groupID, &plain) == message)
    (message.changeSeq, message.editTime, message.isPinned) = (9, 8, true)
    var changed = RowOfValues(names, values.row + [.integer(9), .integer(8), .integer(7)] + noExtras)
    #expect(try Message.read(of: message.groupID, &changed) == message)

    let extras = try #require(
      MessageExtras(
        extension: "a\0b", replyTo: ReplyReference(seq: 2, sender: carol), isExcludedFromLastMessage: true,
        toUserIDList: [bob, carol]))
    for given in [extras, try #require(extras.with(extension: nil)), try #require(MessageExtras(extension: "e"))] {
      var written = StoredValues()
      try MessageExtrasRow(given).write(to: &written)
      message.extras = given
      var row = RowOfValues(names, values.row + [.integer(9), .integer(8), .integer(7)] + written.row)
      #expect(try Message.read(of: message.groupID, &row) == message)
    }
  }

  @Test func aMemberFromBeforeHasAnInfoTimeOfItsLastChange() throws {
    var member = Member.sample(bob)
    (member.changeTime, member.infoTime) = (70, 60)
    var values = StoredValues()
    try member.write(to: &values)
    var row = values.row
    row[Member.columns.place(of: "infoTime") - 1] = .null
    var reader = RowOfValues(Member.columns.map(\.name), row)
    #expect(try Member.read(&reader).infoTime == 70)
  }

  @Test func whatDoesNotCountAsUnreadIsMarkedForItsIndex() throws {
    let place = MessageExtrasRow.columns.place(of: "isUncounted") - 1
    func mark(_ extras: MessageExtras?) throws -> StoredValue {
      var values = StoredValues()
      try MessageExtrasRow(try #require(extras)).write(to: &values)
      return values.row[place]
    }
    #expect(try mark(MessageExtras(extension: "e")) == .flag(false))
    #expect(try mark(MessageExtras(isExcludedFromLastMessage: true)) == .flag(false))
    #expect(try mark(MessageExtras(isExcludedFromUnreadCount: true)) == .flag(true))
    #expect(try mark(MessageExtras(toUserIDList: [bob])) == .flag(true))
  }

  @Test func anEntryOfAWebhookHasDataOrAPlace() throws {
    let entry = WebhookEntry(
      id: "i", .groupFull, data: [123, 125], in: .group(club), at: 1, since: 2, number: 5, trace: .begin())
    let row = try readBack(WebhookRow(entry, number: 5))
    let back = try row.entry()
    #expect(row.groupNumber == nil && back == entry && back.data == entry.data && back.storedNumber == 5 && back.since == 2)
    #expect(back.trace == entry.trace)
    let failure = try readBack(WebhookFailure(number: 3, entry: entry, attempts: 4, lastError: "why"))
    #expect(failure.entry == entry && failure.attempts == 4 && failure.lastError == "why" && failure.entry.storedNumber == 0)
    #expect(failure.entry.trace == entry.trace)
    #expect(throws: StoreError.self) { try WebhookRow.blank.entry() }
  }

  @Test func aValueOfAnotherKindIsInconsistentAndNamesTheColumn() throws {
    var values = StoredValues()
    try Member.sample(bob).write(to: &values)
    for (index, column) in Member.columns.enumerated() {
      var row = values.row
      row[index] = column.kind == .text ? .integer(5) : .text("x")
      var reader = RowOfValues(Member.columns.map(\.name), row)
      let error = #expect(throws: StoreError.self) { try Member.read(&reader) }
      #expect(error?.kind == .inconsistent && error?.description.contains(" \(column.name) ") == true)
    }
  }

  @Test func noTableNamesAColumnTwiceAndItsKeyComesFirst() {
    for table in StoredTable.all {
      #expect(Set(table.columns.map(\.name)).count == table.columns.count, "\(table.name)")
      #expect(table.keyCount >= 1 && table.keyCount <= table.columns.count, "\(table.name)")
    }
    #expect(Set(StoredTable.all.map(\.name)).count == StoredTable.all.count)
  }

  @Test func argumentsHaveThePlacesOfTheirColumns() {
    let columns = [StoredColumn("a", Int64.self), StoredColumn("b", String.self), StoredColumn("c", Bool.self)]
    #expect(columns.names == "a, b, c" && columns.names(of: "t") == "t.a, t.b, t.c")
    #expect(columns.places("?") == "?1, ?2, ?3" && columns.places("$", from: 4) == "$4, $5, $6")
    #expect(columns.place(of: "c") == 3)
    #expect(columns.assignments("$", from: 2, to: ["a", "c"]) == "a = $2, c = $4")
    #expect(columns.without("a").excluded == "b = excluded.b, c = excluded.c")
  }
}

/// Reads the columns of a row that stand in memory.
private struct RowOfValues: ColumnReader {
  private let names: [String]
  private let values: [StoredValue]
  private var index = 0

  init(_ names: [String], _ values: [StoredValue]) { (self.names, self.values) = (names, values) }

  private mutating func next<Value>(_ take: (StoredValue) -> Value?) throws(StoreError) -> Value? {
    defer { index += 1 }
    if values[index] == .null { return nil }
    guard let value = take(values[index]) else {
      throw StoreError(.inconsistent, "column \(names[index]) holds a value that does not belong there")
    }
    return value
  }

  mutating func optionalInteger() throws(StoreError) -> Int64? {
    try next { if case .integer(let number) = $0 { number } else { nil } }
  }
  mutating func optionalFlag() throws(StoreError) -> Bool? { try next { if case .flag(let flag) = $0 { flag } else { nil } } }
  mutating func optionalText() throws(StoreError) -> String? { try next { if case .text(let text) = $0 { text } else { nil } } }
  mutating func optionalBytes() throws(StoreError) -> [UInt8]? {
    try next { if case .bytes(let bytes) = $0 { bytes } else { nil } }
  }
  mutating func optionalBlock() throws(StoreError) -> SeqBlock? { try optionalBytes().flatMap(SeqBlock.init(bytes:)) }
  func isNext(_ name: StaticString) -> Bool { names[index] == "\(name)" }
  func unexpectedValue() -> StoreError {
    StoreError(.inconsistent, "column \(names[index - 1]) holds a value that does not belong there")
  }
}
