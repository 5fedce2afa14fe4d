import Authentication
import GroupModel
import ServerConfiguration

extension Settings {
  /// Looks whether the server at `internalListen` takes tokens that are signed with this
  /// configuration's secret. A command that was not given the server's configuration reads another
  /// secret, and another database. Nothing is changed; a server that refuses the token logs it.
  /// - Returns: a sentence where a server runs and refuses them, or this configuration has no secret;
  ///   nil where none answers, the secret is the same, or nothing can be told.
  public func warningOfRunningServer() async -> String? {
    guard auth.algorithms?.contains("HS256") ?? true else { return nil }
    guard let client = try? InternalClient(self), let health = try? client.get("/healthz"), health.status == 200 else {
      return nil
    }
    let file = SecretFile(dataDirectory: dataDir)
    do {
      guard let secret = try auth.secret.map({ Array($0.utf8) }) ?? file.load() else {
        return RunningServer.lacksSecret(internalListen, file.path)
      }
      let issuer = try await TokenIssuer(secret: secret, audience: auth.audience, issuer: auth.issuer)
      let token = try issuer.issue(user: "operator", lifetime: .seconds(60), isAdministrator: true, now: SystemClocks().wall)
      let answer = try client.ask("POST", "/rpc", credential: token, body: #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
      guard answer.status == 401 else { return nil }
      return RunningServer.hasAnotherSecret(internalListen, auth.secret == nil ? file.path : "auth.secret")
    } catch {
      // A secret that cannot be read, or a server that does not answer, is told elsewhere.
      return nil
    }
  }
}

/// Sentences about a server that runs with another configuration than the command was given.
enum RunningServer {
  /// What a command that lacks the server's configuration needs.
  static let remedy = "name the server's configuration, --config FILE or THRONG_CONFIG, and run as the server's user"

  static func lacksSecret(_ address: ListenAddress, _ path: String) -> String {
    "a server runs at \(address), and there is no \(path): its secret for tokens is somewhere else"
  }

  static func hasAnotherSecret(_ address: ListenAddress, _ source: String) -> String {
    "a server runs at \(address), and it refuses tokens that are signed with the secret of \(source)"
  }

  /// The judgement of a database beside a server that runs.
  /// - Parameters:
  ///   - path: of the database; nil = there is none.
  ///   - isInUse: whether a process has it open.
  static func database(_ path: String?, isInUse: Bool, at address: ListenAddress, in directory: String) -> Finding? {
    guard let path else {
      return .warning("database", "a server runs at \(address), and there is no database in \(directory): it has another", remedy)
    }
    if isInUse { return nil }
    return .warning("database", "a server runs at \(address), and no process has \(path) open: it has another database", remedy)
  }
}
