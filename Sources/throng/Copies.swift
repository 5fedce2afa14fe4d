import ArgumentParser
import ServerConfiguration
import ThrongServer

/// `throng backup`: copies the database beside a running server.
struct Backup: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Copy the database into a file, also beside the running server.",
    discussion: """
      The copy is the state of one instant, and is read to its end before it gets its name. The server's write-ahead log grows \
      meanwhile. A store in PostgreSQL is backed up by pg_dump. Without --with-secret a server on another machine refuses all \
      tokens, unless it gets the secret in another way. Operations.md ("Copies") says what else to keep.
      """)

  @OptionGroup var options: ConfigurationOptions

  @Flag(help: "Copy the secret for tokens, too: whoever reads the file can then sign in as anybody.")
  var withSecret = false

  @Argument(help: "The new file, which must not exist.") var file: String

  func run() async throws {
    let settings = try options.load()
    let bytes = try failing { () throws(StartError) in try settings.backUp(to: file, withSecret: withSecret) }
    print("ok: \(bytes) bytes in \(file)\(withSecret ? ", with the secret for tokens" : "")")
  }
}

/// `throng restore`: makes the database of a backup.
struct Restore: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Put a backup in the place of the database, which must be empty.",
    discussion: """
      Stop the server, and move the database with its -wal and -shm away. Every group gets a new epoch, so that clients load its \
      history anew: they may have seen messages that the backup does not have. The secret of a backup that was made with \
      --with-secret goes into dataDir/auth-secret.
      """)

  @OptionGroup var options: ConfigurationOptions

  @Flag(help: "Keep the secret of the data directory where the backup has another one.")
  var keepSecret = false

  @Argument(help: "A file that `throng backup` has made.") var file: String

  func run() async throws {
    let settings = try options.load()
    let note = try failing { () throws(StartError) in try settings.restore(from: file, keepsSecret: keepSecret) }
    if let note { StandardError.write(note) }
    print("ok")
  }
}

/// `throng export`: writes everything as JSON Lines.
struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write the whole database as JSON Lines, also beside the running server.",
    discussion: "The state of one instant; Operations.md describes the lines.")

  @OptionGroup var options: ConfigurationOptions

  @Argument(help: "The new file, which must not exist; - is standard output.") var file: String

  func run() async throws {
    let settings = try options.load()
    let rows = try failing { () throws(StartError) in try settings.export(to: file == "-" ? nil : file) }
    StandardError.write("ok: \(rows) rows")
  }
}

/// `throng import`: makes a database of an export.
struct Import: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make the database of an export, in a place where there is none.",
    discussion: "A part of an export is refused, and leaves nothing.")

  @OptionGroup var options: ConfigurationOptions

  @Argument(help: "A file that `throng export` has written; - is standard input.") var file: String

  func run() async throws {
    let settings = try options.load()
    let (rows, note) = try failing { () throws(StartError) in try settings.importAll(from: file == "-" ? nil : file) }
    if let note { StandardError.write(note) }
    print("ok: \(rows) rows")
  }
}

/// Runs `body`; its error goes to standard error, and the command ends with 1.
private func failing<Value>(_ body: () throws(StartError) -> Value) throws -> Value {
  do throws(StartError) { return try body() } catch { throw StandardError.failure(error.description) }
}
