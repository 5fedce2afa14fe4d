import GroupModel

/// One member of an object of texts.
public typealias MapEntry = GroupAttributes.Entry

/// The objects of texts that a parameter takes: customInfo of groups and of members, attributes.
public struct MapDomain: Sendable {
  /// The keys that an object may have.
  public enum Keys: Sendable {
    /// `[A-Za-z0-9_]{1,16}`
    case names
    /// Any text that is not empty, up to so many bytes.
    case texts(upTo: Int)

    /// The keys in words, for errors.
    var sentence: String {
      switch self {
      case .names: "1 to 16 ASCII letters, digits or _"
      case .texts(let limit): "1 to \(limit) bytes"
      }
    }
  }

  /// The most entries after a change, which the group checks.
  public let entries: Int
  public let keys: Keys
  public let valueBytes: Int
  /// The error of a key that is too long, or no key at all.
  public let badKey: ErrorCode
  /// The error of a value that is too long.
  public let longValue: ErrorCode
  /// Whether null removes a key, as "" does; otherwise a null entry counts as absent.
  public let nullRemoves: Bool

  /// customInfo of a group: 10 keys, values up to 512 bytes.
  public static let groupCustomInfo = MapDomain(customInfoOf: 10, valueBytes: 512)
  /// customInfo of a user: as of a group.
  public static let userCustomInfo = groupCustomInfo
  /// customInfo of a member: 5 keys, values up to 64 bytes.
  public static let memberCustomInfo = MapDomain(customInfoOf: 5, valueBytes: 64)
  /// A group's attributes: 16 keys up to 32 bytes, values up to 4096 bytes.
  public static let attributes = MapDomain(
    entries: 16, keys: .texts(upTo: 32), valueBytes: 4096, badKey: .attributeKeyTooLong, longValue: .attributeValueTooLong,
    nullRemoves: false)

  private init(customInfoOf entries: Int, valueBytes: Int) {
    self.init(entries: entries, keys: .names, valueBytes: valueBytes, badKey: .badValue, longValue: .badValue, nullRemoves: true)
  }

  private init(
    entries: Int, keys: Keys, valueBytes: Int, badKey: ErrorCode, longValue: ErrorCode, nullRemoves: Bool
  ) {
    self.entries = entries
    self.keys = keys
    self.valueBytes = valueBytes
    self.badKey = badKey
    self.longValue = longValue
    self.nullRemoves = nullRemoves
  }

  /// The error of an entry outside the domain, or nil.
  func fault(of key: String, _ value: String, in name: StaticString) -> WireError? {
    if let code = fault(of: key) { return WireError(code, "A key of \(name) is \(keys.sentence)", field: "\(name)") }
    return value.utf8.count > valueBytes ? WireError(longValue, "A value is at most \(valueBytes) bytes", field: "\(name)") : nil
  }

  /// The error of more entries than any result may have. The group counts attributes instead
  /// (Protocol.md, "Order of errors").
  func fault(of entries: [MapEntry], in name: StaticString) -> WireError? {
    guard case .names = keys, entries.count(where: { !$0.value.isEmpty }) > self.entries else { return nil }
    return tooManyKeys(in: name)
  }

  /// Checks how many keys a customInfo has after a change.
  /// - Throws: 10004 where there are more than it may have.
  public func check(count: Int, in name: StaticString) throws(WireError) {
    if count > entries { throw tooManyKeys(in: name) }
  }

  /// The error of more keys than there may be.
  func tooManyKeys(in name: StaticString) -> WireError {
    WireError(.badValue, "\(name) has at most \(entries) keys", field: "\(name)")
  }

  private func fault(of key: String) -> ErrorCode? {
    switch keys {
    case .names: MapDomain.isName(key) ? nil : badKey
    case .texts(let limit): key.isEmpty ? .badValue : key.utf8.count > limit ? badKey : nil
    }
  }

  private static func isName(_ key: String) -> Bool { (1...16).contains(key.utf8.count) && key.isName }
}
