/// Why an upgrade was refused; the raw value is the label of `throng_upgrades_refused_total`.
enum UpgradeRefusal: String, CaseIterable, Sendable {
  case path
  case draining
  case origin
  /// Those that the transport finds by itself (RFC 6455 section 4.2.1, and what the library can read).
  case method
  case version
  case handshake
  case headers

  /// The transport's own refusal of that status.
  init(transportStatus status: Int) {
    self =
      switch status {
      case 405: .method
      case 426: .version
      case 431: .headers
      default: .handshake
      }
  }

  /// The HTTP status that answers it.
  var status: Int {
    switch self {
    case .path: 404
    case .draining: 503
    case .origin: 403
    case .method: 405
    case .version: 426
    case .handshake: 400
    case .headers: 431
    }
  }

  /// What the client and the log are told.
  var sentence: String {
    switch self {
    case .path: "there is no WebSocket at this path; it is at /ws of the public listener"
    case .draining: "the server is draining; try again later"
    case .origin: "the Origin does not match the Host; allowedOrigins names the origins that may connect besides"
    case .method: "an upgrade is a GET"
    case .version: "the only version of WebSocket spoken here is 13"
    case .handshake: "an upgrade needs Host and Sec-WebSocket-Key"
    case .headers: "the header fields are too long"
    }
  }
}
