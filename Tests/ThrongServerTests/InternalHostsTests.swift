import ServerConfiguration
import Testing

@testable import ThrongServer

/// Which hosts requests to the internal listener may name (Operations.md, "Names of the internal
/// listener").
@Suite struct InternalHostsTests {
  private func hosts(_ flags: [(String, String)] = [], machine: String = "throng1.corp.example") throws -> InternalHosts {
    InternalHosts(try Settings.load(flags: flags.map { (key: $0.0, value: $0.1) }), machine: machine)
  }

  @Test(arguments: [
    nil, "127.0.0.1:8081", "127.0.0.1", "[::1]:8081", "[2001:db8::1]", "::1", "10.0.0.5:8081", "localhost", "LOCALHOST:8081",
    "localhost.:8081", "throng", "throng:8081", "node1:8081", "throng.monitoring.svc:8081", "printer.local",
    "throng.monitoring.svc.cluster.local:8081", "ip-10-0-0-5.ec2.internal", "a.home.arpa", "throng1.corp.example:8081",
    "Throng1.Corp.Example.",
  ])
  func addressesAndPrivateNamesAreAdmitted(host: String?) throws {
    #expect(try hosts().admit(host))
  }

  @Test(arguments: [
    "evil.example", "evil.example:8081", "127.0.0.1.evil.example", "localhost.evil.example:8081", "evil.localhosts",
    "127.0.0.1.nip.io", "throng1.corp.example.evil.example", "throng2.corp.example", "1.2.3.4.5", "[::1].evil.example",
    "evil.example:80:80", "evil.example.", "internal.evil.example", "a.b", "@evil.example", "127.0.0.1@evil.example",
  ])
  func namesThatSomebodyMayRegisterAreNot(host: String) throws {
    #expect(try !hosts().admit(host))
    #expect(try hosts([("internalHosts", "*")]).admit(host))
  }

  @Test func theKeyNamesMore() throws {
    let made = try hosts([("internalHosts", "metrics.example.com,*.corp.example")])
    #expect(made.admit("Metrics.example.com:8081") && made.admit("a.corp.example") && made.admit("a.b.corp.example:1"))
    #expect(!made.admit("corp.example") && !made.admit("evilcorp.example") && !made.admit("a.metrics.example.com"))
    #expect(made.admit("localhost") && !made.admit("example.com"))
  }

  @Test func theListenersOwnNamesAreAdmitted() throws {
    let made = try hosts([("internalListen", "internal.example.com:8081"), ("cluster.address", "node1.example.com:8081")])
    #expect(made.admit("internal.example.com:8081") && made.admit("node1.example.com") && !made.admit("node2.example.com"))
  }
}
