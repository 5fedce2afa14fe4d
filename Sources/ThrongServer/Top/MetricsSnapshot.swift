import GroupModel

/// The samples of one scrape, for `throng top`.
struct MetricsSnapshot: Sendable {
  struct Sample: Sendable, Equatable {
    let labels: [String: String]
    let value: Double
  }

  let at: MonotonicInstant
  private let samples: [String: [Sample]]

  /// Reads the text format as the server writes it; a line of another kind is passed over.
  init(_ text: String, at: MonotonicInstant) {
    var samples: [String: [Sample]] = [:]
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      guard let space = line.lastIndex(of: " "), let value = MetricsSnapshot.number(line[line.index(after: space)...]) else {
        continue
      }
      let series = line[..<space]
      let name = series.prefix { $0 != "{" }
      samples[String(name), default: []].append(
        Sample(labels: MetricsSnapshot.labels(series.dropFirst(name.count)), value: value))
    }
    self.samples = samples
    self.at = at
  }

  private static func number(_ text: Substring) -> Double? {
    switch text {
    case "+Inf": .infinity
    case "-Inf": -.infinity
    default: Double(text)
    }
  }

  /// The labels of `{a="b",c="d"}`.
  private static func labels(_ text: Substring) -> [String: String] {
    var labels: [String: String] = [:]
    var rest = text.dropFirst()
    while let equals = rest.firstIndex(of: "=") {
      let name = rest[..<equals].drop { $0 == "," }
      var value = ""
      var index = rest.index(equals, offsetBy: 2, limitedBy: rest.endIndex) ?? rest.endIndex
      while index < rest.endIndex, rest[index] != "\"" {
        if rest[index] == "\\" {
          index = rest.index(after: index)
          guard index < rest.endIndex else { break }
          value.append(rest[index] == "n" ? "\n" : rest[index])
        } else {
          value.append(rest[index])
        }
        index = rest.index(after: index)
      }
      labels[String(name)] = value
      rest = index < rest.endIndex ? rest[rest.index(after: index)...] : ""
    }
    return labels
  }

  /// The samples of a name with these labels.
  func all(_ name: String, _ labels: [String: String] = [:]) -> [Sample] {
    (samples[name] ?? []).filter { sample in labels.allSatisfy { sample.labels[$0.key] == $0.value } }
  }

  /// The sum of the samples; nil where there is none.
  func sum(_ name: String, _ labels: [String: String] = [:]) -> Double? {
    let found = all(name, labels)
    return found.isEmpty ? nil : found.reduce(0) { $0 + $1.value }
  }

  /// The processes that the samples are of: one without a name, or the nodes of a cluster.
  var instances: Set<String> { Set(samples.values.joined().map { $0.labels["instance"] ?? "" }) }

  /// The sums by process and by a key; samples without a key are left out.
  func sums<Key: Hashable>(_ name: String, by key: ([String: String]) -> Key?) -> [String: [Key: Double]] {
    var sums: [String: [Key: Double]] = [:]
    for sample in all(name) {
      guard let key = key(sample.labels) else { continue }
      sums[sample.labels["instance"] ?? "", default: [:]][key, default: 0] += sample.value
    }
    return sums
  }

  /// The upper bound of a bucket.
  fileprivate static func bound(_ labels: [String: String]) -> Double? { labels["le"].flatMap { number($0[...]) } }
}

/// The changes between two scrapes.
struct MetricsDifference {
  let before: MetricsSnapshot
  let now: MetricsSnapshot

  private var seconds: Double { max(0.001, Double(now.at.nanoseconds(since: before.at)) / 1e9) }

  /// How much a counter has grown in a second; a counter that begins anew counts from zero.
  func rate(_ name: String, _ labels: [String: String] = [:]) -> Double {
    let growths = growths(name) { found in labels.allSatisfy { found[$0.key] == $0.value } ? true : nil }
    return growths.values.reduce(0, +) / seconds
  }

  /// The same by a label, without those that have not grown.
  func rates(_ name: String, by label: String) -> [String: Double] {
    growths(name) { $0[label] ?? "" }.mapValues { $0 / seconds }.filter { $0.value > 0 }
  }

  /// How much the counters of a name have grown, by a key. A node that was not in the first scrape does not
  /// count: it has grown before.
  private func growths<Key: Hashable>(_ name: String, by key: ([String: String]) -> Key?) -> [Key: Double] {
    let known = before.instances.union([""])
    let earlier = before.sums(name, by: key)
    var growths: [Key: Double] = [:]
    for (instance, sums) in now.sums(name, by: key) where known.contains(instance) {
      for (key, later) in sums {
        let earlier = earlier[instance]?[key] ?? 0
        growths[key, default: 0] += later >= earlier ? later - earlier : later
      }
    }
    return growths
  }

  /// A quantile of the observations between the scrapes, as Prometheus' histogram_quantile
  /// estimates it; nil where there was none.
  func quantile(
    _ quantile: Double, _ name: String, where isWanted: ([String: String]) -> Bool = { _ in true }
  ) -> Double? {
    let cumulative = growths(name + "_bucket") { isWanted($0) ? MetricsSnapshot.bound($0) : nil }
      .map { (bound: $0.key, count: $0.value) }.sorted { $0.bound < $1.bound }
    guard let total = cumulative.last?.count, total > 0 else { return nil }
    let rank = quantile * total
    var (lowerBound, lowerCount) = (0.0, 0.0)
    for bucket in cumulative {
      if bucket.count >= rank {
        guard bucket.bound.isFinite else { return lowerBound }
        let share = bucket.count > lowerCount ? (rank - lowerCount) / (bucket.count - lowerCount) : 1
        return lowerBound + (bucket.bound - lowerBound) * share
      }
      (lowerBound, lowerCount) = (bucket.bound, bucket.count)
    }
    return lowerBound
  }

  /// The mean of a histogram's observations between the scrapes; nil where there was none.
  func mean(_ name: String) -> Double? {
    let count = rate(name + "_count")
    return count > 0 ? rate(name + "_sum") / count : nil
  }
}
