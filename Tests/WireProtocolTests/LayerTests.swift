import Foundation
import Testing

/// The layers of targets (Architecture.md, "Layers") stand in Package.swift, which the page and its
/// picture repeat.
@Suite struct LayerTests {
  private static let catalogue = PackageTarget.root.appending(path: "Sources/ThrongServer/Documentation.docc")

  @Test func aTargetImportsOnlyLowerOnes() throws {
    let targets = try PackageTarget.all()
    #expect(targets.count > 25)
    let layers = Dictionary(uniqueKeysWithValues: targets.map { ($0.name, $0.layer) })
    for target in targets {
      guard let layer = target.layer else { continue }
      for name in target.dependencies {
        // What stands beside the layers is for the executable.
        let isLower = (layers[name] ?? nil).map { $0 < layer } ?? (target.name == "throng")
        #expect(isLower, "\(target.name) imports \(name)")
      }
    }
  }

  @Test func thePictureShowsThem() throws {
    let picture = try String(contentsOf: Self.catalogue.appending(path: "Resources/layers.svg"), encoding: .utf8)
    var drawn: [String: Set<String>] = [:]
    for group in picture.matches(of: /<g data-layer="([^"]+)">((?:[^<]|<(?!\/g>))+)<\/g>/) {
      drawn[String(group.1)] = Set(group.2.matches(of: /class="target"[^>]*>([^<]+)</).map { String($0.1) })
    }
    #expect(drawn == (try PackageTarget.namesByLayer(beside: "beside")))
  }

  @Test func theTableOfThePageHasThem() throws {
    let page = try String(contentsOf: Self.catalogue.appending(path: "Architecture.md"), encoding: .utf8)
    let start = try #require(page.range(of: "\n| layer | target | contents |\n|---|---|---|\n")).upperBound
    var listed: [String: Set<String>] = [:]
    for row in page[start...].prefix(upTo: page[start...].range(of: "\n\n")?.lowerBound ?? page.endIndex).split(separator: "\n") {
      let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      try #require(cells.count == 3, "\(row)")
      if cells[1].hasSuffix(" in `Tests/Tools`") { continue }
      listed[cells[0], default: []].formUnion(cells[1].matches(of: /`([^`]+)`/).map { String($0.1) })
    }
    #expect(listed == (try PackageTarget.namesByLayer(beside: "–")))
  }
}

/// A target of Package.swift.
private struct PackageTarget {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  let name: String
  /// Nil = it stands beside the layers.
  let layer: Int?
  /// Other targets that it names.
  let dependencies: [String]

  /// All but tests and their tools. The comment before a target says its layer.
  static func all() throws -> [PackageTarget] {
    let text = try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
    let start = try #require(text.range(of: "\n  targets: [\n")).upperBound
    let targets = text[start...].prefix(upTo: try #require(text.range(of: "\n  cxxLanguageStandard")).lowerBound)
    var (found, layer): ([(name: String, layer: Int?, words: [String])], Int?) = ([], nil)
    // An entry begins at the fourth column; what it holds is further in.
    for entry in targets.split(separator: /\n(?= {4}[\/.])/).map({ $0.trimmingPrefix("\n") }) {
      if let heading = entry.firstMatch(of: /^ {4}\/\/ (?:Layer ([0-9])|(Beside))/) { layer = heading.1.flatMap { Int($0) } }
      guard let name = entry.firstMatch(of: /^ {4}\.(?:executableT|t)arget\(\s*name: "([^"]+)"/)?.1 else { continue }
      if entry.contains("path: \"Tests/") { continue }
      found.append((String(name), layer, entry.matches(of: /"([^"]+)"/).map { String($0.1) }))
    }
    let names = Set(found.map(\.name))
    return found.map { target in
      PackageTarget(
        name: target.name, layer: target.layer, dependencies: target.words.filter { $0 != target.name && names.contains($0) })
    }
  }

  /// - Parameter beside: the word for what stands beside the layers.
  static func namesByLayer(beside: String) throws -> [String: Set<String>] {
    try all().reduce(into: [:]) { names, target in
      names[target.layer.map(String.init) ?? beside, default: []].insert(target.name)
    }
  }
}
