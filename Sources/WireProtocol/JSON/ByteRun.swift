/// Bytes that are added behind, on the stack as long as they fit.
struct ByteRun: ~Copyable {
  private var start: UnsafeMutablePointer<UInt8>
  private var count = 0
  private var capacity: Int
  /// The memory is this run's own, because what it was given was too small.
  private var isOwner = false

  private init(_ start: UnsafeMutablePointer<UInt8>, capacity: Int) {
    self.start = start
    self.capacity = capacity
  }

  deinit {
    if isOwner { start.deallocate() }
  }

  /// An array of the bytes that `body` adds to an empty run.
  static func array(capacity: Int, _ body: (consuming ByteRun) -> ByteRun) -> [UInt8] {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(1, capacity)) { buffer in
      // A buffer that was asked for a byte at least has an address.
      let run = body(ByteRun(buffer.baseAddress!, capacity: buffer.count))
      return Array(UnsafeBufferPointer(start: run.start, count: run.count))
    }
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    makeRoom(1)
    start[count] = byte
    count += 1
  }

  @inline(__always)
  mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    // An empty run may have no address.
    guard let from = bytes.baseAddress else { return }
    makeRoom(bytes.count)
    copy(from, bytes.count)
  }

  /// Copies what there is room for. Most names and values are short: two moves that overlap are quicker than a call.
  @inline(__always)
  private mutating func copy(_ from: UnsafePointer<UInt8>, _ length: Int) {
    let raw = UnsafeRawPointer(from)
    let to = UnsafeMutableRawPointer(start + count)
    if length > 16 {
      to.copyMemory(from: raw, byteCount: length)
    } else if length >= 8 {
      to.storeBytes(of: raw.loadUnaligned(as: UInt64.self), as: UInt64.self)
      to.storeBytes(of: raw.loadUnaligned(fromByteOffset: length - 8, as: UInt64.self), toByteOffset: length - 8, as: UInt64.self)
    } else if length >= 4 {
      to.storeBytes(of: raw.loadUnaligned(as: UInt32.self), as: UInt32.self)
      to.storeBytes(of: raw.loadUnaligned(fromByteOffset: length - 4, as: UInt32.self), toByteOffset: length - 4, as: UInt32.self)
    } else {
      for index in 0..<length { start[count + index] = from[index] }
    }
    count += length
  }

  /// The name of a member and its colon, behind a comma where one is due.
  @inline(__always)
  mutating func appendKey(_ name: StaticString, separated: Bool) {
    let length = name.utf8CodeUnitCount
    makeRoom(length + 4)
    start[count] = UInt8(ascii: ",")
    if separated { count += 1 }
    start[count] = UInt8(ascii: "\"")
    count += 1
    copy(name.utf8Start, length)
    start[count] = UInt8(ascii: "\"")
    start[count + 1] = UInt8(ascii: ":")
    count += 2
  }

  @inline(__always)
  mutating func append(_ text: StaticString) {
    append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  @inline(__always)
  private mutating func makeRoom(_ more: Int) {
    if capacity - count < more { grow(more) }
  }

  @inline(never)
  private mutating func grow(_ more: Int) {
    capacity = max(capacity * 2, count + more)
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    larger.update(from: start, count: count)
    if isOwner { start.deallocate() }
    start = larger
    isOwner = true
  }

  /// A whole number, in decimal.
  mutating func appendDecimal(_ number: Int64) {
    // 19 digits and a sign.
    makeRoom(20)
    if number < 0 { append(UInt8(ascii: "-")) }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var rest = number.magnitude
      var first = 20
      repeat {
        let next = rest / 10
        first -= 1
        digits[first] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest &- next &* 10)
        rest = next
      } while rest > 0
      append(UnsafeBufferPointer(rebasing: digits[first...]))
    }
  }

  /// A JSON string.
  mutating func appendQuoted(_ text: UnsafeBufferPointer<UInt8>) {
    makeRoom(text.count + 2)
    append(UInt8(ascii: "\""))
    var done = 0
    while let next = ByteRun.escape(in: text, from: done) {
      append(UnsafeBufferPointer(rebasing: text[done..<next]))
      appendEscaped(text[next])
      done = next + 1
    }
    append(UnsafeBufferPointer(rebasing: text[done...]))
    append(UInt8(ascii: "\""))
  }

  /// The first byte that must not stand in a JSON string as it is. Looks at eight bytes at once.
  private static func escape(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    let raw = UnsafeRawBufferPointer(text)
    var index = start
    while text.count - index >= 8 {
      let found = marks(UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
      if found != 0 { return index + found.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < text.count {
      let byte = text[index]
      if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return index }
      index += 1
    }
    return nil
  }

  /// The lowest bit that is set is in the first of eight bytes that needs an escape; none is set where none does.
  @inline(__always)
  private static func marks(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ (ones &* 0x22)
    let backslash = word ^ (ones &* 0x5c)
    let control = (word &- ones &* 0x20) & ~word
    return (control | ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)) & (ones &* 0x80)
  }

  private mutating func appendEscaped(_ byte: UInt8) {
    append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
    case 0x0a: append(UInt8(ascii: "n"))
    case 0x0d: append(UInt8(ascii: "r"))
    case 0x09: append(UInt8(ascii: "t"))
    default:
      let digits: StaticString = "0123456789abcdef"
      append("u00")
      append(digits.utf8Start[Int(byte >> 4)])
      append(digits.utf8Start[Int(byte & 15)])
    }
  }
}
