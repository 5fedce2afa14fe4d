import Glibc
import Synchronization

/// The options of every scenario.
public struct RunOptions: Sendable {
  /// The server's address.
  public var address: Address
  /// Any certificate of a wss:// server is accepted, not only a valid one.
  public var acceptsAnyCertificate: Bool
  /// Seconds of sending before the measured window, and of the window.
  public var warmUp, duration: Double
  /// The length of a message's text in bytes, `smallestSize` or more.
  public var size: Int
  /// The server's process, if it runs on this machine.
  public var pid: Int32?
  /// The number of source addresses 127.0.1.1, 127.0.1.2, …; nil: as many as needed.
  public var sources: Int?
  /// Seconds that the run waits for anything before it fails.
  public var timeout: Double
  /// The most connections between connect(2) and open.
  public var parallel: Int

  /// The rates per second that a schedule supports: from one in about a quarter of an hour to
  /// more than any server handles.
  public static let rates = 0.001...1_000_000.0
  /// A text contains a stamp.
  public static let smallestSize = Stamp.length

  /// Creates the options.
  public init(
    address: Address, acceptsAnyCertificate: Bool = false, warmUp: Double, duration: Double, size: Int, pid: Int32?,
    sources: Int?, timeout: Double, parallel: Int
  ) {
    self.address = address
    self.acceptsAnyCertificate = acceptsAnyCertificate
    self.warmUp = warmUp
    self.duration = duration
    self.size = size
    self.pid = pid
    self.sources = sources
    self.timeout = timeout
    self.parallel = parallel
  }
}

/// A kind of load and the figures it measures.
public protocol Scenario: Sendable {
  /// The figures that a condition may bound.
  var metrics: Set<Metric> { get }
  /// Measures; throws when the run cannot start.
  func run(_ bench: Benchmark) throws -> Report
}

/// The options of a benchmark, and the parts that all scenarios share.
public final class Benchmark {
  /// Makes the token of a user.
  public typealias TokenMaker = (String) throws -> String

  let options: RunOptions
  /// Makes the token of a user of a Throng server.
  let token: TokenMaker
  /// Receives a line about the run about once a second.
  let progress: ((String) -> Void)?
  private let serverBefore: ProcessUsage?

  /// Throws when the server's process does not exist.
  public init(_ options: RunOptions, token: @escaping TokenMaker, progress: ((String) -> Void)?) throws(BenchmarkError) {
    self.options = options
    self.token = token
    self.progress = progress
    serverBefore = try options.pid.map { pid throws(BenchmarkError) in
      guard let usage = ProcessUsage.of(pid: pid) else { throw BenchmarkError("there is no process \(pid) (--pid)") }
      return usage
    }
  }

  /// Runs a scenario and evaluates the conditions.
  public func run(_ scenario: some Scenario, conditions: [Condition]) throws -> Report {
    Poller.waitPrecisely()
    var report = try scenario.run(self)
    if options.pid != nil, report.server == nil { report.failures.append("the server's process is gone") }
    if Interruption.isRequested { report.failures.append("interrupted: the figures are those up to then") }
    report.evaluate(conditions)
    return report
  }

  // MARK: - Connections

  /// A run with that many connections, none of them open.
  /// - Parameter checksCompression: the connections offer permessage-deflate and check what comes.
  func makeRun(connections: Int, dialect: any Dialect, checksCompression: Bool = false) throws -> Run {
    try DescriptorLimit.allow(sockets: connections)
    let address = try options.address.resolve()
    var sources = options.sources ?? 0
    // One pair of addresses has some 28,000 ports.
    if options.sources == nil, address.isLoopback, connections > 20_000 { sources = connections / 20_000 + 1 }
    guard sources == 0 || address.isLoopback else { throw BenchmarkError("--sources works with a server on 127.0.0.1 only") }
    let tls =
      options.address.isTLS
      ? try TLSContext(host: options.address.host, trust: options.acceptsAnyCertificate ? .any : .system) : nil
    let check = checksCompression ? CompressionCheck(connections: connections) : nil
    let pool = try ClientPool(count: connections, recorder: Recorder(), compressionCheck: check)
    let run = Run(
      pool: pool, dialect: dialect, connectOptions: ConnectOptions(address: address, sources: sources, tls: tls),
      timeout: options.timeout)
    if progress != nil {
      run.onTick = { [unowned run, unowned self] in self.progress?("\(run.openCount) of \(connections) connections") }
    }
    return run
  }

  // MARK: - Processes

  /// The server's usage so far.
  func serverUsage() -> ProcessUsage? { options.pid.flatMap { ProcessUsage.of(pid: $0) } }

  /// The server's figures between two instants.
  /// - Parameter joined: its usage when all connections were open and no message was sent.
  func serverFigures(from start: ProcessUsage?, to end: ProcessUsage?, joined: ProcessUsage?, connections: Int) -> Report.Server?
  {
    guard let pid = options.pid, let before = serverBefore, let start, let end else { return nil }
    let grown = joined.map { Double($0.residentBytes - before.residentBytes) / Double(max(1, connections)) }
    return Report.Server(
      pid: pid, cpuSeconds: end.cpuSeconds - start.cpuSeconds, residentBytesBefore: before.residentBytes,
      residentBytes: end.residentBytes, peakBytes: end.peakBytes, residentBytesPerConnection: grown)
  }

  /// The parameters of all scenarios that send messages.
  func messageParameters(_ texts: MessageTexts? = nil) -> [Report.Parameter] {
    [
      texts.map { .init(name: "texts", value: .text($0.name)) } ?? .init(name: "size", value: .integer(options.size)),
      .init(name: "warmUp", value: .number(options.warmUp)), .init(name: "duration", value: .number(options.duration)),
    ]
  }
}

/// Why a run could not start or finish: a sentence for the user.
public struct BenchmarkError: Error, CustomStringConvertible {
  /// The sentence.
  public let description: String

  /// An error with that sentence.
  public init(_ description: String) { self.description = description }
}

/// Ctrl-C ends a run early, with the figures so far; a second one ends the process.
public enum Interruption {
  private static let flag = Atomic(false)

  /// A signal has come.
  static var isRequested: Bool { flag.load(ordering: .relaxed) }

  /// Lets the first SIGINT and SIGTERM end the run, not the process.
  public static func catchSignals() {
    // Initialised here, because initialising it in a signal handler would not be safe.
    _ = isRequested
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in Interruption.flag.store(true, ordering: .relaxed) }
    action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
    sigaction(SIGINT, &action, nil)
    sigaction(SIGTERM, &action, nil)
  }
}
