import Authentication
import Foundation
import GroupModel
import SQLiteStore
import ServerConfiguration

// Copies of the store (Operations.md, "Copies" and "Export").

extension Settings {
  /// Copies the database into a new file, also beside a running server.
  /// - Parameter withSecret: whether the copy keeps the HS256 secret for tokens, too.
  /// - Returns: the bytes of the copy.
  public func backUp(to path: String, withSecret: Bool = false) throws(StartError) -> Int {
    try requireFile("back it up with pg_dump, which also works beside a running server")
    let secret = try withSecret ? secretToCopy() : nil
    return try StartError.translating { () throws(StoreOpenError) in
      try DatabaseBackup.make(directory: dataDir, database: store.databasePath, to: path, secret: secret)
    }
  }

  /// Makes the database of a copy. There must be none, and no server may run. The secret that the
  /// copy keeps goes into the data directory, where the server finds it.
  /// - Parameter keepsSecret: whether another secret in the data directory may stay.
  /// - Returns: a sentence about the secret for the operator; nil where there is nothing to know.
  /// - Throws: also where the data directory has another secret than the copy, before anything is made.
  public func restore(from path: String, keepsSecret: Bool = false) throws(StartError) -> String? {
    try requireFile("restore it with pg_restore into an empty database")
    let copied = try StartError.translating { () throws(StoreOpenError) in try DatabaseBackup.secret(in: path) }
    let file = SecretFile(dataDirectory: dataDir)
    let takesFile = takesSecret && auth.secret == nil
    let present = try takesFile ? load(file) : nil
    if !keepsSecret, let copied, let present, copied != present {
      throw StartError(
        "\(file.path) has another secret than the backup, so tokens of one of them would be refused: move it away, or keep it "
          + "with --keep-secret")
    }
    try StartError.translating { () throws(StoreOpenError) in
      try DatabaseBackup.restore(from: path, directory: dataDir, database: store.databasePath, now: SystemClocks().wall)
    }
    guard takesFile else { return noteOnConfiguredSecret(copied) }
    guard present == nil else { return nil }
    guard let copied else { return missingSecret(file, "the backup has no secret for tokens (throng backup --with-secret)") }
    return try put(copied, into: file)
  }

  /// A sentence about a secret that came with nothing, and is not there either.
  private func missingSecret(_ file: SecretFile, _ reason: String) -> String {
    "\(reason), and there is no \(file.path): put the former file there, or the first start makes another secret, and refuses the "
      + "tokens that were signed before"
  }

  /// Whether tokens are signed with the HS256 secret.
  private var takesSecret: Bool { auth.algorithms?.contains("HS256") ?? true }

  /// The secret as a start would find it.
  private func secretToCopy() throws(StartError) -> [UInt8] {
    guard takesSecret else { throw StartError("auth.algorithms does not name HS256, so there is no secret for tokens to copy") }
    if let secret = auth.secret.map({ Array($0.utf8) }) {
      if SecretFile.canHold(secret) { return secret }
      throw StartError("auth.secret begins or ends with a blank, which a file does not keep: copy the configuration instead")
    }
    let file = SecretFile(dataDirectory: dataDir)
    guard let secret = try load(file) else {
      throw StartError("there is no \(file.path) yet, so there is no secret for tokens to copy")
    }
    return secret
  }

  private func load(_ file: SecretFile) throws(StartError) -> [UInt8]? {
    try StartError.translating { () throws(AuthenticationError) in try file.load() }
  }

  private func noteOnConfiguredSecret(_ copied: [UInt8]?) -> String? {
    guard takesSecret, let copied, let secret = auth.secret, Array(secret.utf8) != copied else { return nil }
    return "auth.secret is set, and the backup has another secret, which was not put anywhere: tokens that were signed with that "
      + "one are refused"
  }

  private func put(_ secret: [UInt8], into file: SecretFile) throws(StartError) -> String {
    let isMade = try StartError.translating { () throws(AuthenticationError) in try file.make(holding: secret) }
    guard isMade else {
      throw StartError("the database is restored, but another process has made \(file.path) meanwhile, with a secret of its own")
    }
    return "the secret for tokens is in \(file.path)"
  }

  /// Writes everything in the database as JSON Lines, also beside a running server.
  /// - Parameter path: a new file; nil = standard output.
  /// - Returns: how many rows were written.
  public func export(to path: String?) throws(StartError) -> Int {
    try requireFile("export it with PostgreSQL's own means, such as COPY")
    return try StartError.translating { () throws(StoreOpenError) in
      try DatabaseExport.write(
        directory: dataDir, database: store.databasePath, to: path, or: .standardOutput, now: SystemClocks().wall)
    }
  }

  /// Makes the database of an export. There must be none, and no server may run.
  /// - Parameter path: nil = standard input.
  /// - Returns: how many rows were read, and a sentence about the secret for the operator; nil where
  ///   there is nothing to know.
  public func importAll(from path: String?) throws(StartError) -> (rows: Int, note: String?) {
    try requireFile("import into a file, and move from there")
    let input: FileHandle
    do {
      input = try path.map { try FileHandle(forReadingFrom: URL(fileURLWithPath: $0)) } ?? .standardInput
    } catch {
      throw StartError("cannot read \(path ?? "standard input"): \(error.localizedDescription)")
    }
    let file = SecretFile(dataDirectory: dataDir)
    // Before anything is made, so that a file that cannot be read leaves nothing half done.
    let lacksSecret = takesSecret && auth.secret == nil ? try load(file) == nil : false
    let rows: Int
    do throws(StoreOpenError) {
      rows = try DatabaseImport.read(input, directory: dataDir, database: store.databasePath, now: SystemClocks().wall)
    } catch {
      let isOfInput = error.kind == .corrupt || error.kind == .newer
      throw StartError(isOfInput ? "\(path ?? "standard input"): \(error.description)" : error.description)
    }
    return (rows, lacksSecret ? missingSecret(file, "an export has no secret for tokens") : nil)
  }

  private func requireFile(_ otherwise: String) throws(StartError) {
    if store.postgreSQL != nil { throw StartError("only a database in a file; that of store.url is in PostgreSQL: \(otherwise)") }
  }
}
