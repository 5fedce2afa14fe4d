import Foundation
import GroupModel

/// Addresses as proxies write them (Protocol.md, "Client addresses").
enum ClientAddress {
  /// The one spelling of an entry's address, without brackets and port; nil where it has none.
  static func canonical(_ entry: String) -> String? {
    guard let (host, port) = parts(of: entry), port.map(isPort) ?? true else { return nil }
    return IPAddress(host)?.description
  }

  /// What addresses of one client have in common: of IPv6 the leading bits, else all of it.
  static func source(of address: String, prefixLength: Int) -> String {
    guard address.utf8.contains(UInt8(ascii: ":")), let six = IPAddress(address), six.isIPv6 else { return address }
    return six.prefix(prefixLength)
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
