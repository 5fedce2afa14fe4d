import Foundation
import WebSocketTransport

/// The headers in which trusted proxies name the client (`forwardedHeader`). The others come from the
/// client, whatever they say.
public enum ForwardingHeaders: Sendable {
  /// `Forwarded` where it is there, else `X-Forwarded-For` and `X-Forwarded-Host`.
  case any
  /// `X-Forwarded-For` and `X-Forwarded-Host`.
  case xForwarded
  /// `Forwarded`.
  case forwarded
}

/// The client of a request as its proxies tell of it (Protocol.md, "Client addresses").
struct ForwardedClient: Equatable {
  /// The right-most address that is not a trusted proxy's.
  let address: String
  /// The host that the client asked for, with which `Origin` is compared.
  let host: String?

  /// Reads the headers from the right for as long as trusted proxies wrote them. A hop without an
  /// address ends the walk: nothing to its left comes from a trusted proxy.
  init(of head: borrowing RequestHead, by headers: ForwardingHeaders, isTrustedProxy: (String) -> Bool) {
    var address = head.peerAddress
    var hops = isTrustedProxy(address) ? ForwardedHop.all(of: head, by: headers) : []
    var naming = hops.last
    while !hops.isEmpty, isTrustedProxy(address), let hop = hops.popLast(), let next = hop.address {
      address = next
      naming = hop
    }
    self.address = address
    host = naming?.host ?? head.host
  }

  /// A client with everything given.
  init(address: String, host: String?) {
    self.address = address
    self.host = host
  }
}

/// The proxies before the server, and what they tell of clients (`trustedProxies`,
/// `forwardedHeader`).
public struct TrustedProxies: Sendable {
  private let headers: ForwardingHeaders
  private let isTrusted: @Sendable (String) -> Bool

  /// Those of a configuration.
  package init(_ configuration: GatewayConfiguration) {
    headers = configuration.forwardingHeaders
    isTrusted = configuration.isTrustedProxy
  }

  /// Whether an address is a proxy's.
  func contains(_ address: String) -> Bool { isTrusted(address) }

  /// The client of a request, behind proxies too.
  func client(of head: borrowing RequestHead) -> ForwardedClient {
    ForwardedClient(of: head, by: headers, isTrustedProxy: isTrusted)
  }

  /// The client's address, behind proxies too.
  public func clientAddress(of head: borrowing RequestHead) -> String { client(of: head).address }

  /// The host that the client asked for, behind proxies too.
  public func clientHost(of head: borrowing RequestHead) -> String? { client(of: head).host }

  /// The client that the headers would name if the peer were a trusted proxy.
  func clientIfTrusted(_ head: borrowing RequestHead) -> ForwardedClient {
    let peer = head.peerAddress
    return ForwardedClient(of: head, by: headers) { $0 == peer || isTrusted($0) }
  }
}

/// One proxy's words about the request that it got.
struct ForwardedHop: Equatable {
  /// The sender of that request; nil where the proxy does not tell.
  var address: String?
  /// The host of that request.
  var host: String?

  /// The hops of a request, the last proxy's last.
  static func all(of head: borrowing RequestHead, by headers: ForwardingHeaders) -> [ForwardedHop] {
    switch headers {
    case .any: head.forwarded.map(ForwardedHeader.hops) ?? xForwarded(head)
    case .xForwarded: xForwarded(head)
    case .forwarded: ForwardedHeader.hops(in: head.forwarded ?? "")
    }
  }

  private static func xForwarded(_ head: borrowing RequestHead) -> [ForwardedHop] {
    let addresses = elements(of: head.forwardedFor), hosts = elements(of: head.forwardedHost)
    let count = max(addresses.count, hosts.count)
    // The proxies append, so both lists end with the last proxy's.
    return (0..<count)
      .map { index in
        let fromRight = count - index
        let address = fromRight <= addresses.count ? addresses[addresses.count - fromRight] : nil
        let host = fromRight <= hosts.count ? hosts[hosts.count - fromRight] : nil
        return ForwardedHop(address: address.flatMap(ClientAddress.canonical), host: host)
      }
  }

  /// An element of a list may be empty (RFC 9110, section 5.6.1).
  private static func elements(of list: String?) -> [String] {
    (list ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }
}

/// Reads `Forwarded` (RFC 7239, section 4).
///
/// An element that breaks the grammar is a hop that tells nothing, up to the next comma outside
/// quotes. A quote that never ends takes the rest with it, so nobody can quote a proxy's element
/// away and be believed.
struct ForwardedHeader {
  private var rest: ArraySlice<UInt8>

  /// The hops in the header's order; empty elements are none.
  static func hops(in text: String) -> [ForwardedHop] {
    var header = ForwardedHeader(rest: Array(text.utf8)[...])
    var hops: [ForwardedHop] = []
    while true {
      header.skipBlanks()
      guard let next = header.rest.first else { return hops }
      if next == Character.comma {
        header.rest.removeFirst()
      } else if let hop = header.readElement() {
        hops.append(hop)
      } else {
        header.skipElement()
        hops.append(ForwardedHop())
      }
    }
  }

  private enum Character {
    static let comma = UInt8(ascii: ",")
    static let semicolon = UInt8(ascii: ";")
    static let equals = UInt8(ascii: "=")
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let blanks = [UInt8(ascii: " "), UInt8(ascii: "\t")]
    static let separators = [comma, semicolon, equals, quote] + blanks
  }

  /// One element, up to its comma or the end; nil where it breaks the grammar.
  private mutating func readElement() -> ForwardedHop? {
    var values: [String: String] = [:]
    while let next = rest.first, next != Character.comma {
      if next == Character.semicolon || Character.blanks.contains(next) {
        rest.removeFirst()
        continue
      }
      guard let (name, value) = readPair(), values.updateValue(value, forKey: name) == nil else { return nil }
      skipBlanks()
      guard rest.first == nil || rest.first == Character.comma || rest.first == Character.semicolon else { return nil }
    }
    let host = values["host"].flatMap { $0.isEmpty ? nil : $0 }
    return ForwardedHop(address: values["for"].flatMap(ClientAddress.canonical), host: host)
  }

  private mutating func readPair() -> (name: String, value: String)? {
    let name = readBare()
    guard !name.isEmpty, rest.first == Character.equals else { return nil }
    rest.removeFirst()
    guard rest.first == Character.quote else {
      let value = readBare()
      return value.isEmpty ? nil : (name.lowercased(), value)
    }
    return readQuoted().map { (name.lowercased(), $0) }
  }

  /// Also what RFC 7239 wants in quotes, such as a colon: the value decides nothing by itself.
  private mutating func readBare() -> String {
    let end = rest.firstIndex { Character.separators.contains($0) } ?? rest.endIndex
    defer { rest = rest[end...] }
    return String(decoding: rest[..<end], as: UTF8.self)
  }

  /// A quoted string without its quotes; nil where it does not end.
  private mutating func readQuoted() -> String? {
    var text: [UInt8] = []
    rest.removeFirst()
    while let next = rest.popFirst() {
      if next == Character.quote { return String(decoding: text, as: UTF8.self) }
      guard next == Character.backslash else {
        text.append(next)
        continue
      }
      guard let escaped = rest.popFirst() else { return nil }
      text.append(escaped)
    }
    return nil
  }

  private mutating func skipElement() {
    while let next = rest.first, next != Character.comma {
      if next == Character.quote { _ = readQuoted() } else { rest.removeFirst() }
    }
  }

  private mutating func skipBlanks() { rest = rest.drop { Character.blanks.contains($0) } }
}
