import Foundation
import GroupModel
import Testing
import WireProtocol

/// The pages for developers who come from another system:
/// Sources/ThrongServer/Documentation.docc/MovingIn.
@Suite struct MovingInPageTests {
  private static let names = ["FromTencentV1", "FromTencentV2", "FromZIM", "FromNIM"]

  @Test(arguments: names)
  func theSectionsStandInTheirOrder(name: String) throws {
    let page = try MovingInPage(name)
    let titles = ["Settings", "Methods", "Callbacks", "Enumerations and fields", "Errors", "Limits"]
    #expect(page.sections.map(\.title) == titles)
    for section in page.sections { #expect(!section.rows.isEmpty, "\(section.title)") }
  }

  @Test(arguments: names)
  func everyRowIsWhole(name: String) throws {
    let page = try MovingInPage(name)
    #expect(page.strayLines.isEmpty, "outside of a section, or a head of its own kind")
    for row in page.rows {
      #expect(row.cells.count == 3, "\(row.line)")
      #expect(!row.theirs.isEmpty, "\(row.line)")
      if row.hasCounterpart {
        #expect(!codeWords(in: row.ours).isEmpty, "\(row.line)")
        #expect(row.ours.replacing(/`[^`]*`/, with: "").allSatisfy { $0 == "," || $0 == " " }, "only code words: \(row.line)")
      } else {
        #expect(!row.note.isEmpty, "without a reason: \(row.line)")
      }
    }
  }

  /// A missing counterpart has a reason, a plan, or a way to do it with what there is.
  @Test(arguments: names)
  func everyMissingCounterpartIsAccountedFor(name: String) throws {
    let openings = ["By design: ", "Instead: ", "Planned: ", "Does not arise here", "The client library's own"]
    for row in try MovingInPage(name).rows {
      #expect(row.hasCounterpart || openings.contains { row.note.hasPrefix($0) }, "\(row.line)")
      #expect(!row.note.localizedCaseInsensitiveContains("not offered"), "\(row.line)")
    }
  }

  @Test(arguments: names)
  func nothingStandsTwiceInASection(name: String) throws {
    for section in try MovingInPage(name).sections {
      for (theirs, rows) in Dictionary(grouping: section.rows, by: \.theirs) { #expect(rows.count == 1, "\(theirs)") }
    }
  }

  @Test(arguments: names)
  func namesOfThePageExist(name: String) throws {
    let page = try MovingInPage(name)
    let vocabulary = try ProtocolVocabulary()
    for text in page.prose + page.rows.flatMap({ [$0.ours, $0.note] }) {
      #expect(text.count { $0 == "`" } % 2 == 0, "\(text)")
      let unknown = codeWords(in: text).filter { !vocabulary.knows($0) }
      #expect(unknown.isEmpty, "\(text)")
    }
  }

  @Test(arguments: names)
  func theCountIsRight(name: String) throws {
    let page = try MovingInPage(name)
    let without = page.rows.count { !$0.hasCounterpart }
    #expect(page.prose.last == "\(page.rows.count) rows, \(without) without a counterpart")
  }

  @Test(arguments: names)
  func everyKindIsNamed(name: String) throws {
    let page = try MovingInPage(name)
    let kinds = Set(page.rows.flatMap { codeWords(in: $0.ours) }.compactMap { CodeWord($0)?.kind })
    #expect(kinds.isSuperset(of: [.method, .event, .code, .field, .value]))
    let opening = Set(page.prose.flatMap(codeWords))
    #expect(opening.isSuperset(of: ["importUsers", "importGroup", "importGroupMembers", "importGroupMessages"]))
  }

  /// Methods without a counterpart in another system's client library: they are about the server
  /// itself, or none of the others has them.
  private static let withoutCounterpart: Set = ["ping", "getServerInfo", "rpc.discover"]

  @Test func everyMethodAndEventIsNamedOnSomePage() throws {
    let pages = try MovingInPageTests.names.map { try MovingInPage($0) }
    let named = Set(pages.flatMap(\.rows).flatMap { codeWords(in: $0.ours) + codeWords(in: $0.note) })
    let ofClients = MethodTable().entries.filter { entry in
      switch entry.specification.callers {
      case .connection, .application: false
      case .user, .anyone: true
      }
    }
    #expect(Set(ofClients.map(\.name)).subtracting(named) == MovingInPageTests.withoutCounterpart)
    for event in EventName.allCases { #expect(named.contains(event.rawValue), "\(event)") }
  }

  @Test func wordsOfNoKindAndUnknownOnesAreFound() throws {
    let vocabulary = try ProtocolVocabulary()
    let real =
      #"joinGroup offlinePush rpc.discover onMemberEnter 10007 -32601 4502 .joinMode GroupInfo.owner "Auth" limits.revokeWindow"#
    #expect(real.split(separator: " ").filter { !vocabulary.knows(String($0)) } == [])
    let unreal = #"JoinGroup joinGroups onMember 10008 007 .joinMod GroupInfo.x "auth" limits.x Auth - 10007,"#
    #expect((unreal.split(separator: " ") + ["", "a b"]).filter { vocabulary.knows(String($0)) } == [])
  }
}

/// The words between backticks.
private func codeWords(in text: String) -> [String] { text.matches(of: /`([^`]*)`/).map { String($0.1) } }

/// A page, taken apart.
private struct MovingInPage {
  struct Row {
    let line: String
    let cells: [String]

    var theirs: String { cells.first ?? "" }
    var ours: String { cells.dropFirst().first ?? "" }
    var note: String { cells.dropFirst(2).first ?? "" }
    var hasCounterpart: Bool { ours != "—" }

    init(_ line: String) {
      self.line = line
      let inner = line.drop { $0 == "|" }.dropLast { $0 == "|" }
      cells = inner.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  struct Section {
    let title: String
    var rows: [Row] = []
  }

  private(set) var sections: [Section] = []
  /// Everything that is no table, the heading lines included.
  private(set) var prose: [String] = []
  /// Lines of tables that stand in no section, or before a head.
  private(set) var strayLines: [String] = []

  var rows: [Row] { sections.flatMap(\.rows) }

  init(_ name: String) throws {
    let file = sources.appending(path: "ThrongServer/Documentation.docc/MovingIn/\(name).md")
    var isInTable = false
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false) {
      let wasInTable = isInTable
      isInTable = line.hasPrefix("|")
      if line.hasPrefix("## ") { sections.append(Section(title: String(line.dropFirst(3)))) }
      switch line {
      case "| theirs | ours | note |" where !wasInTable, "|---|---|---|" where wasInTable: break
      case _ where !isInTable: if !line.isEmpty { prose.append(String(line)) }
      case _ where wasInTable && !sections.isEmpty: sections[sections.count - 1].rows.append(Row(String(line)))
      default: strayLines.append(String(line))
      }
    }
  }
}

private let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent().appending(path: "Sources")

extension Substring {
  fileprivate func dropLast(while matches: (Character) -> Bool) -> Substring {
    var rest = self
    while let last = rest.last, matches(last) { rest.removeLast() }
    return rest
  }
}

/// The kind of a word between backticks, by its form.
private enum CodeWord {
  enum Kind { case method, event, code, field, value, key }

  /// A method, or the type of a webhook.
  case method(String)
  case event(String)
  case code(Int)
  /// A parameter, or a member of a result or event: `.joinMode`; with its type
  /// `GroupInfo.joinMode`.
  case field(String, of: String?)
  case value(String)
  /// A key of the configuration: `limits.revokeWindow`.
  case key(String)

  init?(_ text: String) {
    if text.wholeMatch(of: /on[A-Z][A-Za-z]*/) != nil {
      self = .event(text)
    } else if text.wholeMatch(of: /[a-z][A-Za-z]*/) != nil || text == "rpc.discover" {
      self = .method(text)
    } else if let match = text.wholeMatch(of: /-?[1-9][0-9]{3,4}/), let code = Int(match.0) {
      self = .code(code)
    } else if let match = text.wholeMatch(of: /([A-Z][A-Za-z]*)?\.([a-z][A-Za-z]*)/) {
      self = .field(String(match.2), of: match.1.map(String.init))
    } else if let match = text.wholeMatch(of: /"([^"]+)"/) {
      self = .value(String(match.1))
    } else if text.wholeMatch(of: /[a-z][A-Za-z]*(\.[a-z][A-Za-z]*)+/) != nil {
      self = .key(text)
    } else {
      return nil
    }
  }

  var kind: Kind {
    switch self {
    case .method: .method
    case .event: .event
    case .code: .code
    case .field: .field
    case .value: .value
    case .key: .key
    }
  }
}

/// The names of the protocol.
private struct ProtocolVocabulary {
  private let methods = Set(MethodTable().entries.map(\.name))
  private let webhooks: Set<String>
  private let events = Set(EventName.allCases.map(\.rawValue))
  private let codes = Set(ErrorCode.allCases.map(\.rawValue) + CloseCode.allCases.map(\.rawValue))
  private var fields: Set<String> = []
  private var fieldsOfTypes: [String: Set<String>] = [:]
  private var values = ProtocolVocabulary.unlistedValues
  private let configuration: String

  /// Values of the protocol that no schema lists: the types of changeInfoList, roles, a reason,
  /// everybody, and the enumerations of `GroupModel`.
  private static let unlistedValues: Set<String> = Set(
    [
      "GroupName", "Introduction", "Notification", "FaceURL", "Owner", "CustomInfo", "AllMuted", "Mute", "MaxMemberNum",
      "ServerCustomInfo", "Admin", "Member", "OtherDevice", "@all",
    ] + Platform.allCases.map(\.rawValue) + ReceiveOption.allCases.map(\.rawValue)
      + PolicyField.allCases.flatMap(\.words) + SystemNotification.Kind.allCases.map(\.rawValue))

  init() throws {
    webhooks = Set(WebhookType.allCases.map(\.rawValue))
    // This target stands below ServerConfiguration, so its names are looked up in the text.
    let folder = sources.appending(path: "ServerConfiguration/Keys")
    configuration = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "swift" }.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    let document = try JSONSerialization.jsonObject(with: Data(MethodTable().openRPC(version: "0")))
    collect(document)
    let components = try #require((document as? [String: Any])?["components"] as? [String: Any])
    for (type, schema) in try #require(components["schemas"] as? [String: [String: Any]]) {
      fieldsOfTypes[type] = Set(try #require(schema["properties"] as? [String: Any], "\(type)").keys)
    }
  }

  /// Takes the names of parameters and members, and the listed values, from wherever the document
  /// has schemas.
  private mutating func collect(_ part: Any) {
    if let object = part as? [String: Any] {
      if let name = object["name"] as? String, object["schema"] != nil { fields.insert(name) }
      if let properties = object["properties"] as? [String: Any] { fields.formUnion(properties.keys) }
      values.formUnion(object["enum"] as? [String] ?? [])
      if let value = object["const"] as? String { values.insert(value) }
      object.values.forEach { collect($0) }
    } else if let array = part as? [Any] {
      array.forEach { collect($0) }
    }
  }

  /// Whether there is what the word names; a word of no kind names nothing.
  func knows(_ word: String) -> Bool {
    switch CodeWord(word) {
    case .method(let name): methods.contains(name) || webhooks.contains(name)
    case .event(let name): events.contains(name)
    case .code(let code): codes.contains(code)
    case .field(let name, of: let type?): fieldsOfTypes[type]?.contains(name) ?? false
    case .field(let name, of: nil): fields.contains(name)
    case .value(let value): values.contains(value)
    case .key(let key):
      // The keys of group types are written once for all types.
      [key, key.replacing(/\.(work|public|meeting|avChatRoom|bChatRoom)(?=\.|$)/, with: #".\(groupType)"#)].contains {
        configuration.contains("\"\($0)\"")
      }
    case nil: false
    }
  }
}
