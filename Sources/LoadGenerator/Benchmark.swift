import Histogram

/// What every scenario is told.
public struct RunOptions: Sendable {
  /// Where the server listens.
  public var address: Address
  /// How long messages are sent before the window, and how long the window is, in seconds.
  public var warmUp, duration: Double
  /// The bytes of a message's text; at least `smallestSize`.
  public var size: Int
  /// The server's process, where it is on this machine.
  public var pid: Int32?
  /// How many source addresses 127.0.1.1, 127.0.1.2, … are used; nil: as many as the connections need.
  public var sources: Int?
  /// How long anything may take that the run waits for, in seconds.
  public var timeout: Double
  /// How many connections may be coming in at the same time.
  public var parallel: Int

  /// The rates that a schedule is made for, per second: from one in about a quarter of an hour to more than any server takes.
  public static let rates = 0.001...1_000_000.0
  /// A text must have room for the stamp.
  public static let smallestSize = Stamp.length

  /// Options with everything given.
  public init(
    address: Address, warmUp: Double, duration: Double, size: Int, pid: Int32?, sources: Int?, timeout: Double, parallel: Int
  ) {
    self.address = address
    self.warmUp = warmUp
    self.duration = duration
    self.size = size
    self.pid = pid
    self.sources = sources
    self.timeout = timeout
    self.parallel = parallel
  }
}

/// Something to measure.
public protocol Scenario: Sendable {
  /// The figures that conditions may be set for.
  var metrics: Set<Metric> { get }
  /// Carries it out.
  func run(_ bench: Benchmark) throws -> Report
}

/// One run: the options, and what all scenarios do alike.
public final class Benchmark {
  /// Makes the token of a user.
  public typealias TokenMaker = (String) throws -> String

  let options: RunOptions
  /// Makes the tokens of a Throng's users.
  let token: TokenMaker
  /// Is told, about once a second, how the run goes.
  let progress: ((String) -> Void)?
  private let serverBefore: ProcessUsage?

  /// Throws when the server's process is not there.
  public init(_ options: RunOptions, token: @escaping TokenMaker, progress: ((String) -> Void)?) throws(BenchmarkError) {
    self.options = options
    self.token = token
    self.progress = progress
    serverBefore = try options.pid.map { pid throws(BenchmarkError) in
      guard let usage = ProcessUsage.of(pid: pid) else { throw BenchmarkError("there is no process \(pid) (--pid)") }
      return usage
    }
  }

  /// Carries out a scenario and judges the conditions.
  public func run(_ scenario: some Scenario, conditions: [Condition]) throws -> Report {
    Poller.waitPrecisely()
    var report = try scenario.run(self)
    if options.pid != nil, report.server == nil { report.failures.append("the server's process is gone") }
    if Interruption.came { report.failures.append("interrupted: the figures are those up to then") }
    report.judge(conditions)
    return report
  }

  // MARK: - Connections

  /// The table of connections, none of them opened.
  func stage(connections: Int, dialect: any Dialect) throws -> Stage {
    try DescriptorLimit.allow(sockets: connections)
    let address = try options.address.resolve()
    var sources = options.sources ?? 0
    // One pair of addresses has some 28,000 ports.
    if options.sources == nil, address.isLoopback, connections > 20_000 { sources = connections / 20_000 + 1 }
    guard sources == 0 || address.isLoopback else { throw BenchmarkError("--sources works with a server on 127.0.0.1 only") }
    let swarm = try Swarm(count: connections, recorder: Recorder())
    let stage = Stage(
      swarm: swarm, dialect: dialect, dialing: Dialing(address: address, sources: sources), timeout: options.timeout)
    if progress != nil {
      stage.onTick = { [unowned stage, unowned self] in self.progress?("\(stage.open) of \(connections) connections") }
    }
    return stage
  }

  // MARK: - Processes

  /// The server's usage now.
  func serverUsage() -> ProcessUsage? { options.pid.flatMap { ProcessUsage.of(pid: $0) } }

  /// The server's figures between two moments.
  /// - Parameters:
  ///   - joined: its usage when all connections took part and nothing had been sent.
  func server(from start: ProcessUsage?, to end: ProcessUsage?, joined: ProcessUsage?, connections: Int) -> Report.Server? {
    guard let pid = options.pid, let before = serverBefore, let start, let end else { return nil }
    let grown = joined.map { Double($0.residentBytes - before.residentBytes) / Double(max(1, connections)) }
    return Report.Server(
      pid: pid, cpuSeconds: end.cpuSeconds - start.cpuSeconds, residentBytesBefore: before.residentBytes,
      residentBytes: end.residentBytes, peakBytes: end.peakBytes, residentBytesPerConnection: grown)
  }

  /// The parameters that all scenarios with messages have.
  var messageParameters: [Report.Parameter] {
    [
      .init(name: "size", value: .integer(options.size)), .init(name: "warmUp", value: .number(options.warmUp)),
      .init(name: "duration", value: .number(options.duration)),
    ]
  }
}
