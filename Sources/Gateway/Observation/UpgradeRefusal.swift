/// Why an upgrade was refused, and what its client is told.
struct UpgradeRefusal: Sendable {
  /// The raw value is the label of `throng_upgrades_refused_total`.
  enum Kind: String, CaseIterable {
    case path
    case draining
    case origin
    /// Those that the transport finds by itself (RFC 6455 section 4.2.1, and what the library can read).
    case method
    case version
    case handshake
    case headers
  }

  let kind: Kind
  let status: Int
  let sentence: String

  static let path = UpgradeRefusal(
    kind: .path, status: 404, sentence: "there is no WebSocket at this path; it is at /ws of the public listener")
  static let draining = UpgradeRefusal(kind: .draining, status: 503, sentence: "the server is draining; try again later")
  static let origin = UpgradeRefusal(
    kind: .origin, status: 403,
    sentence: "the Origin does not match the Host; allowedOrigins names the origins that may connect besides")

  /// The transport has answered with that status.
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
