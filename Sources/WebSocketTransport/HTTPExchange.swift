import CTransport

/// A whole HTTP request.
public struct HTTPRequest: Sendable {
  /// Method, path, headers.
  public let head: RequestHead
  /// The body; empty when it was too large.
  public let body: [UInt8]
  /// Whether the body was longer than `maxBodyBytes` and was dropped.
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
    let lines = headers.map { "\($0.0): \($0.1)".filter { !$0.isNewline } + "\r\n" }.joined()
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

private func withText(_ text: String, _ body: (ct_text) -> Void) {
  var text = text
  text.withUTF8 { utf8 in
    utf8.withMemoryRebound(to: CChar.self) { body(ct_text(bytes: $0.baseAddress, count: $0.count)) }
  }
}
