#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A request without its number.
struct EncodedRequest: Sendable {
  /// The server takes no longer message (Protocol.md, "Frames").
  static let longestFrame = 65_536
  /// The most bytes around the parameters.
  static let envelope = 256

  let method: String
  /// JSON; nil where a parameter has no form in JSON, such as a number that is infinite.
  let params: Data?

  init<M: ThrongMethod>(_ method: M) { self.init(method: M.name, method) }

  init(method: String, _ params: some Encodable) {
    self.method = method
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    self.params = try? encoder.encode(params)
  }

  /// Nil where the server would not take it.
  func frame(number: Int) -> Data? {
    guard let params else { return nil }
    var frame = Data("{\"jsonrpc\":\"2.0\",\"id\":\(number),\"method\":\"\(method)\",\"params\":".utf8)
    frame.append(params)
    frame.append(UInt8(ascii: "}"))
    return frame.count <= EncodedRequest.longestFrame ? frame : nil
  }

  /// Whether it is short enough whatever its number.
  var isShort: Bool { params.map { $0.count <= EncodedRequest.longestFrame - EncodedRequest.envelope } ?? false }
}

/// Reads the parameters of an event in the type that its name asks for.
protocol ParameterDecoder {
  func decode<Params: Decodable>(_ type: Params.Type) throws -> Params
}

/// A frame of the server, of which the envelope was read. Nothing else reads what a server sends;
/// `ClientLimits` has the bounds.
struct ServerFrame {
  /// The kinds of frames.
  enum Kind {
    case event(ServerEvent)
    case answer(number: Int, error: ErrorBody?)
    /// An error without a request.
    case other
  }

  /// The error of a reply.
  struct ErrorBody: Decodable {
    struct Details: Decodable {
      let temporary: Bool?
      let field: String?
      let retryAfterMs: Int?
    }
    let code: Int
    let message: String
    let data: Details?
  }

  let kind: Kind
  let text: Data

  private struct Head: Decodable {
    let id: Int?
    let method: String?
    let error: ErrorBody?
  }

  private struct Params<Value: Decodable>: Decodable { let params: Value }
  private struct Result<Value: Decodable>: Decodable { let result: Value }

  private struct Reader: ParameterDecoder {
    let text: Data
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try JSONDecoder().decode(Params<Value>.self, from: text).params
    }
  }

  /// - Throws: a ClientError.
  init(_ text: Data) throws(ClientError) {
    if let fault = FrameCheck.fault(in: text) { throw ClientError(.badAnswer, detail: fault) }
    do {
      try self.init(checked: text)
    } catch {
      throw ClientError(unreadable: error)
    }
  }

  private init(checked text: Data) throws {
    self.text = text
    let head = try JSONDecoder().decode(Head.self, from: text)
    if let name = head.method {
      guard text.count <= ClientLimits.eventBytes else {
        throw ClientError(.badAnswer, detail: "an event of \(text.count) bytes")
      }
      kind = .event(try ServerFrame.event(name, text))
    } else if let number = head.id {
      kind = .answer(number: number, error: head.error)
    } else {
      kind = .other
    }
  }

  private static func event(_ name: String, _ text: Data) throws -> ServerEvent {
    let reader = Reader(text: text)
    do {
      if let event = try ServerEvent(name: name, from: reader) { return event }
    } catch is DecodingError {
      // A later server may have other members: the application gets the event as it is.
    }
    return .other(name: name, params: try reader.decode(JSONValue.self))
  }

  /// The result of an answer, whose frame was read before.
  static func result<Value: Decodable>(_ type: Value.Type, in text: Data) throws(ClientError) -> Value {
    do {
      return try JSONDecoder().decode(Result<Value>.self, from: text).result
    } catch {
      throw ClientError(unreadable: error)
    }
  }
}

extension ThrongError {
  init(_ method: String, _ body: ServerFrame.ErrorBody) {
    self.init(
      method: method, code: ErrorCode(rawValue: body.code), message: body.message.shortened,
      isTemporary: body.data?.temporary ?? false, field: body.data?.field?.shortened,
      retryAfter: ClientLimits.wait(milliseconds: body.data?.retryAfterMs))
  }
}
