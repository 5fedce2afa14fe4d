import Foundation
import Testing

@testable import WebSocketTransport

/// The client is the openssl command, which also makes the certificate.
@Suite struct TLSTests {
  @Test func webSocketAndHTTPWorkOverTLS() async throws {
    let files = try CertificateFiles()
    let behaviour = TestServer.Behaviour(
      receive: { connection, bytes, _ in connection.send(bytes) },
      request: { $1.respond(status: 200, contentType: nil, body: Array("\($0.head.isTLS)".utf8)) })
    try await TestServer.with({ $0.tls = files.tls }, behaviour: behaviour) { running in
      let client = try WebSocketClient(try Self.connect(port: running.port))
      #expect(client.answer.hasPrefix("HTTP/1.1 101 "))
      let opened = try running.server.opened.next()
      #expect(opened.head.isTLS)
      for size in [5, 20_000, 65_536] {
        let text = String(repeating: "x", count: size)
        try client.send(text)
        #expect(try client.receiveText() == text)
      }
      let topic = try running.onLoop { Topic(on: running.loop) }
      try running.onLoop {
        topic.subscribe(opened.connection)
        for number in 0..<200 { topic.publish(Array("\(number)".utf8) + [UInt8](repeating: 0x2e, count: 3000), .lossless) }
      }
      for number in 0..<200 { #expect(try client.receiveText().prefix { $0 != "." } == "\(number)") }
      try client.sendClose(1000)
      #expect(try client.receiveClose().code == 1000)
      // The internal listener stays plain.
      #expect(try HTTPClient(port: running.internalPort).ask("GET", "/").text == "false")
    }
  }

  @Test func compressedFramesOverTLS() async throws {
    let files = try CertificateFiles()
    let configure = { (configuration: inout TransportConfiguration) in
      configuration.tls = files.tls
      configuration.compressionBytes = 1 << 20
      configuration.compressionSubscribers = 1
      configuration.compressionStartBytes = 1
    }
    try await TestServer.with(configure) { running in
      let client = try WebSocketClient(
        try Self.connect(port: running.port), headers: ["Sec-WebSocket-Extensions: permessage-deflate"])
      let connection = try running.server.opened.next().connection
      let topic = try running.onLoop { Topic(on: running.loop) }
      try running.onLoop { topic.subscribe(connection) }
      for turn in 0..<20 {
        try running.onLoop {
          for number in 0..<10 {
            topic.publish(Array("\(turn * 10 + number)".utf8) + [UInt8](repeating: 0x2e, count: 3000), .lossless)
          }
        }
        for number in 0..<10 {
          let frame = try client.receive()
          #expect(frame.text.prefix { $0 != "." } == "\(turn * 10 + number)" && frame.isCompressed)
        }
      }
    }
  }

  @Test func filesThatCannotBeUsedAreRefused() async throws {
    let files = try CertificateFiles()
    let other = try CertificateFiles()
    for tls in [
      TLSFiles(certificateFile: "/nowhere", keyFile: files.tls.keyFile),
      TLSFiles(certificateFile: files.tls.certificateFile, keyFile: other.tls.keyFile),
    ] {
      #expect {
        try Transport(TransportConfiguration(listen: ("127.0.0.1", 0), tls: tls), delegate: RefusingDelegate())
      } throws: { error in
        if case TransportError.tls = error { true } else { false }
      }
    }
  }

  @Test func theExpiryIsThatOfTheCertificate() throws {
    let files = try CertificateFiles()
    let days = Double(try Transport.check(files.tls) - Int64(Date().timeIntervalSince1970)) / 86_400
    #expect(1.9 < days && days < 2.1)
  }

  @Test func faultsAreReportedInPlainWords() throws {
    let files = try CertificateFiles()
    let other = try CertificateFiles()
    let (certificate, key) = (files.tls.certificateFile, files.tls.keyFile)
    let encrypted = try files.add(
      "encrypted.pem", openssl: ["pkey", "-in", key, "-aes256", "-passout", "pass:secret", "-out"])
    let traditional = try files.add(
      "traditional.pem", openssl: ["ec", "-in", key, "-aes256", "-passout", "pass:secret", "-out"])
    let garbage = try files.add("garbage.pem", text: "garbage")
    let broken = try files.add("broken.pem", text: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    let cases = [
      (certificate, other.tls.keyFile, "\(other.tls.keyFile): the key does not belong to the certificate"),
      (garbage, key, "\(garbage): is not a PEM certificate"), (broken, key, "\(broken): is not a PEM certificate"),
      (key, key, "\(key): is not a PEM certificate"), (certificate, garbage, "\(garbage): is not a PEM private key"),
      (certificate, certificate, "\(certificate): is not a PEM private key"),
      (certificate, encrypted, "\(encrypted): the private key is encrypted: remove its passphrase"),
      (certificate, traditional, "\(traditional): the private key is encrypted: remove its passphrase"),
    ]
    for (certificate, key, reason) in cases {
      #expect(throws: TransportError.tls(reason: reason)) {
        try Transport.check(TLSFiles(certificateFile: certificate, keyFile: key))
      }
    }
  }

  @Test func plainBytesOnTheTLSPortAreCut() async throws {
    let files = try CertificateFiles()
    try await TestServer.with({ $0.tls = files.tls }) { running in
      let client = try SocketClient(port: running.port)
      try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      try client.waitForEnd()
    }
  }

  private static func connect(port: Int) throws -> SocketClient {
    var pair: [Int32] = [0, 0]
    socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair)
    let command = try Command(
      openssl: ["s_client", "-quiet", "-connect", "127.0.0.1:\(port)"], input: pair[1], output: pair[1])
    close(pair[1])
    return SocketClient(descriptor: pair[0], keepingAlive: command)
  }
}
