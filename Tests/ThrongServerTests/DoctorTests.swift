import GroupModel
import ServerConfiguration
import Testing
import WebSocketTransport

@testable import ThrongServer

@Suite struct DoctorTests {
  private static let now = WallInstant(milliseconds: 1_800_000_000_000)

  private func directory(
    missing: Bool = false, writable: Bool = true, free: Int? = 1 << 40, fileSystem: UInt = 0xef53, isStore: Bool = true
  ) -> [Finding] {
    MachineChecks.directory(
      .init(path: "/data", isMissing: missing, isWritable: writable, freeBytes: free, fileSystem: fileSystem),
      wanted: "/data/throng",
      isStore: isStore)
  }

  @Test func openFilesHaveToSufficeForTheConnections() {
    func severity(_ limit: Int, connections: Int = 0) -> Finding.Severity {
      MachineChecks.openFiles(allowed: limit, connections: connections).severity
    }
    #expect(severity(1_048_576) == .ok && severity(4096) == .ok && severity(1024) == .warning)
    #expect(severity(20_000, connections: 15_000) == .ok && severity(20_000, connections: 30_000) == .warning)
  }

  @Test func theDiskHasToHaveRoom() {
    #expect(directory().map(\.severity) == [.ok, .ok])
    #expect(directory(free: 500 << 20).map(\.severity) == [.ok, .warning])
    #expect(directory(free: 10 << 20).map(\.severity) == [.ok, .failure])
    #expect(directory(free: nil).map(\.severity) == [.ok])
    #expect(directory(writable: false).map(\.severity) == [.failure])
  }

  @Test func aDirectoryThatAStartWouldMakeMayBeAnother() {
    let findings = directory(missing: true)
    #expect(findings.map(\.severity) == [.warning, .ok])
    #expect(findings[0].text.contains("no /data/throng") && findings[0].remedy?.contains("--data-dir") == true)
    #expect(directory(missing: true, writable: false).map(\.severity) == [.failure])
  }

  @Test func aDatabaseIsNotOnANetworkFileSystem() {
    #expect(directory(fileSystem: 0x6969)[1].severity == .failure)
    #expect(directory(fileSystem: 0x0102_1994)[1].severity == .warning)
    #expect(directory(fileSystem: 0x6969, isStore: false).allSatisfy { $0.severity == .ok })
  }

  @Test func theClockHasToBeRight() {
    #expect(MachineChecks.clock(.synchronized, now: Self.now).severity == .ok)
    #expect(MachineChecks.clock(.unknown, now: Self.now).severity == .ok)
    #expect(MachineChecks.clock(.unsynchronized, now: Self.now).severity == .warning)
    #expect(MachineChecks.clock(.synchronized, now: WallInstant(milliseconds: 0)).severity == .failure)
  }

  /// Only where a header of a client could be taken for a proxy's.
  @Test(arguments: [
    ([], false), (["trustedProxies=10.0.0.0/8"], true), (["listen=unix:/run/throng"], true),
    (["trustedProxies=10.0.0.0/8", "forwardedHeader=x-forwarded-for"], false),
    (["listen=unix:/run/throng", "forwardedHeader=forwarded"], false), (["forwardedHeader=forwarded"], false),
    (["trustedProxies=10.0.0.0/8", "proxyProtocol=true"], false),
  ])
  func theHeaderOfTheProxiesIsNamed(flags: [String], warns: Bool) async throws {
    let pairs = flags.map { flag in flag.split(separator: "=", maxSplits: 1).map(String.init) }
    let settings = try Settings.load(flags: pairs.map { (key: $0[0], value: $0[1]) })
    #expect((StartWarnings.forwardedHeader(settings) != nil) == warns)
    let finding = MachineChecks.proxies(settings)
    #expect(finding.severity == (warns ? .warning : .ok) && (finding.remedy?.contains("forwardedHeader") ?? false) == warns)
    let told = try await settings.checkKeys()
    #expect(told.contains { $0.contains("forwardedHeader") } == warns, "throng config check tells it, too")
  }

  /// A PROXY header of nobody, and webhooks to nobody, are told by the check and the doctor.
  @Test(
    arguments: [
      (["proxyProtocol=true"], "proxies", "trustedProxies"), (["proxyProtocol=true", "trustedProxies=10.0.0.1"], nil, ""),
      (["proxyProtocol=true", "listen=unix:/run/throng"], nil, ""),
      (["webhook.events=beforeSendMessage"], "webhooks", "nobody is asked"),
      (["webhook.events=messageSent"], "webhooks", "nothing is posted"), (["webhook.events="], nil, ""),
      (
        [
          "webhook.events=beforeSendMessage", "webhook.url=http://127.0.0.1:1/",
          "webhook.secret=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        ], nil, ""
      ), ([], nil, ""),
    ] as [([String], String?, String)])
  func aKeyThatNeedsAnotherIsNamed(flags: [String], subject: String?, words: String) async throws {
    let pairs = flags.map { flag in flag.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init) }
    let settings = try Settings.load(flags: pairs.map { (key: $0[0], value: $0[1]) })
    let findings = [MachineChecks.proxies(settings), MachineChecks.webhooks(settings)]
    #expect(findings.filter { $0.severity != .ok }.map(\.subject) == (subject.map { [$0] } ?? []))
    #expect(findings.allSatisfy { ($0.severity == .ok) == ($0.remedy == nil) })
    let told = try await settings.checkKeys()
    #expect(told.count == (subject == nil ? 0 : 1) && told.allSatisfy { $0.contains(words) }, "\(told)")
  }

  /// A listener that strangers may reach is told by the check, the doctor and the start.
  @Test(
    arguments: [
      ("127.0.0.1:8081", nil), ("127.9.9.9:8081", nil), ("10.0.0.1:8081", nil), ("172.31.0.1:8081", nil),
      ("192.168.1.1:8081", nil), ("169.254.1.1:8081", nil), ("100.64.0.1:8081", nil), ("[::1]:8081", nil),
      ("[fd00::1]:8081", nil), ("[fe80::1]:8081", nil), ("localhost:8081", nil), ("unix:/run/throng/internal.sock", nil),
      ("0.0.0.0:8081", "every address"), ("[::]:8081", "every address"), ("203.0.113.5:8081", "a public address"),
      ("172.32.0.1:8081", "a public address"), ("[2001:db8::1]:8081", "a public address"),
    ] as [(String, String?)])
  func anInternalListenerForEverybodyIsNamed(address: String, told: String?) async throws {
    let settings = try Settings.load(flags: [("internalListen", address)])
    let warning = StartWarnings.internalListener(settings.internalListen)
    #expect((warning == nil) == (told == nil))
    if let told { #expect(warning?.hasPrefix("internalListen is \(address), \(told)") == true) }
    let finding = MachineChecks.internalListener(settings.internalListen)
    #expect(finding.severity == (told == nil ? .ok : .warning) && (finding.remedy == nil) == (told == nil))
    let checked = try await settings.checkKeys()
    #expect(checked.contains { $0.hasPrefix("internalListen is ") } == (told != nil), "throng config check tells it, too")
  }

  /// A command that was not given the configuration of the server that runs.
  @Test func theDatabaseOfARunningServerIsInUse() throws {
    let address = ListenAddress.tcp(host: "127.0.0.1", port: 8081)
    let missing = try #require(RunningServer.database(nil, isInUse: false, at: address, in: "/data"))
    let idle = try #require(RunningServer.database("/data/throng.db", isInUse: false, at: address, in: "/data"))
    #expect(missing.severity == .warning && missing.text.contains("there is no database in /data"))
    #expect(idle.severity == .warning && idle.text.contains("no process has /data/throng.db open"))
    for finding in [missing, idle] {
      #expect(finding.text.contains("127.0.0.1:8081") && finding.remedy?.contains("--config FILE") == true)
    }
    #expect(RunningServer.database("/data/throng.db", isInUse: true, at: address, in: "/data") == nil)
  }

  /// Nobody answers there, so nothing is compared, and no secret is made.
  @Test func withoutAServerNothingIsSaidOfOne() async throws {
    let settings = try Settings.load(flags: [("internalListen", "unix:/nowhere/internal.sock"), ("dataDir", "/nowhere/data")])
    #expect(await settings.warningOfRunningServer() == nil)
  }

  @Test func aCertificateExpires() {
    func severity(days: Int64) -> Finding.Severity {
      MachineChecks.certificate(1_800_000_000 + days * 86_400, now: Self.now).severity
    }
    #expect(severity(days: 90) == .ok && severity(days: 10) == .warning && severity(days: -1) == .failure)
    #expect(MachineChecks.certificate(nil, now: Self.now).severity == .ok)
  }

  @Test func everythingBadSaysHowToMendIt() {
    let findings = [
      MachineChecks.openFiles(allowed: 100, connections: 0),
      MachineChecks.clock(.unsynchronized, now: Self.now),
      MachineChecks.certificate(1, now: Self.now),
      MachineChecks.internalListener(.tcp(host: "0.0.0.0", port: 8081)),
    ]
    for finding in findings + directory(missing: true) + directory(writable: false) + directory(free: 0, fileSystem: 0x6969)
    where finding.severity != .ok {
      #expect(finding.remedy?.isEmpty == false)
    }
    for error: TransportError in [
      .cannotBind(host: "h", port: 80, reason: ""), .cannotBind(host: "h", port: 8080, reason: ""),
      .cannotMakeSocket(path: "/s", reason: ""), .tls(reason: ""), .context(reason: ""),
    ] {
      #expect(!Doctor.remedy(for: error).isEmpty)
    }
  }

  @Test func theMachineIsRead() {
    let facts = MachineFacts.read(dataDirectory: "/nowhere/at/all")
    #expect(
      facts.directory.path == "/" && facts.directory.isMissing && facts.hardFileLimit > 0 && facts.directory.freeBytes != nil)
    #expect(!MachineFacts.read(dataDirectory: "/tmp").directory.isMissing)
  }

  @Test func anAnswerHasAStatusAndABody() throws {
    let address = try #require(ListenAddress("127.0.0.1:1"))
    let answer = try InternalClient.answer(in: Array("HTTP/1.1 503 x\r\na: b\r\n\r\nstarting\r\n\r\n".utf8), of: address)
    #expect(answer.status == 503 && answer.body == Array("starting\r\n\r\n".utf8))
    for broken in ["", "SSH-2.0-x\r\n", "HTTP/1.1 two\r\n\r\n", "HTTP/1.1 200 OK\r\na: b\r\n"] {
      #expect(throws: InternalClient.Failure.self) { try InternalClient.answer(in: Array(broken.utf8), of: address) }
    }
  }
}
