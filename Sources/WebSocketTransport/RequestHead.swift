import CTransport

/// An HTTP request, or a WebSocket upgrade, without its body.
public struct RequestHead: Sendable {
  /// The method in capitals: GET, POST, …
  public let method: String
  /// The path, percent-decoded and without `.`, `..` or doubled slashes; begins with `/`.
  public let path: String
  /// The query without its question mark, percent-encoded; empty where there is none. It may hold a
  /// token: never log it.
  public let query: String
  /// `Host`, port included.
  public let host: String?
  /// `Origin`.
  public let origin: String?
  /// `Authorization`. Never log it.
  public let authorization: String?
  /// `X-Forwarded-For`; several headers joined by commas.
  public let forwardedFor: String?
  /// `X-Forwarded-Host`; several headers joined by commas.
  public let forwardedHost: String?
  /// `Forwarded` (RFC 7239); several headers joined by commas.
  public let forwarded: String?
  /// `Sec-WebSocket-Protocol` as the client sent it.
  public let subprotocols: String?
  /// `traceparent` (W3C Trace Context) as the client sent it; several headers joined by commas.
  public let traceparent: String?
  /// The peer's IP address as text, without port; an IPv4 address in its own form also on a
  /// dual-stack socket. It is the source that a PROXY header announced, and `unixPeer` where the
  /// peer of a Unix socket announced none.
  public let peerAddress: String
  /// Whether the request came over TLS.
  public let isTLS: Bool
  /// Whether it came on the internal listener.
  public let isInternal: Bool

  /// The address of the peer of a Unix socket, which no IP address and no header can spell.
  public static let unixPeer = "unix"
}

extension RequestHead {
  init(_ head: borrowing ct_request_head) {
    self.init(
      method: head.method.string ?? "", path: head.path.string ?? "/", query: head.query.string ?? "",
      host: head.host.string, origin: head.origin.string, authorization: head.authorization.string,
      forwardedFor: head.forwarded_for.string, forwardedHost: head.forwarded_host.string,
      forwarded: head.forwarded.string, subprotocols: head.subprotocols.string, traceparent: head.traceparent.string,
      peerAddress: head.peer_address.string ?? "", isTLS: head.is_tls, isInternal: head.is_internal)
  }
}

extension ct_text {
  /// The text, with invalid UTF-8 repaired; nil where there is none.
  var string: String? {
    guard let bytes, count > 0 else { return nil }
    return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
  }
}
