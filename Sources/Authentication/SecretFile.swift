import Foundation

/// The secret that the first start makes where `auth.secret` is not set: `dataDir/auth-secret` (contract section 9).
///
/// The text of the file is the secret, as if it stood in `auth.secret`: base64 of random bytes, one line, mode 0600.
public struct SecretFile: Sendable {
  /// Where the file is.
  public let path: String
  private let directory: String

  /// How many random bytes a new secret has; a multiple of three leaves its text without padding.
  static let randomByteCount = 48

  /// The secret file of a data directory, which need not exist yet.
  public init(dataDirectory: String) {
    directory = dataDirectory
    path = (dataDirectory as NSString).appendingPathComponent("auth-secret")
  }

  /// The secret in the file, or nil where there is no file. Throws where it cannot be read or is under 32 bytes.
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

  /// The secret in the file, which is made first where there is none. Processes that do so at once get the same secret.
  public func loadOrMake() throws(AuthenticationError) -> [UInt8] {
    if let secret = try load() { return secret }
    _ = try make()
    guard let secret = try load() else { throw AuthenticationError("\(path) was removed while it was made") }
    return secret
  }

  /// Writes the whole file under another name and links it to its own: a link never replaces, so of several processes one
  /// wins, and nobody sees half a file.
  /// - Returns: false where another process was quicker.
  func make() throws(AuthenticationError) -> Bool {
    do {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch { throw AuthenticationError("the data directory \(directory) cannot be made: \(error.localizedDescription)") }
    let draft = "\(path).\(UInt64.random(in: .min ... .max))"
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("cannot be made") }
    defer { unlink(draft) }
    try write(to: descriptor)
    let isMade = link(draft, path) == 0
    guard isMade || errno == EEXIST else { throw failure("cannot be made") }
    try syncDirectory()
    return isMade
  }

  private func write(to descriptor: Int32) throws(AuthenticationError) {
    // Swift's own generator is the system's: getrandom(2) on Linux.
    let random = Data((0..<SecretFile.randomByteCount).map { _ in UInt8.random(in: .min ... .max) })
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
    do {
      try file.write(contentsOf: Data((random.base64EncodedString() + "\n").utf8))
      try file.synchronize()
      try file.close()
    } catch { throw AuthenticationError("\(path) cannot be written: \(error.localizedDescription)") }
  }

  /// Tokens may be in use before the next start: the file's name must outlive a power failure too.
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
