/// A request or a reply as its bytes on the bus: the number of the request, for a request the
/// subject of its reply, and the contents.
enum RequestFrame: Equatable {
  case request(number: UInt64, inbox: BusSubject, contents: [UInt8])
  case reply(number: UInt64, contents: [UInt8])

  private static let requestMark: UInt8 = 1
  private static let replyMark: UInt8 = 2

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    switch self {
    case .request(let number, let inbox, let contents):
      let name = inbox.rawValue.utf8
      bytes.reserveCapacity(10 + name.count + contents.count)
      bytes.append(RequestFrame.requestMark)
      RequestFrame.append(number, to: &bytes)
      // A subject has at most 128 bytes.
      bytes.append(UInt8(name.count))
      bytes += name
      bytes += contents
    case .reply(let number, let contents):
      bytes.reserveCapacity(9 + contents.count)
      bytes.append(RequestFrame.replyMark)
      RequestFrame.append(number, to: &bytes)
      bytes += contents
    }
    return bytes
  }

  /// Nil where the bytes are neither.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 9 else { return nil }
    let number = bytes[1..<9].reduce(0) { $0 << 8 | UInt64($1) }
    switch bytes[0] {
    case RequestFrame.requestMark:
      guard bytes.count >= 10, bytes.count >= 10 + Int(bytes[9]) else { return nil }
      let end = 10 + Int(bytes[9])
      guard let inbox = BusSubject(String(decoding: bytes[10..<end], as: UTF8.self)) else { return nil }
      self = .request(number: number, inbox: inbox, contents: Array(bytes[end...]))
    case RequestFrame.replyMark: self = .reply(number: number, contents: Array(bytes[9...]))
    default: return nil
    }
  }

  init(request number: UInt64, inbox: BusSubject, _ contents: [UInt8]) {
    self = .request(number: number, inbox: inbox, contents: contents)
  }

  private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
  }
}
