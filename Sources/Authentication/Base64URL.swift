/// Base64url without padding (RFC 7515 section 2). Foundation's decoder ignores stray bits, so that
/// two texts would stand for one signature.
enum Base64URL {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// The value of each byte as a digit; 255 = not a digit.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 255, count: 256)
    for (value, digit) in alphabet.enumerated() { values[Int(digit)] = UInt8(value) }
    return values
  }()

  /// Whether every byte is a digit of the alphabet; padding is not.
  static func isAlphabetic(_ text: ArraySlice<UInt8>) -> Bool {
    // Once: each access of a global asks whether it is there.
    let values = values
    return text.allSatisfy { values[Int($0)] != 255 }
  }

  /// The decoded bytes; nil for other characters, an impossible length or stray last bits.
  static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    let values = values
    var isDecoded = false
    // Appending asks for each byte whether there is room.
    let bytes = [UInt8](unsafeUninitializedCapacity: text.count * 3 / 4) { bytes, count in
      var bits: UInt32 = 0
      var bitCount = 0
      for digit in text {
        let value = values[Int(digit)]
        guard value != 255 else { return }
        bits = bits << 6 | UInt32(value)
        bitCount += 6
        if bitCount >= 8 {
          bitCount -= 8
          bytes.initializeElement(at: count, to: UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
          count += 1
          bits &= (1 << UInt32(bitCount)) - 1
        }
      }
      isDecoded = bitCount < 6 && bits == 0
    }
    return isDecoded ? bytes : nil
  }

  static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    var bits: UInt32 = 0
    var bitCount = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      bitCount += 8
      while bitCount >= 6 {
        bitCount -= 6
        text.append(alphabet[Int(bits >> UInt32(bitCount) & 63)])
        bits &= (1 << UInt32(bitCount)) - 1
      }
    }
    if bitCount > 0 { text.append(alphabet[Int(bits << UInt32(6 - bitCount) & 63)]) }
    return String(decoding: text, as: UTF8.self)
  }
}
