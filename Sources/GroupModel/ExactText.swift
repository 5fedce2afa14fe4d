/// A text that equals another only byte for byte. Swift's strings take "é" and "e" with an accent
/// for equal; on the wire, in the store and for clients they are two texts.
public struct ExactText: Hashable, Sendable {
  /// The text as it was given.
  public let text: String

  /// A text to compare.
  public init(_ text: String) { self.text = text }

  public static func == (a: ExactText, b: ExactText) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension String {
  /// Whether both texts are the same bytes.
  public func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
