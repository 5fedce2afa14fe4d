import GroupModel

/// The source of a method's parameters: the params of a request, or a recorder that notes them for
/// descriptions. A `required…` member is -32602 where it is absent or null; an `optional…` one is
/// nil. The first fault in the order of the calls is the reply. `meaning` is what the value means, its
/// unit included, in a sentence or two; descriptions add the bounds.
public protocol ParameterReader {
  /// Whether the members that only the application's backend may give are read (Protocol.md,
  /// "Application interface"); elsewhere they are unknown members, which are ignored.
  var servesApplication: Bool { get }
  /// The bounds of texts, by configuration.
  var textLimits: TextLimits { get }
  /// Whether there may be members that were not read yet, each of which is read once: false saves a
  /// look for every rare one.
  var hasUnread: Bool { get }

  /// The text behind a name, or nil.
  mutating func optionalString(_ name: StaticString, _ domain: TextDomain, _ meaning: StaticString) throws(WireError) -> String?
  /// The text behind a name.
  mutating func requiredString(_ name: StaticString, _ domain: TextDomain, _ meaning: StaticString) throws(WireError) -> String

  /// The whole number behind a name, or nil. Outside the range is 10004.
  mutating func optionalInteger(_ name: StaticString, in range: ClosedRange<Int64>, _ meaning: StaticString) throws(WireError)
    -> Int64?
  /// The whole number behind a name. Outside the range is 10004.
  mutating func requiredInteger(_ name: StaticString, in range: ClosedRange<Int64>, _ meaning: StaticString) throws(WireError)
    -> Int64

  /// The text behind one of two names: -32602 where neither is there, 10004 where both are.
  mutating func requiredEither(
    _ first: StaticString, _ second: StaticString, _ domain: TextDomain, _ meaning: StaticString
  ) throws(WireError) -> (isFirst: Bool, text: String)

  /// The text behind one of two names, or nil: 10004 where both are there.
  mutating func optionalEither(
    _ first: StaticString, _ second: StaticString, _ domain: TextDomain, _ meaning: StaticString
  ) throws(WireError) -> (isFirst: Bool, text: String)?

  /// The error of a member that another one excludes, where both are given: 10004.
  func exclude(_ name: StaticString, by other: StaticString, where areGiven: Bool) throws(WireError)

  /// -32602 unless exactly one of two members is there.
  func requireOne(_ first: StaticString, or second: StaticString) throws(WireError)

  /// True or false behind a name, or nil.
  mutating func optionalFlag(_ name: StaticString, _ meaning: StaticString) throws(WireError) -> Bool?
  /// True or false behind a name.
  mutating func requiredFlag(_ name: StaticString, _ meaning: StaticString) throws(WireError) -> Bool

  /// One of a few words behind a name, or nil; another is 10004.
  mutating func optionalWord<Value>(
    _ name: StaticString, of words: @autoclosure () -> AllowedWords, _ meaning: StaticString, _ parse: (String) -> Value?
  ) throws(WireError) -> Value?
  /// One of a few words behind a name; another is 10004.
  mutating func requiredWord<Value>(
    _ name: StaticString, of words: AllowedWords, _ meaning: StaticString, _ parse: (String) -> Value?
  ) throws(WireError) -> Value

  /// The texts of an array behind a name, or nil.
  mutating func optionalStrings(
    _ name: StaticString, _ list: ListDomain, _ domain: TextDomain, _ meaning: StaticString
  ) throws(WireError) -> [String]?

  /// The whole numbers of an array behind a name, or nil. One outside the range is 10004.
  mutating func optionalIntegers(
    _ name: StaticString, _ list: ListDomain, in range: ClosedRange<Int64>, _ meaning: StaticString
  ) throws(WireError) -> [Int64]?

  /// An object for each element of an array behind a name, or nil.
  mutating func optionalObjects<Value>(
    _ name: StaticString, _ list: ListDomain, _ meaning: StaticString,
    _ element: (inout Self) throws(WireError) -> Value
  ) throws(WireError) -> [Value]?

  /// The members of an object of texts behind a name, or nil. Each key stands there once: the first
  /// of a doubled key counts, and two spellings that Unicode takes for the same are two keys.
  mutating func optionalEntries(_ name: StaticString, _ domain: MapDomain, _ meaning: StaticString) throws(WireError)
    -> [MapEntry]?
  /// The members of an object of texts behind a name.
  mutating func requiredEntries(_ name: StaticString, _ domain: MapDomain, _ meaning: StaticString) throws(WireError)
    -> [MapEntry]

  /// What an object of texts and nulls behind a name expects of attributes, each key once, or nil. The
  /// first of a doubled key counts; null expects that the key is not there.
  mutating func optionalExpectations(_ name: StaticString, _ meaning: StaticString) throws(WireError)
    -> [SetGroupAttributes.Expectation]?

  /// The counters of an object behind a name, each once, in its order; null is a value of nil. The
  /// first of a doubled key counts.
  mutating func requiredCounters(_ name: StaticString, _ meaning: StaticString) throws(WireError) -> [GroupCounters.Entry]

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
  /// Whether descriptions call the list required.
  public let isRequired: Bool

  /// Lists of so many elements.
  /// - Parameter isRequired: false where another member may stand instead; nil = unless the list
  ///   may be empty.
  public init(
    _ count: ClosedRange<Int>, whenEmpty: ErrorCode = .badValue, whenTooMany: ErrorCode = .badValue, isRequired: Bool? = nil
  ) {
    self.count = count
    self.whenEmpty = whenEmpty
    self.whenTooMany = whenTooMany
    self.isRequired = isRequired ?? (count.lowerBound > 0)
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
    GroupID(allowed: try requiredString("groupID", .groupID, "The group that the request is about."))
  }

  /// The userID behind a name.
  public mutating func requiredUserID(_ name: StaticString, _ meaning: StaticString) throws(WireError) -> UserID {
    guard let user = UserID(try requiredString(name, .userID, meaning)) else { throw .noUserID(in: name) }
    return user
  }

  /// The userIDs of an array behind a name, each once, in the order of the list; or nil.
  public mutating func optionalUserIDs(_ name: StaticString, _ list: ListDomain, _ meaning: StaticString) throws(WireError)
    -> [UserID]?
  {
    try optionalStrings(name, list, .userID, meaning)?.uniqued().compactMap { UserID($0) }
  }

  /// The userIDs of an array behind a name, each once, in the order of the list.
  public mutating func requiredUserIDs(
    _ name: StaticString, upTo bound: Int, _ meaning: StaticString
  ) throws(WireError) -> [UserID] {
    let list = ListDomain(1...bound, whenEmpty: .emptyUserList)
    guard let users = try optionalUserIDs(name, list, meaning) else { throw missing(name) }
    return users
  }

  /// The targets of a request: `userID`, or `userIDList` with each user once; -32602 unless it is
  /// exactly one of them.
  mutating func requiredTargets(
    upTo bound: Int, one: StaticString, several: StaticString
  ) throws(WireError) -> TargetUsers {
    try requireOne("userID", or: "userIDList")
    let user = try optionalString("userID", .userID, one).flatMap { UserID($0) }
    let list = ListDomain(1...bound, whenEmpty: .emptyUserList, isRequired: false)
    let users = try optionalUserIDs("userIDList", list, several)
    return user.map { .one($0) } ?? .list(users ?? [])
  }

  /// The same where a text of the list that is no userID is no fault of the call.
  /// - Returns: also these texts, each once.
  mutating func requiredTargetsAndOthers(
    upTo bound: Int, one: StaticString, several: StaticString
  ) throws(WireError) -> (targets: TargetUsers, others: [String]) {
    try requireOne("userID", or: "userIDList")
    let user = try optionalString("userID", .userID, one).flatMap { UserID($0) }
    let list = ListDomain(1...bound, whenEmpty: .emptyUserList, isRequired: false)
    let names = try optionalStrings("userIDList", list, .userIDOrOther, several) ?? []
    if let user { return (.one(user), []) }
    let others = names.filter { UserID($0) == nil }.uniqued { ExactText($0) }
    return (.list(names.uniqued().compactMap { UserID($0) }), others)
  }

  /// The instant behind a name, or nil.
  mutating func optionalInstant(_ name: StaticString, _ meaning: StaticString) throws(WireError) -> WallInstant? {
    try optionalInteger(name, in: .instants, meaning).map(WallInstant.init(milliseconds:))
  }

  /// The instant behind a name.
  mutating func requiredInstant(_ name: StaticString, _ meaning: StaticString) throws(WireError) -> WallInstant {
    WallInstant(milliseconds: try requiredInteger(name, in: .instants, meaning))
  }

  /// `groupType`, old names included, or nil.
  mutating func optionalGroupType(_ meaning: StaticString) throws(WireError) -> GroupType? {
    try optionalWord("groupType", of: GroupType.allowedWords, meaning) { GroupType(wireName: $0) }
  }

  /// `groupType`, old names included.
  mutating func requiredGroupType(_ meaning: StaticString) throws(WireError) -> GroupType {
    try requiredWord("groupType", of: GroupType.allowedWords, meaning) { GroupType(wireName: $0) }
  }

  /// `count`: 1 to a bound, with a default.
  public mutating func count(upTo bound: Int, otherwise: Int, _ meaning: StaticString) throws(WireError) -> Int {
    Int(try optionalInteger("count", in: 1...Int64(bound), meaning) ?? Int64(min(otherwise, bound)))
  }

  /// `nextSeq`: opaque, 0 starts.
  public mutating func nextSeq() throws(WireError) -> Int64 {
    try optionalInteger(
      "nextSeq", in: .places, "Where the page begins: 0 or absent = the first page, else as the last answer said.") ?? 0
  }
}

extension GroupType {
  fileprivate static var allowedWords: AllowedWords { AllowedWords(allCases.map(\.rawValue)) }
}

extension ClosedRange<Int64> {
  /// Durations are seconds: 0 to 2³²−1 (Protocol.md, "Instants and durations").
  static var seconds: ClosedRange<Int64> { 0...Int64(UInt32.max) }
  /// The instants that a client may give.
  static var instants: ClosedRange<Int64> { 0...(1 << 53) }
  /// The numbers of messages; the first is 1.
  static var seqs: ClosedRange<Int64> { 1...(1 << 53) }
  /// The places in a history, or in a list: 0 = before all that is in it.
  static var places: ClosedRange<Int64> { 0...(1 << 53) }
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
    _ name: StaticString, of type: Value.Type = Value.self, _ meaning: StaticString
  ) throws(WireError) -> Value? {
    try optionalWord(name, of: AllowedWords(Value.allCases.map(\.rawValue)), meaning) { Value(rawValue: $0) }
  }

  /// One of the words of an enumeration.
  public mutating func requiredWord<Value: RawRepresentable<String> & CaseIterable>(
    _ name: StaticString, of type: Value.Type = Value.self, _ meaning: StaticString
  ) throws(WireError) -> Value {
    try requiredWord(name, of: AllowedWords(Value.allCases.map(\.rawValue)), meaning) { Value(rawValue: $0) }
  }

  /// The texts of an array behind a name.
  mutating func requiredStrings(
    _ name: StaticString, _ list: ListDomain, _ domain: TextDomain, _ meaning: StaticString
  ) throws(WireError) -> [String] {
    guard let texts = try optionalStrings(name, list, domain, meaning) else { throw missing(name) }
    return texts
  }

  /// The whole numbers of an array behind a name, each once, in the order of the list.
  mutating func requiredIntegers(
    _ name: StaticString, _ list: ListDomain, in range: ClosedRange<Int64>, _ meaning: StaticString
  ) throws(WireError) -> [Int64] {
    guard let numbers = try optionalIntegers(name, list, in: range, meaning) else { throw missing(name) }
    return numbers.uniqued()
  }

  /// An object for each element of an array behind a name.
  mutating func requiredObjects<Value>(
    _ name: StaticString, _ list: ListDomain, _ meaning: StaticString, _ element: (inout Self) throws(WireError) -> Value
  ) throws(WireError) -> [Value] {
    guard let values = try optionalObjects(name, list, meaning, element) else { throw missing(name) }
    return values
  }

  /// An object of texts behind a name, or nil; for keys that are ASCII.
  public mutating func optionalMap(
    _ name: StaticString, _ domain: MapDomain, _ meaning: StaticString
  ) throws(WireError) -> [String: String]? {
    try optionalEntries(name, domain, meaning).map { entries in
      Dictionary(entries.map { ($0.key, $0.value) }) { first, _ in first }
    }
  }
}
