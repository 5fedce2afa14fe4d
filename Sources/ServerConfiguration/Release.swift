/// The release, for `throng version`, `getServerInfo` and `getStats`.
public enum Release {
  /// A semantic version (semver.org).
  public static let version = "0.2.0"
}
