import ArgumentParser
import ServerConfiguration

/// The executable (Operations.md, "Command line").
@main
struct Throng: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "throng", abstract: "A real-time group-messaging server.", version: Version.text,
    subcommands: [
      Serve.self, Token.self, Config.self, Store.self, Backup.self, Restore.self, Export.self, Import.self, Migrate.self,
      Cluster.self, DoctorCommand.self,
      TopCommand.self, Health.self, Bench.self, Version.self,
    ])
}

/// `throng version`: prints the release.
struct Version: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Print the version.")

  static let text = "throng \(Release.version)"

  func run() { print(Version.text) }
}
