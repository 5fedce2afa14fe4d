import Foundation
import Logging
import ServerConfiguration
import Testing

@testable import ThrongServer

@Suite struct LogTests {
  private let time = Date(timeIntervalSince1970: 1_700_000_000.25)
  private let nowhere = LogOutput(-1)

  private func event(_ message: Logger.Message, _ metadata: Logger.Metadata? = nil, level: Logger.Level = .info) -> LogEvent {
    LogEvent(level: level, message: message, metadata: metadata, source: "s", file: "f", function: "g", line: 1)
  }

  private func json(_ line: String) throws -> [String: String] {
    try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
  }

  @Test func anEntryIsOneObjectOnOneLine() throws {
    var handler = LineLogHandler(format: .json, level: .info, output: nowhere)
    handler[metadataKey: "node"] = "one"
    handler[metadataKey: "group"] = "outer"
    let line = handler.line(event("a \"b\"\nc / d", ["group": "g", "count": "\(3)"], level: .error), at: time)
    #expect(!line.contains("\n"))
    #expect(line.contains("/"), "slashes stand as they are")
    #expect(
      try json(line) == [
        "time": "2023-11-14T22:13:20.250Z", "level": "error", "message": "a \"b\"\nc / d", "node": "one", "group": "g",
        "count": "3",
      ])
  }

  /// A reader of the log can count and compare numbers.
  @Test func numbersAreNumbers() throws {
    let handler = LineLogHandler(format: .json, level: .info, output: nowhere)
    let fields: Logger.Metadata = [
      "count": .stringConvertible(3), "large": .stringConvertible(UInt64.max), "low": .stringConvertible(Int64(-5)),
      "share": .stringConvertible(0.5), "endless": .stringConvertible(Double.infinity), "is": .stringConvertible(true),
      "port": "8080", "list": .array([.stringConvertible(1), "a"]), "code": .dictionary(["n": .stringConvertible(2)]),
    ]
    let line = handler.line(event("m", fields), at: time)
    for part in [
      #""count":3,"#, #""large":18446744073709551615,"#, #""low":-5,"#, #""share":0.5,"#, #""endless":"inf","#, #""is":true,"#,
      #""port":"8080","#, #""list":[1,"a"],"#, #""code":{"n":2},"#,
    ] {
      #expect(line.replacing("}", with: "},").replacing("},,", with: "},").contains(part), "\(part)")
    }
    let text = LineLogHandler(format: .text, level: .info, output: nowhere).line(
      event("m", ["count": .stringConvertible(3)]), at: time)
    #expect(text.hasSuffix(" info m count=3"))
  }

  /// Fields that hold numbers, truths or several nodes are given as such, wherever they are logged.
  @Test func noSourceWritesANumberAsText() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let files = try #require(
      FileManager.default.enumerator(at: root.appending(path: "Sources"), includingPropertiesForKeys: nil))
    let texts = files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
      .compactMap { try? String(contentsOf: $0, encoding: .utf8) }
    let keys = "code|status|count|dropped|attempts|node|nodes|unopened|aheadBySeconds|durable|milliseconds|userCount"
    let number = try Regex(##""(?:\##(keys))": "\\\("##)
    #expect(texts.count > 300)
    #expect(texts.flatMap { text in text.matches(of: number).map { String(text[$0.range]) } } == [])
  }

  @Test func aStartThatFailsIsToldInTheLogsFormat() throws {
    let entry = try json(StartFailure.line("no \"room\"", format: .json))
    #expect(entry["level"] == "critical" && entry["message"] == "cannot start" && entry["error"] == "no \"room\"")
    #expect(StartFailure.line("no room", format: .text) == "no room" && StartFailure.line("no room", format: nil) == "no room")
  }

  @Test func theFixedKeysAreNotOverwritten() throws {
    let handler = LineLogHandler(format: .json, level: .info, output: nowhere)
    let line = handler.line(event("m", ["message": "x", "level": "x", "time": "x"]), at: time)
    #expect(try json(line) == ["time": "2023-11-14T22:13:20.250Z", "level": "info", "message": "m"])
  }

  @Test func textIsOneLineWithItsFieldsInOrder() {
    let handler = LineLogHandler(format: .text, level: .info, output: nowhere)
    let line = handler.line(event("one\ntwo", ["b": "2", "a": "1\r\n3"]), at: time)
    #expect(line == #"2023-11-14T22:13:20.250Z info "one\u000atwo" a="1\u000d\u000a3" b=2"#)
  }

  /// An Origin comes from anybody: it is one value, whatever it holds.
  @Test(arguments: [
    ("https://a.example:81", "https://a.example:81"), ("", #""""#), ("a b", #""a b""#), ("a\u{a0}b", "\"a\u{a0}b\""),
    ("x level=error userID=olga", #""x level=error userID=olga""#), (#"x" userID="olga"#, #""x\" userID=\"olga""#),
    (#"x\" y"#, #""x\\\" y""#), ("\u{1b}[2J", #""\u001b[2J""#), ("\u{9b}2J", #""\u009b2J""#), ("\u{7f}", #""\u007f""#),
    ("a\u{202e}b", #""a\u202eb""#), ("a\u{2028}b", #""a\u2028b""#), ("\u{e0001}", #""\udb40\udc01""#), ("日本", "日本"),
  ])
  func aValueOfATextLineCannotBeTakenForAnother(value: String, written: String) {
    let handler = LineLogHandler(format: .text, level: .info, output: nowhere)
    let line = handler.line(event("upgrade refused", ["origin": "\(value)", "port": "8080"]), at: time)
    #expect(line == "2023-11-14T22:13:20.250Z info upgrade refused origin=\(written) port=8080")
    // The messages of libraries may hold such texts, too.
    let message = handler.line(event("\(value)=\(value)"), at: time)
    #expect(message.hasPrefix(#"2023-11-14T22:13:20.250Z info ""#) && message.hasSuffix("\""))
  }

  /// The encoder of JSON leaves DEL, the controls of Latin 1 and marks of direction as they are.
  @Test(arguments: ["\u{7f}", "\u{9b}2J", "\u{85}", "\u{202e}x", "\u{2028}", "\u{2029}", "\u{feff}", "\u{1b}]0;x\u{7}", "é日🙂"])
  func jsonHoldsNothingThatATerminalObeys(text: String) throws {
    let line = LineLogHandler(format: .json, level: .info, output: nowhere).line(event("m", ["origin": "\(text)"]), at: time)
    #expect(try json(line)["origin"] == text)
    let hidden: [Unicode.GeneralCategory] = [.control, .format, .lineSeparator, .paragraphSeparator]
    #expect(!line.unicodeScalars.contains { hidden.contains($0.properties.generalCategory) }, "\(line)")
    #expect(text != "é日🙂" || line.contains(text))
  }
}
