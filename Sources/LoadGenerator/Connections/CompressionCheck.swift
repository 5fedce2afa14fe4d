import CInflate
import CTLSClient
import Glibc
import WireProtocol

/// The compressed frames of a run: an inflater for each connection, and a comparison of the bytes
/// that the receivers of a message got.
final class CompressionCheck {
  /// One connection of so many offers nothing: its plain frames are compared with the others'.
  static let plainShare = 100
  /// The number of messages after which the older half of the digests is forgotten.
  private static let half = 1 << 16

  /// The deliveries inside the window to connections that offer permessage-deflate.
  struct Counters {
    var deliveries = 0
    var compressed = 0
    /// Payloads after inflation.
    var bytes = 0
  }

  private(set) var counters = Counters()
  /// The deliveries that were equal to an earlier one of the same message.
  private(set) var equal = 0
  /// The first delivery that differs from an earlier one of the same message, as a sentence.
  private(set) var failure: String?
  private let connections: Int
  /// By connection; nil: permessage-deflate was not agreed on.
  private let inflaters: UnsafeMutablePointer<OpaquePointer?>
  /// Bytes read from the sockets of plain connections.
  private let bytesRead: UnsafeMutablePointer<Int>
  private var text = ByteBuffer()
  /// A digest of the first delivery, by stamp.
  private var newer: [UInt64: UInt64] = [:]
  private var older: [UInt64: UInt64] = [:]

  init(connections: Int) {
    self.connections = connections
    inflaters = .allocate(capacity: connections)
    inflaters.initialize(repeating: nil, count: connections)
    bytesRead = .allocate(capacity: connections)
    bytesRead.initialize(repeating: 0, count: connections)
    newer.reserveCapacity(CompressionCheck.half)
  }

  deinit {
    for number in 0..<connections { cinflate_free(inflaters[number]) }
    inflaters.deallocate()
    bytesRead.deallocate()
    text.discard()
  }

  /// The connection offers permessage-deflate.
  func offers(_ number: Int) -> Bool { number % CompressionCheck.plainShare != 1 }

  /// The server has answered the upgrade.
  /// - Returns: whether the answer is one to the request.
  func didUpgrade(_ number: Int, agreesOnDeflate: Bool) -> Bool {
    cinflate_free(inflaters[number])
    inflaters[number] = agreesOnDeflate ? cinflate_create(15) : nil
    return offers(number) || !agreesOnDeflate
  }

  /// The reserved bits that make a frame to this connection invalid.
  func reservedBits(_ number: Int) -> UInt8 { inflaters[number] == nil ? 0x70 : 0x70 & ~Frame.compressedBit }

  /// The text of a compressed message, with the parser's padding behind it; valid until the next
  /// call. nil: it is invalid.
  func inflate(_ number: Int, _ payload: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    var count = 0
    let bytes = payload.baseAddress?.assumingMemoryBound(to: UInt8.self)
    guard let bytes, let result = cinflate_message(inflaters[number], bytes, payload.count, &count) else { return nil }
    text.replace(result, count)
    return text.bytes
  }

  /// Compares a message with what its first receiver got.
  func compare(_ number: Int, _ message: UnsafeRawBufferPointer) {
    guard let bytes = message.baseAddress, let stamp = Stamp.first(in: bytes, count: message.count) else { return }
    let digest = CompressionCheck.digest(message)
    if let first = newer[stamp] ?? older[stamp] {
      if first == digest { equal &+= 1 } else { failure = failure ?? sentence(number, message) }
      return
    }
    if newer.count == CompressionCheck.half { (older, newer) = (newer, [:]) }
    newer[stamp] = digest
  }

  /// Counts a delivery inside the window.
  func count(_ number: Int, _ message: UnsafeRawBufferPointer, isCompressed: Bool) {
    guard offers(number) else { return }
    counters.deliveries &+= 1
    counters.bytes &+= message.count
    if isCompressed { counters.compressed &+= 1 }
  }

  /// Counts bytes read from the socket of a plain connection.
  func countRead(_ number: Int, _ length: Int) { bytesRead[number] &+= length }

  /// The bytes read so far from the sockets of the connections that offer permessage-deflate; over
  /// TLS with the records' heads.
  func wireBytes(_ table: UnsafeMutablePointer<Connection>) -> Int {
    var sum = 0
    for number in 0..<connections where offers(number) {
      sum += table[number].tls.map { tc_bytes_read($0) } ?? bytesRead[number]
    }
    return sum
  }

  private func sentence(_ number: Int, _ message: UnsafeRawBufferPointer) -> String {
    "connection \(number) got a message with other bytes than the first to get it: "
      + String(decoding: message.prefix(1000), as: UTF8.self)
  }

  /// FNV-1a over words in place of bytes, with a fold: equal digests mean equal bytes but for one
  /// case in 2⁶⁴.
  private static func digest(_ message: UnsafeRawBufferPointer) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(message.count)
    func add(_ word: UInt64) {
      let product = (hash ^ word).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
      hash = product.high ^ product.low
    }
    let whole = message.count & ~7
    for place in stride(from: 0, to: whole, by: 8) { add(message.loadUnaligned(fromByteOffset: place, as: UInt64.self)) }
    for byte in message[whole...] { add(UInt64(byte)) }
    return hash
  }
}

extension ClientPool {
  /// Handles the whole frames from a position on, as `parse` does, and checks them.
  /// - Returns: the position behind them.
  func parse(_ number: Int, _ bytes: UnsafeRawPointer, from start: Int, count: Int, _ check: CompressionCheck) -> Int {
    var position = start
    while table[number].descriptor >= 0 {
      switch Frame.parse(bytes, from: position, count: count, reserved: check.reservedBits(number)) {
      case .incomplete: return position
      case .invalid:
        end(number, .invalidFrame)
        return position
      case .frame(let frame):
        let first = bytes.load(fromByteOffset: position, as: UInt8.self)
        let payload = UnsafeRawBufferPointer(start: bytes + frame.start, count: frame.end - frame.start)
        handle(number, first, frame.opcode, payload, check)
        position = frame.end
      }
    }
    return position
  }

  private func handle(
    _ number: Int, _ first: UInt8, _ opcode: UInt8, _ payload: UnsafeRawBufferPointer, _ check: CompressionCheck
  ) {
    var message = payload
    let isCompressed = first & Frame.compressedBit != 0
    if isCompressed {
      // Neither a control frame nor a continuation may have the bit, and Throng never fragments.
      let isWhole = first & 0x80 != 0 && (opcode == Frame.Opcode.text || opcode == Frame.Opcode.binary)
      guard isWhole, let inflated = check.inflate(number, payload) else { return end(number, .invalidCompression) }
      message = inflated
    }
    let before = recorder.counters.pointee.timely
    if opcode <= Frame.Opcode.binary { check.compare(number, message) }
    handle(number, opcode, message)
    if recorder.counters.pointee.timely != before { check.count(number, message, isCompressed: isCompressed) }
  }
}
