import Foundation
import Synchronization

/// A NATS server of the tests' own, on a free port. It ends with this process, however that ends: a
/// shell waits for the end of its input.
public final class NATSServer: Sendable {
  /// The reason why it did not start.
  public struct Failure: Error, CustomStringConvertible { public let description: String }

  /// One for all tests of a process.
  public static let shared = Result { try NATSServer() }

  private struct Running {
    let lifeline: FileHandle
    let shell: Process
  }

  /// `nats://HOST:PORT`
  public let url: String
  private let arguments: [String]
  private let running = Mutex<Running?>(nil)

  /// The server writes a line when it is ready; then the shell waits for the end of its input.
  private static let script = """
    set -u
    log=$(mktemp)
    nats-server "$@" >"$log" 2>&1 &
    server=$!
    tries=0
    until grep -q 'Server is ready' "$log"; do
      tries=$((tries + 1))
      [ "$tries" -lt 1000 ] && kill -0 "$server" || { tail -n 3 "$log"; rm -f "$log"; exit 1; }
      sleep 0.01
    done
    rm -f "$log"
    echo ready
    read -r end
    kill -KILL "$server"
    wait "$server" 2>/dev/null
    """

  /// - Parameter arguments: further ones of nats-server.
  public init(_ arguments: [String] = []) throws {
    let port = NATSServer.freePort()
    url = "nats://127.0.0.1:\(port)"
    self.arguments = ["-a", "127.0.0.1", "-p", "\(port)"] + arguments
    try start()
  }

  /// Starts it again on the same port.
  public func start() throws {
    let shell = Process()
    let (input, output) = (Pipe(), Pipe())
    shell.executableURL = URL(fileURLWithPath: "/bin/bash")
    shell.arguments = ["-c", Self.script, "nats"] + arguments
    shell.standardInput = input
    shell.standardOutput = output
    try shell.run()
    let answer = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard answer.hasPrefix("ready") else { throw Failure(description: "nats-server did not start: \(answer)") }
    running.withLock { $0 = Running(lifeline: input.fileHandleForWriting, shell: shell) }
  }

  /// Ends it at once, and returns when it is gone.
  public func kill() {
    guard let ended = running.withLock({ $0.take() }) else { return }
    try? ended.lifeline.close()
    ended.shell.waitUntilExit()
  }

  /// A port below the range of outgoing connections, so that none of them takes it meanwhile.
  private static func freePort() -> UInt16 {
    while true {
      let port = UInt16.random(in: 10_000..<32_000)
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
      let isFree = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      if isFree { return port }
    }
  }
}
