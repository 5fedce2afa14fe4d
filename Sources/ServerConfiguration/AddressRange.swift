import Foundation

/// An IPv4 or IPv6 address. An IPv4 address written inside IPv6 (`::ffff:10.0.0.1`) is the IPv4 address.
struct IPAddress: Sendable, Hashable {
  /// 4 or 16 bytes in network order.
  let bytes: [UInt8]

  /// The address of that text, or nil where it is none.
  init?(_ text: String) {
    var four = in_addr()
    var six = in6_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      bytes = withUnsafeBytes(of: four) { Array($0) }
    } else if inet_pton(AF_INET6, text, &six) == 1 {
      let sixteen = withUnsafeBytes(of: six) { Array($0) }
      let isMapped = sixteen.starts(with: IPAddress.mappedPrefix)
      bytes = isMapped ? Array(sixteen.suffix(4)) : sixteen
    } else {
      return nil
    }
  }

  private static let mappedPrefix: [UInt8] = [UInt8](repeating: 0, count: 10) + [0xff, 0xff]
}

/// A range of addresses in CIDR notation, such as `10.0.0.0/8`, or one address (contract section 9, `trustedProxies`).
public struct AddressRange: Sendable, Hashable, CustomStringConvertible {
  /// As the configuration wrote it.
  public let description: String
  private let network: [UInt8]
  private let prefixLength: Int

  /// The range of that text, or nil where it is none. Bits behind the prefix do not matter.
  /// An IPv4 range inside IPv6 is none: it is to be written as IPv4.
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
    let rest = prefixLength % 8
    return rest == 0 || (bytes[whole] ^ network[whole]) >> UInt8(8 - rest) == 0
  }
}

extension ValueType where Value == AddressRange {
  static let addressRange = scalar(
    "an address, or a range such as 10.0.0.0/8", as: [.string], show: \.description, parse: AddressRange.init)
}
