import Authentication
import GroupModel
import ServerConfiguration

/// The demo chat page (contract section 8): whoever opens it is signed in as a new guest.
struct DemoPage: Sendable {
  private let issuer: TokenIssuer?

  /// How long a guest may stay, in seconds.
  static let lifetime: Seconds = 3600

  /// Without an issuer the page has no token to give and asks for one.
  init(issuer: TokenIssuer?) { self.issuer = issuer }

  /// The page of one load, with the token of a guest whom nobody has been before.
  func load(now: Instant) throws(AuthenticationError) -> Page {
    let guest = "guest-" + PageTemplate.random(8)
    let token = try issuer?.issue(user: guest, lifetime: DemoPage.lifetime, now: now)
    return DemoPage.template.load(["token": token ?? ""])
  }

  private static let template = PageTemplate(
    PackageResources.chat_html, styles: [PackageResources.base_css, PackageResources.chat_css],
    scripts: [
      PackageResources.base_js, PackageResources.connection_js, PackageResources.words_js, PackageResources.timeline_js,
      PackageResources.groups_js, PackageResources.messages_js, PackageResources.events_js, PackageResources.view_js,
      PackageResources.frames_js, PackageResources.main_js,
    ])
}

extension DemoPage {
  /// The page as it is configured: nil where `demo` is off, without tokens where there is no HS256 secret.
  init?(_ settings: Settings) async throws(AuthenticationError) {
    guard settings.demo else { return nil }
    guard let secret = try settings.signingSecret() else {
      self.init(issuer: nil)
      return
    }
    self.init(issuer: try await TokenIssuer(secret: secret, audience: settings.auth.audience, issuer: settings.auth.issuer))
  }
}
