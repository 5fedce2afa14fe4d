import Foundation
import Testing

/// Comments cite the documentation as `Protocol.md, "Heading"`: the page and the heading exist.
@Suite struct CitationTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let catalogue = root.appending(path: "Sources/ThrongServer/Documentation.docc")

  @Test func citedHeadingsExist() throws {
    let headings = try Self.headings()
    for file in try Self.files(below: ["Sources", "Tests", "Scripts"]) where file.lastPathComponent != "CitationTests.swift" {
      guard let text = try? String(contentsOf: file, encoding: .utf8), text.contains(".md,") else { continue }
      for citation in Self.citations(in: text) {
        let known = headings[citation.page] ?? []
        #expect(known.contains(citation.heading), "\(file.lastPathComponent): \(citation.page), \"\(citation.heading)\"")
      }
    }
  }

  /// Otherwise a citation, or a link to a heading, could mean either of two.
  @Test(arguments: [
    "Protocol.md", "Configuration.md", "Operations.md", "Architecture.md", "Benchmarks.md", "GettingStarted.md", "Clients.md",
    "SignIn.md", "Backend.md", "Limits.md", "Moderation.md", "PersonalData.md", "Sizing.md", "Troubleshooting.md",
  ])
  func headingsAreUniqueInTheirPage(page: String) throws {
    let headings = try #require(try Self.headings()[page])
    for (heading, places) in Dictionary(grouping: headings, by: { $0 }) { #expect(places.count == 1, "\(heading)") }
  }

  @Test func theReadmeLinksToFiles() throws {
    let text = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
    let links = text.matches(of: /\]\((Sources\/[^)#]+)/).map { String($0.1) }
    #expect(!links.isEmpty)
    for link in links { #expect(FileManager.default.fileExists(atPath: Self.root.appending(path: link).path()), "\(link)") }
  }

  @Test func citationsAreFoundAcrossLinesOfAComment() {
    let comment = """
      /// In this order (Protocol.md, "Order of errors" and "Rights"); see Operations.md,
      /// "Reverse
      /// proxy". Architecture.md says why.
      """
    let found = Self.citations(in: comment).map { "\($0.page)#\($0.heading)" }
    #expect(found == ["Protocol.md#Order of errors", "Protocol.md#Rights", "Operations.md#Reverse proxy"])
  }

  private struct Citation {
    let page: String
    let heading: String
  }

  /// A citation may go on in the next line of its comment.
  private static func citations(in text: String) -> [Citation] {
    let joined = text.replacing(/\n[ \t]*(?:\/\/\/?|#|\*)?[ \t]*/, with: " ")
    return joined.matches(of: /\b([A-Z][A-Za-z]*\.md), ("[^"]+"(?:(?:,| and) "[^"]+")*)/).flatMap { match in
      match.2.matches(of: /"([^"]+)"/).map { Citation(page: String(match.1), heading: String($0.1)) }
    }
  }

  /// The headings of every page below its title, by the page's file name.
  private static func headings() throws -> [String: [String]] {
    var headings: [String: [String]] = [:]
    for file in try files(below: ["Sources/ThrongServer/Documentation.docc"]) where file.pathExtension == "md" {
      var isCode = false
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        if line.hasPrefix("```") { isCode.toggle() }
        guard !isCode, line.hasPrefix("##") else { continue }
        headings[file.lastPathComponent, default: []].append(String(line.drop { $0 == "#" }.dropFirst()))
      }
    }
    return headings
  }

  private static func files(below folders: [String]) throws -> [URL] {
    try folders.flatMap { folder in
      let paths = FileManager.default.enumerator(
        at: root.appending(path: folder), includingPropertiesForKeys: [.isRegularFileKey])
      return try #require(paths).compactMap { $0 as? URL }
        .filter { try $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true }
    }
  }
}
