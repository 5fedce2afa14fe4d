import CTransport
import Testing

/// PROXY headers, version 1 and 2 (Protocol.md, "PROXY protocol").
@Suite struct ProxyHeaderTests {
  enum Outcome: Equatable {
    case incomplete
    case invalid
    case peer(used: Int)
    case announced(String, used: Int)
  }

  static func read(_ bytes: [UInt8]) -> Outcome {
    var address = [CChar](repeating: 0x7f, count: Int(CT_ADDRESS_SIZE))
    var used = 0
    switch ct_proxy_header_read(bytes, bytes.count, &used, &address) {
    case CT_PROXY_INCOMPLETE:
      #expect(used == bytes.count)
      return .incomplete
    case CT_PROXY_PEER: return .peer(used: used)
    case CT_PROXY_ANNOUNCED:
      return .announced(String(decoding: address.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self), used: used)
    default: return .invalid
    }
  }

  static func binary(command: UInt8 = 0x21, family: UInt8, _ body: [UInt8], length: Int? = nil) -> [UInt8] {
    let count = length ?? body.count
    let signature: [UInt8] = [0x0d, 0x0a, 0x0d, 0x0a, 0, 0x0d, 0x0a] + Array("QUIT\n".utf8)
    return signature + [command, family, UInt8(count >> 8), UInt8(count & 0xff)] + body
  }

  static let four: [UInt8] = [192, 0, 2, 1, 127, 0, 0, 1, 0x9c, 0x40, 0x1f, 0x90]
  static let six: [UInt8] = [0x20, 1, 0xd, 0xb8] + [UInt8](repeating: 0, count: 11) + [1] + [UInt8](repeating: 0, count: 20)
  static let mapped: [UInt8] =
    [UInt8](repeating: 0, count: 10) + [0xff, 0xff, 192, 0, 2, 1] + [UInt8](repeating: 0, count: 20)

  static let valid: [(header: [UInt8], address: String?)] = [
    (Array("PROXY TCP4 192.0.2.1 127.0.0.1 40000 8080\r\n".utf8), "192.0.2.1"),
    (Array("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n".utf8), "255.255.255.255"),
    (Array("PROXY TCP4 192.0.2.1 127.0.0.1 0 0\r\n".utf8), "192.0.2.1"),
    (Array("PROXY TCP6 2001:DB8:0::1 ::1 1 2\r\n".utf8), "2001:db8::1"),
    (Array("PROXY TCP6 ::ffff:192.0.2.1 ::1 1 2\r\n".utf8), "192.0.2.1"),
    (
      Array("PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n".utf8),
      "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
    ),
    (Array("PROXY UNKNOWN\r\n".utf8), nil), (Array("PROXY UNKNOWN 192.0.2.1 anything at all\r\n".utf8), nil),
    (
      Array("PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n".utf8),
      nil
    ),
    (binary(family: 0x11, four), "192.0.2.1"), (binary(family: 0x11, four + [4, 0, 1, 0]), "192.0.2.1"),
    (binary(family: 0x21, six), "2001:db8::1"), (binary(family: 0x21, mapped), "192.0.2.1"),
    (binary(family: 0x21, six + [UInt8](repeating: 7, count: 4096 - 16 - 36)), "2001:db8::1"),
    (binary(command: 0x20, family: 0, []), nil), (binary(command: 0x20, family: 0x11, four), nil),
    (binary(command: 0x20, family: 0xff, [1, 2, 3]), nil), (binary(family: 0, []), nil), (binary(family: 0x12, four), nil),
    (binary(family: 0x22, six), nil), (binary(family: 0x31, [UInt8](repeating: 0, count: 216)), nil),
    (binary(family: 0x32, []), nil),
  ]

  @Test func eachIsReadToItsEndAndNotFurther() {
    for (header, address) in ProxyHeaderTests.valid {
      let expected: Outcome = address.map { .announced($0, used: header.count) } ?? .peer(used: header.count)
      #expect(ProxyHeaderTests.read(header) == expected)
      #expect(ProxyHeaderTests.read(header + Array("GET / HTTP/1.1\r\n\r\n".utf8)) == expected)
      #expect(ProxyHeaderTests.read(header + header) == expected)
    }
  }

  @Test func everyBeginningIsIncomplete() {
    for (header, _) in ProxyHeaderTests.valid {
      for count in 0..<header.count { #expect(ProxyHeaderTests.read(Array(header.prefix(count))) == .incomplete) }
    }
  }

  @Test(arguments: [
    "GET / HTTP/1.1\r\n", "PROXY\r\n", "proxy TCP4 192.0.2.1 127.0.0.1 1 2\r\n", "PROXYTCP4 192.0.2.1 127.0.0.1 1 2\r\n",
    "PROXY  TCP4 192.0.2.1 127.0.0.1 1 2\r\n", "PROXY TCP4  192.0.2.1 127.0.0.1 1 2\r\n",
    "PROXY TCP4 192.0.2.1 127.0.0.1 1 2 \r\n",
    "PROXY TCP4 192.0.2.1 127.0.0.1 1 2 3\r\n", "PROXY TCP4 192.0.2.1 127.0.0.1 1\r\n", "PROXY TCP4 192.0.2.1\r\n",
    "PROXY TCP4\r\n",
    "PROXY \r\n", "PROXY TCP5 192.0.2.1 127.0.0.1 1 2\r\n", "PROXY UDP4 192.0.2.1 127.0.0.1 1 2\r\n",
    "PROXY TCP4 ::1 ::1 1 2\r\n", "PROXY TCP6 192.0.2.1 127.0.0.1 1 2\r\n", "PROXY TCP4 192.0.2.256 127.0.0.1 1 2\r\n",
    "PROXY TCP4 192.0.2.1 localhost 1 2\r\n", "PROXY TCP4 192.0.2.1 127.0.0.1 65536 2\r\n",
    "PROXY TCP4 192.0.2.1 127.0.0.1 01 2\r\n",
    "PROXY TCP4 192.0.2.1 127.0.0.1 -1 2\r\n", "PROXY TCP4 192.0.2.1 127.0.0.1 1 2\n", "PROXY UNKNOWN\n",
    "PROXY TCP4 192.0.2.1\0 127.0.0.1 1 2\r\n", "PROXY UNKNOWN\0\r\n", "PROXY UNKNOWNX\r\n", "\r\n\r\n\0\r\nQUIT\r",
  ]) func aBrokenLineIsInvalid(line: String) {
    #expect(ProxyHeaderTests.read(Array(line.utf8)) == .invalid)
  }

  @Test func aLineHasAnEnd() {
    let endless = Array("PROXY UNKNOWN ".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 200)
    #expect(ProxyHeaderTests.read(Array(endless.prefix(106))) == .incomplete)
    #expect(ProxyHeaderTests.read(Array(endless.prefix(107))) == .invalid)
    #expect(ProxyHeaderTests.read(endless + [13, 10]) == .invalid)
  }

  @Test func aBrokenBinaryHeaderIsInvalid() {
    let four = ProxyHeaderTests.four, six = ProxyHeaderTests.six
    for command: UInt8 in [0x00, 0x01, 0x10, 0x11, 0x22, 0x2f, 0x31, 0xff] {
      #expect(ProxyHeaderTests.read(ProxyHeaderTests.binary(command: command, family: 0x11, four)) == .invalid)
    }
    for family: UInt8 in [0x01, 0x02, 0x10, 0x13, 0x20, 0x23, 0x30, 0x33, 0x41, 0xff] {
      #expect(ProxyHeaderTests.read(ProxyHeaderTests.binary(family: family, six)) == .invalid)
    }
    #expect(ProxyHeaderTests.read(ProxyHeaderTests.binary(family: 0x11, Array(four.dropLast()))) == .invalid)
    #expect(ProxyHeaderTests.read(ProxyHeaderTests.binary(family: 0x21, Array(six.dropLast()))) == .invalid)
    #expect(ProxyHeaderTests.read(ProxyHeaderTests.binary(family: 0x11, four, length: 4081)) == .invalid, "longer than 4 KiB")
  }

  /// Changed bytes never make more of the header than there is, nor an address that is none.
  @Test func mutationsAreReadWithinTheirBounds() {
    for _ in 0..<20_000 {
      var bytes = ProxyHeaderTests.valid.randomElement()?.header ?? []
      for _ in 0..<Int.random(in: 0...3) {
        bytes[Int.random(in: bytes.indices)] = [0, 10, 13, 32, 46, 58, 255, UInt8.random(in: 0...255)].randomElement() ?? 0
      }
      bytes.removeLast(Int.random(in: 0..<bytes.count))
      switch ProxyHeaderTests.read(bytes) {
      case .peer(let used): #expect(used <= bytes.count && used >= 15)
      case .announced(let address, let used):
        #expect(used <= bytes.count && used >= 22)
        #expect(!address.isEmpty && address.allSatisfy { "0123456789abcdef.:".contains($0) })
      case .incomplete, .invalid: break
      }
    }
  }
}
