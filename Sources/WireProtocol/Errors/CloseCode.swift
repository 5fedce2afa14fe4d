/// The reason for which the server closes a connection (Protocol.md, "Close codes"). Clients connect
/// again after 1013 and 4000 to 4499. The transport's own codes for what breaks the protocol of
/// WebSockets (1002, 1003, 1007, 1009) are none of these.
public enum CloseCode: Int, CaseIterable, Sendable {
  case normal = 1000
  /// The store cannot be read for a sign-in at the upgrade. The code is the standard's.
  case tryAgainLater = 1013
  case draining = 4001
  case slowConsumer = 4002
  case noSignOfLife = 4003
  case requestFlood = 4004
  case connectionLimit = 4005
  case tokenExpired = 4006
  case notSignedIn = 4007
  /// Events of a group may be missing: its node has gone, or cannot be heard.
  case lostTouch = 4008
  case authenticationFailed = 4500
  case badProtocol = 4501
  case replaced = 4502
  case removed = 4503

  /// The reason that the close frame carries.
  public var reason: String {
    switch self {
    case .normal: "bye"
    case .tryAgainLater: "try again later"
    case .draining: "server draining"
    case .slowConsumer: "slow consumer"
    case .noSignOfLife: "no sign of life"
    case .requestFlood: "request flood"
    case .connectionLimit: "connection limit"
    case .tokenExpired: "token expired"
    case .notSignedIn: "not signed in in time"
    case .lostTouch: "lost touch"
    case .authenticationFailed: "authentication failed"
    case .badProtocol: "bad protocol"
    case .replaced: "replaced by another device"
    case .removed: "removed by an administrator"
    }
  }
}
