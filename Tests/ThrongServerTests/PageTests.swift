import Authentication
import Foundation
import GroupModel
import ServerConfiguration
import Testing

@testable import ThrongServer

/// The demo page and the console (Protocol.md, "Pages").
@Suite struct PageTests {
  private static let secret = Array(String(repeating: "s", count: 32).utf8)

  /// A page with its name in failures.
  struct Named: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let page: Page
  }

  static let pages: [Named] = [
    Named(testDescription: "console", page: ConsolePage.load()),
    // Without an issuer nothing can go wrong.
    Named(testDescription: "demo", page: try! DemoPage(besides: "/ws", issuer: nil).load(now: .unset)),
  ]

  // MARK: The page as a whole

  @Test(arguments: pages) func everythingStandsInThePage(named: Named) throws {
    let html = named.page.html
    #expect(html.hasPrefix("<!doctype html>") && html.contains("</html>"))
    #expect(!html.contains("{{"), "a place was left open")
    for tag in ["<style", "</style>", "<script", "</script>"] {
      #expect(html.split(separator: tag, omittingEmptySubsequences: false).count == 2, "\(tag) once")
    }
    let script = try #require(html.firstMatch(of: /(?s)<script[^>]*>(.*)<\/script>/)?.1)
    #expect(script.contains("function element("), "the shared script comes first")
    #expect(!script.contains("<!--"), "would end the script for an HTML reader")
  }

  /// No page makes an external request: no address but the icon's namespace, no fetched source.
  @Test(arguments: pages) func nothingIsFetchedFromElsewhere(named: Named) {
    // The demo page loads the client library and its storage from beside itself.
    let html = named.page.html.replacing("http://www.w3.org/2000/svg", with: "")
      .replacing(/import \{ [A-Za-z, ]+ \} from "\.\/throng(-storage)?\.js";\n/, with: "", maxReplacements: 2)
    for word in ["http:", "https://", " src=", "@import", "url(", "import(", "import ", "//cdn"] where html.contains(word) {
      Issue.record("\(word) in the page")
    }
  }

  /// Data from the network becomes text: no page parses HTML or code from a string.
  @Test(arguments: pages) func nothingParsesText(named: Named) {
    for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc"] {
      #expect(!named.page.html.contains(word))
    }
    let html = named.page.html.replacing(/(?s)<(script|style)[^>]*>.*<\/(script|style)>/, with: "")
    #expect(html.firstMatch(of: /\s(on[a-z]+|style)=/) == nil, "the policy lets no attribute hold a script or a style")
  }

  /// An element that a script asks for by its id is there.
  @Test(arguments: pages) func everyIDThatIsAskedForIsThere(named: Named) {
    let html = named.page.html
    let ids = html.matches(of: /byID\("([a-z-]+)"\)/).map { String($0.1) }
    #expect(ids.count > 10)
    for id in Set(ids) { #expect(html.contains("id=\"\(id)\""), "\(id)") }
  }

  @Test(arguments: pages) func thePolicyLetsInThePagesOwnScriptAlone(named: Named) throws {
    let headers = Dictionary(uniqueKeysWithValues: named.page.headers)
    let policy = try #require(headers["Content-Security-Policy"]).components(separatedBy: "; ")
    let nonce = named.page.nonce
    #expect(
      policy == [
        "default-src 'none'", "script-src 'nonce-\(nonce)'", "style-src 'nonce-\(nonce)'", "connect-src 'self'", "img-src data:",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
      ])
    #expect(named.page.html.contains("<script type=\"module\" nonce=\"\(nonce)\">"))
    #expect(named.page.html.contains("<style nonce=\"\(nonce)\">"))
    #expect(nonce.count >= 22, "at least 108 bits")
    #expect(headers["X-Content-Type-Options"] == "nosniff" && headers["Referrer-Policy"] == "no-referrer")
    #expect(headers["Cache-Control"] == "no-store" && headers["Cross-Origin-Resource-Policy"] == "same-origin")
  }

  @Test func everyLoadHasANonceOfItsOwn() {
    #expect(Set((0..<100).map { _ in ConsolePage.load().nonce }).count == 100)
  }

  // MARK: The guest's token

  private static func token(in page: Page) throws -> String {
    String(try #require(page.html.firstMatch(of: /<meta name="guest-token" content="([^"]*)">/)).1)
  }

  @Test func theTokenSignsInAGuestForAnHour() async throws {
    let demo = DemoPage(besides: "/ws", issuer: try await TokenIssuer(secret: PageTests.secret))
    let verifier = try await TokenVerifier(TokenVerifier.Configuration(secret: PageTests.secret))
    let now = WallInstant(milliseconds: 1_766_000_000_000)
    let token = try PageTests.token(in: demo.load(now: now))
    let guest = try verifier.verify(token, now: now).get()
    #expect(guest.userID.rawValue.wholeMatch(of: /guest-[a-z2-9]{8}/) != nil)
    #expect(!guest.isAdministrator && guest.expiresAt == now + .seconds(3600))
    #expect(try verifier.verify(token, now: now + .milliseconds(3_599_999)).get() == guest)
    let late = #expect(throws: TokenFault.self) {
      try verifier.verify(token, now: now + .seconds(3600) + TokenVerifier.leeway).get()
    }
    #expect(late?.code == .expired && late?.userID == guest.userID)
  }

  @Test func everyLoadIsAnotherGuest() async throws {
    let demo = DemoPage(besides: "/ws", issuer: try await TokenIssuer(secret: PageTests.secret))
    #expect(try Set((0..<100).map { _ in try PageTests.token(in: demo.load(now: .unset)) }).count == 100)
  }

  // MARK: As it is configured

  private func settings(_ flags: [(String, String)]) throws -> Settings {
    try Settings.load(flags: flags.map { (key: $0.0, value: $0.1) })
  }

  @Test func withoutDemoThereIsNoPage() async throws {
    #expect(try await DemoPage(settings([])) == nil)
    #expect(try await DemoPage(settings([("demo", "false")])) == nil)
  }

  @Test func theTokenIsForThisServer() async throws {
    let secret = String(repeating: "k", count: 40)
    let flags = [("demo", "true"), ("auth.secret", secret), ("auth.audience", "chat"), ("auth.issuer", "here")]
    let demo = try #require(try await DemoPage(settings(flags)))
    let verifier = try await TokenVerifier(
      TokenVerifier.Configuration(secret: Array(secret.utf8), audience: "chat", issuer: "here"))
    #expect(throws: Never.self) { try verifier.verify(PageTests.token(in: demo.load(now: .unset)), now: .unset).get() }
  }

  /// A server that accepts only tokens of other signers issues none and creates no secret.
  @Test func withoutASecretThePageHasNoToken() async throws {
    let directory = NSTemporaryDirectory() + "throng-pages-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let keys = directory + "/keys.json"
    try Data(#"{"keys":[]}"#.utf8).write(to: URL(fileURLWithPath: keys))
    let flags = [("demo", "true"), ("auth.jwksFile", keys), ("auth.algorithms", "ES256"), ("dataDir", directory)]
    let demo = try #require(try await DemoPage(settings(flags)))
    #expect(try PageTests.token(in: demo.load(now: .unset)).isEmpty)
    #expect(!FileManager.default.fileExists(atPath: directory + "/auth-secret"))
  }
}
