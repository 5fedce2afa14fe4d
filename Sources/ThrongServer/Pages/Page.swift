/// A page as it is answered: the HTML text, and headers that keep everything else out.
struct Page: Sendable {
  /// Of this load alone; the page's own style and script carry it.
  let nonce: String
  /// The whole text.
  let html: String

  /// Nothing but the page's own style and script, and connections to the server that it came from. Tokens and API keys pass
  /// through these pages: no cache keeps them, no other page frames or embeds them, no address tells where somebody was.
  var headers: [(String, String)] {
    let policy = [
      "default-src 'none'", "script-src 'nonce-\(nonce)'", "style-src 'nonce-\(nonce)'", "connect-src 'self'", "img-src data:",
      "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    ]
    return [
      ("Content-Security-Policy", policy.joined(separator: "; ")), ("X-Content-Type-Options", "nosniff"),
      ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-store"),
    ]
  }
}
