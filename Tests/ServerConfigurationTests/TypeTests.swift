import GroupModel
import ServerConfiguration
import Testing

/// The small types, value by value.
@Suite struct TypeTests {
  @Test(
    arguments: [
      ("0", 0), ("10", 10_000), ("10s", 10_000), ("5m", 300_000), ("1h", 3_600_000), ("7d", 604_800_000), ("500ms", 500),
      ("0.5", 500), ("1.25m", 75_000), ("007", 7000), ("4294967295", 4_294_967_295_000), ("1.9ms", 1),
    ] as [(String, Int64)])
  func duration(text: String, milliseconds: Int64) {
    #expect(Duration(configurationText: text)?.wholeMilliseconds == milliseconds)
  }

  @Test(arguments: [
    "", "s", "-1", "+1", "1 s", "1S", "1w", "1.2.3", ".5", "5.", "1e3", "inf", "nan", "4294967296", "99999999999999999999d",
  ])
  func noDuration(text: String) {
    #expect(Duration(configurationText: text) == nil)
  }

  @Test(
    arguments: [
      ("0.0.0.0:8080", "0.0.0.0", 8080), ("[::]:0", "::", 0), ("localhost:65535", "localhost", 65535),
      ("my_host-1.x:1", "my_host-1.x", 1),
    ] as [(String, String, UInt16)])
  func listenAddress(text: String, host: String, port: UInt16) throws {
    let address = try #require(ListenAddress(text))
    #expect(address.host == host && address.port == port && address.description == text)
  }

  @Test func aListenerMayBeAUnixSocket() throws {
    let address = try #require(ListenAddress("unix:/run/throng/public.sock"))
    #expect(address == .unix(path: "/run/throng/public.sock") && address.description == "unix:/run/throng/public.sock")
    #expect(address.host == nil && address.port == nil && address.bound(to: nil) == address)
    #expect(ListenAddress("unix:/" + String(repeating: "p", count: 106)) != nil)
    #expect(ListenAddress("[::1]:0")?.bound(to: 4711).description == "[::1]:4711")
  }

  @Test func withoutAHostItIsEveryAddress() {
    #expect(ListenAddress(":8080")?.description == "0.0.0.0:8080" && ListenAddress(":0")?.port == 0)
  }

  @Test(arguments: [
    ("10.0.0.1", "10.0.0.1", true), ("10.0.0.1", "10.0.0.2", false), ("::1", "::1", true), ("::1", "::2", false),
    ("::ffff:10.0.0.1", "10.0.0.1", true), ("10.0.0.0/8", "10.255.255.255", true), ("10.0.0.0/8", "11.0.0.0", false),
    ("10.1.2.3/8", "10.9.9.9", true),
    ("192.168.4.0/22", "192.168.7.255", true), ("192.168.4.0/22", "192.168.8.0", false), ("0.0.0.0/0", "255.1.2.3", true),
    ("10.0.0.1/32", "10.0.0.1", true), ("10.0.0.1/32", "10.0.0.2", false), ("0.0.0.0/0", "::1", false),
    ("::/0", "1.2.3.4", false),
    ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false), ("10.0.0.0/8", "::ffff:10.1.1.1", true),
    ("2001:db8::/33", "2001:db8:7fff::", true), ("2001:db8::/33", "2001:db8:8000::", false), ("0.0.0.0/0", "nonsense", false),
  ])
  func addressRange(range: String, address: String, isIn: Bool) throws {
    #expect(try #require(AddressRange(range)).contains(address) == isIn)
  }

  @Test(arguments: [
    ("https://a.example", "https://a.example"), ("HTTPS://A.Example:443", "https://a.example"), ("http://a:80", "http://a"),
    ("http://a:443", "http://a:443"), ("https://[::1]:8443", "https://[::1]:8443"),
    ("capacitor://localhost", "capacitor://localhost"),
    ("http://[::1]", "http://[::1]"), ("chrome-extension://abc", "chrome-extension://abc"),
  ])
  func origin(text: String, normal: String) throws {
    #expect(try Settings.load(flags: [("allowedOrigins", text)]).allowedOrigins == [normal])
  }
}
