import GroupModel

/// The most bytes of the texts that the configuration bounds (`limits.text.…`).
public struct TextLimits: Sendable, Equatable {
  public var groupName = 30
  public var introduction = 240
  public var notification = 300
  public var faceURL = 100
  public var nameCard = 50
  public var message = 12_288
  public var `extension` = 4096

  /// The defaults.
  public static let standard = TextLimits()

  /// The defaults, to be changed.
  public init() {}

  /// A group's name: not empty, no control characters (8502, 10004).
  var groupNames: TextDomain { TextDomain(1...groupName, .badGroupName, .printable) }
  /// A group's introduction (8503).
  var introductions: TextDomain { TextDomain(0...introduction, .introductionTooLong) }
  /// A group's notification (8504).
  var notifications: TextDomain { TextDomain(0...notification, .notificationTooLong) }
  /// A group's faceURL (8505).
  var faceURLs: TextDomain { TextDomain(0...faceURL, .faceURLTooLong) }
  /// A name card: no control characters (8506, 10004).
  var nameCards: TextDomain { TextDomain(0...nameCard, .nameCardTooLong, .printable) }
  /// The content of a message: not empty (10004), not longer (80002).
  var messages: TextDomain { TextDomain(1...message, .messageTooLong, whenEmpty: .badValue) }
  /// The application's data beside the content of a message (10004).
  var extensions: TextDomain { TextDomain(0...`extension`) }
}

/// The texts that a parameter takes.
public struct TextDomain: Sendable {
  /// A condition besides the length.
  public enum Form: Sendable {
    case any
    /// No control characters (10004).
    case printable
    /// ASCII letters, digits and `_` alone (10004).
    case name
    /// The same, and `.` and `-` (10004).
    case signalName
    /// A groupID that exists or may exist.
    case groupID
    /// A groupID offered for a new group; empty = none is.
    case newGroupID
    /// A userID.
    case userID
    /// A userID, or a text that is none and is answered for itself: no text is a fault.
    case userIDOrOther
    /// One of some words, as a test tells. Apart, because every domain would be as large: each text that is
    /// read makes one.
    indirect case word(AllowedWords, @Sendable (String) -> Bool)
  }

  /// What the length of a text counts.
  public enum Unit: String, Sendable {
    /// Bytes of UTF-8.
    case bytes
    /// Code points of Unicode, of up to four bytes each, as `maxLength` of a JSON Schema counts them.
    case characters
  }

  /// The lengths that a text may have, in `unit`.
  public let length: ClosedRange<Int>
  /// What `length` counts.
  public let unit: Unit
  /// The error of a text that is too long or of the wrong form.
  public let code: ErrorCode
  /// The error of a text that is too short.
  public let whenEmpty: ErrorCode
  public let form: Form

  /// Texts of so many bytes.
  public init(_ bytes: ClosedRange<Int>, _ code: ErrorCode = .badValue, whenEmpty: ErrorCode? = nil, _ form: Form = .any) {
    self.init(length: bytes, unit: .bytes, code, whenEmpty: whenEmpty, form)
  }

  /// Texts of at most so many characters, 10004 otherwise.
  public init(characters: Int) { self.init(length: 0...characters, unit: .characters, .badValue, whenEmpty: nil, .any) }

  private init(length: ClosedRange<Int>, unit: Unit, _ code: ErrorCode, whenEmpty: ErrorCode?, _ form: Form) {
    self.length = length
    self.unit = unit
    self.code = code
    self.whenEmpty = whenEmpty ?? code
    self.form = form
  }

  /// Words only.
  init(words: AllowedWords, _ isWord: @escaping @Sendable (String) -> Bool) {
    self.init(0...Int.max, .badValue, .word(words, isWord))
  }

  /// Any text.
  public static let any = TextDomain(0...Int.max)
  /// A groupID, 10015 otherwise.
  public static let groupID = TextDomain(1...48, .badGroupID, .groupID)
  /// A groupID for a new group, or nothing, 8501 otherwise.
  public static let newGroupID = TextDomain(0...48, .badNewGroupID, .newGroupID)
  /// The name of a signal, 10004 otherwise.
  static let signalName = TextDomain(1...32, .badValue, .signalName)
  /// The data of a signal, 10004 otherwise.
  static let signalData = TextDomain(0...512)
  /// A msgID, of whatever form, 10004 otherwise.
  public static let msgID = TextDomain(1...128)
  /// A userID, 10004 otherwise.
  public static let userID = TextDomain(1...32, .badValue, .userID)
  /// A userID in a list where each text that is none has an answer of its own.
  static let userIDOrOther = TextDomain(1...32, .badValue, .userIDOrOther)
  /// A reason, a message or an attach beside an application, an invitation or a removal: up to 512 characters.
  public static let remark = TextDomain(characters: 512)
  /// A deviceID, or the reason of kickUser: up to 512 bytes.
  static let shortText = TextDomain(0...512)

  /// The error of a text outside the domain, or nil.
  func fault(of text: String, in name: StaticString) -> WireError? {
    if case .userIDOrOther = form { return nil }
    let count = unit == .bytes ? text.utf8.count : text.unicodeScalars.count
    guard count >= length.lowerBound else {
      return WireError(whenEmpty, whenEmpty == .badValue ? "\(name) is empty" : nil, field: "\(name)")
    }
    guard count <= length.upperBound else {
      return WireError(code, "\(name) is at most \(length.upperBound) \(unit.rawValue)", field: "\(name)")
    }
    switch form {
    case .any, .userIDOrOther: return nil
    case .printable: return text.hasControlCharacter ? WireError(.badValue, "No control characters", field: "\(name)") : nil
    case .name: return text.isName ? nil : WireError(.badValue, "\(name) has letters, digits and _ alone", field: "\(name)")
    case .signalName:
      if text.isSignalName { return nil }
      return WireError(.badValue, "\(name) has letters, digits, _, . and - alone", field: "\(name)")
    case .groupID: return GroupID(text) == nil ? WireError(code, field: "\(name)") : nil
    case .newGroupID:
      if text.isEmpty { return nil }
      guard let id = GroupID(text), !id.isGenerated else { return WireError(code, field: "\(name)") }
      return nil
    case .userID: return UserID(text) == nil ? WireError.noUserID(code, in: name) : nil
    case .word(let words, let isWord):
      return isWord(text) ? nil : words.fault(in: name)
    }
  }
}

extension WireError {
  /// The error of a text that is no userID, with the rule.
  package static func noUserID(_ code: ErrorCode = .badValue, in name: StaticString) -> WireError {
    WireError(
      code, "A userID is 1 to 32 visible ASCII characters, does not begin with @ and is not administrator", field: "\(name)")
  }
}

extension String {
  /// Whether there is a character of the categories Cc: U+0000–U+001F, U+007F–U+009F.
  var hasControlCharacter: Bool { unicodeScalars.contains { $0.properties.generalCategory == .control } }

  /// Whether there are ASCII letters, digits and `_` alone.
  var isName: Bool { utf8.allSatisfy(\.isOfName) }

  /// Whether there are ASCII letters, digits, `_`, `.` and `-` alone.
  var isSignalName: Bool {
    utf8.allSatisfy { $0.isOfName || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
  }
}

extension UInt8 {
  /// Whether it is an ASCII letter, a digit or `_`.
  fileprivate var isOfName: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
