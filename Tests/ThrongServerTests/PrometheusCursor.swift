/// Reads one line of the text format from left to right.
struct PrometheusCursor {
  private typealias Fault = PrometheusText.Fault
  private var rest: Substring.UnicodeScalarView

  init(_ line: String.UnicodeScalarView.SubSequence) { rest = Substring.UnicodeScalarView(line) }

  /// Goes past a text, if it is next.
  mutating func take(_ text: String) -> Bool {
    guard rest.starts(with: text.unicodeScalars) else { return false }
    rest = rest.dropFirst(text.unicodeScalars.count)
    return true
  }

  /// `[a-zA-Z_:][a-zA-Z0-9_:]*`
  mutating func name() throws(PrometheusText.Fault) -> String {
    try word { ("a"..."z").contains($0) || ("A"..."Z").contains($0) || $0 == "_" || $0 == ":" }
  }

  /// `[a-zA-Z_][a-zA-Z0-9_]*`, not beginning with `__`
  private mutating func labelName() throws(PrometheusText.Fault) -> String {
    let name = try word { ("a"..."z").contains($0) || ("A"..."Z").contains($0) || $0 == "_" }
    guard !name.hasPrefix("__") else { throw Fault("\(name) is reserved") }
    return name
  }

  private mutating func word(_ isLetter: (Unicode.Scalar) -> Bool) throws(PrometheusText.Fault) -> String {
    guard let first = rest.first, isLetter(first) else { throw Fault("no name: \(rest)") }
    let name = rest.prefix { isLetter($0) || ("0"..."9").contains($0) }
    rest = rest.dropFirst(name.count)
    return String(Substring(name))
  }

  /// The text left after one that has to come next.
  mutating func rest(after text: String) throws(PrometheusText.Fault) -> String {
    guard take(text) else { throw Fault("no '\(text)' before: \(rest)") }
    defer { rest = Substring.UnicodeScalarView() }
    return String(Substring(rest))
  }

  /// The text of a HELP line, after its blank.
  mutating func help() throws(PrometheusText.Fault) -> String {
    guard take(" ") else { throw Fault("no help") }
    var text = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      guard scalar == "\\" else {
        text.append(scalar)
        continue
      }
      text.append(try escaped(["\\": "\\", "n": "\n"]))
    }
    return String(text)
  }

  /// A sample: name, labels, value; no timestamp.
  mutating func sample() throws(PrometheusText.Fault) -> PrometheusText.Sample {
    let name = try name()
    let labels = rest.first == "{" ? try labels() : [:]
    return PrometheusText.Sample(name: name, labels: labels, value: try PrometheusCursor.number(try rest(after: " ")))
  }

  private mutating func labels() throws(PrometheusText.Fault) -> [String: String] {
    var labels: [String: String] = [:]
    var before = "{"
    while !take("}") {
      guard take(before) else { throw Fault("no '\(before)' before: \(rest)") }
      before = ","
      let name = try labelName()
      guard labels.updateValue(try labelValue(), forKey: name) == nil else { throw Fault("label \(name) twice") }
    }
    guard !labels.isEmpty else { throw Fault("braces without labels") }
    return labels
  }

  private mutating func labelValue() throws(PrometheusText.Fault) -> String {
    guard take("=\"") else { throw Fault("no label value: \(rest)") }
    var text = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\"": return String(text)
      case "\\": text.append(try escaped(["\\": "\\", "n": "\n", "\"": "\""]))
      default: text.append(scalar)
      }
    }
    throw Fault("a label value without end")
  }

  private mutating func escaped(
    _ meanings: [Unicode.Scalar: Unicode.Scalar]
  ) throws(PrometheusText.Fault) -> Unicode.Scalar {
    guard let scalar = rest.popFirst(), let meaning = meanings[scalar] else { throw Fault("a wrong escape") }
    return meaning
  }

  /// A number as Go writes one.
  static func number(_ text: String) throws(PrometheusText.Fault) -> Double {
    switch text {
    case "+Inf": return .infinity
    case "-Inf": return -.infinity
    case "NaN": return .nan
    default:
      let isDecimal = text.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
      guard isDecimal, let number = Double(text) else { throw Fault("no number: \(text)") }
      return number
    }
  }
}
