import Glibc

/// The instant inside a message's text, `~T<18 digits>~`, which is found in any envelope.
///
/// The two lowest bits of the nanoseconds are the message's flow, such as its priority.
enum Stamp {
  /// The length of a stamp in bytes.
  static let length = 21
  /// The number of flows in two bits.
  static let flows = 4

  /// The stamp's number for an instant (nanoseconds) and a flow.
  static func value(at instant: UInt64, flow: Int) -> UInt64 { instant & ~3 | UInt64(flow) }

  /// Writes the `length` bytes of a stamp.
  static func write(_ value: UInt64, to place: UnsafeMutableRawPointer) {
    let bytes = place.assumingMemoryBound(to: UInt8.self)
    bytes[0] = UInt8(ascii: "~")
    bytes[1] = UInt8(ascii: "T")
    bytes[20] = UInt8(ascii: "~")
    var rest = value
    for position in stride(from: 19, through: 2, by: -1) {
      bytes[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
  }

  /// Calls `body` with every stamp in the bytes, first to last.
  /// - Returns: the number of stamps.
  @inline(__always)
  static func forEach(in bytes: UnsafeRawPointer, count: Int, _ body: (UInt64) -> Void) -> Int {
    var place = bytes
    var left = count
    var found = 0
    while left >= length, let tilde = memchr(place, 0x7e, left - length + 1) {
      let start = UnsafeRawPointer(tilde)
      var step = 1
      if start.load(fromByteOffset: 1, as: UInt8.self) == UInt8(ascii: "T"),
        start.load(fromByteOffset: 20, as: UInt8.self) == UInt8(ascii: "~"), let value = digits(start + 2)
      {
        body(value)
        found += 1
        step = length
      }
      left -= place.distance(to: start) + step
      place = start + step
    }
    return found
  }

  /// The first stamp in the bytes; nil: there is none.
  static func first(in bytes: UnsafeRawPointer, count: Int) -> UInt64? {
    var first: UInt64?
    _ = forEach(in: bytes, count: count) { first = first ?? $0 }
    return first
  }

  /// The value of 18 decimal digits; nil: some byte is no digit.
  @inline(__always)
  private static func digits(_ place: UnsafeRawPointer) -> UInt64? {
    guard let high = eightDigits(place), let middle = eightDigits(place + 8) else { return nil }
    let tens = place.load(fromByteOffset: 16, as: UInt8.self) &- 48
    let ones = place.load(fromByteOffset: 17, as: UInt8.self) &- 48
    guard tens <= 9, ones <= 9 else { return nil }
    return (high &* 100_000_000 &+ middle) &* 100 &+ UInt64(tens) &* 10 &+ UInt64(ones)
  }

  /// Eight digits in three multiplications: digits become pairs, pairs become fours.
  @inline(__always)
  private static func eightDigits(_ place: UnsafeRawPointer) -> UInt64? {
    let word = UInt64(littleEndian: place.loadUnaligned(as: UInt64.self))
    let isDecimal = (word & 0xf0f0_f0f0_f0f0_f0f0) | ((word &+ 0x0606_0606_0606_0606) & 0xf0f0_f0f0_f0f0_f0f0) >> 4
    guard isDecimal == 0x3333_3333_3333_3333 else { return nil }
    let pairs = ((word & 0x0f0f_0f0f_0f0f_0f0f) &* 2561) >> 8
    let fours = ((pairs & 0x00ff_00ff_00ff_00ff) &* 6_553_601) >> 16
    return ((fours & 0x0000_ffff_0000_ffff) &* 42_949_672_960_001) >> 32
  }
}
