import ArgumentParser
import Authentication
import GroupModel
import ServerConfiguration
import ThrongServer

/// `throng token`: prints a token for trying Throng out, as the application's backend would make
/// it.
struct Token: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print a token for a user.",
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
      self.duration = .seconds(duration.components.seconds)
    }
  }
}
