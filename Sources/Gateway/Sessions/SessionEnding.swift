import Cluster
import GroupModel
import WireProtocol

/// Why the application ends the sessions of a user, on all nodes.
package enum SessionEnding: Sendable, Equatable {
  /// kickUser.
  case administrator(message: String?)
  /// blockUser.
  case blocked(message: String?)
  /// deleteUser.
  case deleted
  /// revokeTokens: the sessions whose token was issued before an instant, or does not say when.
  case tokensRevoked(before: WallInstant)

  /// Whether it concerns a session that was signed in, or is signing in, with a token.
  /// - Parameter issued: nil = the token does not say it.
  func concerns(tokenIssued issued: WallInstant?) -> Bool {
    switch self {
    case .administrator, .blocked, .deleted: true
    case .tokensRevoked(let before): issued.map { $0 < before } ?? true
    }
  }

  /// The event before the close; nil = the close says all.
  var event: SessionEvent? {
    switch self {
    case .administrator(let message): .onKickedOffline(reason: "Administrator", message: message)
    case .blocked(let message): .onKickedOffline(reason: "Blocked", message: message)
    case .deleted: .onKickedOffline(reason: "Administrator", message: nil)
    case .tokensRevoked: nil
    }
  }

  /// The code of the close.
  var closeCode: CloseCode {
    switch self {
    case .administrator, .blocked, .deleted: .removed
    // As where the token ends by itself: the client asks for a new one.
    case .tokensRevoked: .tokenExpired
    }
  }

  /// The reason of the close.
  var closeReason: String {
    switch self {
    case .administrator, .blocked, .deleted: closeCode.reason
    case .tokensRevoked: "token revoked"
    }
  }
}

// MARK: Bytes

extension SessionEnding {
  private enum Kind: UInt8 {
    case administrator = 1
    case blocked, deleted, tokensRevoked
  }

  func write(to writer: inout EntryWriter) {
    switch self {
    case .administrator(let message):
      writer.bytes.byte(Kind.administrator.rawValue)
      writer.bytes.optional(message) { $0.text($1) }
    case .blocked(let message):
      writer.bytes.byte(Kind.blocked.rawValue)
      writer.bytes.optional(message) { $0.text($1) }
    case .deleted: writer.bytes.byte(Kind.deleted.rawValue)
    case .tokensRevoked(let before):
      writer.bytes.byte(Kind.tokensRevoked.rawValue)
      writer.instant(before)
    }
  }

  init(from reader: inout EntryReader) throws(MalformedMessage) {
    let number = try reader.bytes.byte()
    guard let kind = Kind(rawValue: number) else { throw MalformedMessage("an unknown ending: \(number)") }
    switch kind {
    case .administrator: self = .administrator(message: try SessionEnding.message(from: &reader))
    case .blocked: self = .blocked(message: try SessionEnding.message(from: &reader))
    case .deleted: self = .deleted
    case .tokensRevoked: self = .tokensRevoked(before: try reader.instant())
    }
  }

  private static func message(from reader: inout EntryReader) throws(MalformedMessage) -> String? {
    try reader.bytes.optional { (reader) throws(MalformedMessage) in try reader.text() }
  }
}
