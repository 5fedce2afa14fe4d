import ArgumentParser
import ServerConfiguration
import ThrongServer

/// `throng migrate`: copies the database of a stopped server into another one.
struct Migrate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Copy the database of a stopped server from SQLite to PostgreSQL.",
    discussion: """
      The new database must be empty. Nothing is changed in the old one, apart from the schema of an older version. Where the command \
      is interrupted, the same command goes on. At the end every row is read back and compared; only then can a server begin with \
      the new database.
      """)

  @Option(help: ArgumentHelp("The old database, as store.url names it.", valueName: "sqlite:path"))
  var from: String

  @Option(help: ArgumentHelp("The new database, as store.url names it.", valueName: "postgres://host/database"))
  var to: String

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let settings = try options.load()
    do throws(StartError) {
      let migration = try Migration(from: from, in: settings.dataDir, to: to) { print($0) }
      try migration.run()
    } catch {
      throw StandardError.failure("throng migrate: \(error)")
    }
  }
}
