import ArgumentParser
import LoadGenerator

/// What all scenarios of `throng bench` understand.
struct BenchOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The server's address.", valueName: "ws://host:port/path"))
  var url = "ws://127.0.0.1:8080/ws"

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
    try demand(warmUp >= 0 && warmUp <= 3600, "--warm-up takes 0 to 3600 seconds")
    try demand(duration > 0 && duration <= 86400, "--duration takes more than 0 and at most 86400 seconds")
    try demand(timeout > 0 && timeout <= 3600, "--timeout takes more than 0 and at most 3600 seconds")
    try demand((RunOptions.smallestSize...12288).contains(size), "--size takes \(RunOptions.smallestSize) to 12288 bytes")
    try demand(pid.map { $0 > 0 } ?? true, "--pid takes the number of a process")
    try demand(sources.map { (1...250).contains($0) } ?? true, "--sources takes 1 to 250")
    try demand((1...4096).contains(parallel), "--parallel takes 1 to 4096")
    _ = try address()
    for condition in try conditions() where condition.metric.needsServer {
      try demand(pid != nil, "--assert '\(condition.text)' needs --pid")
    }
  }

  /// Where the server listens.
  func address() throws -> Address { try usage { () throws(BenchmarkError) in try Address(url: url) } }

  /// What must hold.
  func conditions() throws -> [Condition] {
    try usage { () throws(BenchmarkError) in
      try assertions.map { text throws(BenchmarkError) in try Condition(text) }
    }
  }

  /// The options as the load generator takes them.
  func runOptions() throws -> RunOptions {
    RunOptions(
      address: try address(), warmUp: warmUp, duration: duration, size: size, pid: pid, sources: sources, timeout: timeout,
      parallel: parallel)
  }

  /// What is wrong with the command line, as the parser wants to hear it.
  private func usage<Value>(_ body: () throws(BenchmarkError) -> Value) throws -> Value {
    do { return try body() } catch { throw ValidationError(error.description) }
  }
}

/// Ends the command with 64 unless the rate, where one is given, is one that a schedule is made for.
/// - Parameters:
///   - option: how the rate is given.
///   - what: what it counts per second.
func demandRate(_ rate: Double?, _ option: String, of what: String) throws {
  guard let rate else { return }
  let (least, most) = (RunOptions.rates.lowerBound, Int(RunOptions.rates.upperBound))
  try demand(RunOptions.rates.contains(rate), "\(option) takes \(least) to \(most) \(what) per second")
}

/// Ends the command with 64 and the sentence unless the condition holds.
func demand(_ condition: Bool, _ sentence: String) throws {
  guard condition else { throw ValidationError(sentence) }
}
