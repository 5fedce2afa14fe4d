import Testing

@testable import LoadGenerator

@Suite struct FrameTests {
  /// A frame as a server sends it.
  static func serverFrame(opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
    var head: [UInt8] = [0x80 | opcode]
    switch payload.count {
    case ..<126: head.append(UInt8(payload.count))
    case ..<65536: head += [126, UInt8(payload.count >> 8), UInt8(payload.count & 0xff)]
    default: head += [127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
    }
    return head + payload
  }

  /// The payloads of the frames at the beginning of the bytes, and how they end.
  private func read(_ bytes: [UInt8]) -> (payloads: [[UInt8]], end: Frame.ParseResult, used: Int) {
    bytes.withUnsafeBytes { raw in
      var payloads: [[UInt8]] = []
      var place = 0
      let start = raw.baseAddress ?? UnsafeRawPointer(bitPattern: 8)!
      while true {
        let reading = Frame.parse(start, from: place, count: bytes.count)
        guard case .frame(let frame) = reading else { return (payloads, reading, place) }
        payloads.append(Array(raw[frame.start..<frame.end]))
        place = frame.end
      }
    }
  }

  @Test func everyPrefixOfAStreamGivesExactlyTheFramesThatAreWhole() {
    let lengths = [0, 1, 125, 126, 127, 300, 0, 2]
    let payloads = lengths.enumerated().map { place, length in [UInt8](repeating: UInt8(place), count: length) }
    let frames = payloads.map { Self.serverFrame(opcode: Frame.Opcode.text, $0) }
    let stream = frames.flatMap { $0 }
    var ends: [Int] = []
    for frame in frames { ends.append((ends.last ?? 0) + frame.count) }
    for length in 0...stream.count {
      let (read, end, used) = read(Array(stream[..<length]))
      let whole = ends.prefix { $0 <= length }.count
      #expect(read == Array(payloads[..<whole]), "of \(length) bytes")
      #expect(end == .incomplete)
      #expect(used == (whole == 0 ? 0 : ends[whole - 1]))
    }
  }

  @Test(arguments: [65535, 65536, 200_000]) func longFrames(length: Int) {
    let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
    let stream = Self.serverFrame(opcode: Frame.Opcode.binary, payload)
    #expect(read(stream).payloads == [payload])
    #expect(read(Array(stream.dropLast())).end == .incomplete)
  }

  @Test func framesThatNoServerSendsAreInvalid() {
    #expect(read([0x81, 0x80, 0, 0, 0, 0]).end == .invalid, "masked")
    #expect(read([0xc1, 0x00]).end == .invalid, "reserved bit")
    #expect(read([0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0]).end == .invalid, "4 GB long")
    #expect(read([0x82, 127, 0xff, 0, 0, 1, 0, 0, 0, 0]).end == .invalid, "longer than an Int")
  }

  @Test(arguments: [0, 1, 125, 126, 65535, 65536, 70_000]) func clientFramesAreMaskedAndCarryTheirLength(length: Int) {
    let payload = [UInt8](repeating: 7, count: length)
    let frame = FrameWriter.frame(opcode: Frame.Opcode.text, payload: payload)
    #expect(frame[0] == 0x81)
    #expect(frame[1] & 0x80 == 0x80, "a client masks")
    // Without the mask bit and the key it is what a server would send.
    var plain = frame
    plain[1] &= 0x7f
    let head = frame.count - length
    plain.removeSubrange(head - 4..<head)
    #expect(plain == Self.serverFrame(opcode: Frame.Opcode.text, payload))
  }
}
