import Foundation

/// A token split into its three parts (RFC 7515 section 7.1), not verified yet.
struct CompactToken {
  /// Far more than claims need, and little work to read.
  static let maximumBytes = 8192

  /// It keeps nothing of what it has read, so that all threads share it.
  private static let decoder = JSONDecoder()

  /// The header and the payload as they were signed, with the dot between them.
  let signedBytes: [UInt8]
  private let header: ArraySlice<UInt8>
  private let payload: ArraySlice<UInt8>
  private let encodedSignature: ArraySlice<UInt8>

  init(_ token: String) throws(TokenError) {
    guard token.utf8.count <= CompactToken.maximumBytes else { throw .malformed }
    let bytes = Array(token.utf8)
    let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3, parts.allSatisfy(Base64URL.isAlphabetic) else { throw .malformed }
    header = parts[0]
    payload = parts[1]
    encodedSignature = parts[2]
    signedBytes = Array(bytes[..<payload.endIndex])
  }

  /// The signature; nil where it cannot be decoded. That is a wrong signature, not a malformed
  /// token: every change of a character has the same code.
  var signature: [UInt8]? { Base64URL.decode(encodedSignature) }

  func header<T: Decodable>(as type: T.Type) throws(TokenError) -> T { try CompactToken.read(header, as: type) }

  func payload<T: Decodable>(as type: T.Type) throws(TokenError) -> T { try CompactToken.read(payload, as: type) }

  private static func read<T: Decodable>(_ part: ArraySlice<UInt8>, as type: T.Type) throws(TokenError) -> T {
    guard let bytes = Base64URL.decode(part), isPlainJSON(bytes) else { throw .malformed }
    // The client does not learn which member is wrong.
    do { return try decoder.decode(type, from: Data(bytes)) } catch { throw .malformed }
  }

  /// Whether the text is an object in UTF-8 (RFC 7519 section 7.2). Foundation also reads one behind
  /// a byte order mark, and one in UTF-16 or UTF-32, in which zeros stand.
  private static func isPlainJSON(_ bytes: [UInt8]) -> Bool {
    let first = bytes.first { !" \t\r\n".utf8.contains($0) }
    return first == UInt8(ascii: "{") && !bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil
  }
}
