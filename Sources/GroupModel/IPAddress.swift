import Foundation

/// An IPv4 or IPv6 address. The IPv4-mapped form (`::ffff:10.0.0.1`) is the IPv4 address.
public struct IPAddress: Sendable, Hashable, CustomStringConvertible {
  /// 4 or 16 bytes in network order.
  public let bytes: [UInt8]

  private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xff, 0xff]

  /// The address that a text spells, or nil.
  public init?(_ text: String) {
    var four = in_addr()
    var six = in6_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      bytes = withUnsafeBytes(of: four) { Array($0) }
    } else if inet_pton(AF_INET6, text, &six) == 1 {
      let sixteen = withUnsafeBytes(of: six) { Array($0) }
      bytes = sixteen.starts(with: IPAddress.mappedPrefix) ? Array(sixteen.suffix(4)) : sixteen
    } else {
      return nil
    }
  }

  public var isIPv6: Bool { bytes.count == 16 }

  /// The range of all addresses with the same leading bits, such as `2001:db8::/64`.
  public func prefix(_ length: Int) -> String {
    let kept = bytes.enumerated()
      .map { index, byte in
        let bits = min(max(length - 8 * index, 0), 8)
        return byte & ~UInt8(0xff >> bits)
      }
    return "\(IPAddress(bytes: kept))/\(length)"
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// The one spelling of the address (RFC 5952).
  public var description: String {
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    // The buffer has room for the longest address, and the bytes are those of the family.
    guard let text = inet_ntop(isIPv6 ? AF_INET6 : AF_INET, bytes, &buffer, socklen_t(buffer.count)) else { return "" }
    return String(cString: text)
  }
}
