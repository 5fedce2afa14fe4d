import GroupModel

/// Replaces all attributes of a group.
public struct InitGroupAttributes: Method {
  public let attributes: [GroupAttributes.Entry]

  public static let specification = MethodSpecification(
    "initGroupAttributes", "Replaces all attributes of a group.", writes: true, errors: AttributeErrors.write)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    attributes = try reader.requiredEntries("attributes", .attributes, "The attributes that take the place of all there are.")
  }
}

/// Sets some attributes of a group.
public struct SetGroupAttributes: Method {
  public let attributes: [GroupAttributes.Entry]

  public static let specification = MethodSpecification(
    "setGroupAttributes", "Sets some attributes of a group and leaves the others.", writes: true, errors: AttributeErrors.write)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    attributes = try reader.requiredEntries(
      "attributes", .attributes, "The attributes that are set; the others stay as they are.")
  }
}

/// Removes attributes of a group.
public struct DeleteGroupAttributes: Method {
  /// Nil = all.
  public let keys: [String]?

  public static let specification = MethodSpecification(
    "deleteGroupAttributes", "Removes attributes of a group; one unknown key, and none is removed.", writes: true,
    errors: [
      .badGroupID, .noSuchGroup, .noRight, .badValue, .attributeKeyTooLong, .attributeUnknown, .attributeCallsTooOften,
      .attributeWritesTooOften,
    ])

  public init(from reader: inout some ParameterReader) throws(WireError) {
    keys = try reader.optionalStrings("keys", .optional(upTo: 100), .attributeKey, "The keys that are removed; absent = all.")
  }
}

/// Reads attributes of a group.
public struct GetGroupAttributes: Method {
  /// Nil = all.
  public let keys: [String]?

  public static let specification = MethodSpecification(
    "getGroupAttributes", "Reads attributes of a group; keys that are not there are left out.",
    result: Result.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue, .attributeKeyTooLong, .attributeCallsTooOften])

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
