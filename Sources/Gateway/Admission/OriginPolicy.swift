/// Which pages may open a connection (contract section 1): "`Origin` is compared with `Host`, port included; `Origin: null` is
/// cross-origin; no Origin passes."
struct OriginPolicy: Sendable {
  let allowed: Set<String>

  func admits(origin: String?, host: String?) -> Bool {
    guard let origin else { return true }
    if allowed.contains("*") || allowed.contains(origin.lowercased()) { return true }
    let parts = origin.lowercased().split(separator: "://", maxSplits: 1)
    guard let host, parts.count == 2 else { return false }
    let (scheme, authority) = (String(parts[0]), String(parts[1]))
    return OriginPolicy.withPort(authority, scheme: scheme) == OriginPolicy.withPort(host.lowercased(), scheme: scheme)
  }

  /// The authority with the port that its scheme implies, so that `example.com` and `example.com:443` are one.
  private static func withPort(_ authority: String, scheme: String) -> String {
    let afterBracket = authority.lastIndex(of: "]") ?? authority.startIndex
    if authority[afterBracket...].contains(":") { return authority }
    return authority + (scheme == "https" || scheme == "wss" ? ":443" : ":80")
  }
}
