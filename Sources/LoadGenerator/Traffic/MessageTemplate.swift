import Glibc

/// A text with placeholders: `%t` the stamp, `%p` padding, `%d` the connection's number, `%i` the
/// message's number, `%l` a line of the texts, if there are any.
struct MessageTemplate {
  private enum Part {
    case bytes([UInt8])
    case stamp, padding, connection, id, line
  }

  private let parts: [Part]
  private let paddedSize: Int
  private let texts: MessageTexts?
  /// More bytes than any text of this template takes.
  let longest: Int
  /// It contains `%t`.
  let hasStamp: Bool

  /// - Parameters:
  ///   - text: the text; any other `%` is literal.
  ///   - paddedSize: the length of the whole text with `%p`, in bytes.
  init(_ text: String, paddedSize: Int = 0, texts: MessageTexts? = nil) {
    var parts: [Part] = []
    var plain: [UInt8] = []
    var rest = Array(text.utf8)[...]
    func place(_ letter: UInt8?) -> Part? {
      switch letter {
      case UInt8(ascii: "t"): .stamp
      case UInt8(ascii: "p"): .padding
      case UInt8(ascii: "d"): .connection
      case UInt8(ascii: "i"): .id
      case UInt8(ascii: "l") where texts != nil: .line
      default: nil
      }
    }
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%"), let part = place(rest.first) else {
        plain.append(byte)
        continue
      }
      rest.removeFirst()
      parts += plain.isEmpty ? [part] : [.bytes(plain), part]
      plain = []
    }
    if !plain.isEmpty { parts.append(.bytes(plain)) }
    self.parts = parts
    self.paddedSize = paddedSize
    self.texts = texts
    hasStamp = parts.contains { if case .stamp = $0 { true } else { false } }
    longest =
      paddedSize
      + parts.reduce(0) { sum, part in
        switch part {
        case .bytes(let bytes): sum + bytes.count
        case .line: sum + (texts?.longest ?? 0)
        default: sum + Stamp.length
        }
      }
  }

  /// Writes the text.
  /// - Parameter place: the destination, with `longest` free bytes.
  /// - Returns: the length of the text.
  func write(to place: UnsafeMutableRawPointer, connection: Int, id: Int, stamp: UInt64) -> Int {
    let line = texts?.line(id) ?? []
    var padding = 0
    if paddedSize > 0 {
      let plain = parts.reduce(0) { sum, part in
        switch part {
        case .bytes(let bytes): sum + bytes.count
        case .stamp: sum + Stamp.length
        case .connection: sum + DecimalDigits.width(connection)
        case .id: sum + DecimalDigits.width(id)
        case .line: sum + line.count
        case .padding: sum
        }
      }
      padding = max(0, paddedSize - plain)
    }
    var end = place
    for part in parts {
      switch part {
      case .bytes(let bytes):
        bytes.withUnsafeBytes { end.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }  // no empty part is made
        end += bytes.count
      case .stamp:
        Stamp.write(stamp, to: end)
        end += Stamp.length
      case .padding:
        memset(end, Int32(UInt8(ascii: "x")), padding)
        end += padding
        padding = 0
      case .connection: end += DecimalDigits.write(connection, to: end)
      case .id: end += DecimalDigits.write(id, to: end)
      case .line:
        UnsafeMutableRawBufferPointer(start: end, count: line.count).copyBytes(from: line)
        end += line.count
      }
    }
    return place.distance(to: end)
  }

  /// The text for a connection, without stamp and message number.
  func text(connection: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: longest + 1) { buffer, count in
      // The capacity is at least 1, so there is an address.
      count = write(to: UnsafeMutableRawPointer(buffer.baseAddress!), connection: connection, id: 0, stamp: 0)
    }
  }
}

/// Decimal digits of numbers that are not negative.
enum DecimalDigits {
  /// The number of digits.
  static func width(_ number: Int) -> Int {
    var width = 1
    var rest = number / 10
    while rest > 0 {
      width += 1
      rest /= 10
    }
    return width
  }

  /// Writes the digits.
  /// - Returns: the number of digits.
  static func write(_ number: Int, to place: UnsafeMutableRawPointer) -> Int {
    let width = width(number)
    var rest = number
    for position in stride(from: width - 1, through: 0, by: -1) {
      place.storeBytes(of: UInt8(ascii: "0") + UInt8(rest % 10), toByteOffset: position, as: UInt8.self)
      rest /= 10
    }
    return width
  }
}
