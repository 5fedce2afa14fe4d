/// Bytes that are added at the end, on the stack as long as they fit.
struct ByteRun: ~Copyable {
  private var start: UnsafeMutablePointer<UInt8>
  /// How many bytes there are.
  private(set) var count = 0
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
    reserve(1)
    start[count] = byte
    count &+= 1
  }

  @inline(__always)
  mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    // An empty run may have no address.
    guard let from = bytes.baseAddress else { return }
    reserve(bytes.count)
    copy(from, bytes.count)
  }

  /// Copies into reserved memory. Most names and values are short: two moves that overlap are
  /// quicker than a call.
  @inline(__always)
  private mutating func copy(_ from: UnsafePointer<UInt8>, _ length: Int) {
    let raw = UnsafeRawPointer(from)
    let to = UnsafeMutableRawPointer(start + count)
    if length > 16 {
      to.copyMemory(from: raw, byteCount: length)
    } else if length >= 8 {
      let (first, last) = (raw.loadUnaligned(as: UInt64.self), (raw + length - 8).loadUnaligned(as: UInt64.self))
      to.storeBytes(of: first, as: UInt64.self)
      (to + length - 8).storeBytes(of: last, as: UInt64.self)
    } else if length >= 4 {
      let (first, last) = (raw.loadUnaligned(as: UInt32.self), (raw + length - 4).loadUnaligned(as: UInt32.self))
      to.storeBytes(of: first, as: UInt32.self)
      (to + length - 4).storeBytes(of: last, as: UInt32.self)
    } else {
      for index in 0..<length { start[count &+ index] = from[index] }
    }
    count &+= length
  }

  /// The name of a member and its colon, behind a comma where one is due.
  @inline(__always)
  mutating func appendKey(_ name: StaticString, separated: Bool) {
    let length = name.utf8CodeUnitCount
    reserve(length &+ 4)
    start[count] = UInt8(ascii: ",")
    if separated { count &+= 1 }
    start[count] = UInt8(ascii: "\"")
    count &+= 1
    copy(name.utf8Start, length)
    start[count] = UInt8(ascii: "\"")
    start[count &+ 1] = UInt8(ascii: ":")
    count &+= 2
  }

  @inline(__always)
  mutating func append(_ text: StaticString) {
    append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  @inline(__always)
  private mutating func reserve(_ more: Int) {
    if capacity &- count < more { grow(more) }
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

  /// A whole number, in decimal: two digits at a time, from the end of 20 free bytes.
  mutating func appendDecimal(_ number: Int64) {
    // 19 digits and a sign, or ten pairs.
    let most = 20
    reserve(most + 1)
    if number < 0 { append(UInt8(ascii: "-")) }
    let digits = start + count
    let zero = UInt8(ascii: "0")
    var first = most
    var left = number.magnitude
    repeat {
      let next = left / 100
      let pair = UInt32(truncatingIfNeeded: left &- next &* 100)
      let tens = (pair &* 103) &>> 10
      first &-= 2
      digits[first] = zero &+ UInt8(truncatingIfNeeded: tens)
      digits[first &+ 1] = zero &+ UInt8(truncatingIfNeeded: pair &- tens &* 10)
      left = next
    } while left > 0
    if digits[first] == zero, first < most - 1 { first &+= 1 }
    copy(digits + first, most &- first)
  }

  /// A JSON string.
  mutating func appendQuoted(_ text: UnsafeBufferPointer<UInt8>) {
    reserve(text.count &+ 2)
    start[count] = UInt8(ascii: "\"")
    count &+= 1
    if let from = text.baseAddress {
      if ByteRun.needsEscapes(text) { appendWithEscapes(text) } else { copy(from, text.count) }
    }
    append(UInt8(ascii: "\""))
  }

  @inline(never)
  private mutating func appendWithEscapes(_ text: UnsafeBufferPointer<UInt8>) {
    var done = 0
    while done < text.count {
      let end = ByteRun.firstEscape(in: text, from: done)
      append(UnsafeBufferPointer(rebasing: text[done..<end]))
      if end < text.count { appendEscaped(text[end]) }
      done = end + 1
    }
  }

  /// Whether a byte needs an escape. Without an early end, which most texts would not meet.
  @inline(__always)
  private static func needsEscapes(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    let raw = UnsafeRawBufferPointer(text)
    guard raw.count >= 8 else { return raw.contains(where: needsEscape) }
    var marks: UInt64 = 0
    var index = 0
    while index < raw.count &- 8 {
      marks |= ByteRun.marks(raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      index &+= 8
    }
    // The last eight: some of them may have been tested before.
    return marks | ByteRun.marks(raw.loadUnaligned(fromByteOffset: raw.count &- 8, as: UInt64.self)) != 0
  }

  /// The first byte from `index` on that needs an escape, or the end.
  private static func firstEscape(in text: UnsafeBufferPointer<UInt8>, from index: Int) -> Int {
    let raw = UnsafeRawBufferPointer(text)
    var index = index
    while raw.count &- index >= 8 {
      let found = marks(UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
      if found != 0 { return index &+ found.trailingZeroBitCount / 8 }
      index &+= 8
    }
    while index < raw.count, !needsEscape(raw[index]) { index &+= 1 }
    return index
  }

  @inline(__always)
  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  /// The lowest bit that is set is in the first of eight bytes that needs an escape. No bit is set
  /// where none does.
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
