import ArgumentParser
import Authentication
import GroupModel
import ServerConfiguration
import ThrongServer

/// `throng cluster`: commands about several nodes, by the internal listener of any of them.
struct Cluster: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the nodes of a cluster, or drain one.", subcommands: [ClusterStatusCommand.self, ClusterDrain.self])
}

/// `throng cluster status`: prints the nodes and their shards.
struct ClusterStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Print the nodes, their shards and the age of their last sign of life.")

  @Flag(help: "Print JSON.")
  var json = false

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let settings = try options.load()
    do {
      let status = try ClusterCommands.status(settings)
      print(json ? try status.json : status.table)
    } catch {
      throw StandardError.failure("throng cluster status: \(error)")
    }
  }
}

/// `throng cluster drain`: lets a node give its shards back and end.
struct ClusterDrain: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drain", abstract: "Let a node give its shards back, close its sessions and end.",
    discussion: """
      Asks the internal listener of any node, with admin.apiKey or a token that is signed with auth.secret. Returns when all nodes \
      know it; the node ends after drain.duration. Where no other node serves, it refuses and ends with 1, unless --last is given.
      """)

  @Argument(help: "The node's name, or its number, as throng cluster status shows them; a name comes first.")
  var node: String

  @Flag(help: "Drain it also where no other node serves: nobody is served until a node starts.")
  var last = false

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let settings = try options.load()
    do {
      print(try ClusterCommands.drain(node, evenLast: last, settings, credential: try await credential(settings)))
    } catch {
      throw StandardError.failure("throng cluster drain: \(error)")
    }
  }

  private func credential(_ settings: Settings) async throws -> String {
    if let key = settings.admin.apiKey { return key }
    guard let secret = try settings.signingSecret() else {
      throw StandardError.failure("set admin.apiKey: auth.algorithms does not name HS256, so no token can be signed")
    }
    let issuer = try await TokenIssuer(secret: secret, audience: settings.auth.audience, issuer: settings.auth.issuer)
    return try issuer.issue(user: "operator", lifetime: .seconds(60), isAdministrator: true, now: SystemClocks().wall)
  }
}
