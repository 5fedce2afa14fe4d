import CTransport

/// A whole HTTP request.
public struct HTTPRequest: Sendable {
  /// Method, path, headers.
  public let head: RequestHead
  /// The body; empty when it was too large, or came to the public listener and not to the path of
  /// `publicBody`.
  public let body: [UInt8]
  /// Whether the body was longer than `maxBodyBytes`, or `publicBody` allows, and was dropped.
  public let bodyTooLarge: Bool

  /// Whether the request came on the internal listener.
  public var isInternal: Bool { head.isInternal }
}

/// The means to answer one HTTP request. When its client has gone, an answer does nothing.
public struct HTTPExchange: Sendable {
  /// The loop that owns the request.
  public let loop: EventLoop
  let id: ct_exchange_id

  /// Answers; any thread, once (a second answer is ignored). The length and `Connection` headers
  /// are added.
  ///
  /// Line breaks in `headers` are removed. A HEAD request gets the headers alone.
  public func respond(status: Int, contentType: String?, headers: [(String, String)] = [], body: [UInt8]) {
    let lines = Self.lines(headers)
    let type = contentType ?? ""
    loop.perform { [loop, id] in
      withText(type) { type in
        withText(lines) { lines in
          body.withUnsafeBufferPointer {
            ct_exchange_respond(loop.pointer, id, Int32(clamping: status), type, lines, $0.baseAddress, $0.count)
          }
        }
      }
    }
  }
}

extension HTTPExchange {
  /// The request is a session's, which bounds its requests: it no longer counts for its address, or
  /// among the connections that give way to others. On the loop's thread, before the answer.
  /// - Parameter ended: called once, there, when the system has the whole answer, or the client has
  ///   gone.
  /// - Returns: false where the client has gone already: `ended` is not called.
  public func serve(_ ended: @escaping @Sendable () -> Void) -> Bool {
    loop.preconditionCurrent()
    return loop.callbacks.serve(id, on: loop, ended)
  }

  /// Answers with an event stream, which is a connection from now on: the delegate's `didOpen` is
  /// called within, and gets the same head. On the loop's thread, in place of `respond`.
  ///
  /// `Content-Type`, `Cache-Control`, `X-Accel-Buffering` and `Connection` are added.
  /// - Returns: false where the client has gone already.
  @discardableResult
  public func openEventStream(headers: [(String, String)]) -> Bool {
    loop.preconditionCurrent()
    return withText(Self.lines(headers)) { ct_exchange_open_stream(loop.pointer, id, $0) }
  }

  /// Header lines, without the line breaks that a value may hold.
  private static func lines(_ headers: [(String, String)]) -> String {
    headers.map { "\($0.0): \($0.1)".filter { !$0.isNewline } + "\r\n" }.joined()
  }
}

private func withText<Result>(_ text: String, _ body: (ct_text) -> Result) -> Result {
  var text = text
  return text.withUTF8 { utf8 in
    utf8.withMemoryRebound(to: CChar.self) { body(ct_text(bytes: $0.baseAddress, count: $0.count)) }
  }
}
