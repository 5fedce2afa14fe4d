/// Reads `Authorization: Bearer`.
public enum BearerCredential {
  /// The token of the header; the scheme's case does not matter (RFC 9110, section 11.1). Nil where there is none.
  public static func token(_ authorization: String?) -> String? {
    guard let authorization, authorization.prefix(7).lowercased() == "bearer " else { return nil }
    return String(authorization.dropFirst(7).drop { $0 == " " })
  }
}
