/// Texts of users as PostgreSQL keeps them. It takes no U+0000 in a text: that becomes U+0001 U+0002,
/// and U+0001 becomes U+0001 U+0001. Nearly all texts stay as they are, and can be searched.
enum StoredText {
  private static let (mark, forNull): (UInt8, UInt8) = (1, 2)

  static func append(_ text: String, to bytes: inout [UInt8]) {
    var text = text
    text.withUTF8 { utf8 in
      guard utf8.contains(where: { $0 <= mark }) else { return bytes.append(contentsOf: utf8) }
      for byte in utf8 {
        switch byte {
        case 0: bytes += [mark, forNull]
        case mark: bytes += [mark, mark]
        default: bytes.append(byte)
        }
      }
    }
  }

  /// Nil where the bytes are no text that `append` has written.
  static func text(_ stored: UnsafeBufferPointer<UInt8>) -> String? {
    guard stored.contains(mark) else { return String(validating: stored, as: UTF8.self) }
    var bytes: [UInt8] = []
    var isMarked = false
    for byte in stored {
      switch (isMarked, byte) {
      case (false, mark):
        isMarked = true
        continue
      case (false, _): bytes.append(byte)
      case (true, mark): bytes.append(mark)
      case (true, forNull): bytes.append(0)
      case (true, _): return nil
      }
      isMarked = false
    }
    return isMarked ? nil : String(validating: bytes, as: UTF8.self)
  }
}
