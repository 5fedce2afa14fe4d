import Foundation

/// The file `dataDir/auth-secret`, which the first start creates where `auth.secret` is not set
/// (Operations.md, "Command line"). Its text is the secret: base64 of random bytes, one line, mode
/// 0600.
public struct SecretFile: Sendable {
  public let path: String
  private let directory: String

  /// The number of random bytes of a new secret; a multiple of three needs no padding.
  static let randomByteCount = 48

  /// The secret file of a data directory, which need not exist yet.
  public init(dataDirectory: String) {
    directory = dataDirectory
    path = (dataDirectory as NSString).appendingPathComponent("auth-secret")
  }

  /// The secret in the file; nil where there is no file.
  /// - Throws: where it cannot be read or has less than 32 bytes.
  public func load() throws(AuthenticationError) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 {
      if errno == ENOENT { return nil }
      throw failure("cannot be read")
    }
    let contents: Data
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    do { contents = try file.readToEnd() ?? Data() } catch { throw AuthenticationError("\(path) cannot be read: \(error)") }
    let secret = Array(contents).trimmingASCIIWhitespace()
    guard secret.count >= TokenKey.minimumSecretBytes else {
      throw AuthenticationError(
        "\(path) holds \(secret.count) bytes, a secret needs \(TokenKey.minimumSecretBytes): remove the file to have one made")
    }
    return secret
  }

  /// The secret in the file, created if missing. Processes that do so at the same time get the same
  /// secret.
  public func loadOrMake() throws(AuthenticationError) -> [UInt8] {
    if let secret = try load() { return secret }
    _ = try make()
    guard let secret = try load() else { throw AuthenticationError("\(path) was removed while it was made") }
    return secret
  }

  /// Makes the file with a secret that is there already, such as that of a backup.
  /// - Returns: false where there is a file, which stays as it is.
  /// - Throws: where it cannot be written.
  public func make(holding secret: [UInt8]) throws(AuthenticationError) -> Bool { try make(Data(secret + [0x0a])) }

  /// Whether a file gives this secret back: one that begins or ends with a blank is read without it.
  public static func canHold(_ secret: [UInt8]) -> Bool { secret.trimmingASCIIWhitespace() == secret }

  /// Makes the file with a new secret.
  /// - Returns: false where another process was quicker.
  func make() throws(AuthenticationError) -> Bool {
    // Swift's own generator is the system's: getrandom(2) on Linux.
    let random = Data((0..<SecretFile.randomByteCount).map { _ in UInt8.random(in: .min ... .max) })
    return try make(Data((random.base64EncodedString() + "\n").utf8))
  }

  /// Writes the file under another name and links it to its own. A link never replaces a file: one
  /// of several processes wins, and no process reads half a file.
  /// - Returns: false where there is one already.
  private func make(_ contents: Data) throws(AuthenticationError) -> Bool {
    do {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch { throw AuthenticationError("the data directory \(directory) cannot be made: \(error.localizedDescription)") }
    let draft = "\(path).\(UInt64.random(in: .min ... .max))"
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("cannot be made") }
    defer { unlink(draft) }
    try write(contents, to: descriptor)
    let isMade = link(draft, path) == 0
    guard isMade || errno == EEXIST else { throw failure("cannot be made") }
    try syncDirectory()
    return isMade
  }

  private func write(_ contents: Data, to descriptor: Int32) throws(AuthenticationError) {
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
    do {
      try file.write(contentsOf: contents)
      try file.synchronize()
      try file.close()
    } catch { throw AuthenticationError("\(path) cannot be written: \(error.localizedDescription)") }
  }

  /// Tokens may be in use soon: the file's name must survive a power failure too.
  private func syncDirectory() throws(AuthenticationError) {
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("cannot be made durable") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("cannot be made durable") }
  }

  private func failure(_ what: String, code: Int32 = errno) -> AuthenticationError {
    AuthenticationError("\(path) \(what): \(String(cString: strerror(code)))")
  }
}

extension Array<UInt8> {
  fileprivate func trimmingASCIIWhitespace() -> [UInt8] {
    let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0d).contains(byte) }
    guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else { return [] }
    return Array(self[first...last])
  }
}

/// The HS256 secret: `auth.secret`, or else the file in the data directory.
public enum SigningSecret {
  /// The bytes of the secret; nil where `algorithms` leaves HS256 out. Creates the file if needed.
  /// - Parameters:
  ///   - algorithms: `auth.algorithms`; nil = the default.
  ///   - didMake: gets the path of a new file.
  /// - Throws: where the file cannot be created, or holds too little.
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
