/// Where the HS256 secret comes from (contract section 9): `auth.secret`, else the file in the data directory.
public enum SigningSecret {
  /// The secret in bytes, or nil where `algorithms` (`auth.algorithms`, nil = the default) leaves HS256 out.
  /// The file is made where it is needed and not there; throws where it cannot be, or holds too little.
  /// - Parameter didMake: gets the path of the file that was made.
  public static func resolve(
    configured: String?, algorithms: [TokenAlgorithm]?, dataDirectory: String, didMake: (String) -> Void = { _ in }
  ) throws(AuthenticationError) -> [UInt8]? {
    if let algorithms, !algorithms.contains(.hs256) { return nil }
    if let configured { return Array(configured.utf8) }
    let file = SecretFile(dataDirectory: dataDirectory)
    if let secret = try file.load() { return secret }
    if try file.make() { didMake(file.path) }
    return try file.loadOrMake()
  }
}
