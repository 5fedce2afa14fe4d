/// The metrics of several nodes as one text: each sample names its node by the label `instance`
/// (Protocol.md, "Internal listener").
enum MetricsOfNodes {
  /// - Parameter nodes: the text of each node, by its number.
  static func text(_ nodes: [(number: Int64, text: [UInt8])]) -> [UInt8] {
    var order: [String] = []
    var heads: [String: [String]] = [:]
    var samples: [String: [String]] = [:]
    for (number, text) in nodes {
      var family = ""
      for line in String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init) {
        if line.hasPrefix("#") {
          // # HELP name …, # TYPE name …
          family = line.split(separator: " ", maxSplits: 3).dropFirst(2).first.map(String.init) ?? ""
          if heads[family] == nil { order.append(family) }
          if heads[family]?.contains(line) != true { heads[family, default: []].append(line) }
        } else {
          samples[family, default: []].append(MetricsOfNodes.sample(line, of: number))
        }
      }
    }
    return Array(order.flatMap { (heads[$0] ?? []) + (samples[$0] ?? []) }.map { $0 + "\n" }.joined().utf8)
  }

  /// Adds the label before the others of a line.
  private static func sample(_ line: String, of number: Int64) -> String {
    guard let end = line.firstIndex(where: { $0 == "{" || $0 == " " }) else { return line }
    let rest = line[end...]
    return rest.hasPrefix("{")
      ? "\(line[..<end]){instance=\"\(number)\",\(rest.dropFirst())" : "\(line[..<end]){instance=\"\(number)\"}\(rest)"
  }
}
