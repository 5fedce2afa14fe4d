import GroupModel

/// Sets and removes counters of a group.
public struct SetGroupCounters: GroupMethod {
  /// A value of nil removes the counter.
  public let counters: [GroupCounters.Entry]

  public static let specification = MethodSpecification(
    .setGroupCounters, "Sets counters of a group, and removes those whose value is null; the others stay.",
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue, .tooManyCounters, .attributeCallsTooOften])

  public static let traits: MethodTraits<Self> = .writes(
    .by { .counters($0.counters.count) }, users: .nobody, asks: .never, tellsMembers: true, mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    counters = try reader.requiredCounters("counters", "The counters and their new values; null removes a counter.")
  }
}

/// Raises a counter of a group.
public struct IncreaseGroupCounter: GroupMethod {
  public let key: String
  public let value: Int64

  public static let specification = MethodSpecification(
    .increaseGroupCounter, "Raises a counter of a group, which starts at 0 where it is not there.",
    result: CounterValue.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue, .tooManyCounters, .attributeCallsTooOften])

  public static let traits: MethodTraits<Self> = .writes(
    .always(.counters(1)), users: .nobody, asks: .never, tellsMembers: true, mayWait: true, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    key = try reader.requiredString("key", .counterKey, "The counter that is raised.")
    value = try reader.requiredInteger("value", in: .counterSteps, "How many are added.")
  }
}

/// Lowers a counter of a group.
public struct DecreaseGroupCounter: GroupMethod {
  public let key: String
  public let value: Int64

  public static let specification = MethodSpecification(
    .decreaseGroupCounter, "Lowers a counter of a group, which starts at 0 where it is not there.",
    result: CounterValue.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue, .tooManyCounters, .attributeCallsTooOften])

  public static let traits: MethodTraits<Self> = .writes(
    .always(.counters(1)), users: .nobody, asks: .never, tellsMembers: true, mayWait: true, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    key = try reader.requiredString("key", .counterKey, "The counter that is lowered.")
    value = try reader.requiredInteger("value", in: .counterSteps, "How many are taken away.")
  }
}

/// Reads counters of a group.
public struct GetGroupCounters: GroupMethod {
  /// Nil = all.
  public let keys: [String]?

  public static let specification = MethodSpecification(
    .getGroupCounters, "Reads counters of a group; keys that are not there are left out.", result: Result.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue])

  public static let traits: MethodTraits<Self> = .reads(mayWait: false)

  /// The counters that were asked for.
  public struct Result: WireObject {
    public let counters: CounterMap

    public static let example = Result(counters: CounterMap([]))

    /// With everything given.
    public init(counters: CounterMap) {
      self.counters = counters
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("counters", counters)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    keys = try reader.optionalStrings("keys", .optional(upTo: 100), .counterKey, "The counters that are read; absent = all.")
  }
}

/// The value of a counter after a change.
public struct CounterValue: WireObject {
  public let value: Int64

  public static let example = CounterValue(value: 0)

  /// With everything given.
  public init(value: Int64) {
    self.value = value
  }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("value", value)
  }
}

extension TextDomain {
  /// The key of a counter, 10004 otherwise.
  fileprivate static let counterKey = TextDomain(1...GroupCounters.maxKeyBytes, .badValue, .name)
}

extension ClosedRange<Int64> {
  /// The steps by which a counter is raised or lowered.
  fileprivate static var counterSteps: ClosedRange<Int64> { 1...Int64(Int32.max) }
}
