import GroupModel

/// A web origin in the form that browsers send (RFC 6454 section 6.2): lower case, without the
/// default port.
enum Origin {
  /// The text in that form, or `*`; nil where it is no full origin.
  static func normalized(_ text: String) -> String? {
    if text == "*" { return text }
    let text = text.lowercased()
    guard let separator = text.firstRange(of: "://") else { return nil }
    let scheme = text[..<separator.lowerBound]
    guard scheme.first?.isASCIILetter == true, scheme.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "+-.".contains($0) })
    else { return nil }
    var authority = text[separator.upperBound...]
    if let port = defaultPorts[scheme], authority.hasSuffix(port) { authority = authority.dropLast(port.count) }
    guard isAuthority(authority) else { return nil }
    return "\(scheme)://\(authority)"
  }

  /// A description of the origin that was meant by a text with a path, such as a slash alone; nil for
  /// other texts.
  static func withoutPath(_ text: String) -> String? {
    guard let separator = text.firstRange(of: "://"), let slash = text[separator.upperBound...].firstIndex(of: "/"),
      let origin = normalized(String(text[..<slash]))
    else { return nil }
    let what = text[slash...] == "/" ? "the slash at its end" : "a path"
    return "an origin without \(what), \(origin)"
  }

  private static let defaultPorts: [Substring: String] = ["http": ":80", "https": ":443"]

  /// Whether the text is a host with or without a port.
  private static func isAuthority(_ text: Substring) -> Bool {
    var host = text
    if let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") {
      let digits = text[text.index(after: colon)...]
      guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit), UInt16(digits) != nil else { return false }
      host = text[..<colon]
    }
    if host.hasPrefix("["), host.hasSuffix("]") { return IPAddress(String(host.dropFirst().dropLast()))?.isIPv6 == true }
    return !host.isEmpty && host.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-._".contains($0) }
  }
}

extension Character {
  fileprivate var isASCIILetter: Bool { isASCII && isLetter }
  fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}

extension ValueType where Value == String {
  static let origin = scalar(
    "full origins (scheme://host[:port]) or *", as: [.string], show: { $0 }, parse: { Origin.normalized($0) },
    unless: { Origin.withoutPath($0) })

  /// `internalHosts`: small letters, without a dot at the end.
  static let hostPattern = scalar(
    "host names without a port, *.NAME for those below a name, or *", as: [.string], show: { $0 }, parse: hostPattern)

  private static func hostPattern(_ text: String) -> String? {
    if text == "*" { return text }
    var name = text.lowercased()[...]
    if name.hasSuffix(".") { name = name.dropLast() }
    let labels = (name.hasPrefix("*.") ? name.dropFirst(2) : name).split(separator: ".", omittingEmptySubsequences: false)
    let areNames = labels.allSatisfy { label in
      !label.isEmpty && label.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-_".contains($0) }
    }
    return areNames ? String(name) : nil
  }
}
