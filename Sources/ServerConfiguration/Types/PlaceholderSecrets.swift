/// Secrets that stand in the examples and on the pages of Throng. Everybody has read them, so a server
/// with one of them lets everybody in.
enum PlaceholderSecrets {
  /// Those of pages and files, also of earlier releases.
  private static let published: Set<String> = [
    "replace-it-by-the-output-of-openssl-rand-hex-32", "replace-it-by-another-output-of-openssl-rand-hex-32",
    "another-secret-than-the-one-of-the-server", "0123456789abcdef0123456789abcdef",
  ]

  private static let examples = Set(Keys.all.filter(\.isSecret).map(\.example))

  /// Whether a secret is one of them.
  static func contains(_ secret: String) -> Bool { published.contains(secret) || examples.contains(secret) }
}
