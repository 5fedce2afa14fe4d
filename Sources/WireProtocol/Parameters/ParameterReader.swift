import GroupModel

/// Where a method takes its parameters from. There are two: the params of a request, and a recorder that notes what is asked for,
/// so that the one declaration of a method's parameters serves decoding and description alike.
///
/// A `need…` member must be there (-32602 otherwise), a `may…` member may be absent or null. The wrong JSON type is -32602, a
/// value outside its domain the code of the domain. The order of the calls is the order in which faults are told.
public protocol ParameterReader {
  /// Whether the members that only the application's backend may give mean something (Protocol.md, "Application interface"); elsewhere they are
  /// unknown members, which are ignored.
  var servesApplication: Bool { get }

  /// The text behind a name, or nil.
  mutating func mayString(_ name: StaticString, _ domain: TextDomain) throws(WireError) -> String?
  /// The text behind a name.
  mutating func needString(_ name: StaticString, _ domain: TextDomain) throws(WireError) -> String

  /// The whole number behind a name, or nil. Outside the range is 10004.
  mutating func mayInteger(_ name: StaticString, in range: ClosedRange<Int64>) throws(WireError) -> Int64?
  /// The whole number behind a name. Outside the range is 10004.
  mutating func needInteger(_ name: StaticString, in range: ClosedRange<Int64>) throws(WireError) -> Int64

  /// The text behind one of two names: -32602 where neither is there, 10004 where both are.
  mutating func needEither(
    _ first: StaticString, _ second: StaticString, _ domain: TextDomain
  ) throws(WireError) -> (isFirst: Bool, text: String)

  /// True or false behind a name, or nil.
  mutating func mayFlag(_ name: StaticString) throws(WireError) -> Bool?

  /// One of a few words behind a name, or nil; another is 10004.
  mutating func mayWord<Value>(
    _ name: StaticString, of words: @autoclosure () -> Words, _ parse: (String) -> Value?
  ) throws(WireError) -> Value?

  /// One of a few words behind a name; another is 10004.
  mutating func needWord<Value>(
    _ name: StaticString, of words: Words, _ parse: (String) -> Value?
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

  /// The members of an object of texts behind a name, each key once, or nil. The first of a doubled key counts; two spellings
  /// that Unicode takes for the same are two keys.
  mutating func mayEntries(_ name: StaticString, _ domain: MapDomain) throws(WireError) -> [MapEntry]?
  /// The members of an object of texts behind a name.
  mutating func needEntries(_ name: StaticString, _ domain: MapDomain) throws(WireError) -> [MapEntry]

  /// What a method makes of values of which none is at hand yet: gives the error of a missing member.
  func missing(_ name: StaticString) -> WireError
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

  /// One of a few words behind a name, or nil, where there are no others.
  public mutating func mayWord<Value>(
    _ name: StaticString, of words: @autoclosure () -> [String], _ parse: (String) -> Value?
  ) throws(WireError) -> Value? {
    try mayWord(name, of: Words(words()), parse)
  }

  /// One of a few words behind a name, where there are no others.
  public mutating func needWord<Value>(
    _ name: StaticString, of words: [String], _ parse: (String) -> Value?
  ) throws(WireError) -> Value {
    try needWord(name, of: Words(words), parse)
  }

  /// One of the words of an enumeration, or nil.
  public mutating func mayWord<Value: RawRepresentable<String> & CaseIterable>(
    _ name: StaticString, of type: Value.Type = Value.self
  ) throws(WireError) -> Value? {
    try mayWord(name, of: Value.allCases.map(\.rawValue)) { Value(rawValue: $0) }
  }

  /// An object of texts behind a name, or nil; for keys that are ASCII.
  public mutating func mayMap(_ name: StaticString, _ domain: MapDomain) throws(WireError) -> [String: String]? {
    try mayEntries(name, domain).map { entries in Dictionary(entries.map { ($0.key, $0.value) }) { first, _ in first } }
  }

  /// The userID behind a name.
  public mutating func userID(_ name: StaticString = "userID") throws(WireError) -> UserID {
    guard let user = UserID(try needString(name, .userID)) else { throw WireError(.badValue, "Not a userID", field: "\(name)") }
    return user
  }

  /// `count`: 1 to a bound, with a default.
  public mutating func count(upTo bound: Int, otherwise: Int) throws(WireError) -> Int {
    Int(try mayInteger("count", in: 1...Int64(bound)) ?? Int64(min(otherwise, bound)))
  }

  /// `nextSeq`: opaque, 0 starts.
  public mutating func nextSeq() throws(WireError) -> Int64 { try mayInteger("nextSeq", in: 0...(1 << 53)) ?? 0 }
}
