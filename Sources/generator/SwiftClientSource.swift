import WireProtocol

extension MethodTable {
  /// The sources of ThrongClient: the names of the files, and their texts.
  func swiftClientSources() -> [(file: String, text: String)] {
    [
      ("Types.swift", swiftTypes()), ("Words.swift", swiftWords()), ("Methods.swift", swiftMethods()),
      ("MethodCalls.swift", swiftCalls()), ("ServerEvent.swift", swiftEvents()), ("Codes.swift", swiftCodes()),
    ]
  }

  /// Methods that the client calls itself, with what belongs to them: `connect`, `logout`,
  /// `sendText`.
  private static let ownCalls: Set<String> = ["login", "logout", "sendGroupTextMessage", "sendGroupCustomMessage"]

  private var clientEntries: [Entry] { entries.filter { $0.specification.callers != .application } }

  private func swiftTypes() -> String {
    var source = SwiftSource()
    for type in NamedType.all where !NamedType.ofAdministrators.contains(type.name) {
      source.structure(SwiftType.names[type.name] ?? type.name, type.summary, type.fields.map(ClientField.init))
    }
    return source.text
  }

  private func swiftWords() -> String {
    var source = SwiftSource()
    for type in SwiftWords.all { source.words(type) }
    return source.text
  }

  private func swiftMethods() -> String {
    var source = SwiftSource()
    source.block("/// The methods of the server, each with its parameters and its result.\npublic enum Methods {}")
    for entry in clientEntries { source.method(entry) }
    return source.text
  }

  private func swiftCalls() -> String {
    var source = SwiftSource()
    let called = clientEntries.filter { !MethodTable.ownCalls.contains($0.name) }
    source.open("/// The methods of the server; each throws a ThrongError or a ClientError.\nextension ThrongClient")
    for entry in called { source.call(entry) }
    source.close()
    return source.text
  }

  private func swiftEvents() -> String {
    var source = SwiftSource()
    source.event(EventName.allCases)
    return source.text
  }

  private func swiftCodes() -> String {
    var source = SwiftSource()
    source.codes("ErrorCode", "The codes of errors; a later server may have more.", ErrorCode.constants)
    source.codes("CloseCode", "The codes with which the server closes a connection.", CloseCode.constants)
    return source.text
  }
}

/// Types in Swift.
private enum SwiftType {
  /// Names that an app would rather keep for its own types.
  static let names = [
    "Application": "GroupApplication", "Message": "GroupMessage", "Tips": "GroupTips", "Session": "SessionInfo",
  ]

  /// The type of a field without its question mark.
  static func name(of field: ClientField) -> String { name(of: field.type, in: field) }

  private static func name(of type: TypeNotation, in field: ClientField) -> String {
    switch type {
    case .name("integer"): "Int"
    case .name("string"): "String"
    case .name("boolean"): "Bool"
    case .name("map"): "[String: String]"
    case .name("mapChanges"): "[String: String?]"
    case .name("counterChanges"): "[String: Int?]"
    case .name("object"): field.name == "counters" ? "[String: Int?]" : "[String: JSONValue]"
    case .name(let name): NamedType.named(name) == nil ? "JSONValue" : names[name] ?? name
    case .literal: "String"
    case .array(let element): "[\(self.name(of: element, in: field))]"
    case .object: field.rowName
    case .any(let types): SwiftWords.name(of: types) ?? (types.contains(.name("string")) ? "String" : "JSONValue")
    }
  }

  /// The members of the object that a field is, or has as elements.
  static func members(of type: TypeNotation) -> [ClientField]? {
    switch type {
    case .array(let element): members(of: element)
    case .object(let members): members.map(ClientField.init)
    case .name, .literal, .any: nil
    }
  }

  private static let keywords: Set<String> = [
    "as", "break", "case", "class", "continue", "default", "defer", "do", "else", "enum", "extension", "false", "for", "func",
    "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "private", "protocol", "public",
    "repeat", "return", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "var",
    "where", "while",
  ]

  /// A name as an identifier, in backticks where it is a keyword.
  static func identifier(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

  /// A word in the case of Swift's constants: JoinMode's Any is `any`, iOS stays.
  static func constant(_ word: String) -> String {
    // `.none` would be that of an Optional.
    if word == "None" { return "off" }
    let capitals = word.prefix { $0.isUppercase }.count
    let lowered = capitals == word.count ? capitals : max(1, capitals - 1)
    return word.prefix(lowered).lowercased() + word.dropFirst(lowered)
  }
}

/// The names of sets of words. One without a name is an error of `SwiftClientSourceTests`.
private struct SwiftWords {
  let name: String
  let summary: String
  let words: [String]

  init(_ name: String, _ summary: String, _ words: String) {
    self.name = name
    self.summary = summary
    self.words = words.split(separator: " ").map(String.init)
  }

  static let all = [
    SwiftWords("GroupType", "The type of a group.", "Work Public Meeting AVChatRoom BChatRoom"),
    SwiftWords("JoinMode", "The effect of joinGroup.", "Any Auth Forbid"),
    SwiftWords("InviteMode", "Those who may invite.", "Any Admin Nobody"),
    SwiftWords("BeInviteMode", "Whether an invited user is asked.", "None Auth"),
    SwiftWords("UpdateMode", "Those who may edit.", "Any Admin Owner"),
    SwiftWords("OwnerQuitMode", "The fate of a group whose owner quits.", "Transfer Forbid"),
    SwiftWords("MuteMode", "The members that a group's mute silences.", "None Ordinary All Custom"),
    SwiftWords(
      "ReceiveOption", "The messages of a group that a member receives.",
      "Receive NotReceive ReceiveNotNotify ReceiveFromManagers NotifyFromManagers"),
    SwiftWords("HistoryVisibility", "The messages that members may read.", "Joined All"),
    SwiftWords("AttributeMode", "Who may change an attribute that somebody holds.", "Any Holder"),
    SwiftWords("ApplicationKind", "The kind of an application.", "Join Invite"),
    SwiftWords("HandleStatus", "By whom an application was decided.", "Unhandled HandledByOther HandledBySelf"),
    SwiftWords("HandleResult", "How an application was decided.", "Agree Refuse"),
    SwiftWords("ApplicationBox", "One of the two lists of applications.", "Received Sent"),
    SwiftWords("MessageKind", "The kind of a message.", "Text Custom GroupTips"),
    SwiftWords("MessagePriority", "Which messages a busy group keeps and sends first.", "High Normal Low Lowest"),
    SwiftWords("SendStatus", "The outcome of a send.", "Stored Delivered Queued Dropped"),
    SwiftWords(
      "TipsKind", "The kind of a change in a group.",
      "Join Invite Quit Kicked SetAdmin CancelAdmin GroupInfoChange MemberInfoChange Create"),
    SwiftWords(
      "NotificationKind", "The kind of a system notification.",
      "AddGroupRequest AddGroupAccept AddGroupRefuse KickedOff GroupDismissed GroupCreated InvitedToGroup QuitGroup GrantAdmin "
        + "CancelAdmin GroupRecycled InviteRequest InviteAccept InviteRefuse Custom"),
    SwiftWords("Platform", "The platform of a session.", "iOS Android Windows Mac Web Unknown"),
    SwiftWords("MemberOutcome", "The outcome for one user of a list.", "Fail Success Invalid Pending OverLimit"),
    SwiftWords("JoinStatus", "Whether joinGroup has joined.", "Joined Pending"),
    SwiftWords("MemberFilter", "The members that are listed.", "All Owner Admin Common"),
    SwiftWords("ReadFilter", "Whether readers are listed, or the others.", "Read Unread"),
    SwiftWords("HistoryDirection", "The direction of a page of history.", "Older Newer"),
    SwiftWords("SearchField", "Where searchGroups looks.", "groupID groupName memberUserID memberNameCard memberNickName"),
  ]

  /// The name of a set of literals; nil where the types are others.
  static func name(of types: [TypeNotation]) -> String? {
    let words = types.compactMap { type in
      if case .literal(let word) = type { word } else { nil }
    }
    guard words.count == types.count else { return nil }
    return all.first { $0.words == words }?.name ?? "Unnamed_\(words.joined(separator: "_"))"
  }
}

/// Declarations in Swift with an empty line between them.
private struct SwiftSource {
  private(set) var text = """
    // swift-format-ignore-file
    \(GeneratedFile.mark)

    """
  private var margin = ""
  /// The next declaration is the first of its block.
  private var isFirst = false
  /// The last column of a comment.
  private static let lastColumn = 100

  mutating func block(_ lines: String) {
    if !isFirst { text += "\n" }
    isFirst = false
    for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
      text += line.isEmpty ? "\n" : "\(margin)\(line)\n"
    }
  }

  /// Begins a declaration that others follow in, until `close`.
  mutating func open(_ head: String) {
    block(head + " {")
    margin += "  "
    isFirst = true
  }

  mutating func close() {
    margin.removeLast(2)
    isFirst = true
    block("}")
    isFirst = false
  }

  /// A comment for the documentation, its lines broken between words.
  private func comment(_ sentence: String, deeper: Int = 0) -> String {
    let columns = SwiftSource.lastColumn - margin.count - deeper - 4
    var lines: [String] = []
    for word in sentence.split(separator: " ") {
      if let line = lines.last, line.count + 1 + word.count <= columns {
        lines[lines.count - 1] = "\(line) \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines.map { "/// \($0)" }.joined(separator: "\n")
  }

  mutating func structure(_ name: String, _ summary: String, _ fields: [ClientField]) {
    open("\(comment(summary))\npublic struct \(name): Codable, Hashable, Sendable")
    members(fields)
    initializer(fields)
    close()
  }

  /// The members of a structure, with the structures of their rows behind them.
  private mutating func members(_ fields: [ClientField]) {
    let lines = fields.map { field in
      let comment = field.meaning.map { self.comment($0) + "\n" } ?? ""
      return
        "\(comment)public var \(SwiftType.identifier(field.name)): \(SwiftType.name(of: field))\(field.isOptional ? "?" : "")"
    }
    if !lines.isEmpty { block(lines.joined(separator: "\n")) }
    for field in fields {
      guard let rows = SwiftType.members(of: field.type) else { continue }
      structure(field.rowName, "A row of \(field.name).", rows)
    }
  }

  mutating func words(_ type: SwiftWords) {
    let constants = type.words.map {
      "public static let \(SwiftType.identifier(SwiftType.constant($0))) = Self(rawValue: \"\($0)\")"
    }
    block(
      """
      \(comment(type.summary + " A later server may have more."))
      public struct \(type.name): OpenEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        \(constants.joined(separator: "\n  "))
      }
      """)
  }

  mutating func codes(_ name: String, _ summary: String, _ rows: [(String, Int)]) {
    let constants = rows.map { "public static let \($0) = Self(rawValue: \($1))" }
    block(
      """
      \(comment(summary))
      public struct \(name): RawRepresentable, Codable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        \(constants.joined(separator: "\n  "))
      }
      """)
  }

  mutating func method(_ entry: MethodTable.Entry) {
    open("extension Methods")
    let fields = entry.parameters.map(ClientField.init)
    open("\(comment(entry.specification.summary))\npublic struct \(entry.typeName): ThrongMethod")
    block("public static let name = \"\(entry.name)\"")
    members(fields)
    initializer(fields)
    if entry.specification.result.isEmpty {
      block("public typealias Result = NoResult")
    } else {
      structure("Result", "The answer.", entry.specification.result.map(ClientField.init))
    }
    close()
    close()
  }

  private mutating func initializer(_ fields: [ClientField]) {
    let assignments = fields.map { "  self.\($0.name) = \(SwiftType.identifier($0.name))\n" }.joined()
    let body = fields.isEmpty ? "{}" : "{\n\(assignments)}"
    block("/// All members; those that may be absent are nil.\npublic init(\(arguments(fields))) \(body)")
  }

  private func arguments(_ fields: [ClientField], rowsIn owner: String = "") -> String {
    fields.map { field in
      let type = SwiftType.name(of: field)
      let isRow = SwiftType.members(of: field.type) != nil
      let whole = isRow ? type.replacing(field.rowName, with: owner + field.rowName) : type
      return "\(field.name): \(whole)\(field.isOptional ? "? = nil" : "")"
    }.joined(separator: ", ")
  }

  mutating func call(_ entry: MethodTable.Entry) {
    let fields = entry.parameters.map(ClientField.init)
    let (type, function) = (entry.typeName, SwiftType.constant(entry.typeName))
    let hasResult = !entry.specification.result.isEmpty
    let call =
      "try await call(Methods.\(type)(\(fields.map { "\($0.name): \(SwiftType.identifier($0.name))" }.joined(separator: ", "))))"
    block(
      """
      \(comment(entry.specification.summary + " See ``Methods/\(type)``."))
      \(hasResult ? "@discardableResult\n" : "")public func \(function)(\(arguments(fields, rowsIn: "Methods.\(type).")))\
       async throws\(hasResult ? " -> Methods.\(type).Result" : "") {
        \(hasResult ? "" : "_ = ")\(call)
      }
      """)
  }

  mutating func event(_ events: [EventName]) {
    let cases = events.map { "\(comment("To \($0.audience).", deeper: 2))\ncase \($0.rawValue)(\($0.typeName))" }
    open("/// An event of the server.\npublic enum ServerEvent: Hashable, Sendable")
    block(cases.joined(separator: "\n"))
    block("/// An event that this version cannot read: of a later server.\ncase other(name: String, params: JSONValue)")
    for event in events { structure(event.typeName, "The parameters of \(event.rawValue).", event.fields.map(ClientField.init)) }
    accessor("name", "String", "The event's name.", events, { "\"\($0.rawValue)\"" }, other: "case .other(let name, _): name")
    let common = [("groupID", "String?", "The group that the event is about."), ("opTime", "Int?", "When it was delivered.")]
    for (member, type, summary) in common {
      let having = events.filter { event in event.fields.contains { $0.name == member } }
      accessor(member, type, summary, having, { _ in "event.\(member)" }, other: "default: nil")
    }
    close()
    reader(events)
  }

  private mutating func accessor(
    _ name: String, _ type: String, _ summary: String, _ events: [EventName], _ value: (EventName) -> String, other: String
  ) {
    let rows = events.map { event in
      let value = value(event)
      return "  case .\(event.rawValue)\(value.hasPrefix("event.") ? "(let event)" : ""): \(value)\n"
    }
    block("\(comment(summary))\npublic var \(name): \(type) {\n  switch self {\n\(rows.joined())  \(other)\n  }\n}")
  }

  private mutating func reader(_ events: [EventName]) {
    let rows = events.map { "    case \"\($0.rawValue)\": self = .\($0.rawValue)(try params())\n" }.joined()
    block(
      """
      extension ServerEvent {
        /// The event of that name; nil where this version knows none.
        init?(name: String, from decoder: any ParameterDecoder) throws {
          func params<Params: Decodable>() throws -> Params { try decoder.decode(Params.self) }
          switch name {
      \(rows)    default: return nil
          }
        }
      }
      """)
  }
}
