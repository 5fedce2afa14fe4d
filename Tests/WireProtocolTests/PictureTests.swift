import Foundation
import Testing
import WireProtocol

/// The pictures of Sources/ThrongServer/Documentation.docc/Resources: each is shown and has a text
/// alternative, and what they name is there.
@Suite struct PictureTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let catalogue = root.appending(path: "Sources/ThrongServer/Documentation.docc")

  /// What a person sees, in PNG.
  private static let screenshots: Set = ["console", "demo"]

  @Test func pagesShowEveryPictureAndSayWhatItShows() throws {
    let shown = try Self.pages().flatMap { page in
      page.matches(of: /!\[([^\]]*)\]\(([^)]+)\)/).map { (text: String($0.1), name: String($0.2)) }
    }
    for (text, name) in shown { #expect(text.count > 40, "\(name)") }
    #expect(Set(shown.map(\.name)) == Set(try Self.pictureNames()).union(Self.screenshots))
  }

  @Test func everyPictureHasATextAlternativeAndColoursForBothSchemes() throws {
    for name in try Self.pictureNames() {
      let picture = try Self.picture(name)
      #expect(picture.contains(/role="img"\s+aria-labelledby="title desc"/), "\(name)")
      #expect(picture.contains(/<title id="title">[^<]+<\/title>\s*<desc id="desc">[^<]+<\/desc>/), "\(name)")
      #expect(picture.contains("font-family=\"system-ui, sans-serif\""), "\(name)")
      #expect(picture.contains("@media (prefers-color-scheme: dark)"), "\(name)")
    }
  }

  /// throng.d.ts names them for all clients, which are tested to be alike.
  @Test(arguments: [("message-states", "MessageState = ", ["recalled"]), ("connection-states", "readonly state: ", [])])
  func theStatesAreThoseOfTheClients(picture: String, declaration: String, ofTheGroup: [String]) throws {
    let file = Self.root.appending(path: "Sources/Clients/js/throng.d.ts")
    let types = try String(contentsOf: file, encoding: .utf8)
    func words(after declaration: String) throws -> [String] {
      let start = try #require(types.range(of: declaration)).lowerBound
      return types[start...].prefix { $0 != ";" }.matches(of: /[=:|] "([a-z]+)"/).map { String($0.1) }
    }
    var states = try words(after: declaration)
    if picture == "connection-states" { states += try words(after: "or what no new connection could mend. */\n  state: ") }
    let drawn = try Self.picture(picture).matches(of: /class="state"[^>]*>([^<]+)</).map { String($0.1) }
    #expect(drawn.sorted() == (states + ofTheGroup).sorted())
  }

  @Test func theEventsInPicturesExist() throws {
    let known = Set(EventName.allCases.map(\.rawValue))
    for name in try Self.pictureNames() {
      let named = Set(try Self.picture(name).matches(of: /\bon[A-Z][A-Za-z]+/).map { String($0.0) })
      #expect(named.subtracting(known) == [], "\(name)")
    }
  }

  private static func pictureNames() throws -> [String] {
    let files = try FileManager.default.contentsOfDirectory(
      at: catalogue.appending(path: "Resources"), includingPropertiesForKeys: nil)
    return files.filter { $0.pathExtension == "svg" }.map { $0.deletingPathExtension().lastPathComponent }.sorted()
  }

  private static func picture(_ name: String) throws -> String {
    try String(contentsOf: catalogue.appending(path: "Resources/\(name).svg"), encoding: .utf8)
  }

  private static func pages() throws -> [String] {
    let files = try #require(FileManager.default.enumerator(at: catalogue, includingPropertiesForKeys: nil))
    return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "md" }
      .map { try String(contentsOf: $0, encoding: .utf8) }
  }
}
