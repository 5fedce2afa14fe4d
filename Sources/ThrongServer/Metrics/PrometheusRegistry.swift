import CoreMetrics
import Synchronization

/// Keeps the metrics of swift-metrics for `GET /metrics`, in the Prometheus text format 0.0.4
/// (Operations.md, "Metrics").
///
/// The same name and labels are the same series. Recording neither locks nor allocates; creating a
/// series locks. Timers are histograms in seconds, aggregating recorders are histograms of any
/// unit.
public final class PrometheusRegistry: Sendable {
  /// The counter of refused series and rows, which shows that a measurement is missing.
  public static let refusedName = "throng_metrics_refused_total"

  private let state: Mutex<RegistryState>
  private let refused: CounterSeries
  private let maxSeries: Int

  /// A registry with its counter of refusals alone.
  /// - Parameter maxSeries: the most series; further ones are counted in `refusedName` and not
  ///   shown.
  public init(maxSeries: Int = 10_000) {
    self.maxSeries = maxSeries
    state = Mutex(RegistryState(maxSeries: maxSeries))
    refused = CounterSeries()
    let done = state.withLock { state in
      state.update(PrometheusRegistry.refusedName, .counter) { family in
        family.help = "Series that were not kept: too many, a name of another type, or labels that cannot be used."
        family.series[.none] = refused
      }
    }
    precondition(done, "the name is legal and the registry is empty")
  }

  /// How many series are recorded, those that are read at each scrape not included.
  var seriesCount: Int { state.withLock { $0.seriesCount } }

  /// Sets the HELP line of a metric. Its TYPE is shown from then on, also without a series.
  /// - Parameter name: the name in swift-metrics, with or without the `_total` of a counter.
  public func describe(_ name: String, help: String, type: MetricType) {
    update(name, type) { $0.help = help }
  }

  /// Adds a metric whose values are read at each scrape.
  /// - Parameter read: returns all current values; rows with repeated or illegal labels are
  ///   refused.
  public func collect(
    _ name: String, help: String, type: ScrapedType,
    _ read: @escaping @Sendable () async -> [(labels: [(String, String)], value: Double)]
  ) {
    update(name, type.type) { family in
      family.help = help
      family.readers.append { await read().map { (labels: $0.labels, value: .number($0.value)) } }
    }
  }

  /// Adds a histogram that something else counts, read at each scrape.
  /// - Parameters:
  ///   - bounds: the largest observation of each bucket but the last, ascending.
  ///   - read: returns all current readings, each with one bucket more than there are bounds; rows
  ///     with repeated or illegal labels, or other buckets, are refused.
  public func collectHistogram(
    _ name: String, help: String, bounds: [Double],
    _ read: @escaping @Sendable () async -> [(labels: [(String, String)], reading: HistogramReading)]
  ) {
    update(name, .histogram) { family in
      family.help = help
      family.bounds = bounds
      family.readers.append { await read().map { (labels: $0.labels, value: .histogram($0.reading)) } }
    }
  }

  /// The text of all recorded metrics, without those of `collect`, in a stable order.
  public func render() -> [UInt8] { render(read: [:]) }

  /// The text of all metrics, those of `collect` included.
  public func renderAll() async -> [UInt8] {
    var read: [String: [LabelSet: ScrapedValue]] = [:]
    for family in state.withLock({ $0.families }).values where !family.readers.isEmpty {
      read[family.name] = await values(of: family)
    }
    return render(read: read)
  }

  private func render(read: [String: [LabelSet: ScrapedValue]]) -> [UInt8] {
    var writer = ExpositionWriter()
    for family in state.withLock({ $0.families }).values.sorted(by: { $0.name < $1.name }) {
      family.write(into: &writer, read: read[family.name] ?? [:])
    }
    return writer.bytes
  }

  private func values(of family: MetricFamily) async -> [LabelSet: ScrapedValue] {
    var values: [LabelSet: ScrapedValue] = [:]
    for read in family.readers {
      for row in await read() {
        guard let labels = LabelSet(row.labels, of: family.type), values.count < maxSeries,
          family.series[labels] == nil, values[labels] == nil, family.accepts(row.value)
        else {
          refuse()
          continue
        }
        values[labels] = row.value
      }
    }
    return values
  }

  private func update(_ name: String, _ type: MetricType, _ change: @Sendable (inout MetricFamily) -> Void) {
    let done = state.withLock { $0.update(name, type, change) }
    if !done { refuse() }
  }

  /// The kept series, or else one that the text does not show.
  private func series<Series: MetricSeries>(
    _ label: String, _ type: MetricType, _ dimensions: [(String, String)], _ make: @Sendable (inout MetricFamily) -> Series
  ) -> Series {
    if let labels = LabelSet(dimensions, of: type), let kept = state.withLock({ $0.series(label, type, labels, make) }) {
      return kept
    }
    refuse()
    var apart = MetricFamily(name: label, type: type)
    return make(&apart)
  }

  private func histogram(
    _ label: String, _ dimensions: [(String, String)], _ bounds: [Double]
  ) -> HistogramSeries {
    series(label, .histogram, dimensions) { family in
      let bounds = family.bounds ?? bounds
      family.bounds = bounds
      return HistogramSeries(bounds: bounds)
    }
  }

  private func refuse() { refused.increment(by: Int64(1)) }

  private func forget(_ series: AnyObject) { state.withLock { $0.remove(series) } }
}

extension PrometheusRegistry: MetricsFactory {
  /// A counter; its name ends in `_total` in the text.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    series(label, .counter, dimensions) { _ in CounterSeries() }
  }

  /// A counter of amounts with fractions.
  public func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> any FloatingPointCounterHandler {
    series(label, .counter, dimensions) { _ in CounterSeries() }
  }

  /// A gauge.
  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    series(label, .gauge, dimensions) { _ in GaugeSeries() }
  }

  /// A histogram of sizes or counts; a gauge where nothing is to be aggregated.
  public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    guard aggregate else { return series(label, .gauge, dimensions) { _ in GaugeSeries() } }
    return histogram(label, dimensions, HistogramSeries.sizeBounds)
  }

  /// A histogram of durations in seconds.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    histogram(label, dimensions, HistogramSeries.durationBounds)
  }

  /// Takes the series out of the text, for all who share it.
  public func destroyCounter(_ handler: any CounterHandler) { forget(handler) }

  /// Takes the series out of the text, for all who share it.
  public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { forget(handler) }

  /// Takes the series out of the text, for all who share it.
  public func destroyMeter(_ handler: any MeterHandler) { forget(handler) }

  /// Takes the series out of the text, for all who share it.
  public func destroyRecorder(_ handler: any RecorderHandler) { forget(handler) }

  /// Takes the series out of the text, for all who share it.
  public func destroyTimer(_ handler: any TimerHandler) { forget(handler) }
}
