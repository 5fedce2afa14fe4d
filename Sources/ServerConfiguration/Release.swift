/// Which release this is: what `throng version` prints and `getServerInfo` and `getStats` answer.
public enum Release {
  /// The version, as semver.org has it.
  public static let version = "0.1.0"
}
