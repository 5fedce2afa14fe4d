import ArgumentParser
import LoadGenerator

/// The options of all scenarios of `throng bench`.
struct BenchOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The server's address.", valueName: "ws[s]://host:port/path"))
  var url = "ws://127.0.0.1:8080/ws"

  @Flag(help: "Accept any certificate of a wss:// server, a self-signed one too.")
  var insecure = false

  @Option(help: ArgumentHelp("How long to send before the window that is measured.", valueName: "seconds"))
  var warmUp = 1.0

  @Option(help: ArgumentHelp("How long the window is.", valueName: "seconds"))
  var duration = 10.0

  @Option(help: ArgumentHelp("The length of a message's text.", valueName: "bytes"))
  var size = 250

  @Option(help: ArgumentHelp("The server's process on this machine: its CPU and memory are told.", valueName: "pid"))
  var pid: Int32?

  @Option(help: ArgumentHelp("Connect from 127.0.1.1 to 127.0.1.N; more than 28,000 connections need it.", valueName: "n"))
  var sources: Int?

  @Option(help: ArgumentHelp("How many connections may be coming in at the same time.", valueName: "n"))
  var parallel = 200

  @Option(help: ArgumentHelp("How long the run waits for anything before it gives up.", valueName: "seconds"))
  var timeout = 30.0

  @Option(
    defaultAsFlag: "-",
    help: ArgumentHelp(
      "Write the figures as JSON to a file, or to standard output: the table goes to standard error.", valueName: "file"))
  var json: String?

  @Flag(help: "Tell nothing while the run goes on.")
  var quiet = false

  @Option(
    name: .customLong("assert"),
    help: ArgumentHelp(
      "What must hold, such as 'p99<50ms' or 'lost<=0'; if not, the exit status is 1. Repeatable.", valueName: "condition"))
  var assertions: [String] = []

  func validate() throws {
    try require(warmUp >= 0 && warmUp <= 3600, "--warm-up takes 0 to 3600 seconds")
    try require(duration > 0 && duration <= 86400, "--duration takes more than 0 and at most 86400 seconds")
    try require(timeout > 0 && timeout <= 3600, "--timeout takes more than 0 and at most 3600 seconds")
    try require((RunOptions.smallestSize...12288).contains(size), "--size takes \(RunOptions.smallestSize) to 12288 bytes")
    try require(pid.map { $0 > 0 } ?? true, "--pid takes the number of a process")
    try require(sources.map { (1...250).contains($0) } ?? true, "--sources takes 1 to 250")
    try require((1...4096).contains(parallel), "--parallel takes 1 to 4096")
    try require(try address().isTLS || !insecure, "--insecure is for wss:// addresses")
    for condition in try conditions() where condition.metric.needsServer {
      try require(pid != nil, "--assert '\(condition.text)' needs --pid")
    }
  }

  /// The server's address.
  func address() throws -> Address { try usage { () throws(BenchmarkError) in try Address(url: url) } }

  /// The conditions of `--assert`.
  func conditions() throws -> [Condition] {
    try usage { () throws(BenchmarkError) in
      try assertions.map { text throws(BenchmarkError) in try Condition(text) }
    }
  }

  /// The options for the load generator.
  func runOptions() throws -> RunOptions {
    RunOptions(
      address: try address(), acceptsAnyCertificate: insecure, warmUp: warmUp, duration: duration, size: size, pid: pid,
      sources: sources, timeout: timeout,
      parallel: parallel)
  }

  /// Turns an error of the load generator into one of the command line.
  private func usage<Value>(_ body: () throws(BenchmarkError) -> Value) throws -> Value {
    do { return try body() } catch { throw ValidationError(error.description) }
  }
}

/// Ends the command with 64 if there is a rate that a schedule does not support.
/// - Parameters:
///   - option: the rate's option.
///   - what: the things counted per second.
func validateRate(_ rate: Double?, _ option: String, of what: String) throws {
  guard let rate else { return }
  let (least, most) = (RunOptions.rates.lowerBound, Int(RunOptions.rates.upperBound))
  try require(RunOptions.rates.contains(rate), "\(option) takes \(least) to \(most) \(what) per second")
}

/// Ends the command with 64 and the sentence unless the condition holds.
func require(_ condition: Bool, _ sentence: String) throws {
  guard condition else { throw ValidationError(sentence) }
}
