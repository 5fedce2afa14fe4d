import GroupModel

/// The source of a method's parameters: the params of a request, or a recorder that notes them for
/// descriptions. A `required…` member is -32602 where it is absent or null; an `optional…` one is
/// nil. The first fault in the order of the calls is the reply.
public protocol ParameterReader {
  /// Whether the members that only the application's backend may give are read (Protocol.md,
  /// "Application interface"); elsewhere they are unknown members, which are ignored.
  var servesApplication: Bool { get }

  /// The text behind a name, or nil.
  mutating func optionalString(_ name: StaticString, _ domain: TextDomain) throws(WireError) -> String?
  /// The text behind a name.
  mutating func requiredString(_ name: StaticString, _ domain: TextDomain) throws(WireError) -> String

  /// The whole number behind a name, or nil. Outside the range is 10004.
  mutating func optionalInteger(_ name: StaticString, in range: ClosedRange<Int64>) throws(WireError) -> Int64?
  /// The whole number behind a name. Outside the range is 10004.
  mutating func requiredInteger(_ name: StaticString, in range: ClosedRange<Int64>) throws(WireError) -> Int64

  /// The text behind one of two names: -32602 where neither is there, 10004 where both are.
  mutating func requiredEither(
    _ first: StaticString, _ second: StaticString, _ domain: TextDomain
  ) throws(WireError) -> (isFirst: Bool, text: String)

  /// True or false behind a name, or nil.
  mutating func optionalFlag(_ name: StaticString) throws(WireError) -> Bool?

  /// One of a few words behind a name, or nil; another is 10004.
  mutating func optionalWord<Value>(
    _ name: StaticString, of words: @autoclosure () -> AllowedWords, _ parse: (String) -> Value?
  ) throws(WireError) -> Value?
  /// One of a few words behind a name; another is 10004.
  mutating func requiredWord<Value>(
    _ name: StaticString, of words: AllowedWords, _ parse: (String) -> Value?
  ) throws(WireError) -> Value

  /// The texts of an array behind a name, or nil.
  mutating func optionalStrings(
    _ name: StaticString, _ list: ListDomain, _ domain: TextDomain
  ) throws(WireError) -> [String]?

  /// An object for each element of an array behind a name, or nil.
  mutating func optionalObjects<Value>(
    _ name: StaticString, _ list: ListDomain,
    _ element: (inout Self) throws(WireError) -> Value
  ) throws(WireError) -> [Value]?

  /// The members of an object of texts behind a name, or nil. Each key stands there once: the first
  /// of a doubled key counts, and two spellings that Unicode takes for the same are two keys.
  mutating func optionalEntries(_ name: StaticString, _ domain: MapDomain) throws(WireError) -> [MapEntry]?
  /// The members of an object of texts behind a name.
  mutating func requiredEntries(_ name: StaticString, _ domain: MapDomain) throws(WireError) -> [MapEntry]

  /// The error of a required member that is missing.
  func missing(_ name: StaticString) -> WireError
}

/// The lengths that a list may have. An optional list may be empty, which counts as absent.
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

  /// An optional list of at most so many elements.
  public static func optional(upTo bound: Int, whenTooMany: ErrorCode = .badValue) -> ListDomain {
    ListDomain(0...bound, whenTooMany: whenTooMany)
  }
}

// MARK: Values of the model

extension ParameterReader {
  /// The groupID of a group.
  public mutating func requiredGroupID() throws(WireError) -> GroupID {
    GroupID(allowed: try requiredString("groupID", .groupID))
  }

  /// The userID behind a name.
  public mutating func requiredUserID(_ name: StaticString = "userID") throws(WireError) -> UserID {
    guard let user = UserID(try requiredString(name, .userID)) else {
      throw WireError(.badValue, "Not a userID", field: "\(name)")
    }
    return user
  }

  /// The userIDs of an array behind a name, each once, in the order of the list; or nil.
  public mutating func optionalUserIDs(_ name: StaticString, _ list: ListDomain) throws(WireError) -> [UserID]? {
    try optionalStrings(name, list, .userID)?.uniqued().compactMap { UserID($0) }
  }

  /// The userIDs of an array behind a name, each once, in the order of the list.
  public mutating func requiredUserIDs(_ name: StaticString, upTo bound: Int) throws(WireError) -> [UserID] {
    guard let users = try optionalUserIDs(name, ListDomain(1...bound, whenEmpty: .emptyUserList)) else { throw missing(name) }
    return users
  }

  /// The instant behind a name, or nil.
  mutating func optionalInstant(_ name: StaticString) throws(WireError) -> WallInstant? {
    try optionalInteger(name, in: .instants).map(WallInstant.init(milliseconds:))
  }

  /// The instant behind a name.
  mutating func requiredInstant(_ name: StaticString) throws(WireError) -> WallInstant {
    WallInstant(milliseconds: try requiredInteger(name, in: .instants))
  }

  /// `groupType`, old names included, or nil.
  mutating func optionalGroupType() throws(WireError) -> GroupType? {
    try optionalWord("groupType", of: GroupType.allowedWords) { GroupType(wireName: $0) }
  }

  /// `groupType`, old names included.
  mutating func requiredGroupType() throws(WireError) -> GroupType {
    try requiredWord("groupType", of: GroupType.allowedWords) { GroupType(wireName: $0) }
  }

  /// `count`: 1 to a bound, with a default.
  public mutating func count(upTo bound: Int, otherwise: Int) throws(WireError) -> Int {
    Int(try optionalInteger("count", in: 1...Int64(bound)) ?? Int64(min(otherwise, bound)))
  }

  /// `nextSeq`: opaque, 0 starts.
  public mutating func nextSeq() throws(WireError) -> Int64 { try optionalInteger("nextSeq", in: .seqs) ?? 0 }
}

extension GroupType {
  fileprivate static var allowedWords: AllowedWords { AllowedWords(allCases.map(\.rawValue)) }
}

extension ClosedRange<Int64> {
  /// Durations are seconds: 0 to 2³²−1 (Protocol.md, "Instants and durations").
  static var seconds: ClosedRange<Int64> { 0...Int64(UInt32.max) }
  /// The instants that a client may give.
  static var instants: ClosedRange<Int64> { 0...(1 << 53) }
  /// The places in a history, or in a list, that a client may give.
  static var seqs: ClosedRange<Int64> { 0...(1 << 53) }
}

extension Sequence {
  /// The first element of each key, in their order.
  public func uniqued<Key: Hashable>(by key: (Element) -> Key) -> [Element] {
    var seen: Set<Key> = []
    return filter { seen.insert(key($0)).inserted }
  }
}

extension Sequence where Element: Hashable {
  /// Each element once, in their order.
  public func uniqued() -> [Element] { uniqued { $0 } }
}

// MARK: Shorter forms

extension ParameterReader {
  /// One of the words of an enumeration, or nil.
  public mutating func optionalWord<Value: RawRepresentable<String> & CaseIterable>(
    _ name: StaticString, of type: Value.Type = Value.self
  ) throws(WireError) -> Value? {
    try optionalWord(name, of: AllowedWords(Value.allCases.map(\.rawValue))) { Value(rawValue: $0) }
  }

  /// One of the words of an enumeration.
  public mutating func requiredWord<Value: RawRepresentable<String> & CaseIterable>(
    _ name: StaticString, of type: Value.Type = Value.self
  ) throws(WireError) -> Value {
    try requiredWord(name, of: AllowedWords(Value.allCases.map(\.rawValue))) { Value(rawValue: $0) }
  }

  /// The texts of an array behind a name.
  mutating func requiredStrings(_ name: StaticString, _ list: ListDomain, _ domain: TextDomain) throws(WireError) -> [String] {
    guard let texts = try optionalStrings(name, list, domain) else { throw missing(name) }
    return texts
  }

  /// An object for each element of an array behind a name.
  mutating func requiredObjects<Value>(
    _ name: StaticString, _ list: ListDomain, _ element: (inout Self) throws(WireError) -> Value
  ) throws(WireError) -> [Value] {
    guard let values = try optionalObjects(name, list, element) else { throw missing(name) }
    return values
  }

  /// An object of texts behind a name, or nil; for keys that are ASCII.
  public mutating func optionalMap(_ name: StaticString, _ domain: MapDomain) throws(WireError) -> [String: String]? {
    try optionalEntries(name, domain).map { entries in Dictionary(entries.map { ($0.key, $0.value) }) { first, _ in first } }
  }
}
