import GroupModel
import WireProtocol

/// A write of a group's attributes as a pure value: what they would be, and who may make them so
/// (Protocol.md, "Attributes" and "Holders of attributes").
struct AttributeChange: Sendable {
  /// Who writes.
  struct Writer: Sendable {
    /// Nil = an application administrator, who never becomes a holder.
    let user: UserID?
    /// Whether the writer may change what others hold: managers and application administrators.
    let mayChangeAll: Bool
  }

  let known: GroupAttributes
  /// The attributes after the write.
  private(set) var edited: GroupAttributes
  private let writer: Writer
  private let expect: [SetGroupAttributes.Expectation]
  /// The parameter that names the keys.
  private let parameter: String

  /// Replaces all attributes. Keys that stay keep their holder; new ones are the writer's.
  init(of known: GroupAttributes, by writer: Writer, replacingWith entries: [GroupAttributes.Entry]) {
    self.init(of: known, by: writer, edited: GroupAttributes(), parameter: "attributes")
    for entry in entries { put(entry, isDeletedAfterHolderLeft: nil, isTakeOver: false) }
  }

  /// Sets some attributes.
  init(of known: GroupAttributes, by writer: Writer, setting request: SetGroupAttributes) {
    self.init(of: known, by: writer, edited: known, expect: request.expect, parameter: "attributes")
    for entry in request.attributes {
      put(entry, isDeletedAfterHolderLeft: request.isDeleteAfterHolderLeft, isTakeOver: request.isTakeOver)
    }
  }

  /// Deletes attributes; "deleting one unknown key is 10050 and deletes nothing".
  /// - Parameter keys: nil = all.
  init(of known: GroupAttributes, by writer: Writer, deleting keys: [String]?) throws(WireError) {
    self.init(of: known, by: writer, edited: keys == nil ? GroupAttributes() : known, parameter: "keys")
    for key in keys ?? [] {
      guard known.entry(of: key) != nil else { throw WireError(.attributeUnknown, field: "keys") }
      edited[key] = nil
    }
  }

  private init(
    of known: GroupAttributes, by writer: Writer, edited: GroupAttributes, expect: [SetGroupAttributes.Expectation] = [],
    parameter: String
  ) {
    self.known = known
    self.edited = edited
    self.writer = writer
    self.expect = expect
    self.parameter = parameter
  }

  /// Sets one key. A key that is created is the writer's, and so is one that the writer takes over;
  /// another keeps its holder.
  /// - Parameter isDeletedAfterHolderLeft: of keys that the writer holds then; nil = a key that was there
  ///   stays as it is.
  private mutating func put(_ entry: GroupAttributes.Entry, isDeletedAfterHolderLeft: Bool?, isTakeOver: Bool) {
    let old = known.entry(of: entry.key)
    let holder = if let old, !isTakeOver { old.holder } else { writer.user }
    let isWriters = holder != nil && holder == writer.user
    let kept = old.map { $0.holder == holder && $0.isDeletedAfterHolderLeft } ?? false
    edited.put(
      GroupAttributes.Entry(
        key: entry.key, value: entry.value, holder: holder,
        isDeletedAfterHolderLeft: isWriters ? isDeletedAfterHolderLeft ?? kept : kept))
  }

  // MARK: Checks

  /// The limits hold for the result: 10047 and 10048.
  func requireSize() throws(WireError) {
    guard edited.count <= GroupAttributes.maxCount else { throw WireError(.tooManyAttributes, field: "attributes") }
    guard edited.byteCount <= GroupAttributes.maxBytes else { throw WireError(.attributesTooLarge, field: "attributes") }
  }

  /// "10058 comes before 10059": what the caller expects, then whose the keys are.
  func requirePermission(in mode: AttributeMode) throws(WireError) {
    let isAsExpected = expect.allSatisfy { expected in
      known[expected.key].map { ExactText($0) } == expected.value.map { ExactText($0) }
    }
    guard isAsExpected else { throw WireError(.expectationFailed, field: "expect") }
    guard mode == .holder, !writer.mayChangeAll else { return }
    // A key that stays as it is offends nobody; to take it over is a change.
    let offends = known.entries.contains { old in
      guard let holder = old.holder, holder != writer.user else { return false }
      return edited.entry(of: old.key) != old
    }
    if offends { throw WireError(.attributeHeld, field: parameter) }
  }
}

extension GroupAttributes.Entry {
  /// Whether members see both alike: they are not told which keys go with their holder.
  fileprivate func isShownLike(_ other: GroupAttributes.Entry) -> Bool {
    key.isSame(as: other.key) && value.isSame(as: other.value) && holder == other.holder
  }
}

extension GroupAttributes {
  /// Whether members see both alike.
  func isShownLike(_ other: GroupAttributes) -> Bool {
    count == other.count
      && entries.allSatisfy { entry in other.entry(of: entry.key).map { $0.isShownLike(entry) } ?? false }
  }

  /// The attributes that stay when users leave the group; nil = all do.
  func afterLeaving(of users: [UserID]) -> GroupAttributes? {
    let entries = entries
    let isHeld = entries.contains(where: \.isDeletedAfterHolderLeft)
    guard isHeld else { return nil }
    let left = Set(users)
    let staying = entries.filter { entry in
      !entry.isDeletedAfterHolderLeft || entry.holder.map { !left.contains($0) } ?? true
    }
    return staying.count == entries.count ? nil : GroupAttributes(staying)
  }
}
