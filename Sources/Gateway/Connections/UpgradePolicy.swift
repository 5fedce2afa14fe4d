import Synchronization
import WebSocketTransport

/// Why an upgrade was refused, and the status and reason that its client gets.
struct UpgradeRefusal: Sendable {
  /// The raw value is the label of `throng_upgrades_refused_total`.
  enum Kind: String, CaseIterable {
    case path
    case draining
    case origin
    case connections
    /// The transport finds these by itself (RFC 6455, section 4.2.1).
    case method
    case version
    case handshake
    case headers
  }

  let kind: Kind
  let status: Int
  let sentence: String
  /// The key of the configuration that would allow it.
  var key: String?

  static func path(expected path: String) -> UpgradeRefusal {
    UpgradeRefusal(
      kind: .path, status: 404, sentence: "there is no WebSocket at this path; it is at \(path) of the public listener")
  }
  static let draining = UpgradeRefusal(kind: .draining, status: 503, sentence: "the server is draining; try again later")
  /// Clients that this leaves out may close too slowly to be told by 4005.
  static let connections = UpgradeRefusal(
    kind: .connections, status: 429, sentence: "a limit of connections is reached, and many are just told so; try again later")
  static let origin = UpgradeRefusal(
    kind: .origin, status: 403,
    sentence: "the Origin does not match the Host; allowedOrigins names the origins that may connect besides",
    key: "allowedOrigins")
  /// The forwarded host matches, but its sender is no proxy of ours.
  static let untrustedProxy = UpgradeRefusal(
    kind: .origin, status: 403,
    sentence: "the Origin does not match the Host; a forwarded host matches, but trustedProxies does not name its sender",
    key: "trustedProxies")

  /// The refusal behind a status with which the transport has answered.
  static func byTransport(_ status: Int, _ sentence: String) -> UpgradeRefusal {
    let kind: Kind =
      switch status {
      case 405: .method
      case 426: .version
      case 431: .headers
      default: .handshake
      }
    return UpgradeRefusal(kind: kind, status: status, sentence: sentence)
  }
}

/// Decides which requests become WebSockets or event streams.
public final class UpgradePolicy: Sendable {
  /// Where the WebSocket is.
  public let path: String
  private let origins: OriginPolicy
  private let proxies: TrustedProxies
  private let connectionLimiter: ConnectionLimiter
  private let draining = Atomic<Bool>(false)

  /// A policy that refuses nothing for draining yet.
  package init(_ configuration: GatewayConfiguration, proxies: TrustedProxies, connectionLimiter: ConnectionLimiter) {
    path = configuration.path
    origins = OriginPolicy(allowed: Set(configuration.allowedOrigins.map { $0.lowercased() }))
    self.proxies = proxies
    self.connectionLimiter = connectionLimiter
  }

  /// Refuses all upgrades, and new event streams, from now on.
  func beginDraining() { draining.store(true, ordering: .releasing) }

  /// Why an upgrade with this head is refused; nil = it is not.
  func refusal(of head: borrowing RequestHead, from client: ForwardedClient) -> UpgradeRefusal? {
    guard head.path == path, !head.isInternal else { return .path(expected: path) }
    return refusal(ofStream: head, from: client)
  }

  /// Why an event stream with this head is refused; nil = it is not.
  func refusal(ofStream head: borrowing RequestHead, from client: ForwardedClient) -> UpgradeRefusal? {
    guard !draining.load(ordering: .acquiring) else { return .draining }
    guard !connectionLimiter.refusesUpgrade(from: client.address) else { return .connections }
    return originRefusal(of: head, from: client)
  }

  /// Why the page that a request comes from may not ask; nil = it may.
  func originRefusal(of head: borrowing RequestHead, from client: ForwardedClient) -> UpgradeRefusal? {
    guard !origins.allows(origin: head.origin, host: client.host) else { return nil }
    let claimed = proxies.clientIfTrusted(head)
    return origins.allows(origin: head.origin, host: claimed.host) ? .untrustedProxy : .origin
  }

  /// The status and sentence that an upgrade with this head would be refused with, or nil. Pages ask
  /// for it, because browsers do not show them the answer to an upgrade.
  public func obstacle(of head: borrowing RequestHead) -> (status: Int, sentence: String)? {
    refusal(of: head, from: proxies.client(of: head)).map { ($0.status, $0.sentence) }
  }
}

/// The pages that may open a connection: `Origin` is compared with `Host`, port included
/// (Protocol.md, "Origins").
struct OriginPolicy: Sendable {
  let allowed: Set<String>

  func allows(origin: String?, host: String?) -> Bool {
    guard let origin else { return true }
    if allowed.contains("*") || allowed.contains(origin.lowercased()) { return true }
    let parts = origin.lowercased().split(separator: "://", maxSplits: 1)
    guard let host, parts.count == 2 else { return false }
    let (scheme, authority) = (String(parts[0]), String(parts[1]))
    return OriginPolicy.withPort(authority, scheme: scheme) == OriginPolicy.withPort(host.lowercased(), scheme: scheme)
  }

  /// The authority with the port that its scheme implies, so that `example.com` and
  /// `example.com:443` are one.
  private static func withPort(_ authority: String, scheme: String) -> String {
    let afterBracket = authority.lastIndex(of: "]") ?? authority.startIndex
    if authority[afterBracket...].contains(":") { return authority }
    return authority + (scheme == "https" || scheme == "wss" ? ":443" : ":80")
  }
}
