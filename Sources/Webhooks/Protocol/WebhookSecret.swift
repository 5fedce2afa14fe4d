import Crypto
import Foundation

/// The secret that a receiver shares with the server: `whsec_` and base64 of 24 to 64 bytes
/// (Standard Webhooks, "Signature scheme").
public struct WebhookSecret: Sendable {
  /// The reason why a text is no secret; it never holds a part of the text.
  public enum Fault: Error, Sendable, Equatable, CustomStringConvertible {
    case noPrefix
    case notBase64
    case badLength(Int)

    public var description: String {
      switch self {
      case .noPrefix: "a webhook secret begins with \(WebhookSecret.prefix)"
      case .notBase64: "what stands behind \(WebhookSecret.prefix) is not base64"
      case .badLength(let count):
        "the webhook secret has \(count) bytes; it needs \(WebhookSecret.lengths.lowerBound) to \(WebhookSecret.lengths.upperBound)"
      }
    }
  }

  private static let prefix = "whsec_"
  private static let lengths = 24...64

  /// A code of no bytes yet: to prepare it takes a microsecond.
  private let code: HMAC<SHA256>

  /// Reads the text of the configuration; base64 may lack its padding.
  public init(_ text: String) throws(Fault) {
    guard text.hasPrefix(WebhookSecret.prefix) else { throw .noPrefix }
    // Foundation decodes "====" too, so the padding is made anew.
    var digits = String(text.dropFirst(WebhookSecret.prefix.count))
    while digits.utf8.last == UInt8(ascii: "=") { digits.removeLast() }
    let padding = String(repeating: "=", count: -digits.utf8.count & 3)
    guard !digits.contains("="), padding.utf8.count < 3, let bytes = Data(base64Encoded: digits + padding) else {
      throw .notBase64
    }
    guard WebhookSecret.lengths.contains(bytes.count) else { throw .badLength(bytes.count) }
    code = HMAC<SHA256>(key: SymmetricKey(data: bytes))
  }

  /// The value of `webhook-signature` for a body and the two headers beside it.
  func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
    var code = code
    // At once: each call looks up metadata of generic types, which costs more than the copy.
    code.update(data: Array("\(id).\(timestamp).".utf8) + body)
    return "v1," + Data(code.finalize()).base64EncodedString()
  }
}
