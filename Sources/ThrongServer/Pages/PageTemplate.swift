/// A page of embedded files: its styles and scripts stand in its HTML, so that one answer is all that a browser fetches.
///
/// The places `{{style}}` and `{{script}}` are filled once; `{{nonce}}`, and those that a page names, on every load.
struct PageTemplate: Sendable {
  /// The text up to each place, with the place's name.
  private let pieces: [(text: String, place: String)]
  /// The text behind the last place.
  private let end: String

  /// Styles and scripts in their order, the scripts as one module.
  init(_ html: [UInt8], styles: [[UInt8]], scripts: [[UInt8]]) {
    let text = { (files: [[UInt8]]) in files.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n") }
    let html = text([html]).replacing("{{style}}", with: text(styles)).replacing("{{script}}", with: text(scripts))
    var pieces: [(String, String)] = []
    var start = html.startIndex
    for match in html.matches(of: /{{([a-z]+)}}/) {
      pieces.append((String(html[start..<match.range.lowerBound]), String(match.1)))
      start = match.range.upperBound
    }
    self.pieces = pieces
    end = String(html[start...])
  }

  /// The page of one load, with texts that HTML gives no meaning to in their places.
  func load(_ texts: [String: String] = [:]) -> Page {
    let nonce = PageTemplate.random(24)
    let texts = texts.merging(["nonce": nonce]) { $1 }
    return Page(nonce: nonce, html: pieces.map { $0.text + (texts[$0.place] ?? "") }.joined() + end)
  }

  /// Letters and digits that nobody can guess.
  static func random(_ count: Int) -> String {
    // Swift's own generator is the system's: getrandom(2) on Linux.
    String((0..<count).map { _ in alphabet[Int.random(in: alphabet.indices)] })
  }

  /// Without those that look alike.
  private static let alphabet = Array("abcdefghjkmnpqrstuvwxyz23456789")
}
