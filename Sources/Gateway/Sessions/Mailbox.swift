import DequeModule
import WireProtocol

/// Texts that came while a session could not handle them, in order. Its owner stops reading before there are many.
struct Mailbox {
  /// A text with the room behind it that the parser wants.
  struct Text {
    private let padded: [UInt8]

    fileprivate init(_ message: UnsafeRawBufferPointer) {
      padded = Array(message) + [UInt8](repeating: 0, count: JSONParser.padding)
    }

    fileprivate var count: Int { padded.count - JSONParser.padding }

    /// Gives the text to `body`; `JSONParser.padding` more bytes are readable behind it.
    func read(_ body: (UnsafeRawBufferPointer) -> Void) {
      padded.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0.dropLast(JSONParser.padding))) }
    }
  }

  private var texts: Deque<Text> = []
  /// How many bytes the texts have.
  private(set) var bytes = 0

  /// How many texts wait.
  var count: Int { texts.count }
  /// Nothing waits.
  var isEmpty: Bool { texts.isEmpty }

  /// Keeps a copy behind all others.
  mutating func append(_ message: UnsafeRawBufferPointer) {
    texts.append(Text(message))
    bytes += message.count
  }

  /// Takes the oldest.
  mutating func popFirst() -> Text? {
    guard let text = texts.popFirst() else { return nil }
    bytes -= text.count
    return text
  }

  mutating func removeAll() { self = Mailbox() }
}
