import Foundation

/// A PostgreSQL server of the tests' own, in a temporary directory, without a port. It ends with this
/// process, however that ends: a shell waits for the end of its input.
public final class PostgreSQLServer: Sendable {
  /// The reason why it did not start.
  public struct Failure: Error, CustomStringConvertible {
    public let description: String

    /// A reason in a sentence.
    public init(description: String) { self.description = description }
  }

  private let directory: String
  /// Its other end is closed with this process.
  private let lifeline: FileHandle

  /// One for all tests of a process.
  public static let shared = Result { try PostgreSQLServer() }

  /// initdb refuses to work for root. The shell ends the server when its input ends.
  private static let script = """
    set -u
    directory=$1 programs=$2
    as_user() { "$@"; }
    if [ "$(id -u)" = 0 ]; then
      chown postgres "$directory"
      as_user() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
    fi
    cd "$directory"
    as_user "$programs/initdb" -D "$directory/data" -U throng -A trust -E UTF8 --locale=C.UTF-8 --no-sync >"$directory/log" 2>&1 ||
      { tail -n 3 "$directory/log"; exit 1; }
    as_user "$programs/postgres" -D "$directory/data" -k "$directory" -c listen_addresses= -c fsync=off -c full_page_writes=off \\
      -c max_connections=1000 -c shared_buffers=64MB -c max_wal_size=256MB -c lock_timeout=0 -c authentication_timeout=600 \\
      >>"$directory/log" 2>&1 &
    server=$!
    tries=0
    until as_user "$programs/pg_isready" -q -h "$directory" -U throng -d postgres; do
      tries=$((tries + 1))
      [ "$tries" -lt 300 ] && kill -0 "$server" || { tail -n 3 "$directory/log"; exit 1; }
      sleep 0.1
    done
    # In a schema that outlives those of the tests.
    "$programs/psql" -q -h "$directory" -U throng -d postgres -c 'CREATE EXTENSION pg_trgm SCHEMA public' >>"$directory/log" 2>&1 ||
      { tail -n 3 "$directory/log"; exit 1; }
    echo ready
    read -r end
    kill -INT "$(head -n 1 "$directory/data/postmaster.pid")"
    wait "$server"
    rm -rf "$directory"
    """

  private init() throws {
    let programs = try Self.programs()
    directory = FileManager.default.temporaryDirectory.path + "/throng-pg-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    let shell = Process()
    let (input, output) = (Pipe(), Pipe())
    shell.executableURL = URL(fileURLWithPath: "/bin/bash")
    shell.arguments = ["-c", Self.script, "postgresql", directory, programs]
    shell.standardInput = input
    shell.standardOutput = output
    try shell.run()
    lifeline = input.fileHandleForWriting
    let answer = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard answer.hasPrefix("ready") else { throw Failure(description: "PostgreSQL did not start: \(answer)") }
  }

  private static func programs() throws -> String {
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
    let newest = versions.compactMap { Int($0) }.max()
    guard let newest else { throw Failure(description: "PostgreSQL is not installed: Scripts/install-packages tests") }
    return "/usr/lib/postgresql/\(newest)/bin"
  }

  /// libpq's connection string.
  public var url: String { "host=\(directory) user=throng dbname=postgres" }
}
