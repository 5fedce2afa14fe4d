import Foundation
import WireProtocol

/// A file of the repository that is written from the server's declarations, whole or in part.
struct GeneratedFile: Sendable, CustomStringConvertible {
  /// The part of the file that is generated. What stands around it is written by hand, and so are
  /// the lines that mark it.
  enum Part: Sendable {
    case whole
    /// Everything behind this line.
    case behind(String)
    /// Everything between these two lines.
    case between(String, String)
  }

  /// Below the root of the repository.
  let path: String
  /// Lines, each with its end.
  let text: String
  let part: Part

  var description: String { path }

  /// A line of sources that are generated, or of which all behind it is.
  static let mark = "// Generated from the server's declarations: Scripts/generate rewrites it."

  private static let pages = "Sources/ThrongServer/Documentation.docc"
  private static let webClient = "Sources/Clients/js"
  private static let pythonClient = "Sources/Clients/python/src/throng"
  /// All files of this folder are generated.
  static let swiftClient = "Sources/ThrongClient/Generated"

  /// Every generated file, with the text that belongs in it now.
  static func all() -> [GeneratedFile] {
    let methods = MethodTable()
    return [
      GeneratedFile(path: "\(pages)/Reference.md", text: methods.referencePage(), part: .whole),
      GeneratedFile(
        path: "\(pages)/Permissions.md", text: PermissionTables.markdown(),
        part: .between(
          "<!-- Generated from GroupPermissions; Scripts/generate rewrites it. -->", "<!-- End of the generated tables. -->")),
      GeneratedFile(
        path: "\(pages)/Configuration.md", text: ConfigurationTables.markdown(),
        part: .between(
          "<!-- Generated from ServerConfiguration; Scripts/generate rewrites it. -->", "<!-- End of the generated table. -->")),
      GeneratedFile(path: "\(webClient)/throng.d.ts", text: methods.typeScriptDeclarations(), part: .behind(mark)),
      GeneratedFile(path: "\(webClient)/throng.js", text: methods.javaScriptConstants(), part: .behind(mark)),
      GeneratedFile(path: "\(pythonClient)/_generated.py", text: methods.pythonClientSource(), part: .whole),
    ]
      + methods.swiftClientSources().map { source in
        GeneratedFile(path: "\(swiftClient)/\(source.file)", text: source.text, part: .whole)
      }
  }

  /// The whole file as it has to be, by what it holds. An empty line stands between a mark and the
  /// generated text.
  func updated(_ kept: String) throws(MissingMark) -> String {
    switch part {
    case .whole: return text
    case .behind(let mark):
      let start = try line(mark, in: kept[...]).upperBound
      return "\(kept[..<start])\n\(text)"
    case .between(let opening, let closing):
      let start = try line(opening, in: kept[...]).upperBound
      let end = try line(closing, in: kept[start...]).lowerBound
      return "\(kept[..<start])\n\(text)\n\(kept[end...])"
    }
  }

  private func line(_ mark: String, in kept: Substring) throws(MissingMark) -> Range<String.Index> {
    guard let found = kept.firstRange(of: "\(mark)\n") else { throw MissingMark(path: path, mark: mark) }
    return found
  }

  /// Writes the file if it is not up to date.
  /// - Parameter root: the root of the repository.
  /// - Returns: Whether it was not.
  func write(below root: URL) throws -> Bool {
    let file = root.appending(path: path)
    let isThere = FileManager.default.fileExists(atPath: file.path)
    let kept = isThere ? try String(contentsOf: file, encoding: .utf8) : ""
    let current = try updated(kept)
    if isThere, current == kept { return false }
    try current.write(to: file, atomically: true, encoding: .utf8)
    return true
  }
}

/// A file lacks a line that says where its generated part is.
struct MissingMark: Error, Equatable, CustomStringConvertible {
  let path: String
  let mark: String

  var description: String { "\(path) has no line '\(mark)' where its generated part begins or ends" }
}
