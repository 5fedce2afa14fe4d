import GroupModel

/// Takes the members of an object in their order: the JSON writer, or a recorder that notes names
/// and types. So one declaration of the members serves encoding and description.
public protocol FieldWriter: ~Copyable {
  /// A member with a string.
  mutating func member(_ name: StaticString, _ text: String)
  /// A member with a whole number.
  mutating func member(_ name: StaticString, _ number: Int64)
  /// A member with a whole number.
  mutating func member(_ name: StaticString, _ number: Int)
  /// A member with true or false.
  mutating func member(_ name: StaticString, _ flag: Bool)
  /// A member with a value that descriptions have a name for.
  mutating func member<Value: FieldValue>(_ name: StaticString, _ value: Value)
  /// A member with a message: taken apart, because a MessageInfo would be a copy of it.
  mutating func member(_ name: StaticString, _ message: Message, senderProfile: UserProfile?)
  /// A member with an array of strings.
  mutating func member(_ name: StaticString, _ texts: [String])
  /// A member with an array of such values.
  mutating func member<Value: FieldValue>(_ name: StaticString, _ values: [Value])
  /// A member with one of a few words, which descriptions list.
  mutating func member<Word: RawRepresentable<String> & CaseIterable>(_ name: StaticString, word: Word)

  /// A member that is left out where there is nothing.
  mutating func member(_ name: StaticString, ifPresent text: String?)
  /// A member that is left out where there is nothing.
  mutating func member(_ name: StaticString, ifPresent number: Int64?)
  /// A member that is left out where there is nothing.
  mutating func member(_ name: StaticString, ifPresent flag: Bool?)
  /// A member that is left out where there is nothing.
  mutating func member<Value: FieldValue>(_ name: StaticString, ifPresent value: Value?)
  /// A member that is left out where there is nothing.
  mutating func member<Value: FieldValue>(_ name: StaticString, ifPresent values: [Value]?)
  /// A member that is left out where there is nothing.
  mutating func member(_ name: StaticString, ifPresent texts: [String]?)
}

extension FieldWriter where Self: ~Copyable {
  /// A member with an instant: its milliseconds, 0 where it is unset.
  public mutating func member(_ name: StaticString, _ instant: WallInstant) { member(name, instant.milliseconds) }

  /// A member with an instant, which is left out where there is nothing.
  public mutating func member(_ name: StaticString, ifPresent instant: WallInstant?) {
    member(name, ifPresent: instant?.milliseconds)
  }
}

/// A value of a member, with the name that descriptions have for its type.
public protocol FieldValue: WireEncodable, Sendable {
  /// In the words of `TypeNotation`.
  static var notation: String { get }
}

/// Something whose members are declared once, for encoding and for descriptions.
public protocol FieldEncodable: Sendable {
  /// Gives the members in their order, whatever the values. A member that may be absent is given
  /// with `ifPresent`.
  func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer)
}

/// An object on the wire: a result, or a row of one.
public protocol WireObject: FieldEncodable, FieldValue {
  /// Any value. Descriptions learn the members from it.
  static var example: Self { get }
}

extension WireObject {
  /// The members, for descriptions.
  public static var fields: [ResultField] { FieldRecorder.fields(of: example) }

  public static var notation: String {
    "{" + fields.map { $0.isOptional ? $0.name + "?" : $0.name }.joined(separator: ", ") + "}"
  }

  public func encode(into writer: inout JSONWriter) { writer.object { encodeFields(into: &$0) } }
}

extension JSONWriter: FieldWriter {
  /// A member with a message.
  public mutating func member(_ name: StaticString, _ message: Message, senderProfile: UserProfile?) {
    key(name)
    message.encode(senderProfile, into: &self)
  }

  /// A member with one of a few words.
  public mutating func member<Word: RawRepresentable<String> & CaseIterable>(_ name: StaticString, word: Word) {
    member(name, word.rawValue)
  }

  /// A member that is left out where there is nothing.
  public mutating func member(_ name: StaticString, ifPresent flag: Bool?) {
    if let flag { member(name, flag) }
  }

  /// A member that is left out where there is nothing.
  public mutating func member<Value: FieldValue>(_ name: StaticString, ifPresent value: Value?) {
    if let value { member(name, value) }
  }

  /// A member that is left out where there is nothing.
  public mutating func member<Value: FieldValue>(_ name: StaticString, ifPresent values: [Value]?) {
    if let values { member(name, values) }
  }

  /// A member that is left out where there is nothing.
  public mutating func member(_ name: StaticString, ifPresent texts: [String]?) {
    if let texts { member(name, texts) }
  }
}

/// Notes the members instead of writing them, so that descriptions cannot drift from encoding.
struct FieldRecorder: FieldWriter {
  private(set) var fields: [ResultField] = []

  /// The members of a value.
  static func fields(of value: some FieldEncodable) -> [ResultField] {
    var recorder = FieldRecorder()
    value.encodeFields(into: &recorder)
    return recorder.fields
  }

  private mutating func note(_ name: StaticString, _ type: String, isOptional: Bool = false) {
    fields.append(ResultField(isOptional ? "\(name)?" : "\(name)", type))
  }

  mutating func member(_ name: StaticString, _ text: String) { note(name, "string") }
  mutating func member(_ name: StaticString, _ number: Int64) { note(name, "integer") }
  mutating func member(_ name: StaticString, _ number: Int) { note(name, "integer") }
  mutating func member(_ name: StaticString, _ flag: Bool) { note(name, "boolean") }
  mutating func member<Value: FieldValue>(_ name: StaticString, _ value: Value) { note(name, Value.notation) }
  mutating func member(_ name: StaticString, _ message: Message, senderProfile: UserProfile?) {
    note(name, MessageInfo.notation)
  }
  mutating func member(_ name: StaticString, _ texts: [String]) { note(name, "[string]") }
  mutating func member<Value: FieldValue>(_ name: StaticString, _ values: [Value]) { note(name, "[\(Value.notation)]") }

  mutating func member<Word: RawRepresentable<String> & CaseIterable>(_ name: StaticString, word: Word) {
    note(name, NamedType.words(Word.self))
  }

  mutating func member(_ name: StaticString, ifPresent text: String?) { note(name, "string", isOptional: true) }
  mutating func member(_ name: StaticString, ifPresent number: Int64?) { note(name, "integer", isOptional: true) }
  mutating func member(_ name: StaticString, ifPresent flag: Bool?) { note(name, "boolean", isOptional: true) }

  mutating func member<Value: FieldValue>(_ name: StaticString, ifPresent value: Value?) {
    note(name, Value.notation, isOptional: true)
  }

  mutating func member<Value: FieldValue>(_ name: StaticString, ifPresent values: [Value]?) {
    note(name, "[\(Value.notation)]", isOptional: true)
  }

  mutating func member(_ name: StaticString, ifPresent texts: [String]?) { note(name, "[string]", isOptional: true) }
}
