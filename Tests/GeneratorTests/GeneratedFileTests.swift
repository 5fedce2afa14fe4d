import Foundation
import Testing

@testable import generator

/// The generated files of the repository hold what Scripts/generate would write.
@Suite struct GeneratedFileTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test(arguments: GeneratedFile.all()) func theFileIsUpToDate(file: GeneratedFile) throws {
    let kept = try String(contentsOf: Self.root.appending(path: file.path), encoding: .utf8)
    #expect(kept == (try file.updated(kept)), "Scripts/generate rewrites \(file)")
  }

  @Test func nothingElseIsInTheFolderOfGeneratedSources() throws {
    let folder = "\(GeneratedFile.swiftClient)/"
    let kept = try FileManager.default.contentsOfDirectory(atPath: Self.root.appending(path: folder).path)
    let generated = GeneratedFile.all().map(\.path).filter { $0.hasPrefix(folder) }.map { String($0.dropFirst(folder.count)) }
    #expect(kept.sorted() == generated.sorted())
  }

  @Test func whatIsWrittenByHandStays() throws {
    func file(_ part: GeneratedFile.Part) -> GeneratedFile { GeneratedFile(path: "a", text: "new\n", part: part) }
    #expect(try file(.whole).updated("old\n") == "new\n")
    #expect(try file(.behind("// mark")).updated("hand\n// mark\nold\n") == "hand\n// mark\n\nnew\n")
    #expect(try file(.between("<", ">")).updated("hand\n<\n\nold\n\n>\nby hand\n") == "hand\n<\n\nnew\n\n>\nby hand\n")
  }

  @Test(arguments: [
    (GeneratedFile.Part.behind("// mark"), "old\n", "// mark"), (.behind("// mark"), "// mark", "// mark"),
    (.between("<", ">"), "old\n>\n", "<"), (.between("<", ">"), ">\n<\nold\n", ">"),
  ])
  func aFileWithoutItsMarksIsRefused(part: GeneratedFile.Part, kept: String, missing: String) {
    let file = GeneratedFile(path: "a", text: "new\n", part: part)
    #expect(throws: MissingMark(path: "a", mark: missing)) { try file.updated(kept) }
  }

  @Test func onlyWhatIsNotUpToDateIsWritten() throws {
    let root = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: root) }
    func text() throws -> String { try String(contentsOf: root.appending(path: "a"), encoding: .utf8) }
    let whole = GeneratedFile(path: "a", text: "<\n\n>\n", part: .whole)
    #expect(try whole.write(below: root) && text() == "<\n\n>\n")
    #expect(try !whole.write(below: root))
    let part = GeneratedFile(path: "a", text: "new\n", part: .between("<", ">"))
    #expect(try part.write(below: root) && text() == "<\n\nnew\n\n>\n")
    #expect(try !part.write(below: root))
    #expect(throws: MissingMark.self) { try GeneratedFile(path: "b", text: "", part: .behind("<")).write(below: root) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: root.path) == ["a"])
  }
}
