/// The labels of a series as text, `name="value"`, by name ascending; equal sets have equal texts.
struct LabelSet: Hashable, Comparable, Sendable {
  /// Bounds the memory of a series.
  static let maxValueBytes = 1024

  static let none = LabelSet(text: "")

  let text: String

  /// Nil where a name is not allowed or repeated, or a value is too long.
  init?(_ dimensions: [(String, String)], of type: MetricType) {
    var labels: [(name: String, value: String)] = []
    // Prometheus treats an empty label as a missing one.
    for (name, value) in dimensions where !value.isEmpty {
      guard let name = MetricName.label(name, of: type), value.utf8.count <= LabelSet.maxValueBytes else { return nil }
      guard !labels.contains(where: { $0.name == name }) else { return nil }
      labels.append((name, value))
    }
    labels.sort { $0.name < $1.name }
    text = labels.map { "\($0.name)=\"\(LabelSet.escaped($0.value))\"" }.joined(separator: ",")
  }

  private init(text: String) { self.text = text }

  /// The same set with the bound of a histogram's bucket.
  func with(bound: String) -> LabelSet {
    LabelSet(text: (text.isEmpty ? "" : text + ",") + "le=\"\(bound)\"")
  }

  static func < (a: LabelSet, b: LabelSet) -> Bool { a.text < b.text }

  private static func escaped(_ value: String) -> String {
    var text = ""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\\": text += "\\\\"
      case "\"": text += "\\\""
      case "\n": text += "\\n"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
