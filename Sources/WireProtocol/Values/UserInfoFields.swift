import GroupModel

/// Texts of a user: those that a request gives, or those that a change has left different.
public struct UserInfoFields: Sendable, Equatable {
  /// Nil = not given, not changed.
  public var nickName: String?
  /// Nil = not given, not changed.
  public var faceURL: String?
  /// In a request the entries to merge, where "" removes a key; after a change all entries.
  public var customInfo: [String: String]?

  /// Fields; none by default.
  public init(nickName: String? = nil, faceURL: String? = nil, customInfo: [String: String]? = nil) {
    self.nickName = nickName
    self.faceURL = faceURL
    self.customInfo = customInfo
  }

  init(from reader: inout some ParameterReader) throws(WireError) {
    nickName = try reader.optionalString("nickName", .nickName, "The user's name, for people.")
    faceURL = try reader.optionalString("faceURL", .userFaceURL, "The address of the user's picture.")
    customInfo = try reader.optionalMap(
      "customInfo", .userCustomInfo, "The application's own texts about the user, by key; an empty text removes its key.")
  }

  /// Whether there is no field.
  public var isEmpty: Bool { nickName == nil && faceURL == nil && customInfo == nil }

  /// The bytes of the texts, those of customInfo in JSON.
  var textBytes: Int {
    (customInfo ?? [:]).reduce(nickName.byteCount + faceURL.byteCount) { $0 + $1.key.bytesInJSON + $1.value.bytesInJSON + 8 }
  }
}

extension UserInfo {
  /// Changes the fields that are given; customInfo merges.
  /// - Returns: the fields that are different now.
  /// - Throws: 10004 where customInfo would have too many keys.
  public mutating func apply(_ fields: UserInfoFields) throws(WireError) -> UserInfoFields {
    var changed = UserInfoFields()
    if let name = fields.nickName, !name.isSame(as: nickName) {
      nickName = name
      changed.nickName = name
    }
    if let url = fields.faceURL, !url.isSame(as: faceURL) {
      faceURL = url
      changed.faceURL = url
    }
    if let given = fields.customInfo, !customInfo.mergeCustomInfo(given).isEmpty { changed.customInfo = customInfo }
    try MapDomain.userCustomInfo.check(count: customInfo.count, in: "customInfo")
    return changed
  }
}

extension UserInfo: WireObject {
  public static let notation = "UserInfo"
  public static let example = UserInfo(userID: .administrator)

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("userID", userID.rawValue)
    writer.member("nickName", nickName)
    writer.member("faceURL", faceURL)
    writer.member("customInfo", TextMap(customInfo))
  }
}

extension TextMap {
  /// By key ascending, so that one state has one text.
  init(_ map: [String: String]) {
    self.init(map.sorted { $0.key < $1.key }.map { GroupAttributes.Entry(key: $0.key, value: $0.value) })
  }
}

extension [String: String] {
  /// Merges the customInfo of a request: `null` or "" removes a key (Protocol.md, "Custom info").
  /// - Returns: the entries that are different now, by key; an empty value where the key is gone.
  package mutating func mergeCustomInfo(_ given: [String: String]) -> [(key: String, value: String)] {
    let changed = given.filter { !$0.value.isSame(as: self[$0.key, default: ""]) }.sorted { $0.key < $1.key }
    for (key, value) in changed { self[key] = value.isEmpty ? nil : value }
    return changed
  }
}

extension TextDomain {
  /// Up to 100 bytes without control characters.
  fileprivate static let nickName = TextDomain(0...100, .badValue, .printable)
  /// Up to 500 bytes.
  fileprivate static let userFaceURL = TextDomain(0...500)
}
