import Foundation
import Testing

/// The tables of Architecture.md, "The way of a request": what they name is in the files that they name,
/// and each function is called by one before it.
@Suite struct ArchitecturePageTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Functions that none before them calls, with the file that hands them on: a callback of the library, the
  /// end of a loop's turn, the completions of a commit and of a request.
  private static let calledFrom = [
    "protocol_callback": "CTransport/context.c", "turn": "CTransport/loop.c",
    "Group.didAnswer": "GroupRuntime/Actor/Group+Committing.swift",
    "Session.didReply": "Gateway/Sessions/Session+Scheduling.swift",
  ]

  private let stages: [Stage]

  init() throws { stages = try Self.readStages() }

  @Test func namedFunctionsAndTypesStandInTheNamedFiles() {
    for stage in stages {
      for step in stage.steps {
        if step.isType {
          #expect(stage.sources.contains { $0.declares(step.name) }, "\(step.text) in \(stage.paths)")
        } else {
          #expect(!stage.functions(of: step).isEmpty, "\(step.text) in \(stage.paths)")
        }
      }
    }
  }

  @Test func everyNamedFileHoldsSomethingThatIsNamed() {
    for stage in stages {
      for path in stage.paths {
        let sources = stage.sources.filter { $0.path == path || $0.path.hasPrefix("\(path)/") }
        let isUsed = stage.steps.contains { step in
          sources.contains { step.isType ? $0.declares(step.name) : !$0.functions(of: step).isEmpty }
        }
        // The rules of each subject: too many to name.
        #expect(isUsed || path == "GroupRuntime/State/Rules", "\(path) of \(stage.steps.map(\.text))")
      }
    }
  }

  @Test func eachFunctionIsCalledByOneBeforeIt() throws {
    let named = named
    var missing = Set(Self.calledFrom.keys)
    var before: Set<String> = []
    for stage in stages {
      var words: Set<String> = []
      for step in stage.steps where !step.isType {
        if let file = Self.calledFrom[step.text] {
          missing.remove(step.text)
          let callers = try Source(file).functions.filter { $0.name != step.name && $0.words.contains(step.name) }
          #expect(!callers.isEmpty, "\(step.text) in \(file)")
        } else {
          #expect(before.contains(step.name) || words.contains(step.name), "\(step.text)")
        }
        words.formUnion(stage.words(behind: step, notThrough: named))
      }
      before = words
    }
    #expect(missing == [])
  }

  @Test func thePictureShowsFunctionsOfTheTables() throws {
    let file = Self.root.appending(path: "Sources/ThrongServer/Documentation.docc/Resources/message-way.svg")
    let picture = try String(contentsOf: file, encoding: .utf8)
    let matches = picture.matches(of: /data-file="([^"]+)">([^<]+)<\/text>\s*<text class="small"[^>]*>([^<]+)</)
    #expect(matches.count > 15)
    for match in matches {
      let (path, step) = (String(match.1), Step(text: String(match.2)))
      #expect(path.hasSuffix("/\(match.3)"), "\(step.text): \(match.3)")
      let isNamed = stages.contains { stage in
        stage.steps.contains { $0.name == step.name } && stage.sources.contains { $0.path == path }
      }
      #expect(isNamed, "\(path): \(step.text)")
    }
  }

  /// The functions of each file that the tables name.
  private var named: [String: Set<String>] {
    stages.reduce(into: [:]) { named, stage in
      for source in stage.sources {
        named[source.path, default: []].formUnion(stage.steps.flatMap { source.functions(of: $0) }.map(\.name))
      }
    }
  }

  private static func readStages() throws -> [Stage] {
    let page = root.appending(path: "Sources/ThrongServer/Documentation.docc/Architecture.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let start = try #require(text.range(of: "### The way of a request\n")).upperBound
    let chapter = text[start...].prefix(upTo: try #require(text.range(of: "### Three rules\n")).lowerBound)
    return try chapter.split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| stage ") }.map { line in
      let cells = line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
      try #require(cells.count == 3, "\(line)")
      return try Stage(steps: quoted(cells[1]).map { Step(text: $0) }, files: quoted(cells[2]))
    }
  }

  private static func quoted(_ cell: Substring) -> [String] { cell.matches(of: /`([^`]+)`/).map { String($0.1) } }

  /// A row: functions and types, and where they are.
  private struct Stage {
    let steps: [Step]
    let paths: [String]
    let sources: [Source]

    /// - Parameter files: below `Sources`; one without a folder is beside the one before it.
    init(steps: [Step], files: [String]) throws {
      self.steps = steps
      var folder = ""
      paths = files.map { file in
        let path = file.contains("/") ? file : "\(folder)/\(file)"
        folder = path.split(separator: "/").dropLast().joined(separator: "/")
        return path
      }
      sources = try paths.flatMap(Source.below)
    }

    func functions(of step: Step) -> [Function] { sources.flatMap { $0.functions(of: step) } }

    /// The words in the body of a function, and in the bodies of those in its file that it leads to.
    /// - Parameter named: functions of each file that are not looked into.
    func words(behind step: Step, notThrough named: [String: Set<String>]) -> Set<String> {
      sources.reduce(into: []) { words, source in
        var (visited, waiting): (Set<String>, [String]) = ([], [])
        for function in source.functions(of: step) { waiting += function.words }
        while let word = waiting.popLast() {
          guard visited.insert(word).inserted, named[source.path]?.contains(word) != true else { continue }
          for function in source.functions where function.name == word { waiting += function.words }
        }
        words.formUnion(visited)
      }
    }
  }

  /// What a row names: `Type.function`, `function` or `Type`.
  private struct Step {
    let text: String
    let type: String?
    let name: String

    init(text: String) {
      self.text = text
      let parts = text.split(separator: ".").map(String.init)
      type = parts.count > 1 ? parts[0] : nil
      name = parts.last ?? ""
    }

    var isType: Bool { name.first?.isUppercase == true }
  }

  private struct Function {
    let name: String
    /// The words of its body; none for a requirement of a protocol.
    let words: Set<String>
  }

  /// A file without its comments.
  private struct Source {
    let path: String
    let functions: [Function]
    /// The types that it declares or extends.
    private let types: Set<String>
    private let declared: Set<String>

    /// - Parameter path: below `Sources`.
    init(_ path: String) throws {
      let file = ArchitecturePageTests.root.appending(path: "Sources/\(path)")
      let text = try String(contentsOf: file, encoding: .utf8).replacing(/[ \t]*\/\/[^\n]*/, with: "")
      self.path = path
      let types = text.matches(of: /\b(actor|class|struct|enum|protocol|typealias|extension) ([A-Za-z]+)/)
      self.types = Set(types.map { String($0.2) })
      declared = Set(types.filter { $0.1 != "extension" }.map { String($0.2) })
      functions = Source.functions(in: text, isC: path.hasSuffix(".c"))
    }

    func declares(_ type: String) -> Bool { declared.contains(type) }

    func functions(of step: Step) -> [Function] {
      if let type = step.type, !types.contains(type) { return [] }
      return functions.filter { $0.name == step.name }
    }

    /// The file, or all of a folder.
    static func below(_ path: String) throws -> [Source] {
      if path.contains(".") { return [try Source(path)] }
      let folder = ArchitecturePageTests.root.appending(path: "Sources/\(path)")
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
      return try names.filter { $0.contains(".") }.sorted().map { try Source("\(path)/\($0)") }
    }

    /// A body ends at the first line that is as far in as its first, and nothing but a brace.
    private static func functions(in text: String, isC: Bool) -> [Function] {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      return lines.indices.compactMap { start in
        guard let name = isC ? cFunction(lines[start]) : lines[start].firstMatch(of: /\bfunc ([A-Za-z]+)/)?.1 else { return nil }
        let margin = String(lines[start].prefix { $0 == " " })
        var opening = start
        while !lines[opening].contains("{"), opening + 1 < lines.count,
          lines[opening + 1].hasPrefix("\(margin) ") || lines[opening + 1].hasPrefix("\(margin))")
        {
          opening += 1
        }
        guard let brace = lines[opening].firstIndex(of: "{") else { return Function(name: String(name), words: []) }
        var body = String(lines[opening][brace...])
        if !body.hasSuffix("}") { body += lines[(opening + 1)...].prefix { $0 != "\(margin)}" }.joined(separator: "\n") }
        return Function(name: String(name), words: words(in: body))
      }
    }

    /// A definition begins its line with a type.
    private static func cFunction(_ line: Substring) -> Substring? {
      line.hasSuffix(";") ? nil : line.firstMatch(of: /^[a-z][a-z_0-9 ]*[ *]([a-z_0-9]+)\(/)?.1
    }

    private static func words(in text: String) -> Set<String> {
      Set(text.matches(of: /[A-Za-z_][A-Za-z_0-9]*/).map { String($0.0) })
    }
  }
}
