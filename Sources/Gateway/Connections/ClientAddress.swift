import Foundation
import GroupModel
import WebSocketTransport

/// The client's address: behind trusted proxies, the right-most entry of X-Forwarded-For that is
/// not a trusted proxy (Protocol.md, "Client addresses").
enum ClientAddress {
  /// An entry that is no address ends the walk: nothing to its left comes from a trusted proxy.
  static func of(_ head: borrowing RequestHead, isTrustedProxy: (String) -> Bool) -> String {
    var address = head.peerAddress
    guard let forwarded = head.forwardedFor else { return address }
    // An element of a list may be empty (RFC 9110, section 5.6.1).
    var entries = forwarded.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    while isTrustedProxy(address), let entry = entries.popLast(), let next = canonical(entry) { address = next }
    return address
  }

  /// The one spelling of an entry's address, without brackets and port; nil where it has none.
  private static func canonical(_ entry: String) -> String? {
    guard let (host, port) = parts(of: entry), port.map(isPort) ?? true else { return nil }
    return IPAddress(host)?.description
  }

  /// `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:80`.
  private static func parts(of entry: String) -> (host: String, port: Substring?)? {
    let colons = entry.count { $0 == ":" }
    guard entry.hasPrefix("[") else {
      guard colons == 1, let colon = entry.firstIndex(of: ":") else { return (entry, nil) }
      return (String(entry[..<colon]), entry[entry.index(after: colon)...])
    }
    // Brackets are for IPv6 alone.
    guard colons > 1, let end = entry.firstIndex(of: "]") else { return nil }
    let host = String(entry[entry.index(after: entry.startIndex)..<end])
    let suffix = entry[entry.index(after: end)...]
    if suffix.isEmpty { return (host, nil) }
    return suffix.hasPrefix(":") ? (host, suffix.dropFirst()) : nil
  }

  private static func isPort(_ text: Substring) -> Bool {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } && UInt16(text) != nil
  }
}
