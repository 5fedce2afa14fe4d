/// Names in the exposition format: letters, digits and `_`, no digit first; metrics may have `:`
/// too.
enum MetricName {
  /// The name of a metric: other characters become `_`, and a counter ends in `_total`. Nil where
  /// the label is empty.
  static func family(_ label: String, of type: MetricType) -> String? {
    guard let name = legal(label, allowsColon: true) else { return nil }
    return type == .counter && !name.hasSuffix("_total") ? name + "_total" : name
  }

  /// The name of a label; nil where it is empty or reserved by Prometheus.
  static func label(_ name: String, of type: MetricType) -> String? {
    guard let name = legal(name, allowsColon: false), !name.hasPrefix("__") else { return nil }
    return type == .histogram && name == "le" ? nil : name
  }

  private static func legal(_ text: String, allowsColon: Bool) -> String? {
    guard let first = text.unicodeScalars.first else { return nil }
    var name = ("0"..."9").contains(first) ? "_" : ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", "_": name.unicodeScalars.append(scalar)
      case ":" where allowsColon: name.unicodeScalars.append(scalar)
      default: name.append("_")
      }
    }
    return name
  }
}
