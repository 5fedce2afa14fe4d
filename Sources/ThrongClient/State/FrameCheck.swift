#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Looks at the JSON of a frame before it is decoded: decoders recurse, and a number near the end of
/// Int stops an app that counts on. Whether it is JSON is the decoder's to say.
struct FrameCheck {
  private static let longestNumber = 32
  /// So many digits are below 2⁵³.
  private static let shortNumber = 15

  private let bytes: UnsafeRawBufferPointer
  private var index = 0
  private var depth = 0

  /// Answers what no server sends; nil = nothing was found.
  static func fault(in text: Data) -> String? {
    guard text.count <= ClientLimits.messageBytes else { return "a frame of \(text.count) bytes" }
    return text.withUnsafeBytes { bytes in
      var check = FrameCheck(bytes: bytes)
      return check.run()
    }
  }

  private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  private mutating func run() -> String? {
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""): skipString()
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        if depth > ClientLimits.depth { return "a frame of more than \(ClientLimits.depth) levels" }
        index += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        index += 1
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        if !takeNumber() { return "a number beyond 2⁵³" }
      // Decoders take UTF-16 too, whose digits this one would not see.
      case 0: return "a frame that is not UTF-8"
      default: index += 1
      }
    }
    return nil
  }

  private mutating func skipString() {
    index += 1
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    index += 1
  }

  private mutating func takeNumber() -> Bool {
    let start = index
    var isInteger = true
    while index < bytes.count, FrameCheck.isOfNumber(bytes[index]) {
      if bytes[index] > UInt8(ascii: "9") || bytes[index] == UInt8(ascii: ".") { isInteger = false }
      index += 1
    }
    let length = index - start
    if isInteger, length <= FrameCheck.shortNumber { return true }
    guard length <= FrameCheck.longestNumber else { return false }
    guard let value = Double(String(decoding: bytes[start..<index], as: UTF8.self)) else { return false }
    return abs(value) <= Double(ClientLimits.largestNumber)
  }

  private static func isOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"),
      UInt8(ascii: "E"):
      true
    default: false
    }
  }
}
