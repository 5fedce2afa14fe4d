import Foundation
import Testing
import ThrongTestKit

@testable import NATSBus

/// NATS over TLS.
/// A NATS server that takes TLS alone, with certificates of the test's own.
@Suite struct NATSTLSTests {
  /// Certificates by `openssl`, in a directory of their own.
  private struct Authority {
    struct Failure: Error, CustomStringConvertible { let description: String }

    let directory: URL

    init() throws {
      directory = FileManager.default.temporaryDirectory.appending(path: "throng-nats-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    func path(_ name: String) -> String { directory.appending(path: name).path }

    func remove() throws { try FileManager.default.removeItem(at: directory) }

    /// Makes `NAME.pem` and `NAME-key.pem`, signed by itself or by another one.
    func make(_ name: String, by issuer: String? = nil, extensions: String...) throws {
      let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", path("\(name)-key.pem")]
      let signing = issuer.map { ["-CA", path("\($0).pem"), "-CAkey", path("\($0)-key.pem")] } ?? []
      try openSSL(
        ["req", "-x509", "-days", "2", "-subj", "/CN=\(name)", "-out", path("\(name).pem")] + key + signing
          + extensions.flatMap { ["-addext", $0] })
    }

    private func openSSL(_ arguments: [String]) throws {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = ["openssl"] + arguments
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      guard process.terminationStatus == 0 else { throw Failure(description: "openssl \(arguments) has failed") }
    }
  }

  private func withServer(_ arguments: [String] = [], _ body: (Authority, _ place: String) async throws -> Void) async throws {
    let authority = try Authority()
    let outcome: Result<Void, any Error>
    do {
      try authority.make("ca", extensions: "basicConstraints=critical,CA:TRUE")
      try authority.make("other", extensions: "basicConstraints=critical,CA:TRUE")
      try authority.make("server", by: "ca", extensions: "subjectAltName=IP:127.0.0.1", "basicConstraints=critical,CA:FALSE")
      try authority.make("node", by: "ca", extensions: "basicConstraints=critical,CA:FALSE")
      let server = try NATSServer(
        ["--tls", "--tlscert", authority.path("server.pem"), "--tlskey", authority.path("server-key.pem")]
          + arguments.map { $0 == "CA" ? authority.path("ca.pem") : $0 })
      defer { server.kill() }
      outcome = .success(try await body(authority, String(server.url.dropFirst("nats://".count))))
    } catch {
      outcome = .failure(error)
    }
    try authority.remove()
    try outcome.get()
  }

  private func connect(_ url: String) throws -> NATSBus {
    try NATSBus.connect(try NATSAddress(url), cluster: "c", logger: quiet)
  }

  @Test func nodesTalkWhereTheyKnowTheAuthorityAndThePasswordIsInTheURL() async throws {
    try await withServer(["--user", "me", "--pass", "right"]) { authority, place in
      let query = "?tls_ca=\(authority.path("ca.pem"))"
      let (first, second) = (try connect("tls://me:right@\(place)\(query)"), try connect("tls://me:right@\(place)\(query)"))
      let (received, _) = try await second.record(try subject("n2.link"))
      try first.publish([1, 2, 3], to: try subject("n2.link"))
      try await waitUntil("the message has come") { received.messages == [[1, 2, 3]] }
      for bus in [first, second] { await bus.close() }
      for credentials in ["me:wrong@", ""] {
        let fault = #expect(throws: NATSAddress.Fault.self) { _ = try connect("tls://\(credentials)\(place)\(query)") }
        let text = try #require(fault).description
        #expect(text.contains("Authorization") && !text.contains("wrong"), "\(text)")
      }
    }
  }

  @Test func aServerOfAnotherAuthorityIsRefusedInASentence() async throws {
    try await withServer { authority, place in
      for query in ["?tls_ca=\(authority.path("other.pem"))", ""] {
        let fault = #expect(throws: NATSAddress.Fault.self) { _ = try connect("tls://\(place)\(query)") }
        let text = try #require(fault).description
        #expect(text.contains("tls://\(place): SSL handshake error") && text.contains("issuer certificate"), "\(text)")
      }
      let missing = #expect(throws: NATSAddress.Fault.self) { _ = try connect("tls://\(place)?tls_ca=/nonexistent/ca.pem") }
      #expect(missing?.description.contains(place) == true)
    }
  }

  @Test func aServerForAnotherHostIsRefused() async throws {
    try await withServer { authority, place in
      let name = place.replacing("127.0.0.1", with: "localhost")
      let fault = #expect(throws: NATSAddress.Fault.self) {
        _ = try connect("tls://\(name)?tls_ca=\(authority.path("ca.pem"))")
      }
      let text = try #require(fault).description
      #expect(text.contains("hostname mismatch"), "\(text)")
    }
  }

  @Test func aServerThatDemandsCertificatesOfItsNodesGetsThem() async throws {
    try await withServer(["--tlsverify", "--tlscacert", "CA"]) { authority, place in
      let ca = "tls_ca=\(authority.path("ca.pem"))"
      let own = "tls_cert=\(authority.path("node.pem"))&tls_key=\(authority.path("node-key.pem"))"
      let bus = try connect("tls://\(place)?\(ca)&\(own)")
      #expect(bus.isConnected)
      await bus.close()
      #expect(throws: NATSAddress.Fault.self) { _ = try connect("tls://\(place)?\(ca)") }
    }
  }

  /// nats.c then speaks TLS by itself, and checks the certificate as ever.
  @Test func aServerThatTakesTLSAloneIsNotBelievedForAnAddressWithoutIt() async throws {
    try await withServer { _, place in
      let fault = #expect(throws: NATSAddress.Fault.self) { _ = try connect("nats://\(place)") }
      #expect(fault?.description.contains("certificate") == true)
    }
  }

  @Test func aServerWithoutTLSIsRefusedWhereTheAddressWantsIt() throws {
    let place = try NATSServer.shared.get().url.dropFirst("nats://".count)
    let fault = #expect(throws: NATSAddress.Fault.self) { _ = try connect("tls://me:secret@\(place)") }
    #expect(fault?.description.contains("tls://\(place)") == true && fault?.description.contains("secret") == false)
  }
}
