/// The families and series that a registry keeps.
struct RegistryState: Sendable {
  private(set) var families: [String: MetricFamily] = [:]
  /// The names of all samples: no two families may share one.
  private var names: Set<String> = []
  private(set) var seriesCount = 0
  private let maxSeries: Int

  init(maxSeries: Int) { self.maxSeries = maxSeries }

  /// Changes a family, which is created if missing; false where the name is illegal or in other
  /// use.
  mutating func update(_ label: String, _ type: MetricType, _ change: (inout MetricFamily) -> Void) -> Bool {
    guard let name = MetricName.family(label, of: type) else { return false }
    if let known = families[name]?.type {
      guard known == type else { return false }
    } else {
      let family = MetricFamily(name: name, type: type)
      guard names.isDisjoint(with: family.names) else { return false }
      names.formUnion(family.names)
      families[name] = family
    }
    // In place: a copy of the family would copy all its series.
    change(&families[name, default: MetricFamily(name: name, type: type)])
    return true
  }

  /// The series with those labels, created if missing; nil where the name is in other use, or there
  /// are too many series.
  mutating func series<Series: MetricSeries>(
    _ label: String, _ type: MetricType, _ labels: LabelSet, _ make: (inout MetricFamily) -> Series
  ) -> Series? {
    if let name = MetricName.family(label, of: type), let known = families[name]?.series[labels] { return known as? Series }
    guard seriesCount < maxSeries else { return nil }
    var made: Series?
    let done = update(label, type) { family in
      let series = make(&family)
      family.series[labels] = series
      made = series
    }
    if done { seriesCount += 1 }
    return made
  }

  /// Removes a series, and its family where nothing else is left of it.
  mutating func remove(_ series: AnyObject) {
    for var family in families.values {
      guard let labels = family.series.first(where: { $0.value === series })?.key else { continue }
      family.series[labels] = nil
      seriesCount -= 1
      let isForgotten = family.series.isEmpty && family.readers.isEmpty && family.help == nil
      if isForgotten { names.subtract(family.names) }
      families[family.name] = isForgotten ? nil : family
      return
    }
  }
}
