import GroupModel

/// Where a method takes its parameters from. There are two: the params of a request, and a recorder that notes what is asked for, so that the
/// one declaration of a method's parameters serves decoding and description alike.
///
/// A `need…` member must be there (-32602 otherwise), a `may…` member may be absent or null. The wrong JSON type is -32602, a value outside its
/// domain the code of the domain. The order of the calls is the order in which faults are told.
public protocol ParameterReader {
  /// Whether the members that only the application's backend may give mean something (contract section 8); elsewhere they are unknown members,
  /// which are ignored.
  var servesApplication: Bool { get }

  /// The text behind a name, or nil.
  mutating func mayString(_ name: StaticString, _ domain: TextDomain) throws(WireError) -> String?
  /// The text behind a name.
  mutating func needString(_ name: StaticString, _ domain: TextDomain) throws(WireError) -> String

  /// The whole number behind a name, or nil. Outside the range is 10004.
  mutating func mayInteger(_ name: StaticString, in range: ClosedRange<Int64>) throws(WireError) -> Int64?
  /// The whole number behind a name. Outside the range is 10004.
  mutating func needInteger(_ name: StaticString, in range: ClosedRange<Int64>) throws(WireError) -> Int64

  /// True or false behind a name, or nil.
  mutating func mayFlag(_ name: StaticString) throws(WireError) -> Bool?

  /// One of a few words behind a name, or nil; another is 10004.
  mutating func mayWord<Value>(
    _ name: StaticString, of words: [String], _ parse: (String) -> Value?
  ) throws(WireError) -> Value?

  /// One of a few words behind a name; another is 10004.
  mutating func needWord<Value>(
    _ name: StaticString, of words: [String], _ parse: (String) -> Value?
  ) throws(WireError) -> Value

  /// The texts of an array behind a name, or nil.
  mutating func mayStrings(
    _ name: StaticString, _ list: ListDomain, _ domain: TextDomain
  ) throws(WireError) -> [String]?

  /// An object for each element of an array behind a name, or nil.
  mutating func mayObjects<Value>(
    _ name: StaticString, _ list: ListDomain,
    _ element: (inout Self) throws(WireError) -> Value
  ) throws(WireError) -> [Value]?

  /// An object of texts behind a name, or nil. A null value stands for an empty text.
  mutating func mayMap(_ name: StaticString, _ domain: MapDomain) throws(WireError) -> [String: String]?

  /// What a method makes of values of which none is at hand yet: gives the error of a missing member.
  func missing(_ name: StaticString) -> WireError
}

/// Which texts a member takes.
public struct TextDomain: Sendable {
  /// What else a text must be, besides its length.
  public enum Form: Sendable {
    case any
    /// No control characters (10004).
    case printable
    /// A groupID that exists or may exist.
    case groupID
    /// A groupID offered for a new group.
    case newGroupID
    /// A userID.
    case userID
  }

  public let bytes: ClosedRange<Int>
  /// The error of a text that is too long or of the wrong form.
  public let code: ErrorCode
  /// The error of a text that is too short.
  public let whenEmpty: ErrorCode
  public let form: Form

  /// Texts of so many bytes.
  public init(_ bytes: ClosedRange<Int>, _ code: ErrorCode = .badValue, whenEmpty: ErrorCode? = nil, _ form: Form = .any) {
    self.bytes = bytes
    self.code = code
    self.whenEmpty = whenEmpty ?? code
    self.form = form
  }

  /// Any text.
  public static let any = TextDomain(0...Int.max)
  /// A groupID, 10015 otherwise.
  public static let groupID = TextDomain(1...48, .badGroupID, .groupID)
  /// A groupID for a new group, 8501 otherwise.
  public static let newGroupID = TextDomain(1...48, .badNewGroupID, .newGroupID)
  /// A userID, 10004 otherwise.
  public static let userID = TextDomain(1...32, .badValue, .userID)
  /// A reason, a message beside an application, a deviceID: up to 512 bytes.
  public static let remark = TextDomain(0...512)

  /// The error of a text outside the domain, or nil.
  func fault(of text: String, in name: StaticString) -> WireError? {
    let field = "\(name)"
    let count = text.utf8.count
    guard count >= bytes.lowerBound else { return WireError(whenEmpty, field: field) }
    guard count <= bytes.upperBound else { return WireError(code, field: field) }
    switch form {
    case .any: return nil
    case .printable: return text.hasControlCharacter ? WireError(.badValue, "No control characters", field: field) : nil
    case .groupID: return GroupID(text) == nil ? WireError(code, field: field) : nil
    case .newGroupID:
      guard let id = GroupID(text), !id.isGenerated else { return WireError(code, field: field) }
      return nil
    case .userID: return UserID(text) == nil ? WireError(code, "Not a userID", field: field) : nil
    }
  }
}

/// How many elements a list takes. An optional empty list counts as absent, so its range starts at 0.
public struct ListDomain: Sendable {
  public let count: ClosedRange<Int>
  /// The error of a list with too few elements.
  public let whenEmpty: ErrorCode
  /// The error of a list with too many.
  public let whenTooMany: ErrorCode

  /// Lists of so many elements.
  public init(_ count: ClosedRange<Int>, whenEmpty: ErrorCode = .badValue, whenTooMany: ErrorCode = .badValue) {
    self.count = count
    self.whenEmpty = whenEmpty
    self.whenTooMany = whenTooMany
  }

  /// A list that may be left out, of at most so many elements.
  public static func optional(upTo bound: Int, whenTooMany: ErrorCode = .badValue) -> ListDomain {
    ListDomain(0...bound, whenTooMany: whenTooMany)
  }
}

/// Which objects of texts a member takes: customInfo of groups and of members.
public struct MapDomain: Sendable {
  public let entries: Int
  public let valueBytes: Int

  /// customInfo of a group: 10 keys, values up to 512 bytes.
  public static let groupCustomInfo = MapDomain(entries: 10, valueBytes: 512)

  /// Whether the key is one: `[A-Za-z0-9_]{1,16}`.
  static func isKey(_ key: String) -> Bool {
    (1...16).contains(key.utf8.count)
      && key.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
          UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}

extension String {
  /// Whether there is a character of the categories Cc: U+0000–U+001F, U+007F–U+009F.
  var hasControlCharacter: Bool { unicodeScalars.contains { $0.properties.generalCategory == .control } }
}

extension ParameterReader {
  /// The groupID behind a name.
  public mutating func groupID(_ name: StaticString = "groupID") throws(WireError) -> GroupID {
    guard let id = GroupID(try needString(name, .groupID)) else { throw WireError(.badGroupID, field: "\(name)") }
    return id
  }

  /// The userIDs of an array behind a name, each once, in the order of the list.
  public mutating func mayUserIDs(_ name: StaticString, _ list: ListDomain) throws(WireError) -> [UserID]? {
    guard let names = try mayStrings(name, list, .userID) else { return nil }
    var seen: Set<String> = []
    return names.filter { seen.insert($0).inserted }.compactMap { UserID($0) }
  }

  /// The userIDs of an array that must be there.
  public mutating func needUserIDs(_ name: StaticString, upTo bound: Int) throws(WireError) -> [UserID] {
    guard let users = try mayUserIDs(name, ListDomain(1...bound, whenEmpty: .emptyUserList)) else { throw missing(name) }
    return users
  }

  /// One of the words of an enumeration, or nil.
  public mutating func mayWord<Value: RawRepresentable<String> & CaseIterable>(
    _ name: StaticString, of type: Value.Type = Value.self
  ) throws(WireError) -> Value? {
    try mayWord(name, of: Value.allCases.map(\.rawValue)) { Value(rawValue: $0) }
  }

  /// `count`: 1 to a bound, with a default.
  public mutating func count(upTo bound: Int, otherwise: Int) throws(WireError) -> Int {
    Int(try mayInteger("count", in: 1...Int64(bound)) ?? Int64(min(otherwise, bound)))
  }

  /// `nextSeq`: opaque, 0 starts.
  public mutating func nextSeq() throws(WireError) -> Int64 { try mayInteger("nextSeq", in: 0...(1 << 53)) ?? 0 }
}
