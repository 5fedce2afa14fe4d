import Authentication
import CPages
import GroupModel
import ServerConfiguration

/// The demo chat page (Protocol.md, "Pages"), which signs its reader in as a new guest.
struct DemoPage: Sendable {
  /// The directory of the WebSocket's path, with a slash at its end.
  let path: String
  /// The name of the WebSocket in that directory: the page connects relative to its own address,
  /// which a proxy may have changed.
  private let socketName: String
  private let issuer: TokenIssuer?

  /// How long a guest may stay.
  static let lifetime = Duration.seconds(3600)

  /// - Parameters:
  ///   - socketPath: the path of the WebSocket.
  ///   - issuer: nil = the page has no token and asks for one.
  init(besides socketPath: String, issuer: TokenIssuer?) {
    path = DemoPage.directory(of: socketPath)
    socketName = String(socketPath.dropFirst(path.count))
    self.issuer = issuer
  }

  /// The directory of a path, with a slash at its end.
  static func directory(of path: String) -> String {
    String(path[..<(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)])
  }

  /// The page of one load, with the token of a new guest.
  func load(now: WallInstant) throws(AuthenticationError) -> Page {
    let guest = "guest-" + PageTemplate.random(8)
    let token = try issuer?.issue(user: guest, lifetime: DemoPage.lifetime, now: now)
    return DemoPage.template.load(["token": token ?? "", "socket": socketName])
  }

  private static let template = PageTemplate(cp_demo_html(), style: cp_demo_style(), script: cp_demo_script())
}

extension DemoPage {
  /// The configured page: nil where `demo` is off, without tokens where there is no HS256 secret.
  init?(_ settings: Settings) async throws(AuthenticationError) {
    guard settings.demo else { return nil }
    guard let secret = try settings.signingSecret() else {
      self.init(besides: settings.path, issuer: nil)
      return
    }
    self.init(
      besides: settings.path,
      issuer: try await TokenIssuer(secret: secret, audience: settings.auth.audience, issuer: settings.auth.issuer))
  }
}

/// A file of the client library, which the public listener serves beside the WebSocket
/// (Protocol.md, "Pages").
struct ClientFile: Sendable {
  let contentType: String
  let body: [UInt8]

  /// The file at this path; nil where there is none.
  /// - Parameter socketPath: the path of the WebSocket.
  init?(at path: String, besides socketPath: String) {
    let directory = DemoPage.directory(of: socketPath)
    guard path.hasPrefix(directory) else { return nil }
    switch path.dropFirst(directory.count) {
    case "throng.js": (contentType, body) = (ClientFile.script, cp_client_script().content)
    case "throng.d.ts": (contentType, body) = (ClientFile.types, cp_client_types().content)
    case "throng-storage.js": (contentType, body) = (ClientFile.script, cp_storage_script().content)
    case "throng-storage.d.ts": (contentType, body) = (ClientFile.types, cp_storage_types().content)
    default: return nil
    }
  }

  private static let script = "text/javascript; charset=utf-8"
  private static let types = "text/plain; charset=utf-8"

  /// Pages of any origin may load it: it holds nothing of the server's users.
  static let headers = [
    ("Access-Control-Allow-Origin", "*"), ("Cross-Origin-Resource-Policy", "cross-origin"),
    ("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-cache"),
  ]
}

/// The administration page (Protocol.md, "Pages"). It holds no secret: its reader enters the
/// credential with which it calls `POST /rpc`.
enum ConsolePage {
  /// The page of one load.
  static func load() -> Page { template.load() }

  private static let template = PageTemplate(cp_console_html(), style: cp_console_style(), script: cp_console_script())
}
