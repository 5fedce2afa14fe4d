import ArgumentParser
import Foundation
import ServerConfiguration
import ThrongServer

/// `throng top`: shows the live rates of the running server.
struct TopCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top", abstract: "Show the live rates of the running server.",
    discussion: """
      Reads /metrics of internalListen as the file, the environment and the flags name it. In a terminal it draws a screen until \
      Ctrl-C; otherwise it writes a line of name=value for each interval.
      """)

  @OptionGroup var options: ConfigurationOptions

  @Option(help: "Seconds between two looks.") var interval = 2.0

  @Option(help: "How many reports to write; without it there is no end.") var count: Int?

  func validate() throws {
    guard interval >= 0.1, interval <= 3600 else { throw ValidationError("--interval takes 0.1 to 3600 seconds") }
    guard count.map({ $0 > 0 }) ?? true else { throw ValidationError("--count takes 1 or more") }
  }

  func run() async throws {
    let settings = try options.load()
    let isTerminal = Terminal.isThere
    if isTerminal { write("\u{1b}[2J") }
    do {
      let top = try Top(settings, interval: .milliseconds(Int64(interval * 1000)))
      try await top.run(as: isTerminal ? .screen(size: { Terminal.size }) : .lines, count: count, write: write)
    } catch let failure as InternalClient.Failure {
      throw StandardError.failure("throng top: \(failure)")
    }
  }

  /// A reader that has gone ends the command.
  private func write(_ text: String) {
    do { try FileHandle.standardOutput.write(contentsOf: Data(text.utf8)) } catch { TopCommand.exit() }
  }
}
