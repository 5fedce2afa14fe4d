import Foundation
import Logging
import ServerConfiguration
import Testing

@testable import ThrongServer

/// The paths and methods of the pages (Protocol.md, "Pages"): another path is 404, another method
/// 405.
@Suite struct PageRouteTests {
  @Test func theDemoIsOnThePublicListenerWhereItIsOn() async throws {
    try await Running.with(demo: true) { server in
      let page = try server.ask("GET", "/", .public)
      #expect(page.status == 200 && page.head.contains("Content-Type: text/html; charset=utf-8\r\n"))
      #expect(page.head.contains("Content-Security-Policy: default-src 'none';") && page.head.contains("Cache-Control: no-store"))
      #expect(page.body.contains("<title>Throng</title>") && page.body.contains("guest-token\" content=\"ey"))
      let head = try server.ask("HEAD", "/", .public)
      #expect(head.status == 200 && head.body.isEmpty && head.head.contains("Content-Security-Policy: default-src 'none';"))
      for method in ["POST", "PUT", "DELETE"] {
        let refusal = try server.ask(method, "/", .public)
        #expect(refusal.status == 405 && refusal.head.contains("Allow: GET, HEAD\r\n"), "\(method)")
      }
      #expect(try server.ask("GET", "/", .internal).status == 404)
      #expect(try server.ask("GET", "/index.html", .public).status == 404)
    }
  }

  @Test func thereIsNoDemoWhereItIsOff() async throws {
    try await Running.with(demo: false) { server in
      for method in ["GET", "HEAD", "POST"] {
        let answer = try server.ask(method, "/", .public)
        #expect(answer.status == 404, "\(method)")
      }
    }
  }

  @Test func theClientLibraryIsBesideTheWebSocket() async throws {
    try await Running.with(demo: false) { server in
      for (file, type, name) in [
        ("throng.js", "text/javascript", "ThrongClient"), ("throng.d.ts", "text/plain", "ThrongClient"),
        ("throng-storage.js", "text/javascript", "IndexedDBStorage"),
        ("throng-storage.d.ts", "text/plain", "IndexedDBStorage"),
      ] {
        let answer = try server.ask("GET", "/\(file)", .public)
        #expect(answer.status == 200 && answer.head.contains("Content-Type: \(type); charset=utf-8\r\n"))
        #expect(answer.head.contains("Access-Control-Allow-Origin: *\r\n") && answer.body.contains("class \(name)"))
        #expect(try server.ask("HEAD", "/\(file)", .public).body.isEmpty)
        #expect(try server.ask("POST", "/\(file)", .public).status == 405)
        #expect(try server.ask("GET", "/\(file)", .internal).status == 404)
        #expect(try server.ask("GET", "/chat/\(file)", .public).status == 404)
      }
    }
  }

  @Test func theClientLibraryMovesWithTheWebSocket() {
    for file in ["throng.js", "throng-storage.js"] {
      #expect(ClientFile(at: "/chat/\(file)", besides: "/chat/ws") != nil, "\(file)")
    }
    for path in ["/throng.js", "/chat/", "/chat/ws", "/chat/throng.j", "/chat/x/throng.js"] {
      #expect(ClientFile(at: path, besides: "/chat/ws") == nil, "\(path)")
    }
  }

  @Test func theConsoleIsOnTheInternalListener() async throws {
    try await Running.with(demo: true) { server in
      let page = try server.ask("GET", "/console", .internal)
      #expect(page.status == 200 && page.head.contains("Content-Security-Policy: default-src 'none';"))
      #expect(page.body.contains("<title>Throng console</title>") && !page.body.contains("guest-token"))
      let head = try server.ask("HEAD", "/console", .internal)
      #expect(head.status == 200 && head.body.isEmpty)
      let refusal = try server.ask("POST", "/console", .internal)
      #expect(refusal.status == 405 && refusal.head.contains("Allow: GET, HEAD\r\n"))
      #expect(try server.ask("GET", "/console", .public).status == 404)
      #expect(try server.ask("GET", "/console/", .internal).status == 404)
    }
  }
}

/// A server in this process, with a data directory of its own.
private struct Running {
  enum Listener { case `public`, `internal` }

  let ports: [Listener: Int]

  static func with(demo: Bool, _ body: (Running) async throws -> Void) async throws {
    let directory = NSTemporaryDirectory() + "throng-routes-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let (server, ports) = try await start(demo, directory)
    server.start()
    let result: Result<Void, any Error>
    do { result = .success(try await body(Running(ports: ports))) } catch { result = .failure(error) }
    await server.stop()
    try result.get()
  }

  /// On ports below those that the system gives to clients; on others where somebody has them.
  private static func start(_ demo: Bool, _ directory: String) async throws -> (Server, [Listener: Int]) {
    while true {
      let ports: [Listener: Int] = [.public: .random(in: 28_000..<30_000), .internal: .random(in: 30_000..<32_000)]
      let settings = try Settings.load(flags: [
        ("demo", "\(demo)"), ("dataDir", "\(directory)/\(ports[.public] ?? 0)"), ("listen", "127.0.0.1:\(ports[.public] ?? 0)"),
        ("internalListen", "127.0.0.1:\(ports[.internal] ?? 0)"),
      ])
      let silent = Logger(label: "pages") { _ in SwiftLogNoOpLogHandler() }
      do {
        return (try await Server(settings, metrics: PrometheusRegistry(), logger: silent), ports)
      } catch {
        guard error.description.contains("cannot listen on") else { throw error }
      }
    }
  }

  struct Answer {
    let status: Int
    let head: String
    let body: String
  }

  /// One request on a connection of its own, read to its end.
  func ask(_ method: String, _ path: String, _ listener: Listener) throws -> Answer {
    let descriptor = try connected(to: ports[listener] ?? 0)
    let connection = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    let head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    try connection.write(contentsOf: Data(head.utf8))
    let text = String(decoding: try connection.readToEnd() ?? Data(), as: UTF8.self)
    let end = try #require(text.range(of: "\r\n\r\n"))
    let status = try #require(text.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    return Answer(status: status, head: String(text[..<end.upperBound]), body: String(text[end.upperBound...]))
  }

  private func connected(to port: Int) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
    try #require(descriptor >= 0 && result == 0, "connect: \(errno)")
    return descriptor
  }
}
