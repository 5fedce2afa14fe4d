/// Writes the Prometheus text exposition format, version 0.0.4.
struct ExpositionWriter {
  private(set) var bytes: [UInt8] = []

  /// Writes the two lines before the samples of a family.
  mutating func head(_ name: String, _ type: MetricType, help: String?) {
    if let help { line("# HELP \(name) \(ExpositionWriter.escaped(help))") }
    line("# TYPE \(name) \(type.rawValue)")
  }

  mutating func sample(_ name: String, _ labels: LabelSet, _ value: Double) {
    bytes.append(contentsOf: name.utf8)
    if !labels.text.isEmpty {
      bytes.append(UInt8(ascii: "{"))
      bytes.append(contentsOf: labels.text.utf8)
      bytes.append(UInt8(ascii: "}"))
    }
    bytes.append(UInt8(ascii: " "))
    line(ExpositionWriter.text(of: value))
  }

  /// Writes the buckets, the sum and the count, which is the sum of the buckets read, so that they
  /// agree whatever is recorded meanwhile.
  mutating func histogram(_ name: String, _ labels: LabelSet, bounds: [Double], _ reading: HistogramReading) {
    var total: UInt64 = 0
    for (bound, count) in zip(bounds + [.infinity], reading.counts) {
      total += count
      sample(name + "_bucket", labels.with(bound: ExpositionWriter.text(of: bound)), Double(total))
    }
    sample(name + "_sum", labels, reading.sum)
    sample(name + "_count", labels, Double(total))
  }

  private mutating func line(_ text: String) {
    bytes.append(contentsOf: text.utf8)
    bytes.append(UInt8(ascii: "\n"))
  }

  /// The text of a number; integers have no fraction as far as a double is exact.
  static func text(of value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
    return value.rounded() == value && abs(value) <= 0x1p53 ? String(Int64(value)) : "\(value)"
  }

  private static func escaped(_ help: String) -> String {
    var text = ""
    for scalar in help.unicodeScalars {
      switch scalar {
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
