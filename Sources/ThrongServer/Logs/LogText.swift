/// Writes texts into log lines, some of which come from clients: none ends a line, looks like a field
/// of the server's, or steers the terminal that shows it.
enum LogText {
  /// The message of a text line; in quotes where it could be taken for fields.
  static func message(_ text: String) -> String {
    text.unicodeScalars.contains { isHidden($0) || $0 == "\"" || $0 == "=" } ? quoted(text) : text
  }

  /// A value of a text line; in quotes unless it is one plain word.
  static func value(_ text: String) -> String {
    let isWord = !text.unicodeScalars.contains { isHidden($0) || $0 == "\"" || $0 == "=" || $0.properties.isWhitespace }
    return isWord && !text.isEmpty ? text : quoted(text)
  }

  /// The same JSON, with escapes for what its encoder lets through.
  static func plain(json text: String) -> String {
    // The encoder has escaped the control characters of ASCII but DEL.
    guard text.utf8.contains(where: { $0 >= 0x7f }) else { return text }
    return text.unicodeScalars.reduce(into: "") { plain, scalar in append(scalar, to: &plain) }
  }

  /// A JSON string.
  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { quoted.append("\\") }
      append(scalar, to: &quoted)
    }
    return quoted + "\""
  }

  private static func append(_ scalar: Unicode.Scalar, to text: inout String) {
    guard isHidden(scalar) else { return text.unicodeScalars.append(scalar) }
    for unit in String(scalar).utf16 {
      let digits = String(unit, radix: 16)
      text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
  }

  /// Controls of ASCII and of Latin 1, which terminals obey too, and those that change the order of
  /// what is shown.
  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
