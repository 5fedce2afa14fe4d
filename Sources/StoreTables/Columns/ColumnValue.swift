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

// MARK: - Numbers, truth values, blocks

/// A value that a column keeps as a number.
public protocol IntegerValue: ColumnValue {
  /// The value of a number.
  init(stored number: Int64)
  /// The number that `init` takes.
  var storedNumber: Int64 { get }
}

extension IntegerValue {
  @inlinable public static var kind: ColumnKind { .integer }
  public static var domain: StoredDomain { .number }
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> Self? {
    try reader.optionalInteger().map(Self.init(stored:))
  }
  @inlinable public func write<Writer: ColumnWriter>(to writer: inout Writer) { writer.append(storedNumber) }
}

extension Int64: IntegerValue {
  @inlinable public init(stored number: Int64) { self = number }
  @inlinable public var storedNumber: Int64 { self }
}

extension Int: IntegerValue {
  @inlinable public init(stored number: Int64) { self.init(clamping: number) }
  @inlinable public var storedNumber: Int64 { Int64(self) }
}

/// A column holds the milliseconds, 0 where there is no instant.
extension WallInstant: IntegerValue {
  public static var domain: StoredDomain { .instant }
  @inlinable public init(stored number: Int64) { self.init(milliseconds: number) }
  @inlinable public var storedNumber: Int64 { milliseconds }
}

extension MessageFeatures: IntegerValue {
  @inlinable public init(stored number: Int64) { self.init(rawValue: number) }
  @inlinable public var storedNumber: Int64 { rawValue }
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
  init?(stored text: String)
  /// The text that `init` reads.
  var storedText: String { get }
  /// What is expected, as part of a sentence.
  static var meaning: String { get }
}

extension TextValue {
  @inlinable public static var kind: ColumnKind { .text }
  public static var domain: StoredDomain { .text(meaning) { Self(stored: $0) != nil } }
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> Self? {
    guard let text = try reader.optionalText() else { return nil }
    guard let value = Self(stored: text) else { throw reader.unexpectedValue() }
    return value
  }
  @inlinable public func write<Writer: ColumnWriter>(to writer: inout Writer) { writer.append(storedText) }
}

extension UserID: TextValue {
  public static var meaning: String { "a userID" }
  @inlinable public var storedText: String { rawValue }
}

extension GroupID: TextValue {
  public static var meaning: String { "a groupID" }
  @inlinable public init?(stored text: String) { self.init(text) }
  @inlinable public var storedText: String { rawValue }
}

extension Role: TextValue {
  public static var meaning: String { "a role" }
  @inlinable public init?(stored text: String) { self.init(wireName: text) }
  @inlinable public var storedText: String { wireName }
}

extension WebhookEntry.Lane: TextValue {
  public static var meaning: String { "a lane" }
  @inlinable public init?(stored text: String) { self.init(text) }
  @inlinable public var storedText: String { text }
}

extension TraceContext: TextValue {
  public static var meaning: String { "a traceparent" }
  @inlinable public init?(stored text: String) { self.init(traceparent: text) }
  @inlinable public var storedText: String { traceparent }
}

/// Words that are kept as on the wire.
extension TextValue where Self: RawRepresentable<String> & CaseIterable {
  public static var meaning: String { "one of " + allCases.map(\.rawValue).joined(separator: ", ") }
  @inlinable public init?(stored text: String) { self.init(rawValue: text) }
  @inlinable public var storedText: String { rawValue }
}

extension GroupType: TextValue {}
extension JoinMode: TextValue {}
extension InviteMode: TextValue {}
extension BeInviteMode: TextValue {}
extension EditMode: TextValue {}
extension OwnerQuitMode: TextValue {}
extension HistoryVisibility: TextValue {}
extension AttributeMode: TextValue {}
extension GroupMute.Mode: TextValue {}
extension ReceiveOption: TextValue {}
extension Priority: TextValue {}
extension Platform: TextValue {}
extension ChangeOrigin.Kind: TextValue {}
extension GroupApplication.Kind: TextValue {}
extension SystemNotification.Kind: TextValue {}
extension WebhookType: TextValue {}
extension MessageReport.State: TextValue {}
