import GroupModel
import OutgoingHTTP
import WireProtocol

/// A receiver's answer to a before-event (Protocol.md, "Webhooks").
public enum WebhookAnswer: Sendable, Equatable {
  /// It may happen; a message with this content, where there is one, in place of its own.
  case allow(replacement: Replacement?)
  /// It may not: `code` is 10016 or one of 10120 to 10130; `message` is nil where the code's own serves.
  case refuse(code: Int, message: String?)
  /// It may not, with a code that the application may not give: 10016 stands for it.
  case refuseWithUnknownCode(message: String?)
  /// The message is answered as if it were sent, and nobody gets it.
  case drop

  /// The content that the receiver gave.
  public enum Replacement: Sendable, Equatable {
    case text(String)
    case data(String)
  }

  /// The subject of the question: only messages have content, and can be dropped.
  public enum Subject: Sendable, Equatable {
    case textMessage
    case customMessage
    case other
  }

  /// The reason why an answer makes no sense; `webhook.onFailure` decides then.
  public struct Fault: Error, Sendable, Equatable, CustomStringConvertible {
    /// A part of a sentence for logs; it holds nothing of the answer.
    public let description: String

    init(_ description: String) { self.description = description }
  }

  /// The code of a refusal that names none.
  public static let refused = 10016
  /// The codes that are the application's own.
  public static let applicationCodes = 10120...10130
  /// A longer message of a refusal is cut: it is still a refusal.
  static let maxMessageBytes = 512
  /// The usual limit of a message's content.
  public static let maxContentBytes = 12_288
}

extension WebhookAnswer {
  /// Reads an answer.
  /// - Parameter maxContentBytes: the limit of a message's content.
  public init(
    _ response: HTTPResponse, about subject: Subject, maxContentBytes: Int = WebhookAnswer.maxContentBytes
  ) throws(Fault) {
    guard response.isSuccess else { throw Fault("the status is \(response.status)") }
    let parser = JSONParser()
    // Values live as long as their parser.
    defer { withExtendedLifetime(parser) {} }
    guard let answer = parser.parse(response.body), answer.kind == .object else { throw Fault("the body is no JSON object") }
    switch try answer.optionalString("action", "the action is no text") {
    case nil, "Allow": self = .allow(replacement: try Replacement(answer, about: subject, maxContentBytes))
    case "Refuse": self = WebhookAnswer(refusal: answer)
    case "Drop":
      guard subject != .other else { throw Fault("only messages can be dropped") }
      self = .drop
    default: throw Fault("the action is none of Allow, Refuse and Drop")
    }
  }

  /// A refusal refuses, whatever stands beside it: what is not understood must not let anything pass.
  private init(refusal answer: JSONValue) {
    let message = answer["message"]?.string.flatMap { $0.isEmpty ? nil : $0.cut(WebhookAnswer.maxMessageBytes) }
    guard let value = answer["code"], value.kind != .null else {
      self = .refuse(code: WebhookAnswer.refused, message: message)
      return
    }
    let code = value.wholeNumber.map { Int(clamping: $0) }
    if let code, code == WebhookAnswer.refused || WebhookAnswer.applicationCodes.contains(code) {
      self = .refuse(code: code, message: message)
    } else {
      self = .refuseWithUnknownCode(message: message)
    }
  }
}

extension WebhookAnswer.Replacement {
  /// Nil where the answer has no content.
  fileprivate init?(
    _ answer: JSONValue, about subject: WebhookAnswer.Subject, _ maxContentBytes: Int
  ) throws(WebhookAnswer.Fault) {
    let text = try answer.optionalString("text", "the new text is no text")
    let data = try answer.optionalString("data", "the new data is no text")
    guard let content = text ?? data else { return nil }
    guard 1...maxContentBytes ~= content.utf8.count else {
      throw WebhookAnswer.Fault(
        "the new content has \(content.utf8.count) bytes; 1 to \(maxContentBytes) are allowed")
    }
    switch (subject, text, data) {
    case (.textMessage, let text?, nil): self = .text(text)
    case (.customMessage, nil, let data?): self = .data(data)
    default: throw WebhookAnswer.Fault("the new content is of another kind")
    }
  }
}

extension JSONValue {
  /// Null counts as absent.
  fileprivate func optionalString(_ name: StaticString, _ fault: String) throws(WebhookAnswer.Fault) -> String? {
    guard let value = self[name], value.kind != .null else { return nil }
    guard let text = value.string else { throw WebhookAnswer.Fault(fault) }
    return text
  }
}

extension String {
  /// At most `count` bytes of it, cut between characters.
  fileprivate func cut(_ count: Int) -> String {
    guard utf8.count > count else { return self }
    var end = utf8.index(startIndex, offsetBy: count)
    while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return String(self[..<end])
  }
}
