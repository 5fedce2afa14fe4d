import ArgumentParser
import Foundation
import ServerConfiguration

/// The flags of every subcommand that reads the configuration (Configuration.md, "Sources").
struct ConfigurationOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The configuration file, YAML or JSON; otherwise that of THRONG_CONFIG.", valueName: "file"))
  var config: String?

  @Option(
    name: .customLong("set"), help: ArgumentHelp("Set a key of the configuration; repeatable.", valueName: "key=value"),
    transform: Assignment.init)
  var assignments: [Assignment] = []

  @Option(help: ArgumentHelp("The public listener; short for --set listen=….", valueName: "host:port"))
  var listen: String?

  @Option(help: ArgumentHelp("The internal listener; short for --set internalListen=….", valueName: "host:port"))
  var internalListen: String?

  @Option(help: ArgumentHelp("The data directory; short for --set dataDir=….", valueName: "directory"))
  var dataDir: String?

  @Flag(help: "Serve the demo chat page; short for --set demo=true.")
  var demo = false

  /// One `KEY=VALUE`.
  struct Assignment {
    let key: String
    let value: String

    init(_ text: String) throws {
      guard let separator = text.firstIndex(of: "="), separator != text.startIndex else {
        throw ValidationError("--set takes KEY=VALUE")
      }
      key = String(text[..<separator])
      value = String(text[text.index(after: separator)...])
    }
  }

  /// The checked configuration; its problems go to standard error, and the command ends with 1.
  func load() throws -> Settings {
    do { return try read() } catch { throw StandardError.failure(error.description) }
  }

  /// The checked configuration.
  func read() throws(ConfigurationError) -> Settings {
    let variables = ProcessInfo.processInfo.environment
    return try Settings.load(configFile: config, environment: variables, flags: flags, shortFlags: shortFlags)
  }

  /// The parser does not keep the order of `--set` and its short forms: the short forms win.
  private var shortFlags: [(name: String, key: String, value: String)] {
    let all = [
      ("--listen", "listen", listen), ("--internal-listen", "internalListen", internalListen), ("--data-dir", "dataDir", dataDir),
      ("--demo", "demo", demo ? "true" : nil),
    ]
    return all.compactMap { name, key, value in value.map { (name, key, $0) } }
  }

  private var flags: [(key: String, value: String)] { assignments.map { ($0.key, $0.value) } }
}

/// Writes the errors of commands; standard output is for their results (Operations.md, "Command
/// line").
enum StandardError {
  /// Writes a message and returns the error that ends the command with 1.
  static func failure(_ message: String) -> ExitCode {
    write(message)
    return .failure
  }

  /// Writes a line. A failed write is ignored, because the exit status tells of the error too.
  static func write(_ message: String) {
    try? FileHandle.standardError.write(contentsOf: Data((message + "\n").utf8))
  }
}
