import Foundation
import Testing
import ThrongTestKit
import WireProtocol

/// Written texts are JSON with the values given. Foundation is the judge.
@Suite struct JSONWriterTests {
  /// The writer tests eight bytes at a time, and the last of a text again.
  @Test func aCharacterToEscapeIsFoundAtEachPlace() {
    let escapes: [(byte: UInt8, text: String)] = [
      (0x22, #"\""#), (0x5c, #"\\"#), (0x0a, #"\n"#), (0x1f, #"\u001f"#), (0x20, " "), (0x23, "#"), (0x5d, "]"), (0x7f, "\u{7f}"),
    ]
    for (byte, escaped) in escapes {
      for length in 0..<40 {
        for place in 0...length {
          let (before, after) = (String(repeating: "x", count: place), String(repeating: "é", count: length - place))
          let text = before + String(decoding: [byte], as: UTF8.self) + after
          let written = String(decoding: JSONWriter.text { $0.value(text) }, as: UTF8.self)
          #expect(written == "\"\(before)\(escaped)\(after)\"")
        }
      }
    }
  }

  private func foundation(_ bytes: [UInt8]) throws -> NSDictionary {
    try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary)
  }

  private static let alphabet: [Unicode.Scalar] =
    (0...0x2f).compactMap(Unicode.Scalar.init) + "\"\\/'{}[]:,aZ09é€\u{7f}\u{80}\u{9f}\u{a0}\u{2028}\u{2029}".unicodeScalars
    + "\u{301}\u{fffd}\u{fffe}\u{ffff}\u{d7ff}\u{e000}😀👨‍👩‍👧🇩🇪\u{10000}\u{10ffff}".unicodeScalars

  /// Foundation on Linux loses U+FEFF, so it cannot be the judge of it.
  @Test func aByteOrderMarkInsideATextComesBack() throws {
    let parser = JSONParser()
    let root = try #require(parser.parse(JSONWriter.text { $0.object { $0.member("t", "\u{feff}a\u{feff}") } }))
    #expect(root["t"]?.string.map { Array($0.utf8) } == Array("\u{feff}a\u{feff}".utf8))
  }

  private func randomText(_ random: inout SeededGenerator) -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...40, using: &random) {
      text.append(JSONWriterTests.alphabet.randomElement(using: &random) ?? "x")
    }
    return String(text)
  }

  @Test func everyControlCharacterComesBack() throws {
    for value in UInt8(0)...0x7f {
      let text = String(decoding: [0x61, value, 0x62], as: UTF8.self)
      let bytes = JSONWriter.text { $0.object { $0.member("t", text) } }
      #expect(bytes.allSatisfy { $0 >= 0x20 })
      let read = try #require(try foundation(bytes)["t"] as? String)
      #expect(Array(read.utf8) == Array(text.utf8), "character \(value)")
    }
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func randomTextsComeBackThroughFoundationAndThroughTheParser(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for round in 0..<500 {
      let key = randomText(&random)
      let texts = (0..<3).map { _ in randomText(&random) }
      let bytes = JSONWriter.text(capacity: 1) { writer in
        writer.object { writer in
          writer.member("list", texts)
          writer.key(named: "k" + key)
          writer.value(texts[0])
        }
      }
      let object = try foundation(bytes)
      let list = try #require(object["list"] as? [String])
      #expect(list.map { Array($0.utf8) } == texts.map { Array($0.utf8) }, "seed \(seed), round \(round)")
      let value = try #require(object.value(of: "k" + key))
      #expect(Array(value.utf8) == Array(texts[0].utf8), "seed \(seed), round \(round)")

      let parser = JSONParser()
      let root = try #require(parser.parse(bytes))
      var parsed: [[UInt8]] = []
      root["list"]?.forEachElement { parsed.append(Array(($0.string ?? "?").utf8)) }
      #expect(parsed == texts.map { Array($0.utf8) }, "seed \(seed), round \(round)")
    }
  }

  @Test func numbersAreWrittenToTheLastDigit() throws {
    var numbers: [Int64] = [1 << 53, -(1 << 53), .max, .min]
    for digits in 0...18 {
      let power = (0..<digits).reduce(Int64(1)) { power, _ in power * 10 }
      numbers += [power - 1, power, power + 1, -power, 1 - power]
    }
    for number in numbers {
      #expect(String(decoding: JSONWriter.text { $0.value(number) }, as: UTF8.self) == String(number))
    }
  }

  @Test func commasStandBetweenAndNowhereElse() {
    let bytes = JSONWriter.text { writer in
      writer.object { writer in
        writer.key("a")
        writer.array([Int]()) { $0.value($1) }
        writer.key("b")
        writer.object { _ in }
        writer.member("c", [1, 2].map(String.init))
        writer.key("d")
        writer.array([[1, 2], [], [3]]) { writer, inner in writer.array(inner) { $0.value($1) } }
        writer.member("e", true)
        writer.member("f", ifPresent: nil as String?)
        writer.member("g", ifPresent: 5 as Int64?)
        writer.key("h")
        writer.null()
        writer.key("i")
        writer.raw("{\"x\":1}")
        writer.member("j", ["b": "2", "a": "1"])
      }
    }
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == #"{"a":[],"b":{},"c":["1","2"],"d":[[1,2],[],[3]],"e":true,"g":5,"h":null,"i":{"x":1},"j":{"a":"1","b":"2"}}"#)
  }
}

extension NSDictionary {
  /// The text behind a key that is equal to the last scalar: `String ==` calls canonically equal
  /// keys equal.
  fileprivate func value(of key: String) -> String? {
    for case let (name as String, value as String) in self where Array(name.utf8) == Array(key.utf8) { return value }
    return nil
  }
}
