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
  public let attributes: [GroupAttributes.Entry]

  public static let specification = MethodSpecification(
    .setGroupAttributes, "Sets some attributes of a group and leaves the others.", errors: AttributeErrors.write)

  public static let traits: MethodTraits<Self> = .writes(
    .by { .attributes(bytes: $0.attributes.bytesInJSON) }, users: .nobody, asks: .never, tellsMembers: true, mayWait: false,
    audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    attributes = try reader.requiredEntries(
      "attributes", .attributes, "The attributes that are set; the others stay as they are.")
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
      .attributeWritesTooOften,
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

  public static let specification = MethodSpecification(
    .getGroupAttributes, "Reads attributes of a group; keys that are not there are left out.",
    result: Result.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue, .attributeKeyTooLong, .attributeCallsTooOften])

  public static let traits: MethodTraits<Self> = .reads(mayWait: false)

  /// The attributes that were asked for.
  public struct Result: WireObject {
    public let attributes: TextMap

    public static let example = Result(attributes: TextMap([]))

    /// With everything given.
    public init(attributes: TextMap) {
      self.attributes = attributes
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("attributes", attributes)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    keys = try reader.optionalStrings("keys", .optional(upTo: 100), .attributeKey, "The keys that are read; absent = all.")
  }
}

private enum AttributeErrors {
  static let write: [ErrorCode] = [
    .badGroupID, .noSuchGroup, .noRight, .badValue, .attributeKeyTooLong, .attributeValueTooLong, .tooManyAttributes,
    .attributesTooLarge, .attributeCallsTooOften, .attributeWritesTooOften,
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
