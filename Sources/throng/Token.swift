import ArgumentParser
import Authentication
import Foundation
import GroupModel
import ServerConfiguration
import ThrongServer

/// `throng token`: makes a token for trying Throng out, or explains one.
struct Token: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print a token for a user, or explain a token.",
    usage: """
      throng token <user> [--ttl <duration>] [--admin] [<options>]
      throng token check <token> [<options>]
      """,
    discussion: """
      Without a subcommand it prints a token: `throng token alice` is `throng token make alice`, whose help lists the \
      options. A user who is called check or make needs the subcommand.
      """,
    subcommands: [TokenMake.self, TokenCheck.self], defaultSubcommand: TokenMake.self)
}

/// `throng token make`, or `throng token` alone: prints a token, as the application's backend would
/// make it.
struct TokenMake: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "make", abstract: "Print a token for a user.",
    discussion: "The secret is auth.secret, or the one in dataDir/auth-secret, made if missing.")

  @Argument(help: "The userID: 1-32 visible ASCII characters, not beginning with @.")
  var user: String

  @Option(help: ArgumentHelp("How long the token is good: 30s, 15m, 1h, 7d.", valueName: "duration"), transform: Lifetime.init)
  var ttl = Lifetime.oneHour

  @Flag(help: "Make an application administrator's token, for the internal listener only.")
  var admin = false

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let settings = try options.load()
    do {
      // Checked first: a wrong call creates no secret.
      try TokenIssuer.userID(user)
      let told = { (path: String) in
        StandardError.write("a secret was made in \(path); only a server with this data directory takes the token")
      }
      guard let secret = try settings.signingSecret(didMake: told) else {
        throw StandardError.failure("auth.algorithms does not name HS256, the only algorithm that throng token can sign with")
      }
      let issuer = try await TokenIssuer(secret: secret, audience: settings.auth.audience, issuer: settings.auth.issuer)
      print(try issuer.issue(user: user, lifetime: ttl.duration, isAdministrator: admin, now: SystemClocks().wall))
    } catch let error as AuthenticationError {
      throw StandardError.failure(error.description)
    }
  }

  /// A whole number of seconds, at least one.
  struct Lifetime {
    let duration: Duration

    static let oneHour = Lifetime(.seconds(3600))

    private init(_ duration: Duration) { self.duration = duration }

    init(_ text: String) throws {
      guard let duration = Duration(configurationText: text), duration >= .seconds(1) else {
        throw ValidationError("--ttl takes a duration of at least a second, such as 30s, 15m, 1h or 7d")
      }
      // A key of the configuration takes a bare number as seconds; here it may as well mean days.
      guard text.last?.isNumber != true else {
        throw ValidationError("--ttl needs a unit: \(text)s, \(text)m, \(text)h or \(text)d")
      }
      self.duration = .seconds(duration.components.seconds)
    }
  }
}

/// `throng token check`: explains a token against the configuration.
struct TokenCheck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Say what a token holds, and whether a server with this configuration accepts it.",
    discussion: "The exit status is 0 where it is accepted, and 1 where it is not. The command changes nothing.")

  @Argument(help: "The token; - reads it from standard input, so that it does not stand in the list of processes.")
  var token: String

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let settings = try options.load()
    let text = token == "-" ? TokenCheck.standardInput() : token
    let verifier: TokenVerifier
    do {
      let found = try await settings.tokenVerifier(readsURL: true)
      verifier = found.verifier
      if found.lacksSecret {
        StandardError.write("warning: no secret yet: auth.secret is not set, \(settings.dataDir) has no auth-secret")
      }
    } catch {
      throw StandardError.failure("\(error)")
    }
    let report = verifier.report(on: text, now: SystemClocks().wall)
    let running = await settings.warningOfRunningServer()
    let width = report.rows.map(\.name.count).max() ?? 0
    for row in report.rows {
      let isOfAnother = row.name == "verdict" && running != nil
      let remark = isOfAnother ? " (by this configuration, which is not that of the running server)" : ""
      print(row.name + String(repeating: " ", count: width - row.name.count) + "  " + row.text + remark)
    }
    for warning in report.warnings { StandardError.write("warning: \(warning)") }
    if let running { StandardError.write("warning: \(running); name its configuration: --config FILE or THRONG_CONFIG") }
    guard report.isAccepted else { throw ExitCode.failure }
  }

  /// The text of standard input without blanks around it: `echo` ends it with a newline.
  private static func standardInput() -> String {
    let bytes = FileHandle.standardInput.readDataToEndOfFile()
    return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
