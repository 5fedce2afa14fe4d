import Cluster
import Testing
import ThrongTestKit

@testable import NATSBus
@testable import PostgreSQLStore

/// Addresses of NATS.
@Suite struct NATSAddressTests {
  @Test func hostsShareSchemeAndCredentials() throws {
    let address = try NATSAddress("nats://me:p%40ss@one:4222,two")
    #expect(address.servers == ["nats://one:4222", "nats://two"])
    #expect(address.user == "me" && address.password == "p@ss" && address.hasCredentials)
    #expect(address.shown == "nats://one:4222,two" && !address.usesTLS)
  }

  @Test(arguments: ["nats://me:x@a:1,nats://b", "nats://a:1,nats://me:x@b", "nats://me:x@a:1,nats://me:x@b"])
  func eachHostMayHaveTheSchemeAndTheUserAgain(_ url: String) throws {
    let address = try NATSAddress(url)
    #expect(address.servers == ["nats://a:1", "nats://b"] && address.user == "me" && address.password == "x")
    #expect(address.shown == "nats://a:1,b")
  }

  @Test func aUserWithoutAPasswordIsAToken() throws {
    let address = try NATSAddress("nats://a%3Atoken@h")
    #expect(address.user == "a:token" && address.password == nil)
    #expect(try !NATSAddress("nats://h").hasCredentials)
  }

  @Test func filesAreNamedBehindTheQuestionMark() throws {
    let address = try NATSAddress("tls://h?tls_ca=/etc/a%20b.pem&tls_cert=c&tls_key=k&creds=/x")
    #expect(address.usesTLS && address.caFile == "/etc/a b.pem" && address.credentialsFile == "/x")
    #expect(address.certificateFile == "c" && address.keyFile == "k")
  }

  @Test(arguments: [
    "", "nats:", "http://h", "nats://", "nats://a,,b", "nats://h/path", "nats://h?x=1", "nats://h?creds", "tls://h?tls_cert=c",
    "nats://h?tls_ca=x", "nats://user:secret@", "nats://user:secret@a,tls://b", "nats://me:secret@a,nats://other:secret@b",
  ])
  func anythingElseIsRefusedWithoutItsSecrets(_ url: String) {
    let fault = #expect(throws: NATSAddress.Fault.self) { _ = try NATSAddress(url) }
    #expect(fault?.description.contains("secret") == false)
  }

  @Test func aServerThatIsNotThereIsToldInASentence() throws {
    let fault = #expect(throws: NATSAddress.Fault.self) {
      _ = try NATSBus.connect(try NATSAddress("nats://me:secret@127.0.0.1:1"), cluster: "c", logger: quiet)
    }
    #expect(fault?.description.contains("127.0.0.1:1") == true && fault?.description.contains("secret") == false)
  }

  @Test func aPasswordInTheURLSignsInAndAnotherOneDoesNot() async throws {
    let server = try NATSServer(["--user", "me", "--pass", "right"])
    defer { server.kill() }
    let place = server.url.dropFirst("nats://".count)
    #expect(throws: NATSAddress.Fault.self) {
      _ = try NATSBus.connect(try NATSAddress("nats://me:wrong@\(place)"), cluster: "c", logger: quiet)
    }
    let bus = try NATSBus.connect(try NATSAddress("nats://me:right@\(place)"), cluster: "c", logger: quiet)
    #expect(bus.isConnected)
    await bus.close()
  }
}

/// Parts of long messages.
@Suite struct MessagePartsTests {
  private func add(_ assembler: inout MessageAssembler, _ part: (name: String?, bytes: ArraySlice<UInt8>))
    -> MessageAssembler.Outcome
  {
    Array(part.bytes).withUnsafeBufferPointer { assembler.add($0, part.name ?? "") }
  }

  @Test func aMessageIsPutTogetherFromThePartsOfItsPublisher() {
    var (one, other) = (MessageParts(publisher: "a"), MessageParts(publisher: "b"))
    let message = (0..<10).map { UInt8($0) }
    let (first, second) = (one.divide(message, limit: 4), other.divide(message.reversed(), limit: 4))
    #expect(first.count == 3 && second.count == 3)
    var assembler = MessageAssembler()
    var outcomes: [MessageAssembler.Outcome] = []
    for (left, right) in zip(first, second) { outcomes += [add(&assembler, left), add(&assembler, right)] }
    #expect(outcomes == [.waits, .waits, .waits, .waits, .whole(message), .whole(message.reversed())])
    #expect(assembler.isEmpty)
  }

  @Test func aShortMessageIsOne() {
    var parts = MessageParts(publisher: "a")
    let divided = parts.divide([1, 2, 3], limit: 3)
    #expect(divided.count == 1 && divided[0].name == nil)
    var assembler = MessageAssembler()
    #expect(add(&assembler, divided[0]) == .whole([1, 2, 3]))
  }

  @Test func aMissingPartBreaksItsMessageAndNoOther() {
    var parts = MessageParts(publisher: "a")
    let (first, second) = (parts.divide([1, 2, 3], limit: 1), parts.divide([4, 5], limit: 1))
    var assembler = MessageAssembler()
    let outcomes = [first[0], first[2], second[0], second[1]].map { add(&assembler, $0) }
    #expect(outcomes == [.waits, .broken, .waits, .whole([4, 5])])
    let late = add(&assembler, second[1])
    #expect(late == .broken)
  }

  @Test func partsOfStrangersPushOutTheOldestAndNeverPileUp() {
    var assembler = MessageAssembler()
    func add(_ publisher: Int, _ index: Int, _ bytes: [UInt8]) -> MessageAssembler.Outcome {
      bytes.withUnsafeBufferPointer { assembler.add($0, "part.p\(publisher).1.\(index).3") }
    }
    for publisher in 0..<200 { #expect(add(publisher, 0, [1]) == .waits) }
    #expect(add(0, 1, [2]) == .broken)
    #expect(add(199, 1, [2]) == .waits)
    #expect(add(199, 2, [3]) == .whole([1, 2, 3]))
    let long = [UInt8](repeating: 0, count: BusLimits.messageBytes)
    for publisher in 300..<303 { #expect(add(publisher, 0, long) == .waits) }
    #expect(add(300, 1, []) == .broken, "three of the longest are beyond the bound of bytes")
    #expect(add(302, 1, []) == .waits)
  }

  @Test(arguments: ["x", "part.a.1.0", "part.a.1.2.2", "part.a.1.x.2", "other.a.1.0.2"])
  func aNameThatIsNoneBreaks(_ name: String) {
    var assembler = MessageAssembler()
    let outcome = [UInt8(1)].withUnsafeBufferPointer { assembler.add($0, name) }
    #expect(outcome == .broken)
  }
}

/// Batches of the PostgreSQL bus.
@Suite struct BusBatchTests {
  @Test func messagesComeBackFromTheBytesOfTheirBatch() throws {
    let messages: [[UInt8]] = [[], [1], [UInt8](repeating: 7, count: 70_000), [2, 3]]
    var bytes: [UInt8] = []
    for message in messages {
      bytes += withUnsafeBytes(of: UInt32(message.count).bigEndian) { Array($0) } + message
    }
    #expect(BusBatch.messages(in: bytes) == messages)
    #expect(BusBatch.messages(in: Array(bytes.dropLast())) == nil)
    #expect(BusBatch.messages(in: []) == [])
    #expect(BusBatch.messages(in: [0, 0]) == nil)
  }

  @Test func aNotificationComesBackFromItsText() {
    let notification = BusNotification(publisher: 1 << 60, number: 12)
    #expect(notification.text == "1152921504606846976.12" && BusNotification(notification.text) == notification)
    for text in ["", "x", "1", "1.x", "1.2.3", ".1", "bAQID"] { #expect(BusNotification(text) == nil) }
  }
}

/// How long the writer of a node waits for commits.
@Suite struct CommitWindowTests {
  /// Behind a transaction that began at 0 and took 400 µs.
  private static func window(
    nanoseconds: Int64 = 400_000, commits: Int = 1, waiting: Int = 0
  ) -> CommitWindow {
    var window = CommitWindow()
    window.note(from: 0, to: nanoseconds, commits: commits, waiting: waiting)
    return window
  }

  @Test func aCommitAloneNeverWaits() {
    #expect(CommitWindow().wait(for: 3, at: 0) == 0, "no transaction was before")
    #expect(Self.window().wait(for: 1, at: 400_000) == 0)
  }

  @Test(arguments: [(2, 0), (1, 1)]) func behindOthersTheNextWaitsForAsLongAsTheyTook(commits: Int, waiting: Int) {
    let window = Self.window(commits: commits, waiting: waiting)
    #expect(window.wait(for: 1, at: 400_000) == 400_000)
    #expect(window.wait(for: CommitWindow.enough - 1, at: 700_000) == 100_000)
    #expect(window.wait(for: 1, at: 800_000) == 0, "it comes late")
    #expect(window.wait(for: 0, at: 400_000) == 0, "there is nothing to write")
  }

  @Test func nobodyWaitsForLong() {
    let window = Self.window(nanoseconds: 3_000_000_000, commits: 2)
    #expect(window.wait(for: 1, at: 3_000_000_000) == CommitWindow.longestNanoseconds)
    #expect(window.wait(for: 1, at: 0) == CommitWindow.longestNanoseconds, "whatever the clock says")
  }

  @Test func enoughCommitsWaitForNoMore() {
    #expect(Self.window(commits: 2).wait(for: CommitWindow.enough, at: 400_000) == 0)
  }

  @Test func aTransactionWithoutOthersEndsTheWindow() {
    var window = Self.window(commits: 2)
    window.note(from: 500_000, to: 600_000, commits: 1, waiting: 0)
    #expect(window.wait(for: 1, at: 600_000) == 0)
  }

  @Test func aClockThatStandsStillLetsNobodyWait() {
    #expect(Self.window(nanoseconds: 0, commits: 2).wait(for: 3, at: 0) == 0)
  }
}
