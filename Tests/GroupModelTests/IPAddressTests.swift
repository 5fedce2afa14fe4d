import GroupModel
import Testing

@Suite struct IPAddressTests {
  @Test(arguments: [
    ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:DB8:0::1", "2001:db8::1"), ("::1", "::1"),
    ("0:0:0:0:0:0:0:0", "::"),
  ])
  func eachAddressHasOneSpelling(text: String, spelling: String) throws {
    #expect(try #require(IPAddress(text)).description == spelling)
  }

  @Test(arguments: ["", "localhost", "192.0.2", "192.0.2.1:80", "[::1]", "::1%eth0"])
  func otherTextsAreRefused(text: String) {
    #expect(IPAddress(text) == nil)
  }
}
