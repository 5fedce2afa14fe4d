import WebSocketTransport

/// Whose connection it is (contract section 9, trustedProxies): behind trusted proxies, "the right-most entry of X-Forwarded-For
/// that is not a trusted proxy".
enum ClientAddress {
  static func of(_ head: borrowing RequestHead, isTrustedProxy: (String) -> Bool) -> String {
    guard isTrustedProxy(head.peerAddress), let forwarded = head.forwardedFor else { return head.peerAddress }
    let entries = forwarded.split(separator: ",").map { $0.filter { !$0.isWhitespace } }
    return entries.last { !isTrustedProxy($0) } ?? entries.first ?? head.peerAddress
  }
}
