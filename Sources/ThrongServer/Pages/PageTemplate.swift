import CPages

/// A page of embedded files, with its style and script in its HTML, so that a browser fetches one
/// answer.
///
/// `{{style}}` and `{{script}}` are replaced once; `{{nonce}}` and the page's own names on every
/// load.
struct PageTemplate: Sendable {
  /// The text up to each placeholder, with the placeholder's name.
  private let pieces: [(text: String, placeholder: String)]
  /// The text behind the last placeholder.
  private let end: String

  /// Puts the style and the script, which is one module, into the HTML.
  init(_ html: cp_file, style: cp_file, script: cp_file) {
    let text = { (file: cp_file) in String(decoding: file.content, as: UTF8.self) }
    let html = text(html).replacing("{{style}}", with: text(style)).replacing("{{script}}", with: text(script))
    var pieces: [(String, String)] = []
    var start = html.startIndex
    for match in html.matches(of: /{{([a-z]+)}}/) {
      pieces.append((String(html[start..<match.range.lowerBound]), String(match.1)))
      start = match.range.upperBound
    }
    self.pieces = pieces
    end = String(html[start...])
  }

  /// The page of one load. The texts must not need escaping in HTML.
  func load(_ texts: [String: String] = [:]) -> Page {
    let nonce = PageTemplate.random(24)
    let texts = texts.merging(["nonce": nonce]) { $1 }
    return Page(nonce: nonce, html: pieces.map { $0.text + (texts[$0.placeholder] ?? "") }.joined() + end)
  }

  /// Random letters and digits.
  static func random(_ count: Int) -> String {
    // Swift's own generator is the system's: getrandom(2) on Linux.
    String((0..<count).map { _ in alphabet[Int.random(in: alphabet.indices)] })
  }

  /// Without characters that look alike.
  private static let alphabet = Array("abcdefghjkmnpqrstuvwxyz23456789")
}

extension cp_file {
  /// The file's bytes.
  var content: [UInt8] { Array(UnsafeBufferPointer(start: bytes, count: count)) }
}

/// The answer to a request for a page: its HTML, and headers that restrict it.
struct Page: Sendable {
  /// The nonce of this load, which the page's own style and script have.
  let nonce: String
  let html: String

  /// Headers that allow only the page's own style and script and connections to its server. Tokens
  /// and API keys pass through the pages, so they are not cached, embedded or sent as referrers.
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
