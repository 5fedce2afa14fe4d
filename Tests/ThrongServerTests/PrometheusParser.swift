/// A strict reader of the Prometheus text format 0.0.4, written from its description: the tests'
/// oracle.
struct PrometheusText {
  /// Why a text is not in the format.
  struct Fault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  /// One line with a value.
  struct Sample {
    let name: String
    let labels: [String: String]
    let value: Double
  }

  /// The samples between one TYPE line and the next.
  struct Family {
    let name: String
    let type: String
    var help: String?
    var samples: [Sample] = []
  }

  private(set) var families: [Family] = []

  init(_ bytes: [UInt8]) throws(Fault) {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw Fault("not UTF-8") }
    guard text.isEmpty || text.utf8.last == UInt8(ascii: "\n") else { throw Fault("the last line does not end") }
    var help: (name: String, text: String)?
    for line in text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
      var cursor = PrometheusCursor(line)
      if cursor.take("# HELP ") {
        guard help == nil else { throw Fault("two HELP lines in a row") }
        help = (try cursor.name(), try cursor.help())
      } else if cursor.take("# TYPE ") {
        try begin(&cursor, help: help)
        help = nil
      } else {
        guard help == nil else { throw Fault("a HELP line without TYPE") }
        try add(try cursor.sample())
      }
    }
    guard help == nil else { throw Fault("a HELP line at the end") }
    for family in families { try PrometheusText.check(family) }
  }

  private mutating func begin(_ cursor: inout PrometheusCursor, help: (name: String, text: String)?) throws(Fault) {
    let name = try cursor.name()
    let type = try cursor.rest(after: " ")
    guard ["counter", "gauge", "histogram"].contains(type) else { throw Fault("type \(type)") }
    guard !families.contains(where: { $0.name == name }) else { throw Fault("\(name) twice") }
    guard help == nil || help?.name == name else { throw Fault("HELP of another family before \(name)") }
    families.append(Family(name: name, type: type, help: help?.text))
  }

  private mutating func add(_ sample: Sample) throws(Fault) {
    guard let family = families.last else { throw Fault("a sample before any TYPE") }
    let names = family.type == "histogram" ? ["_bucket", "_sum", "_count"].map { family.name + $0 } : [family.name]
    guard names.contains(sample.name) else { throw Fault("\(sample.name) among \(family.name)") }
    guard !family.samples.contains(where: { $0.name == sample.name && $0.labels == sample.labels }) else {
      throw Fault("\(sample.name) \(sample.labels) twice")
    }
    families[families.count - 1].samples.append(sample)
  }

  private static func check(_ family: Family) throws(Fault) {
    switch family.type {
    case "counter":
      guard family.name.hasSuffix("_total") else { throw Fault("\(family.name) is no name of a counter") }
      guard family.samples.allSatisfy({ $0.value >= 0 }) else { throw Fault("\(family.name) is negative") }
    case "histogram":
      for sample in family.samples where sample.name == family.name + "_count" { try checkHistogram(family, sample) }
      let series = Set(
        family.samples.map { sample in
          sample.labels.filter { $0.key != "le" }.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        })
      let counts = family.samples.filter { $0.name == family.name + "_count" }
      guard counts.count == series.count else { throw Fault("\(family.name) has a series without count") }
    default: break
    }
  }

  /// Buckets ascend in bound and count, the last is +Inf and has all.
  private static func checkHistogram(_ family: Family, _ count: Sample) throws(Fault) {
    let own = family.samples.filter { $0.labels.filter { $0.key != "le" } == count.labels }
    guard own.contains(where: { $0.name == family.name + "_sum" }) else { throw Fault("\(family.name) without sum") }
    let buckets = own.filter { $0.name == family.name + "_bucket" }
    guard buckets.last?.labels["le"] == "+Inf", buckets.last?.value == count.value else { throw Fault("\(family.name): +Inf") }
    let bounds = try buckets.map { (bucket) throws(Fault) in try PrometheusCursor.number(bucket.labels["le"] ?? "") }
    guard zip(bounds, bounds.dropFirst()).allSatisfy({ $0 < $1 }) else { throw Fault("\(family.name): bounds") }
    guard zip(buckets, buckets.dropFirst()).allSatisfy({ $0.value <= $1.value }) else { throw Fault("\(family.name): buckets") }
  }

  /// The family of that name.
  func family(_ name: String) -> Family? { families.first { $0.name == name } }

  /// The value of one sample.
  func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
    families.lazy.flatMap(\.samples).first { $0.name == name && $0.labels == labels }?.value
  }
}
