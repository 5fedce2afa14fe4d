import GroupModel

/// A range of addresses in CIDR notation, such as `10.0.0.0/8`, or one address: an element of
/// `trustedProxies` (Protocol.md, "Client addresses").
public struct AddressRange: Sendable, Hashable, CustomStringConvertible {
  /// As the configuration wrote it.
  public let description: String
  private let network: [UInt8]
  private let prefixLength: Int

  /// The range that a text spells, or nil. Bits behind the prefix do not matter. An IPv4 range must
  /// be written as IPv4, not inside IPv6.
  public init?(_ text: String) {
    if let host = IPAddress(text)?.bytes {
      (network, prefixLength, description) = (host, host.count * 8, text)
      return
    }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let network = IPAddress(String(parts[0]))?.bytes, network.count == 16 || !parts[0].contains(":"),
      parts[1].allSatisfy({ $0.isASCII && $0.isNumber }), let length = Int(parts[1]), length <= network.count * 8
    else { return nil }
    self.network = network
    prefixLength = length
    description = text
  }

  /// Whether the address lies in the range; false for a text that is no address.
  public func contains(_ address: String) -> Bool {
    guard let bytes = IPAddress(address)?.bytes, bytes.count == network.count else { return false }
    let whole = prefixLength / 8
    guard bytes[..<whole] == network[..<whole] else { return false }
    let bits = prefixLength % 8
    return bits == 0 || (bytes[whole] ^ network[whole]) >> UInt8(8 - bits) == 0
  }
}

extension ValueType where Value == AddressRange {
  static let addressRange = scalar(
    "an address, or a range such as 10.0.0.0/8", as: [.string], show: \.description, parse: AddressRange.init)
}
