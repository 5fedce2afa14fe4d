import Foundation

/// A token cut into its three parts (RFC 7515 section 7.1), nothing believed yet.
struct CompactToken {
  /// What a token may have: far above what the claims need, far below what would be work to read.
  static let maximumBytes = 8192

  /// The header and the payload as they were signed, with the dot between them.
  let signedBytes: [UInt8]
  private let header: ArraySlice<UInt8>
  private let payload: ArraySlice<UInt8>
  private let encodedSignature: ArraySlice<UInt8>

  init(_ token: String) throws(TokenError) {
    guard token.utf8.count <= CompactToken.maximumBytes else { throw .malformed }
    let parts = Array(token.utf8).split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3, parts.allSatisfy(Base64URL.isAlphabetic) else { throw .malformed }
    header = parts[0]
    payload = parts[1]
    encodedSignature = parts[2]
    signedBytes = Array(header + CollectionOfOne(UInt8(ascii: ".")) + payload)
  }

  /// The signature, or nil where its text stands for no bytes: such a signature is wrong rather than malformed, so that whoever
  /// changes a character of a good one always reads the same code.
  var signature: [UInt8]? { Base64URL.decode(encodedSignature) }

  /// The header, read as `type`.
  func header<T: Decodable>(as type: T.Type) throws(TokenError) -> T { try CompactToken.read(header, as: type) }

  /// The payload, read as `type`.
  func payload<T: Decodable>(as type: T.Type) throws(TokenError) -> T { try CompactToken.read(payload, as: type) }

  private static func read<T: Decodable>(_ part: ArraySlice<UInt8>, as type: T.Type) throws(TokenError) -> T {
    guard let bytes = Base64URL.decode(part) else { throw .malformed }
    // Every failure to decode is the same answer to the client: the token does not say what it must.
    do { return try JSONDecoder().decode(type, from: Data(bytes)) } catch { throw .malformed }
  }
}
