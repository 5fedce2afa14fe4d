import Foundation
import Synchronization
import ThrongTestKit

/// Stands between a store and PostgreSQL's Unix socket, and loses what a test wants to be lost.
final class SocketProxy: Sendable {
  /// The loss that comes next; its connection ends then.
  enum Loss: Sendable {
    /// The next bytes of the server.
    case answer
    /// The next bytes of the store.
    case request
  }

  private static let name = "/.s.PGSQL.5432"

  private let server: String
  private let directory: String
  private let listener: Int32
  private let state = Mutex(State())

  private struct State {
    var next: Loss?
    /// With the next loss the server is away.
    var goesAway = false
    var isAway = false
  }

  /// - Parameter server: the directory of the server's socket.
  init(to server: String) throws {
    self.server = server + Self.name
    directory = FileManager.default.temporaryDirectory.path + "/throng-px-\(UInt32.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    listener = Self.socket()
    guard Self.withAddress(directory + Self.name, { bind(listener, $0, $1) }) == 0, listen(listener, 64) == 0 else {
      throw PostgreSQLServer.Failure(description: "the proxy cannot listen: \(String(cString: strerror(errno)))")
    }
    Thread.detachNewThread { [self] in acceptConnections() }
  }

  /// libpq's connection string.
  var url: String { "host=\(directory) user=throng dbname=postgres" }

  /// - Parameter goesAway: no new connection is made after the loss.
  func lose(_ loss: Loss, goesAway: Bool = false) { state.withLock { ($0.next, $0.goesAway) = (loss, goesAway) } }

  /// Whether new connections end at once.
  var isAway: Bool { state.withLock { $0.isAway } }

  func comeBack() { state.withLock { $0.isAway = false } }

  func close() {
    shutdown(listener, Int32(SHUT_RDWR))
    try? FileManager.default.removeItem(atPath: directory)
  }

  private static func socket() -> Int32 { Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) }

  private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }

  private func acceptConnections() {
    while case let client = accept(listener, nil, nil), client >= 0 {
      let upstream = Self.socket()
      guard !isAway, Self.withAddress(server, { connect(upstream, $0, $1) }) == 0 else {
        Glibc.close(client)
        Glibc.close(upstream)
        continue
      }
      Thread.detachNewThread { self.carry(from: client, to: upstream, .request) }
      Thread.detachNewThread { self.carry(from: upstream, to: client, .answer) }
    }
    Glibc.close(listener)
  }

  /// Descriptors stay open until the process ends: the other thread may still use them.
  private func carry(from source: Int32, to target: Int32, _ kind: Loss) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(source, &buffer, buffer.count), count > 0 {
      let isLost = state.withLock { state in
        guard state.next == kind else { return false }
        state.next = nil
        if state.goesAway { state.isAway = true }
        return true
      }
      if isLost { break }
      var sent = 0
      while sent < count {
        let written = buffer.withUnsafeBytes { write(target, $0.baseAddress! + sent, count - sent) }
        if written <= 0 { break }
        sent += written
      }
    }
    shutdown(source, Int32(SHUT_RDWR))
    shutdown(target, Int32(SHUT_RDWR))
  }
}
