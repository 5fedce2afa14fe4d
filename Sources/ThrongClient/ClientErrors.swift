#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An error that the server answered.
public struct ThrongError: Error, Hashable, Sendable {
  /// The method that was called.
  public let method: String
  public let code: ErrorCode
  public let message: String
  /// Whether the same request may succeed later.
  public let isTemporary: Bool
  /// The parameter that is wrong.
  public let field: String?
  /// When to try again; zero = not told.
  public let retryAfter: Duration
}

extension ThrongError: CustomStringConvertible, LocalizedError {
  /// For developers, such as "joinGroup: There is no such group (10010)".
  public var description: String { "\(method): \(message) (\(code.rawValue))" }
  /// The description: without it `localizedDescription` would be the name of the type and a number.
  public var errorDescription: String? { description }
}

/// A request or message without an answer of the server.
public struct ClientError: Error, Hashable, Sendable {
  /// Why there is no answer.
  public enum Reason: String, Sendable {
    /// It was not sent.
    case notConnected = "NotConnected"
    /// It was sent, and the connection ended before the answer: whether it was carried out is not
    /// known.
    case connectionLost = "ConnectionLost"
    /// The same of a message, and the server cannot tell either: `cause` is its answer.
    case outcomeUnknown = "OutcomeUnknown"
    /// The user is not in the group any more, so nothing is sent there.
    case conversationEnded = "ConversationEnded"
    /// A message to a live room, or for those who are online, has waited for more than two minutes.
    case expired = "Expired"
    /// The token function has not answered in time.
    case tokenTimeout = "TokenTimeout"
    /// Too much waits for the connection already.
    case queueFull = "QueueFull"
    /// The server takes no such frame.
    case tooLarge = "TooLarge"
    /// The server has answered what no server of this protocol does.
    case badAnswer = "BadAnswer"
    /// The client has come to its end.
    case closed = "Closed"
  }

  public let reason: Reason
  /// The words of the server or the system, where there are any.
  public let detail: String?
  /// The server's answer behind it, where there is one.
  public let cause: ThrongError?

  init(_ reason: Reason, detail: String? = nil, cause: ThrongError? = nil) {
    self.reason = reason
    self.detail = detail?.shortened
    self.cause = cause
  }

  /// - Parameter error: of a decoder.
  init(unreadable error: any Error) {
    self = error as? ClientError ?? ClientError(.badAnswer, detail: "\(error)")
  }
}

extension ClientError: CustomStringConvertible, LocalizedError {
  /// For developers: the reason, with the words of the server or the system, or else with ours.
  public var description: String { "\(reason.rawValue): \(detail ?? reason.words)" }
  /// The description: without it `localizedDescription` would be the name of the type and a number.
  public var errorDescription: String? { description }
}

extension ClientError.Reason {
  /// What it means, for developers.
  fileprivate var words: String {
    switch self {
    case .notConnected: "there is no connection to the server"
    case .connectionLost: "the connection ended before the answer came: whether the request was carried out is not known"
    case .outcomeUnknown:
      "the connection ended before the answer came, and the server cannot tell any more what became of the message"
    case .conversationEnded: "the user is in the group no more"
    case .expired: "the message was for those who were there then"
    case .tokenTimeout: "the token function has not answered in time"
    case .queueFull: "too much waits for the connection already"
    case .tooLarge: "the request is larger than the server takes"
    case .badAnswer: "the server has answered what no server of this protocol does"
    case .closed: "the client is closed, and connects no more: make another one"
    }
  }
}
