@testable import WebSocketTransport

extension RequestHead {
  /// A GET for `a.example` on the public listener.
  static func of(
    peer: String, path: String = "/ws", query: String = "", host: String? = "a.example", origin: String? = nil,
    forwardedFor: String? = nil, forwardedHost: String? = nil, forwarded: String? = nil
  ) -> RequestHead {
    RequestHead(
      method: "GET", path: path, query: query, host: host, origin: origin, authorization: nil, forwardedFor: forwardedFor,
      forwardedHost: forwardedHost, forwarded: forwarded, subprotocols: nil, traceparent: nil, peerAddress: peer, isTLS: false,
      isInternal: false)
  }
}
