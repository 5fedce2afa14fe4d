import CTLSPeer
import Foundation
import Testing

@testable import LoadGenerator

@Suite struct TLSTests {
  /// A run over TLS and the server side of its connections.
  private final class SecureRun {
    let peer = Peer()
    let dialect = PlainDialect()
    let run: Run
    private let context: OpaquePointer
    private var connections: [OpaquePointer] = []
    private var sockets: [Int32] = []
    private(set) var received: [[UInt8]] = []

    /// - Parameters:
    ///   - certificateFor: the name in the server's certificate.
    ///   - host: the name that the client expects.
    init(connections count: Int, certificateFor name: String = "localhost", host: String = "localhost", trusting isKnown: Bool)
      throws
    {
      let path = NSTemporaryDirectory() + "throng-\(UUID().uuidString).pem"
      context = try #require(tp_context_create(name, path))
      defer { try? FileManager.default.removeItem(atPath: path) }
      let tls = try TLSContext(host: host, trust: isKnown ? .file(path) : .any)
      let options = ConnectOptions(address: try peer.address.resolve(), sources: 0, tls: tls)
      let pool = try ClientPool(count: count, recorder: Recorder())
      run = Run(pool: pool, dialect: dialect, connectOptions: options, timeout: 10)
    }

    deinit {
      for connection in connections { tp_release(connection) }
      tp_context_release(context)
    }

    /// Begins to connect and accepts the TCP connection; its server does not speak before `serve`.
    func begin(_ number: Int) throws {
      try run.pool.connect(number, run.connectOptions)
      let socket = peer.accept()
      #expect(fcntl(socket, F_SETFL, O_NONBLOCK) == 0)
      sockets.append(socket)
      connections.append(try #require(tp_create(context, socket)))
      received.append([])
    }

    /// Lets a connection's server read, and do its part of the handshake.
    func serve(_ number: Int) {
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      while case let count = tp_read(connections[number], &bytes, bytes.count), count > 0 { received[number] += bytes[..<count] }
    }

    func open(_ number: Int) throws {
      try begin(number)
      try wait {
        serve(number)
        return received[number].suffix(4) == [13, 10, 13, 10]
      }
      received[number] = []
      send(number, Peer.upgrade)
      try wait { run.pool.table[number].phase == .open }
    }

    func send(_ number: Int, _ bytes: [UInt8]) { #expect(tp_write(connections[number], bytes, bytes.count)) }

    func end(_ number: Int) { tp_end(connections[number]) }

    func hangUp(_ number: Int) { peer.hangUp(sockets[number]) }

    func wait(_ condition: () -> Bool) throws { try PlainRun.wait(run, condition) }
  }

  private func frame(_ text: String) -> [UInt8] { FrameTests.serverFrame(opcode: Frame.Opcode.text, Array(text.utf8)) }

  @Test func textsGoBothWays() throws {
    let secure = try SecureRun(connections: 1, trusting: true)
    try secure.open(0)
    // More than one TLS record, and several frames in one.
    let texts = ["a", String(repeating: "b", count: 50_000), "c"]
    secure.send(0, texts.flatMap(frame))
    try secure.wait { secure.dialect.texts.count == 3 }
    #expect(secure.dialect.texts == texts)
    let answer = FrameWriter.frame(opcode: Frame.Opcode.text, payload: [UInt8](repeating: 7, count: 40_000))
    secure.run.pool.send(0, answer)
    try secure.wait {
      secure.serve(0)
      return secure.received[0].count == answer.count
    }
    #expect(secure.received[0] == answer)
  }

  @Test func bytesThatAFullSocketRefusesAreSentLater() throws {
    let secure = try SecureRun(connections: 1, trusting: true)
    try secure.open(0)
    let frame = FrameWriter.frame(opcode: Frame.Opcode.text, payload: [UInt8](repeating: 97, count: 60_000))
    var sent: [UInt8] = []
    while secure.run.pool.table[0].unsent.isEmpty {
      secure.run.pool.send(0, frame)
      sent += frame
    }
    secure.run.pool.send(0, frame)
    sent += frame
    try secure.wait {
      secure.serve(0)
      return secure.received[0].count == sent.count
    }
    #expect(secure.received[0] == sent && secure.run.pool.table[0].unsent.isEmpty)
  }

  @Test func aServerThatNeverFinishesTheHandshakeHoldsUpNoOtherConnection() throws {
    let secure = try SecureRun(connections: 2, trusting: true)
    try secure.begin(0)
    try secure.open(1)
    secure.send(1, frame("hello"))
    try secure.wait { secure.dialect.texts == ["hello"] }
    #expect(secure.run.pool.table[0].phase == .securing)
    secure.hangUp(0)
    try secure.wait { secure.run.refusal != nil }
  }

  @Test func aCertificateForAnotherNameIsRefused() throws {
    // It is trusted as an authority, but belongs to another name.
    let secure = try SecureRun(connections: 1, certificateFor: "elsewhere.example", trusting: true)
    try secure.begin(0)
    try secure.wait {
      secure.serve(0)
      return secure.run.refusal != nil
    }
    let sentence = try #require(secure.run.refusal).description
    #expect(sentence.contains("the server's certificate is not accepted: hostname mismatch"), "\(sentence)")
    #expect(sentence.hasSuffix("(--insecure accepts any certificate)"))
  }

  @Test func aSelfSignedCertificateIsAcceptedOnlyOnRequest() throws {
    let secure = try SecureRun(connections: 2, certificateFor: "elsewhere.example", trusting: false)
    try secure.open(0)
    let verifying = ConnectOptions(
      address: secure.run.connectOptions.address, sources: 0, tls: try TLSContext(host: "localhost", trust: .system))
    try secure.run.pool.connect(1, verifying)
    let socket = secure.peer.accept()
    let context = try #require(tp_context_create("localhost", nil))
    defer { tp_context_release(context) }
    let other = try #require(tp_create(context, socket))
    defer { tp_release(other) }
    #expect(fcntl(socket, F_SETFL, O_NONBLOCK) == 0)
    try secure.wait {
      var byte: UInt8 = 0
      _ = tp_read(other, &byte, 1)
      return secure.run.refusal != nil
    }
    #expect(try #require(secure.run.refusal).description.contains("self-signed certificate"))
  }

  @Test func aServerWithoutTLSIsASentence() throws {
    let secure = try SecureRun(connections: 1, trusting: true)
    try secure.run.pool.connect(0, secure.run.connectOptions)
    secure.peer.send(secure.peer.accept(), Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
    try secure.wait { secure.run.refusal != nil }
    #expect(try #require(secure.run.refusal).description.contains("did not come in: TLS failed: "))
  }

  @Test func anEndIsCountedWithAndWithoutTLSsOwn() throws {
    let secure = try SecureRun(connections: 3, trusting: true)
    for number in 0..<3 { try secure.open(number) }
    // The socket stays open: only TLS tells the end.
    secure.end(0)
    try secure.wait { secure.run.openCount == 2 }
    secure.hangUp(1)
    try secure.wait { secure.run.openCount == 1 }
    secure.send(2, FrameTests.serverFrame(opcode: Frame.Opcode.close, [0x0f, 0xa2]))
    try secure.wait { secure.run.openCount == 0 }
    #expect(secure.run.endings == ["lost": 2, "4002": 1])
  }
}
