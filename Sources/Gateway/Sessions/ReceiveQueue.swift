import DequeModule
import WireProtocol

/// Received texts that a session cannot process yet, in order. The session stops reading before
/// there are many. A class, for the reason of `ReplyQueue`.
final class ReceiveQueue {
  /// A text with the padding that the parser needs.
  struct Text {
    private let padded: [UInt8]
    /// The request that it came by; nil = a frame.
    let post: PostedCall?

    fileprivate init(_ message: UnsafeRawBufferPointer, _ post: PostedCall?) {
      padded = Array(message) + [UInt8](repeating: 0, count: JSONParser.padding)
      self.post = post
    }

    fileprivate var count: Int { padded.count - JSONParser.padding }

    /// Passes the text to `body`; `JSONParser.padding` more bytes behind it are readable.
    func read(_ body: (UnsafeRawBufferPointer) -> Void) {
      padded.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0.dropLast(JSONParser.padding))) }
    }
  }

  private var texts: Deque<Text> = []
  /// How many texts wait.
  private(set) var count = 0
  /// The size of all texts.
  private(set) var bytes = 0

  var isEmpty: Bool { count == 0 }

  /// Adds a copy at the end.
  /// - Parameter post: the request that it came by; nil = a frame.
  func append(_ message: UnsafeRawBufferPointer, _ post: PostedCall? = nil) {
    texts.append(Text(message, post))
    count += 1
    bytes += message.count
  }

  /// Removes the oldest.
  func popFirst() -> Text? {
    guard let text = texts.popFirst() else { return nil }
    count -= 1
    bytes -= text.count
    return text
  }

  /// - Returns: the requests whose texts were among them.
  @discardableResult
  func removeAll() -> [PostedCall] {
    defer { texts = [] }
    count = 0
    bytes = 0
    return texts.compactMap(\.post)
  }
}
