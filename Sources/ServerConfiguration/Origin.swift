/// A web origin in the one form that browsers send (RFC 6454 section 6.2): lower case, without the scheme's own port.
enum Origin {
  /// The text in that form, `*` included, or nil where it is no full origin.
  static func normalized(_ text: String) -> String? {
    if text == "*" { return text }
    let text = text.lowercased()
    guard let separator = text.firstRange(of: "://") else { return nil }
    let scheme = text[..<separator.lowerBound]
    guard scheme.first?.isASCIILetter == true, scheme.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "+-.".contains($0) })
    else { return nil }
    var authority = text[separator.upperBound...]
    if let port = ownPorts[scheme], authority.hasSuffix(port) { authority = authority.dropLast(port.count) }
    guard isAuthority(authority) else { return nil }
    return "\(scheme)://\(authority)"
  }

  private static let ownPorts: [Substring: String] = ["http": ":80", "https": ":443"]

  /// A host with or without a port; nothing before or behind it.
  private static func isAuthority(_ text: Substring) -> Bool {
    var host = text
    if let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") {
      let digits = text[text.index(after: colon)...]
      guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit), UInt16(digits) != nil else { return false }
      host = text[..<colon]
    }
    if host.hasPrefix("["), host.hasSuffix("]") { return IPAddress(String(host.dropFirst().dropLast()))?.bytes.count == 16 }
    return !host.isEmpty && host.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-._".contains($0) }
  }
}

extension Character {
  fileprivate var isASCIILetter: Bool { isASCII && isLetter }
  fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}

extension ValueType where Value == String {
  static let origin = scalar(
    "full origins (scheme://host[:port]) or *", as: [.string], show: { $0 }, parse: { Origin.normalized($0) })
}
