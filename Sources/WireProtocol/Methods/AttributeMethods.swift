import GroupModel

/// Replaces all attributes of a group.
public struct InitGroupAttributes: GroupMethod {
  public let attributes: [GroupAttributes.Entry]

  public static let specification = MethodSpecification(
    .initGroupAttributes, "Replaces all attributes of a group.", errors: AttributeErrors.write)

  public static let traits: MethodTraits<Self> = .writes(
    .by { .attributes(bytes: $0.attributes.bytesInJSON) }, users: .nobody, asks: .never, tellsMembers: true, mayWait: false,
    audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    attributes = try reader.requiredEntries("attributes", .attributes, "The attributes that take the place of all there are.")
  }
}

/// Sets some attributes of a group.
public struct SetGroupAttributes: GroupMethod {
  /// What the caller expects of a key.
  public struct Expectation: Sendable, Equatable {
    public let key: String
    /// Nil = the key is not there.
    public let value: String?

    /// An expectation.
    public init(key: String, value: String?) {
      self.key = key
      self.value = value
    }

    public static func == (a: Expectation, b: Expectation) -> Bool {
      a.key.isSame(as: b.key) && a.value.map(ExactText.init) == b.value.map(ExactText.init)
    }
  }

  public let attributes: [GroupAttributes.Entry]
  /// What has to be so, each key once; empty = nothing is expected.
  public let expect: [Expectation]
  /// Whether the keys of this call that the caller holds then go when the caller leaves.
  public let isDeleteAfterHolderLeft: Bool
  /// Whether the caller becomes the holder of the keys of this call.
  public let isTakeOver: Bool

  public static let specification = MethodSpecification(
    .setGroupAttributes, "Sets some attributes of a group and leaves the others.",
    errors: AttributeErrors.write + [.expectationFailed])

  public static let traits: MethodTraits<Self> = .writes(
    .by { .attributes(bytes: $0.attributes.bytesInJSON) }, users: .nobody, asks: .never, tellsMembers: true, mayWait: false,
    audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    attributes = try reader.requiredEntries(
      "attributes", .attributes, "The attributes that are set; the others stay as they are.")
    expect =
      try reader.optionalExpectations(
        "expect", "The values that these keys have to have, null = the key is not there: else 10058, and nothing is set.") ?? []
    isDeleteAfterHolderLeft =
      try reader.optionalFlag(
        "isDeleteAfterHolderLeft",
        "true = the keys of this call that the caller holds go when the caller leaves the group; absent = false.") ?? false
    isTakeOver =
      try reader.optionalFlag("isTakeOver", "true = the caller becomes the holder of the keys of this call; absent = false.")
      ?? false
  }

  /// A call with what is given.
  public init(
    attributes: [GroupAttributes.Entry], expect: [Expectation] = [], isDeleteAfterHolderLeft: Bool = false,
    isTakeOver: Bool = false
  ) {
    self.attributes = attributes
    self.expect = expect
    self.isDeleteAfterHolderLeft = isDeleteAfterHolderLeft
    self.isTakeOver = isTakeOver
  }
}

/// Removes attributes of a group.
public struct DeleteGroupAttributes: GroupMethod {
  /// Nil = all.
  public let keys: [String]?

  public static let specification = MethodSpecification(
    .deleteGroupAttributes, "Removes attributes of a group; one unknown key, and none is removed.",
    errors: [
      .badGroupID, .noSuchGroup, .noRight, .badValue, .attributeKeyTooLong, .attributeUnknown, .attributeCallsTooOften,
      .attributeWritesTooOften, .attributeHeld,
    ])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, users: .nobody, asks: .never, tellsMembers: true, mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    keys = try reader.optionalStrings("keys", .optional(upTo: 100), .attributeKey, "The keys that are removed; absent = all.")
  }
}

/// Reads attributes of a group.
public struct GetGroupAttributes: GroupMethod {
  /// Nil = all.
  public let keys: [String]?
  public let withHolders: Bool

  public static let specification = MethodSpecification(
    .getGroupAttributes, "Reads attributes of a group; keys that are not there are left out.",
    result: Result.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue, .attributeKeyTooLong, .attributeCallsTooOften])

  public static let traits: MethodTraits<Self> = .reads(mayWait: false)

  /// The attributes that were asked for.
  public struct Result: WireObject {
    public let attributes: TextMap
    /// The holder of each key that has one; nil = they were not asked for.
    public let holders: TextMap?

    public static let example = Result(attributes: TextMap([]))

    /// With everything given.
    public init(attributes: TextMap, holders: TextMap? = nil) {
      self.attributes = attributes
      self.holders = holders
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("attributes", attributes)
      writer.member("holders", ifPresent: holders)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    keys = try reader.optionalStrings("keys", .optional(upTo: 100), .attributeKey, "The keys that are read; absent = all.")
    withHolders =
      try reader.optionalFlag("withHolders", "true = holders names the holder of each key that has one; absent = false.")
      ?? false
  }
}

private enum AttributeErrors {
  static let write: [ErrorCode] = [
    .badGroupID, .noSuchGroup, .noRight, .badValue, .attributeKeyTooLong, .attributeValueTooLong, .tooManyAttributes,
    .attributesTooLarge, .attributeCallsTooOften, .attributeWritesTooOften, .attributeHeld,
  ]
}

extension TextDomain {
  /// 1–32 bytes: 10045 when longer, 10004 when empty.
  fileprivate static let attributeKey = TextDomain(1...32, .attributeKeyTooLong, whenEmpty: .badValue)
}

extension [GroupAttributes.Entry] {
  /// The bytes of keys and values in JSON.
  fileprivate var bytesInJSON: Int { reduce(0) { $0 + $1.key.bytesInJSON + $1.value.bytesInJSON } }
}
