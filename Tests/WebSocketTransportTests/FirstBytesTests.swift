import CTransport
import Testing

/// What a connection begins with, before the library gets it.
@Suite struct FirstBytesTests {
  private static func read(_ bytes: [UInt8], isTLS: Bool = false) -> (ct_first_bytes, head: Int) {
    var head = 0
    return (ct_first_bytes_read(bytes, bytes.count, isTLS, &head), head)
  }

  private static func read(_ text: String) -> (ct_first_bytes, head: Int) { read(Array(text.utf8)) }

  /// The library takes each of these for the end of a head.
  @Test(arguments: [
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.1\r\nHost: a\n\r\n",
    "GET / HTTP/1.1\r\n\r\n", "\n", "FOO\r\n\r\n",
  ]) func aHeadIsWholeWithItsEmptyLine(head: String) {
    #expect(Self.read(head) == (CT_BYTES_WHOLE, head.utf8.count))
    #expect(Self.read(head + "more\r\n\r\n") == (CT_BYTES_WHOLE, head.utf8.count))
    for count in 0..<head.utf8.count { #expect(Self.read(Array(head.utf8.prefix(count))).0 == CT_BYTES_INCOMPLETE) }
  }

  @Test func aHeadHasALongestLength() {
    let long = Array("GET / HTTP/1.1\r\nX: ".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: Int(CT_HEAD_READ))
    #expect(Self.read(Array(long.prefix(Int(CT_HEAD_READ) - 1))).0 == CT_BYTES_INCOMPLETE)
    #expect(Self.read(Array(long.prefix(Int(CT_HEAD_READ)))).0 == CT_BYTES_TOO_LONG)
  }

  @Test(arguments: [false, true]) func aPROXYHeaderIsToldFromAHeadAndFromTLS(isTLS: Bool) {
    for (header, _) in ProxyHeaderTests.valid where header.count > 11 {
      #expect(Self.read(header, isTLS: isTLS).0 == CT_BYTES_PROXY_HEADER)
    }
    #expect(Self.read(Array("PROX".utf8), isTLS: isTLS).0 == CT_BYTES_INCOMPLETE)
    #expect(Self.read(Array("\r\n\r\n\0\r\nQUI".utf8), isTLS: isTLS).0 == CT_BYTES_INCOMPLETE)
    #expect(Self.read("PROPFIND / HTTP/1.1\r\n\r\n").0 == CT_BYTES_WHOLE)
    #expect(Self.read("\r\n\r\nGET").0 == CT_BYTES_WHOLE)
  }

  @Test(arguments: ["/ws?deviceID=%00", "/%00", "/ws?a=b%00c&d", "/\0", "/%01%0%%00", "/ws?%2000=%00"])
  func aTargetWithAZeroIsToldApart(target: String) {
    #expect(Self.read("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n").0 == CT_BYTES_ZERO)
    #expect(Self.read("GET / HTTP/1.1\r\nHost: a\r\nReferer: \(target.filter { $0 != "\0" })\r\n\r\n").0 == CT_BYTES_WHOLE)
  }

  // MARK: Blanks

  @Test(arguments: [
    ("Host: a \r\n", "Host: a\r\n"), ("Host:a\t\r\n", "Host: a\r\n"), ("Host:\ta\r\n", "Host: a\r\n"),
    ("Host: \t a b \t \r\n", "Host: a b\r\n"), ("Host: a \n", "Host: a\n"), ("Host: \t\r\n", "Host: \r\n"),
    ("A: b\r\nHost: a \r\nC:d\r\n", "A: b\r\nHost: a\r\nC:d\r\n"), ("Host: a \r\nno field \r\n", "Host: a\r\nno field \r\n"),
  ]) func blanksAroundAValueGo(fields: String, trimmed: String) {
    var head = Array("GET / HTTP/1.1 \r\nUpgrade: x\r\n\(fields)\r\n".utf8)
    #expect(Self.read(head) == (CT_BYTES_BLANKS, head.count))
    let count = ct_head_trim(&head, head.count)
    #expect(String(decoding: head.prefix(count), as: UTF8.self) == "GET / HTTP/1.1 \r\nUpgrade: x\r\n\(trimmed)\r\n")
    #expect(Self.read(Array(head.prefix(count))) == (CT_BYTES_WHOLE, count))
  }

  @Test(arguments: ["Host: a\r\n", "Host:  a\r\n", "Host:a\r\n", "Host a \r\n", " folded \r\n", "Na me: a \r\n", ": a \r\n"])
  func otherLinesStayAsTheyAre(fields: String) {
    var head = Array("GET / HTTP/1.1\r\nUpgrade: x\r\n\(fields)\r\n".utf8)
    #expect(Self.read(head) == (CT_BYTES_WHOLE, head.count))
    let before = head
    #expect(ct_head_trim(&head, head.count) == before.count && head == before)
  }

  /// The library would read a body without end from bytes that were taken from its socket.
  @Test(arguments: [
    "POST / HTTP/1.1\r\nUpgrade: x \r\n\r\n", "GET / HTTP/1.1\r\nUpgrade: x \r\nContent-Length: 1\r\n\r\n",
    "GET / HTTP/1.1\r\nContent-length:\t1\r\nUpgrade: x\r\n\r\n", "GET / HTTP/1.1\r\nUpgrade: x \r\nTransfer-Encoding: a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a \r\n\r\n",
  ]) func aRequestWithABodyStaysAsItIs(head: String) {
    #expect(Self.read(head) == (CT_BYTES_WHOLE, head.utf8.count))
  }

  /// Neither reads nor writes beyond the head, and nothing is left to trim.
  @Test func mutationsAreTrimmedWithinTheirBounds() {
    let characters = Array("aB: \t\r\n\n\0%".utf8)
    for _ in 0..<20_000 {
      var head =
        Array("GET / HTTP/1.1\r\nUpgrade: x\r\n".utf8) + (0..<Int.random(in: 0...40)).map { _ in characters.randomElement() ?? 0 }
      head += Array("\r\n\r\n".utf8)
      let (_, whole) = Self.read(head)
      #expect((1...head.count).contains(whole))
      var copy = Array(head.prefix(whole))
      let count = ct_head_trim(&copy, copy.count)
      #expect(count <= whole)
      #expect(Self.read(Array(copy.prefix(count))).0 != CT_BYTES_BLANKS)
    }
  }

  // MARK: Queries

  private static let token = String(repeating: "aB3-_.", count: 20)

  /// The query that the library does not get, and the head that it gets.
  private static func cut(_ head: [UInt8]) -> (query: String, rest: String) {
    var head = head
    return head.withUnsafeMutableBufferPointer { bytes in
      guard let start = bytes.baseAddress else { return (query: "", rest: "") }
      let query = ct_head_query(start, bytes.count)
      let text = String(decoding: UnsafeRawBufferPointer(start: query.bytes, count: query.count), as: UTF8.self)
      let count = ct_head_cut_query(start, bytes.count, query)
      return (query: text, rest: String(decoding: bytes.prefix(count), as: UTF8.self))
    }
  }

  @Test(arguments: [
    ("/ws", "token=T"), ("/", "a=T~&&b=1"), ("/a/b_c-d/", "token=T&platform=iOS&deviceID=x.y"), ("//a", "T"),
  ]) func aLongPlainQueryOfAnUpgradeIsCut(path: String, pattern: String) {
    let query = pattern.replacing("T", with: Self.token)
    for fields in ["Host: a\r\nUpgrade: websocket\r\n\r\n", "upgrade:websocket\n\n"] {
      let head = Array("GET \(path)?\(query) HTTP/1.1\r\n\(fields)".utf8)
      #expect(Self.read(head) == (CT_BYTES_QUERY, head.count))
      let (found, rest) = Self.cut(head)
      #expect(found == query && rest == "GET \(path) HTTP/1.1\r\n\(fields)")
      #expect(Self.read(rest) == (CT_BYTES_UPGRADE, rest.utf8.count))
    }
  }

  /// Escapes, blanks, second parts of a query, and dots of a path mean something to the library.
  @Test(arguments: [
    "/ws", "/ws?token=x", "/ws?T%20", "/ws?T+", "/ws?T;a", "/ws?T&", "/ws?T?", "/ws?T#", "/ws?T\"", "/a/../ws?T", "/ws.html?T",
    "/%77s?T",
    "ws?T", "http://a/ws?T", "/ws?T\t", "/ws?Té",
  ]) func otherTargetsStayAsTheyAre(target: String) {
    let head = Array("GET \(target.replacing("T", with: Self.token)) HTTP/1.1\r\nUpgrade: websocket\r\n\r\n".utf8)
    #expect(Self.read(head) == (CT_BYTES_UPGRADE, head.count))
    #expect(Self.cut(head).query == "")
  }

  @Test(arguments: [
    ("GET", ""), ("POST", "Upgrade: websocket\r\n"), ("GET", "Upgrade: h2c\r\n"),
    ("GET", "Upgrade: websocket\r\nContent-Length: 1\r\n"), ("GET", "Upgrade: websocket\r\nTransfer-Encoding: a\r\n"),
    ("GET", "Upgrade: websocket \r\n"),
  ]) func otherRequestsKeepTheirQuery(method: String, fields: String) {
    let expected = fields.hasSuffix(" \r\n") ? CT_BYTES_BLANKS : CT_BYTES_WHOLE
    #expect(Self.read("\(method) /ws?\(Self.token) HTTP/1.1\r\n\(fields)\r\n").0 == expected)
  }

  @Test(arguments: ["", " HTTP/1", " HTTP/2.0", "\r\n", " ", "  HTTP/1.1"]) func aTargetEndsBeforeItsVersion(behind: String) {
    #expect(Self.cut(Array("GET /ws?\(Self.token)\(behind)".utf8)).query == "")
  }

  // MARK: TLS

  /// A ClientHello of so many bytes, in records of at most so many.
  private static func hello(_ count: Int, inRecordsOf size: Int) -> [UInt8] {
    var message: [UInt8] = [1, UInt8(count >> 16), UInt8(count >> 8 & 0xff), UInt8(count & 0xff)]
    message += [UInt8](repeating: 7, count: count)
    var records: [UInt8] = []
    while !message.isEmpty {
      let part = message.prefix(size)
      records += [0x16, 3, 1, UInt8(part.count >> 8), UInt8(part.count & 0xff)] + part
      message.removeFirst(part.count)
    }
    return records
  }

  @Test(arguments: [(200, 16_384), (1800, 512), (200, 3), (1, 1), (0, 16_384)])
  func aClientHelloIsWholeWithItsLastRecord(count: Int, size: Int) {
    let hello = Self.hello(count, inRecordsOf: size)
    for part in 0..<hello.count { #expect(Self.read(Array(hello.prefix(part)), isTLS: true).0 == CT_BYTES_INCOMPLETE) }
    #expect(Self.read(hello, isTLS: true).0 == CT_BYTES_WHOLE)
    #expect(Self.read(hello + [0x14, 3], isTLS: true).0 == CT_BYTES_WHOLE)
  }

  @Test(
    arguments: [
      [0x15, 3], [0x47, 0x45], [0x16, 3, 1, 0, 0], [0x16, 3, 1, 0xff, 0xff], [0x16, 3, 1, 0, 4, 2, 0, 0, 9],
      [0x16, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff],
    ] as [[UInt8]]) func whatIsNoClientHelloIsForTheLibrary(bytes: [UInt8])
  {
    #expect(Self.read(bytes, isTLS: true).0 == CT_BYTES_WHOLE)
  }
}
