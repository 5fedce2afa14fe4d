import Foundation
import ServerConfiguration
import Testing

@testable import ThrongServer

@Suite struct HealthProbeTests {
  private func settings(_ internalListen: String) throws -> Settings {
    try Settings.load(flags: [("internalListen", internalListen)])
  }

  @Test(arguments: [
    ("0.0.0.0:1", "127.0.0.1"), ("[::]:1", "::1"), (":1", "127.0.0.1"), ("10.0.0.1:1", "10.0.0.1"), ("host:1", "host"),
  ])
  func aListenerOnEveryAddressIsAskedHere(listen: String, target: String) throws {
    #expect(InternalClient.target(of: try settings(listen).internalListen) == target)
  }

  @Test func itSaysWhyThereIsNoAnswer() throws {
    #expect {
      try HealthProbe.ask(try settings("127.0.0.1:0"))
    } throws: { "\($0)".contains("port 0") }
    #expect {
      try HealthProbe.ask(try settings("127.0.0.1:1"))
    } throws: { "\($0)" == "nobody listens on 127.0.0.1:1: Connection refused" }
  }
}
