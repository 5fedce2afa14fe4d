import GroupModel

/// Reads the params of one request. It lives no longer than the parsed text.
public struct JSONParameterReader: ParameterReader {
  private let object: JSONValue?
  public let servesApplication: Bool
  public let textLimits: TextLimits
  private var foundCount = 0

  public var hasUnread: Bool { foundCount < object?.count ?? 0 }

  /// - Parameter object: nil where `params` is absent.
  public init(_ object: JSONValue?, servesApplication: Bool = false, textLimits: TextLimits = .standard) {
    self.object = object
    self.servesApplication = servesApplication
    self.textLimits = textLimits
  }

  /// The value behind a name; null counts as absent (Protocol.md, "Texts").
  private mutating func value(_ name: StaticString) -> JSONValue? {
    guard let value = object?[name] else { return nil }
    foundCount += 1
    return value.kind == .null ? nil : value
  }

  /// Whether the same is there, without reading it.
  private func holds(_ name: StaticString) -> Bool { object?[name].map { $0.kind != .null } ?? false }

  private func wrongType(_ name: StaticString, _ expected: String) -> WireError {
    WireError(.invalidParams, "\(name) is \(expected)", field: "\(name)")
  }

  public func missing(_ name: StaticString) -> WireError { WireError(.invalidParams, "\(name) is missing", field: "\(name)") }

  public mutating func optionalString(
    _ name: StaticString, _ domain: TextDomain, _ meaning: StaticString
  ) throws(WireError) -> String? {
    guard let value = value(name) else { return nil }
    return try string(value, name, domain)
  }

  public mutating func requiredString(
    _ name: StaticString, _ domain: TextDomain, _ meaning: StaticString
  ) throws(WireError) -> String {
    guard let text = try optionalString(name, domain, meaning) else { throw missing(name) }
    return text
  }

  private func string(_ value: JSONValue, _ name: StaticString, _ domain: TextDomain) throws(WireError) -> String {
    guard let text = value.string else { throw wrongType(name, "a string") }
    if let fault = domain.fault(of: text, in: name) { throw fault }
    return text
  }

  public mutating func optionalInteger(
    _ name: StaticString, in range: ClosedRange<Int64>, _ meaning: StaticString
  ) throws(WireError) -> Int64? {
    guard let value = value(name) else { return nil }
    return try integer(value, name, in: range)
  }

  private func integer(_ value: JSONValue, _ name: StaticString, in range: ClosedRange<Int64>) throws(WireError) -> Int64 {
    guard let number = value.wholeNumber else { throw wrongType(name, "an integer") }
    guard range.contains(number) else {
      throw WireError(.badValue, "\(name) is a whole number from \(range.lowerBound) to \(range.upperBound)", field: "\(name)")
    }
    return number
  }

  public mutating func requiredInteger(
    _ name: StaticString, in range: ClosedRange<Int64>, _ meaning: StaticString
  ) throws(WireError) -> Int64 {
    guard let number = try optionalInteger(name, in: range, meaning) else { throw missing(name) }
    return number
  }

  public mutating func optionalFlag(_ name: StaticString, _ meaning: StaticString) throws(WireError) -> Bool? {
    guard let value = value(name) else { return nil }
    guard let flag = value.bool else { throw wrongType(name, "true or false") }
    return flag
  }

  public mutating func requiredFlag(_ name: StaticString, _ meaning: StaticString) throws(WireError) -> Bool {
    guard let flag = try optionalFlag(name, meaning) else { throw missing(name) }
    return flag
  }

  public mutating func optionalWord<Value>(
    _ name: StaticString, of words: @autoclosure () -> AllowedWords, _ meaning: StaticString, _ parse: (String) -> Value?
  ) throws(WireError) -> Value? {
    guard let word = try optionalString(name, .any, meaning) else { return nil }
    guard let value = parse(word) else { throw words().fault(in: name) }
    return value
  }

  public mutating func requiredWord<Value>(
    _ name: StaticString, of words: AllowedWords, _ meaning: StaticString, _ parse: (String) -> Value?
  ) throws(WireError) -> Value {
    guard let value = try optionalWord(name, of: words, meaning, parse) else { throw missing(name) }
    return value
  }

  public mutating func optionalStrings(
    _ name: StaticString, _ list: ListDomain, _ domain: TextDomain, _ meaning: StaticString
  ) throws(WireError) -> [String]? {
    guard let list = try array(name, list) else { return nil }
    var texts: [String] = []
    try list.forEachElement { (element) throws(WireError) in texts.append(try string(element, name, domain)) }
    return texts
  }

  public mutating func optionalIntegers(
    _ name: StaticString, _ list: ListDomain, in range: ClosedRange<Int64>, _ meaning: StaticString
  ) throws(WireError) -> [Int64]? {
    guard let list = try array(name, list) else { return nil }
    var numbers: [Int64] = []
    try list.forEachElement { (element) throws(WireError) in numbers.append(try integer(element, name, in: range)) }
    return numbers
  }

  public mutating func optionalObjects<Value>(
    _ name: StaticString, _ list: ListDomain, _ meaning: StaticString,
    _ element: (inout JSONParameterReader) throws(WireError) -> Value
  ) throws(WireError) -> [Value]? {
    guard let list = try array(name, list) else { return nil }
    var values: [Value] = []
    try list.forEachElement { (value) throws(WireError) in
      guard value.kind == .object else { throw wrongType(name, "an array of objects") }
      var reader = JSONParameterReader(value, servesApplication: servesApplication, textLimits: textLimits)
      values.append(try element(&reader))
    }
    return values
  }

  private mutating func array(_ name: StaticString, _ domain: ListDomain) throws(WireError) -> JSONValue? {
    guard let value = value(name) else { return nil }
    guard value.kind == .array else { throw wrongType(name, "an array") }
    let field = "\(name)"
    guard value.count >= domain.count.lowerBound else { throw WireError(domain.whenEmpty, "\(name) is empty", field: field) }
    guard value.count <= domain.count.upperBound else {
      throw WireError(domain.whenTooMany, "\(name) has at most \(domain.count.upperBound) elements", field: field)
    }
    return value
  }

  public mutating func requiredEither(
    _ first: StaticString, _ second: StaticString, _ domain: TextDomain, _ meaning: StaticString
  ) throws(WireError) -> (isFirst: Bool, text: String) {
    guard let given = try optionalEither(first, second, domain, meaning) else { throw missing(first) }
    return given
  }

  public mutating func optionalEither(
    _ first: StaticString, _ second: StaticString, _ domain: TextDomain, _ meaning: StaticString
  ) throws(WireError) -> (isFirst: Bool, text: String)? {
    switch (try optionalString(first, domain, meaning), try optionalString(second, domain, meaning)) {
    case (let text?, nil): return (true, text)
    case (nil, let text?): return (false, text)
    case (nil, nil): return nil
    case (.some, .some): throw WireError(.badValue, "There is \(first) or \(second), not both", field: "\(second)")
    }
  }

  public func exclude(_ name: StaticString, by other: StaticString, where areGiven: Bool) throws(WireError) {
    if areGiven { throw WireError(.badValue, "There is \(name) or \(other), not both", field: "\(name)") }
  }

  public func requireOne(_ first: StaticString, or second: StaticString) throws(WireError) {
    guard holds(first) == holds(second) else { return }
    throw WireError(.invalidParams, "There is exactly one of \(first) and \(second)", field: "\(first)")
  }

  public mutating func requiredEntries(
    _ name: StaticString, _ domain: MapDomain, _ meaning: StaticString
  ) throws(WireError) -> [MapEntry] {
    guard let entries = try optionalEntries(name, domain, meaning) else { throw missing(name) }
    return entries
  }

  public mutating func requiredCounters(
    _ name: StaticString, _ meaning: StaticString
  ) throws(WireError) -> [GroupCounters.Entry] {
    guard let value = value(name) else { throw missing(name) }
    guard value.kind == .object else { throw wrongType(name, "an object of integers") }
    let field = "\(name)"
    var entries: [GroupCounters.Entry] = []
    var keys: Set<String> = []
    try value.forEachMember { (key, value) throws(WireError) in
      let number = value.wholeNumber
      guard number != nil || value.kind == .null else { throw wrongType(name, "an object of integers") }
      guard (1...GroupCounters.maxKeyBytes).contains(key.utf8.count), key.isName else {
        throw WireError(
          .badValue, "A key of \(field) is 1 to \(GroupCounters.maxKeyBytes) ASCII letters, digits or _", field: field)
      }
      guard number.map(GroupCounters.values.contains) ?? true else {
        throw WireError(.badValue, "A counter is within ±2⁵³", field: field)
      }
      if keys.insert(key).inserted { entries.append(GroupCounters.Entry(key: key, value: number)) }
    }
    guard (1...GroupCounters.maxCount).contains(entries.count) else {
      throw WireError(.badValue, "\(field) has 1 to \(GroupCounters.maxCount) counters", field: field)
    }
    return entries
  }

  public mutating func optionalExpectations(
    _ name: StaticString, _ meaning: StaticString
  ) throws(WireError) -> [SetGroupAttributes.Expectation]? {
    guard let value = value(name) else { return nil }
    guard value.kind == .object else { throw wrongType(name, "an object of strings and nulls") }
    let domain = MapDomain.attributes
    var expectations: [SetGroupAttributes.Expectation] = []
    var keys: Set<ExactText> = []
    try value.forEachMember { (key, value) throws(WireError) in
      guard value.kind == .null || value.kind == .string else { throw wrongType(name, "an object of strings and nulls") }
      if let fault = domain.fault(of: key, value.string ?? "", in: name) { throw fault }
      if keys.insert(ExactText(key)).inserted {
        expectations.append(SetGroupAttributes.Expectation(key: key, value: value.kind == .null ? nil : value.string))
      }
    }
    guard expectations.count <= domain.entries else { throw domain.tooManyKeys(in: name) }
    return expectations
  }

  public mutating func optionalEntries(
    _ name: StaticString, _ domain: MapDomain, _ meaning: StaticString
  ) throws(WireError) -> [MapEntry]? {
    guard let value = value(name) else { return nil }
    guard value.kind == .object else { throw wrongType(name, "an object of strings") }
    var entries: [MapEntry] = []
    var keys: Set<ExactText> = []
    try value.forEachMember { (key, value) throws(WireError) in
      guard value.kind == .null || value.kind == .string else { throw wrongType(name, "an object of strings") }
      if value.kind == .null, !domain.nullRemoves { return }
      let text = value.string ?? ""
      if let fault = domain.fault(of: key, text, in: name) { throw fault }
      if keys.insert(ExactText(key)).inserted { entries.append(MapEntry(key: key, value: text)) }
    }
    if let fault = domain.fault(of: entries, in: name) { throw fault }
    return entries
  }
}
