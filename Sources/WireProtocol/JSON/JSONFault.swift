/// The first place at which a text is no JSON, or is nested too deeply. It is looked for in texts
/// that the parser has refused, because the parser does not say where it stopped.
struct JSONFault: Error, Equatable {
  enum Kind: Equatable {
    /// A byte that cannot stand there.
    case unexpected
    /// The text ends before its value does.
    case unfinished
    /// An object or array within more than `JSONParser.maxDepth` levels.
    case tooDeep
    /// An escape that is half of a surrogate pair.
    case unpaired
  }

  let kind: Kind
  /// In bytes from the beginning of the text, which is 0.
  let position: Int

  init(_ kind: Kind, at position: Int) {
    self.kind = kind
    self.position = position
  }

  /// The fault of a text; nil where it is JSON.
  init?(of text: UnsafeRawBufferPointer) {
    var scanner = JSONScanner(text)
    do throws(JSONFault) {
      try scanner.scan()
      return nil
    } catch {
      self = error
    }
  }

  /// The fault in a sentence.
  var sentence: String {
    switch kind {
    case .unexpected: "The text is not JSON: the fault is at byte \(position), counted from 0"
    case .unfinished: "The text is not JSON: it ends too early, after \(position) bytes"
    case .tooDeep: "The text is nested deeper than \(JSONParser.maxDepth) levels, from byte \(position) on, counted from 0"
    case .unpaired: "The text is not JSON: the escape at byte \(position), counted from 0, is half of a surrogate pair"
    }
  }
}

extension WireError {
  /// -32700 with the place of the fault.
  init(notJSON text: UnsafeRawBufferPointer) { self.init(.parseError, JSONFault(of: text)?.sentence) }
}

/// Reads a text as RFC 8259 has it, without keeping anything.
private struct JSONScanner {
  private let text: UnsafeRawBufferPointer
  private var position = 0
  /// The bytes that close the objects and arrays around the position.
  private var closers: [UInt8] = []

  init(_ text: UnsafeRawBufferPointer) { self.text = text }

  mutating func scan() throws(JSONFault) {
    repeat {
      try beginValue()
      try endValues()
    } while !closers.isEmpty
    skipBlanks()
    guard isAtEnd else { throw unexpected }
  }

  // MARK: Values

  /// Reads a text, a number or a word, after the beginnings of the objects and arrays before it. Of an
  /// empty one its end is left.
  private mutating func beginValue() throws(JSONFault) {
    while true {
      let byte = try next()
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        guard closers.count < JSONParser.maxDepth else { throw JSONFault(.tooDeep, at: position) }
        position += 1
        let closer = byte == UInt8(ascii: "{") ? UInt8(ascii: "}") : UInt8(ascii: "]")
        closers.append(closer)
        if try next() == closer { return }
        if closer == UInt8(ascii: "}") { try key() }
      case UInt8(ascii: "\""): return try string()
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
      case UInt8(ascii: "t"): return try word("true")
      case UInt8(ascii: "f"): return try word("false")
      case UInt8(ascii: "n"): return try word("null")
      default: throw unexpected
      }
    }
  }

  /// Reads the ends of objects and arrays behind a value, and what stands before the next value.
  private mutating func endValues() throws(JSONFault) {
    while let closer = closers.last {
      let byte = try next()
      guard byte == closer || byte == UInt8(ascii: ",") else { throw unexpected }
      position += 1
      if byte == closer {
        closers.removeLast()
      } else {
        if closer == UInt8(ascii: "}") { try key() }
        return
      }
    }
  }

  private mutating func key() throws(JSONFault) {
    guard try next() == UInt8(ascii: "\"") else { throw unexpected }
    try string()
    guard try next() == UInt8(ascii: ":") else { throw unexpected }
    position += 1
  }

  private mutating func word(_ word: String) throws(JSONFault) {
    for byte in word.utf8 { try take(byte) }
  }

  private mutating func number() throws(JSONFault) {
    skip(UInt8(ascii: "-"))
    if try digit() != UInt8(ascii: "0") { skipDigits() }
    if skip(UInt8(ascii: ".")) { try digits() }
    if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
      if !skip(UInt8(ascii: "+")) { skip(UInt8(ascii: "-")) }
      try digits()
    }
  }

  private mutating func digits() throws(JSONFault) {
    _ = try digit()
    skipDigits()
  }

  private mutating func skipDigits() {
    while !isAtEnd, isDigit(text[position]) { position += 1 }
  }

  private mutating func digit() throws(JSONFault) -> UInt8 {
    let byte = try current()
    guard isDigit(byte) else { throw unexpected }
    position += 1
    return byte
  }

  private func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

  // MARK: Texts

  private mutating func string() throws(JSONFault) {
    position += 1
    while true {
      let byte = try current()
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return
      case UInt8(ascii: "\\"): try escape()
      case 0..<0x20: throw unexpected
      case 0x20..<0x80: position += 1
      default: try character()
      }
    }
  }

  private mutating func escape() throws(JSONFault) {
    let start = position
    position += 1
    switch try current() {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
      UInt8(ascii: "r"), UInt8(ascii: "t"):
      position += 1
    case UInt8(ascii: "u"):
      let first = try codeUnit()
      guard 0xd800..<0xe000 ~= first else { return }
      guard first < 0xdc00, try current() == UInt8(ascii: "\\") else { throw JSONFault(.unpaired, at: start) }
      position += 1
      guard try current() == UInt8(ascii: "u") else { throw JSONFault(.unpaired, at: start) }
      let second = try codeUnit()
      guard 0xdc00..<0xe000 ~= second else { throw JSONFault(.unpaired, at: start) }
    default: throw unexpected
    }
  }

  /// The number behind the `u` of an escape.
  private mutating func codeUnit() throws(JSONFault) -> Int {
    position += 1
    var unit = 0
    for _ in 0..<4 {
      guard let digit = Character(UnicodeScalar(try current())).hexDigitValue else { throw unexpected }
      unit = unit * 16 + digit
      position += 1
    }
    return unit
  }

  /// Reads a character of more than one byte.
  private mutating func character() throws(JSONFault) {
    guard let form = self.form(of: text[position]) else { throw unexpected }
    for offset in 1..<form.count {
      guard position + offset < text.count else { throw JSONFault(.unfinished, at: text.count) }
      let range = offset == 1 ? form.second : 0x80...0xbf
      guard range.contains(text[position + offset]) else { throw unexpected }
    }
    position += form.count
  }

  /// How many bytes a character has, and the values of its second one, by its first (Unicode, table
  /// 3-7).
  private func form(of first: UInt8) -> (count: Int, second: ClosedRange<UInt8>)? {
    switch first {
    case 0xc2...0xdf: (2, 0x80...0xbf)
    case 0xe0: (3, 0xa0...0xbf)
    case 0xed: (3, 0x80...0x9f)
    case 0xe1...0xef: (3, 0x80...0xbf)
    case 0xf0: (4, 0x90...0xbf)
    case 0xf1...0xf3: (4, 0x80...0xbf)
    case 0xf4: (4, 0x80...0x8f)
    default: nil
    }
  }

  // MARK: Bytes

  private var isAtEnd: Bool { position == text.count }

  private var unexpected: JSONFault { JSONFault(.unexpected, at: position) }

  /// The byte at the position.
  private func current() throws(JSONFault) -> UInt8 {
    guard !isAtEnd else { throw JSONFault(.unfinished, at: position) }
    return text[position]
  }

  /// The byte behind blanks, which becomes the position.
  private mutating func next() throws(JSONFault) -> UInt8 {
    skipBlanks()
    return try current()
  }

  private mutating func skipBlanks() {
    while !isAtEnd, isBlank(text[position]) { position += 1 }
  }

  private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 }

  private mutating func take(_ byte: UInt8) throws(JSONFault) {
    guard try current() == byte else { throw unexpected }
    position += 1
  }

  /// Passes a byte where it stands at the position.
  @discardableResult
  private mutating func skip(_ byte: UInt8) -> Bool {
    guard !isAtEnd, text[position] == byte else { return false }
    position += 1
    return true
  }
}
