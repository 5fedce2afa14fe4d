/// The keys of a store, version 1: ASCII, ordered as what they name (Clients.md, "Memory").
enum StoreKeys {
  /// The version.
  static let version = 1
  static let meta = "meta"
  static let summary = "s"

  static func conversation(_ groupID: String) -> String { "g/\(part(groupID))" }
  static func position(_ groupID: String) -> String { "p/\(part(groupID))" }
  static func message(_ seq: Int, in groupID: String) -> String { "m/\(part(groupID))/\(digits(seq))" }
  static func member(_ userID: String, of groupID: String) -> String { "u/\(part(groupID))/\(part(userID))" }
  static func profile(_ userID: String) -> String { "U/\(part(userID))" }
  static func outbox(_ order: Int, _ clientMsgID: String) -> String { "o/\(digits(order))/\(part(clientMsgID))" }

  /// Those of one kind, or of one group among them.
  struct KeyRange {
    let from: String
    let to: String

    /// - Parameter prefix: ends with a slash, which "0" comes behind.
    fileprivate init(_ prefix: String) {
      from = prefix
      to = "\(prefix.dropLast())0"
    }
  }

  static let conversations = KeyRange("g/")
  static let positions = KeyRange("p/")
  static let outboxes = KeyRange("o/")
  static let profiles = KeyRange("U/")
  static func messages(of groupID: String) -> KeyRange { KeyRange("m/\(part(groupID))/") }
  static func members(of groupID: String) -> KeyRange { KeyRange("u/\(part(groupID))/") }

  /// An ID, or the name of a store, as a part of a key or of a file's name.
  static func part(_ text: String) -> String {
    var part = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
        part.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        part += digits.utf8.count < 2 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return part
  }

  /// A number whose order is that of its digits: 16 hold 2⁵³.
  private static func digits(_ number: Int) -> String {
    let digits = String(max(0, number))
    return String(repeating: "0", count: max(0, 16 - digits.utf8.count)) + digits
  }

  /// The `seq` at the end of a message's key; nil = it is none.
  static func seq(of key: String) -> Int? { key.lastIndex(of: "/").flatMap { Int(key[key.index(after: $0)...]) } }
}
