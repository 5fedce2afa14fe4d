import Foundation
import Yams

/// Reads the keys that a configuration file sets, YAML or JSON, which is a part of YAML.
struct ConfigurationFile {
  let path: String
  private(set) var entries: [GivenEntry] = []
  private(set) var problems: [String] = []

  private var source: Source { .file(path) }

  /// Reads the file at `path`; its faults are among `problems`.
  init(path: String) {
    self.path = path
    do {
      guard let text = String(data: try FileContents.read(path), encoding: .utf8) else {
        problems.append("\(path): the configuration file is not UTF-8")
        return
      }
      if let root = try compose(yaml: text) { collect(root, at: "") }
      reportDuplicates()
    } catch let error as YamlError {
      problems.append("\(path): \(ConfigurationFile.summary(of: error))")
    } catch let error as FileContents.Failure {
      problems.append("\(path): the configuration file cannot be read: \(error.description)")
    } catch {
      problems.append("\(path): the configuration file cannot be read: \(error)")
    }
  }

  private mutating func collect(_ node: Node, at path: String) {
    switch node {
    case .mapping(let mapping):
      for (key, value) in mapping {
        guard case .scalar(let name) = key else {
          problems.append("\(label(path)): a name was expected before the colon (\(source))")
          continue
        }
        collect(value, at: path.isEmpty ? name.string : "\(path).\(name.string)")
      }
    case .scalar(let scalar):
      guard let kind = node.scalarKind else { return reportNull(at: path) }
      add(.scalar(scalar.string, kind), at: path)
    case .sequence(let sequence):
      let scalars = sequence.compactMap { element -> GivenValue.Scalar? in
        guard case .scalar(let scalar) = element, let kind = element.scalarKind else { return nil }
        return GivenValue.Scalar(text: scalar.string, kind: kind)
      }
      guard scalars.count == sequence.count else {
        problems.append("\(label(path)): a list may hold neither lists, nor mappings, nor null (\(source))")
        return
      }
      add(.list(scalars), at: path)
    case .alias:
      problems.append("\(label(path)): YAML aliases are not read (\(source))")
    }
  }

  /// A null is an unset key or section; only its name must be right.
  private mutating func reportNull(at path: String) {
    let isKnown = path.isEmpty || Keys.all.contains { $0.path == path || $0.path.hasPrefix(path + ".") }
    if !isKnown { problems.append(UnknownName.key(path, source: source)) }
  }

  private mutating func add(_ value: GivenValue, at path: String) {
    guard !path.isEmpty else {
      problems.append("\(self.path): the configuration file must hold keys and values")
      return
    }
    entries.append(GivenEntry(path: path, value: value, source: source))
  }

  /// YAML finds repeated names within a section; a key may also be set by its section and full
  /// path.
  private mutating func reportDuplicates() {
    let twice = Dictionary(grouping: entries, by: \.path).filter { $0.value.count > 1 }.keys.sorted()
    problems += twice.map { "\($0): set twice (\(source))" }
  }

  private func label(_ path: String) -> String { path.isEmpty ? self.path : path }

  /// Yams' own description quotes the line, which may hold a secret.
  private static func summary(of error: YamlError) -> String {
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _), .composer(_, let problem, let mark, _):
      "line \(mark.line), column \(mark.column): \(problem)"
    case .duplicatedKeysInMapping(let duplicates, let context):
      "\(duplicates.sorted().joined(separator: ", ")): set twice near line \(context.mark.line)"
    case .reader(let problem, _, _, _), .writer(let problem), .emitter(let problem), .representer(let problem): problem
    case .no, .memory, .dataCouldNotBeDecoded: "the file cannot be read as YAML"
    }
  }
}

extension Node {
  /// The kind of the scalar; nil for null.
  fileprivate var scalarKind: GivenValue.ScalarKind? {
    switch tag.rawValue {
    case Tag.Name.null.rawValue: nil
    case Tag.Name.int.rawValue: .integer
    case Tag.Name.float.rawValue: .fraction
    case Tag.Name.bool.rawValue: .boolean
    default: .string
    }
  }
}

/// Reads files and, unlike Foundation's `Data(contentsOf:)`, pipes (`--config /dev/stdin`).
enum FileContents {
  /// The system's message for a file that cannot be read.
  struct Failure: Error { let description: String }

  /// - Parameter limit: a longer file is a failure.
  static func read(_ path: String, atMost limit: Int = .max) throws(Failure) -> Data {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure() }
    defer { close(descriptor) }
    var contents = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Foundation.read(descriptor, &buffer, buffer.count)
      if count == 0 { return contents }
      guard count > 0 || errno == EINTR else { throw failure() }
      if count > 0 { contents += buffer[..<count] }
      guard contents.count <= limit else { throw Failure(description: "it has more than \(limit) bytes") }
    }
  }

  private static func failure(_ code: Int32 = errno) -> Failure { Failure(description: String(cString: strerror(code))) }
}
