import GroupModel
import GroupRuntime

/// A value that a column can hold.
public protocol ColumnValue: Sendable {
  static var kind: ColumnKind { get }
  /// The values that can be read.
  static var domain: StoredDomain { get }
  /// What NULL stands for; nil = the column is never NULL.
  static var ofNull: Self? { get }

  /// Reads the next column; nil = NULL.
  static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> Self?
  /// Appends the value as a column keeps it.
  func write<Writer: ColumnWriter>(to writer: inout Writer) throws(StoreError)
}

extension ColumnValue {
  @inlinable public static var ofNull: Self? { nil }
}

// MARK: - Numbers, truth values, bytes

extension Int64: ColumnValue {
  @inlinable public static var kind: ColumnKind { .integer }
  public static var domain: StoredDomain { .number }
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> Int64? {
    try reader.optionalInteger()
  }
  @inlinable public func write<Writer: ColumnWriter>(to writer: inout Writer) { writer.append(self) }
}

extension Int: ColumnValue {
  @inlinable public static var kind: ColumnKind { .integer }
  public static var domain: StoredDomain { .number }
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> Int? {
    try reader.optionalInteger().map { Int(clamping: $0) }
  }
  @inlinable public func write<Writer: ColumnWriter>(to writer: inout Writer) { writer.append(Int64(self)) }
}

/// A column holds the milliseconds, 0 where there is no instant.
extension WallInstant: ColumnValue {
  @inlinable public static var kind: ColumnKind { .integer }
  public static var domain: StoredDomain { .instant }
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> WallInstant? {
    try reader.optionalInteger().map(WallInstant.init(milliseconds:))
  }
  @inlinable public func write<Writer: ColumnWriter>(to writer: inout Writer) { writer.append(milliseconds) }
}

extension Bool: ColumnValue {
  @inlinable public static var kind: ColumnKind { .flag }
  public static var domain: StoredDomain { .flag }
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> Bool? {
    try reader.optionalFlag()
  }
  @inlinable public func write<Writer: ColumnWriter>(to writer: inout Writer) { writer.append(self) }
}

/// The messages of a block that a user has confirmed.
extension SeqBlock: ColumnValue {
  @inlinable public static var kind: ColumnKind { .block }
  public static var domain: StoredDomain { .block }
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> SeqBlock? {
    try reader.optionalBlock()
  }
  @inlinable public func write<Writer: ColumnWriter>(to writer: inout Writer) { writer.append(self) }
}

/// NULL, or what the other type holds.
extension Optional: ColumnValue where Wrapped: ColumnValue {
  @inlinable public static var kind: ColumnKind { Wrapped.kind }
  public static var domain: StoredDomain { Wrapped.domain }
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> Wrapped?? {
    .some(try Wrapped.read(&reader))
  }
  @inlinable public func write<Writer: ColumnWriter>(to writer: inout Writer) throws(StoreError) {
    if let self { try self.write(to: &writer) } else { writer.append(null: Wrapped.kind) }
  }
}

// MARK: - Texts

extension String: ColumnValue {
  @inlinable public static var kind: ColumnKind { .text }
  public static var domain: StoredDomain { .text }
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> String? {
    try reader.optionalText()
  }
  @inlinable public func write<Writer: ColumnWriter>(to writer: inout Writer) { writer.append(self) }
}

/// A value that a column keeps as a text.
public protocol TextValue: ColumnValue {
  /// Nil where the text stands for none.
  static func stored(_ text: String) -> Self?
  /// The text that `stored` reads.
  var storedText: String { get }
}

extension TextValue {
  @inlinable public static var kind: ColumnKind { .text }
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> Self? {
    guard let text = try reader.optionalText() else { return nil }
    guard let value = stored(text) else { throw reader.unexpectedValue() }
    return value
  }
  @inlinable public func write<Writer: ColumnWriter>(to writer: inout Writer) { writer.append(storedText) }
}

extension UserID: TextValue {
  public static var domain: StoredDomain { .text("a userID") { UserID(stored: $0) != nil } }
  @inlinable public static func stored(_ text: String) -> UserID? { UserID(stored: text) }
  @inlinable public var storedText: String { rawValue }
}

extension GroupID: TextValue {
  public static var domain: StoredDomain { .text("a groupID") { GroupID($0) != nil } }
  @inlinable public static func stored(_ text: String) -> GroupID? { GroupID(text) }
  @inlinable public var storedText: String { rawValue }
}

extension Role: TextValue {
  public static var domain: StoredDomain { .text("a role") { Role(wireName: $0) != nil } }
  @inlinable public static func stored(_ text: String) -> Role? { Role(wireName: text) }
  @inlinable public var storedText: String { wireName }
}

extension WebhookEntry.Lane: TextValue {
  public static var domain: StoredDomain { .text("a lane") { WebhookEntry.Lane($0) != nil } }
  @inlinable public static func stored(_ text: String) -> WebhookEntry.Lane? { WebhookEntry.Lane(text) }
  @inlinable public var storedText: String { text }
}

/// Words that are kept as on the wire.
extension TextValue where Self: RawRepresentable<String> & CaseIterable {
  public static var domain: StoredDomain {
    .text("one of " + allCases.map(\.rawValue).joined(separator: ", ")) { Self(rawValue: $0) != nil }
  }
  @inlinable public static func stored(_ text: String) -> Self? { Self(rawValue: text) }
  @inlinable public var storedText: String { rawValue }
}

extension GroupType: TextValue {}
extension JoinMode: TextValue {}
extension InviteMode: TextValue {}
extension BeInviteMode: TextValue {}
extension EditMode: TextValue {}
extension OwnerQuitMode: TextValue {}
extension GroupMute.Mode: TextValue {}
extension ReceiveOption: TextValue {}
extension Priority: TextValue {}
extension Platform: TextValue {}
extension GroupApplication.Kind: TextValue {}
extension SystemNotification.Kind: TextValue {}
extension WebhookType: TextValue {}
