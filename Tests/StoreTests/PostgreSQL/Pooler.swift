import Foundation
import ThrongTestKit

/// PgBouncer before the PostgreSQL of the tests. It ends with this process, however that ends: a
/// shell waits for the end of its input.
final class Pooler {
  private let directory: String
  private let lifeline: FileHandle
  private let shell = Process()

  /// PgBouncer refuses to work for root.
  private static let script = """
    set -u
    directory=$1
    as_user() { "$@"; }
    if [ "$(id -u)" = 0 ]; then
      chown -R postgres "$directory"
      as_user() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
    fi
    as_user pgbouncer "$directory/pgbouncer.ini" >"$directory/log" 2>&1 &
    pooler=$!
    until grep -q "process up" "$directory/log"; do
      kill -0 "$pooler" 2>/dev/null || { tail -n 3 "$directory/log"; exit 1; }
      sleep 0.02
    done
    echo ready
    read -r end
    # A shell without job control lets its children ignore SIGINT and SIGQUIT.
    kill -KILL "$(cat "$directory/pid")"
    wait "$pooler"
    """

  /// - Parameters:
  ///   - server: libpq's connection string of PostgreSQL on a Unix socket.
  ///   - settings: lines of PgBouncer's own.
  init(to server: String, _ settings: String...) throws {
    directory = FileManager.default.temporaryDirectory.path + "/throng-pb-\(UInt32.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    let file = """
      [databases]
      postgres = \(server)
      [pgbouncer]
      unix_socket_dir = \(directory)
      listen_port = 5432
      auth_type = any
      pidfile = \(directory)/pid
      \(settings.joined(separator: "\n"))
      """
    try Data(file.utf8).write(to: URL(filePath: directory + "/pgbouncer.ini"))
    let (input, output) = (Pipe(), Pipe())
    shell.executableURL = URL(fileURLWithPath: "/bin/bash")
    shell.arguments = ["-c", Self.script, "pooler", directory]
    shell.standardInput = input
    shell.standardOutput = output
    try shell.run()
    lifeline = input.fileHandleForWriting
    let answer = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard answer.hasPrefix("ready") else {
      throw PostgreSQLServer.Failure(description: "PgBouncer did not start (Scripts/install-packages tests): \(answer)")
    }
  }

  /// libpq's connection string.
  var url: String { "host=\(directory) user=throng dbname=postgres" }

  func close() {
    try? lifeline.close()
    shell.waitUntilExit()
    try? FileManager.default.removeItem(atPath: directory)
  }
}
