import WireProtocol

extension MethodTable {
  /// The generated module of the Python client: the types, methods and events of the server, and its
  /// codes.
  func pythonClientSource() -> String {
    var source = PythonSource()
    source.codes("ErrorCode", "The codes of errors; a later server may have more.", ErrorCode.constants)
    source.codes("CloseCode", "The codes with which the server closes a connection.", CloseCode.constants)
    for type in NamedType.all where !NamedType.ofAdministrators.contains(type.name) {
      source.dictionary(PythonType.names[type.name] ?? type.name, type.summary, type.fields.map(ClientField.init))
    }
    source.dictionary("NoResult", "The answer of methods that answer nothing.", [])
    let called = entries.filter { $0.specification.callers != .application }
    for entry in called { source.types(of: entry) }
    source.options(of: called.first(where: { $0.name == "sendGroupTextMessage" }))
    for event in EventName.allCases {
      let summary = "\(event.rawValue): to \(event.audience)."
      source.dictionary("\(event.typeName)Event", summary, event.fields.map(ClientField.init))
    }
    source.methods(called.filter { !PythonSource.sessionCalls.contains($0.name) })
    source.names(of: EventName.allCases)
    source.handlers(EventName.allCases)
    return source.text
  }
}

extension MethodTable.Entry {
  /// The name of the method as an identifier: joinGroup, rpcDiscover.
  fileprivate var pythonName: String {
    let words = name.split(separator: ".").map(String.init)
    return (words.first ?? name) + words.dropFirst().map { $0.prefix(1).uppercased() + String($0.dropFirst()) }.joined()
  }

  /// The name of the type of its answer.
  fileprivate var resultName: String { specification.result.isEmpty ? "NoResult" : "\(typeName)Result" }
}

/// Types in Python.
private enum PythonType {
  /// Names that the client's own types have, or that an app would rather keep for its types.
  static let names = [
    "Application": "GroupApplication", "Message": "GroupMessage", "Tips": "GroupTips", "Session": "SessionInfo",
  ]

  /// Words that no attribute can have as its name.
  static let keywords: Set<String> = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif",
    "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass",
    "raise", "return", "try", "while", "with", "yield",
  ]

  /// The type of a field of the dictionary `owner`.
  static func annotation(of field: ClientField, in owner: String) -> String {
    let type = name(of: field.type, row: owner + field.rowName)
    return field.isOptional ? "NotRequired[\(type)]" : type
  }

  /// `row` is the name of an object that has none.
  private static func name(of type: TypeNotation, row: String) -> String {
    switch type {
    case .name("integer"): "int"
    case .name("string"): "str"
    case .name("boolean"): "bool"
    case .name("map"): "dict[str, str]"
    case .name("mapChanges"): "dict[str, str | None]"
    case .name("counterChanges"): "dict[str, int | None]"
    case .name("object"): "dict[str, Any]"
    case .name(let name): NamedType.named(name) == nil ? "Any" : names[name] ?? name
    case .literal(let word): "Literal[\"\(word)\"]"
    case .array(let element): "list[\(self.name(of: element, row: row))]"
    case .object: row
    case .any(let types): union(types, row: row)
    }
  }

  private static func union(_ types: [TypeNotation], row: String) -> String {
    var words: [String] = []
    var others: [String] = []
    for type in types {
      if case .literal(let word) = type { words.append("\"\(word)\"") } else { others.append(name(of: type, row: row)) }
    }
    // Any text is one of the words, too.
    if !words.isEmpty, !others.contains("str") { others.insert("Literal[\(words.joined(separator: ", "))]", at: 0) }
    return others.joined(separator: " | ")
  }

  /// The members of the object that a field is, or has as elements.
  static func members(of type: TypeNotation) -> [ClientField]? {
    switch type {
    case .array(let element): return members(of: element)
    case .object(let fields): return fields.map(ClientField.init)
    case .any(let types):
      for type in types {
        if let found = members(of: type) { return found }
      }
      return nil
    case .name, .literal: return nil
    }
  }
}

/// Declarations in Python with two empty lines between them.
private struct PythonSource {
  private(set) var text = PythonSource.head
  /// The last column of a comment.
  private static let lastColumn = 100
  /// Methods that the client calls itself.
  static let sessionCalls: Set<String> = ["login", "logout"]

  /// The client's own events, with the types of their parameters; `events.py` has those that the
  /// server's declarations do not.
  private static let ownEvents = [
    ("state", "StateNews"), ("message", "Message"), ("sync", "SyncNews"), ("ready", "ReadyNews"), ("renewed", "LoginResult"),
    ("renewalFailed", "Exception"), ("resumeFailed", "ThrongError"), ("status", "StatusNews"), ("watchFailed", "WatchFailure"),
    ("stored", "StoredNews"), ("conversation", "ConversationNews"), ("storageFailed", "StorageFailure"),
    ("event", "str, dict[str, Any]"), ("frame", "Literal[\"in\", \"out\"], dict[str, Any]"),
  ]

  private static let head = """
    # SPDX-License-Identifier: Apache-2.0
    # \(GeneratedFile.mark.dropFirst(3))
    \"\"\"The types, methods, events and codes of the server.\"\"\"
    from __future__ import annotations

    from collections.abc import Callable, Mapping
    from enum import IntEnum
    from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

    if TYPE_CHECKING:
        from typing_extensions import NotRequired, Unpack

        from .emitter import Emitter
        from .errors import ThrongError
        from .events import (
            ConversationNews,
            ReadyNews,
            StateNews,
            StatusNews,
            StorageFailure,
            StoredNews,
            SyncNews,
            WatchFailure,
        )
        from .outbox import Message

    """

  /// Words in lines that end by the last column.
  private static func lines(_ sentence: String, margin: Int) -> [String] {
    var lines: [String] = []
    for word in sentence.split(separator: " ") {
      if let line = lines.last, line.count + 1 + word.count <= lastColumn - margin {
        lines[lines.count - 1] = "\(line) \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }

  /// A sentence as the documentation of what is indented by `margin`.
  private static func documentation(_ sentence: String, margin: String) -> String {
    let text = lines(sentence, margin: margin.count + 6).joined(separator: "\n\(margin)")
    return "\(margin)\"\"\"\(text)\"\"\"\n"
  }

  private static func comment(_ field: ClientField) -> String {
    guard let meaning = field.meaning else { return "" }
    return lines(meaning, margin: 6).map { "    # \($0)\n" }.joined()
  }

  private mutating func open(_ head: String, _ summary: String) {
    text += "\n\nclass \(head):\n" + PythonSource.documentation(summary, margin: "    ")
  }

  mutating func codes(_ name: String, _ summary: String, _ rows: [(String, Int)]) {
    open("\(name)(IntEnum)", summary)
    text += "\n"
    for (code, number) in rows { text += "    \(code) = \(number)\n" }
  }

  /// The type of an object, with those of its rows behind it.
  mutating func dictionary(_ name: String, _ summary: String, _ fields: [ClientField]) {
    let reserved = fields.filter { PythonType.keywords.contains($0.name) }
    let base = reserved.isEmpty ? "TypedDict" : "\(name)Keywords"
    if !reserved.isEmpty {
      text += "\n\n# Members of \(name) whose names are words of Python's.\n\(base) = TypedDict(\"\(base)\", {\n"
      for field in reserved {
        text += PythonSource.comment(field)
        text += "    \"\(field.name)\": \"\(PythonType.annotation(of: field, in: name))\",\n"
      }
      text += "})\n"
    }
    open("\(name)(\(base))", summary)
    if !fields.isEmpty { text += "\n" }
    for field in fields where !PythonType.keywords.contains(field.name) {
      text += PythonSource.comment(field)
      text += "    \(field.name): \(PythonType.annotation(of: field, in: name))\n"
    }
    for field in fields {
      guard let rows = PythonType.members(of: field.type) else { continue }
      dictionary(name + field.rowName, "A row of \(field.name).", rows)
    }
  }

  /// The types of a method's parameters and of its answer.
  mutating func types(of entry: MethodTable.Entry) {
    if !entry.parameters.isEmpty {
      let fields = entry.parameters.map(ClientField.init)
      dictionary("\(entry.typeName)Params", "The parameters of \(entry.name).", fields)
    }
    if !entry.specification.result.isEmpty {
      dictionary(entry.resultName, "The answer of \(entry.name).", entry.specification.result.map(ClientField.init))
    }
  }

  /// What an app may give with a message besides its group and content.
  mutating func options(of entry: MethodTable.Entry?) {
    // The client says itself when it has sent a message first.
    let own: Set<String> = ["groupID", "text", "firstSentAt"]
    let fields = entry?.parameters.map(ClientField.init).filter { !own.contains($0.name) } ?? []
    dictionary("SendOptions", "What a message may have besides its group and content.", fields)
  }

  mutating func methods(_ entries: [MethodTable.Entry]) {
    open("ServerMethods", "The methods of the server; each raises a ThrongError or a ClientError.")
    text += "\n    async def call(self, method: str, params: Mapping[str, Any] | None = None, queue: bool = True) -> Any:\n"
    text += PythonSource.documentation("The result of a method.", margin: "        ")
    text += "        raise NotImplementedError\n"
    for entry in entries {
      let (result, hasParameters) = (entry.resultName, !entry.parameters.isEmpty)
      let parameters = hasParameters ? ", **params: Unpack[\(entry.typeName)Params]" : ""
      text += "\n    async def \(entry.pythonName)(self\(parameters)) -> \(result):\n"
      text += PythonSource.documentation(entry.specification.summary, margin: "        ")
      text += "        answer: \(result) = await self.call(\"\(entry.name)\"\(hasParameters ? ", params" : ""))\n"
      text += "        return answer\n"
    }
  }

  mutating func names(of events: [EventName]) {
    let names = PythonSource.ownEvents.map { $0.0 } + events.map(\.rawValue)
    text += "\n\n# What a handler can be told of, the client's own first.\nEVENT_NAMES = (\n"
    for name in names { text += "    \"\(name)\",\n" }
    text += ")\n"
  }

  mutating func handlers(_ events: [EventName]) {
    open("TypedEvents", "Those who are told of events.")
    text += "\n    _emitter: Emitter\n"
    for event in events { handler(event.rawValue, "\(event.typeName)Event") }
    for (name, parameters) in PythonSource.ownEvents { handler(name, parameters) }
    text += "\n    def on(self, name: str, handler: Callable[..., object]) -> Callable[[], None]:\n"
    text += PythonSource.documentation(
      "Calls `handler(params)` at each event of that name; a handler may be async. `event` gets `(name, params)` of each of the "
        + "server's, those of a later one included, `frame` a direction and each frame, tokens included. The answer ends that. "
        + "Raises ValueError where there is no such event.", margin: "        ")
    text += "        return self._emitter.on(name, handler)\n"
  }

  private mutating func handler(_ name: String, _ parameters: String) {
    text += "\n    @overload\n"
    text += "    def on(self, name: Literal[\"\(name)\"], handler: Callable[[\(parameters)], object])"
    text += " -> Callable[[], None]: ...\n"
  }
}
