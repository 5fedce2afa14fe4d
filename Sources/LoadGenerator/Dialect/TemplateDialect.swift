/// The protocol of another server, given as texts on the command line.
public struct TemplateDescription: Sendable {
  /// A text that a connection sends before its first message, and a part of the expected answer.
  public struct Hello: Sendable {
    /// The text; `%d` is the connection's number, `%g` that of its group.
    public let text: String
    /// A part of the answer; nil: the server does not answer.
    public let ready: String?

    /// A pair of `--hello` and `--ready`.
    public init(text: String, ready: String?) {
      self.text = text
      self.ready = ready
    }
  }

  /// The requested subprotocol.
  public var subprotocol: String?
  /// The setup steps of each connection, in this order.
  public var hellos: [Hello]
  /// A message: `%t` the stamp, `%p` padding, `%l` a line of the texts, `%d` the connection's
  /// number, `%g` that of its group.
  public var publish: String
  /// Messages are binary frames.
  public var isBinary: Bool

  /// Creates a description.
  public init(subprotocol: String?, hellos: [Hello], publish: String, isBinary: Bool) {
    self.subprotocol = subprotocol
    self.hellos = hellos
    self.publish = publish
    self.isBinary = isBinary
  }
}

/// Speaks as a `TemplateDescription` says.
final class TemplateDialect: Dialect {
  let answersMessages = false
  let opcode: UInt8
  private let address: Address
  private let description: TemplateDescription
  private let size: Int
  private let texts: MessageTexts?
  private let groupOf: (Int) -> Int
  private let readyTexts: [[UInt8]?]

  /// - Parameters:
  ///   - size: the length of a message with `%p`, in bytes.
  ///   - texts: the lines for `%l`.
  ///   - groupOf: the group of a connection.
  init(
    address: Address, _ description: TemplateDescription, size: Int, texts: MessageTexts? = nil, groupOf: @escaping (Int) -> Int
  ) {
    self.address = address
    self.description = description
    self.size = size
    self.texts = texts
    self.groupOf = groupOf
    readyTexts = description.hellos.map { $0.ready.map { Array($0.utf8) } }
    opcode = description.isBinary ? Frame.Opcode.binary : Frame.Opcode.text
  }

  /// The messages to a group.
  func message(to group: Int) -> MessageTemplate {
    MessageTemplate(description.publish.replacing("%g", with: String(group)), paddedSize: size, texts: texts)
  }

  private func text(_ template: String, of number: Int) -> [UInt8] {
    MessageTemplate(template.replacing("%g", with: String(groupOf(number)))).text(connection: number)
  }

  func upgrade(of number: Int, offersDeflate: Bool) -> [UInt8] {
    let target = String(decoding: text(address.target, of: number), as: UTF8.self)
    return Handshake.request(
      target: target, host: address.authority, subprotocol: description.subprotocol, offersDeflate: offersDeflate)
  }

  func step(_ step: Int, of number: Int) -> SetupStep? {
    guard step < readyTexts.count else { return nil }
    return SetupStep(text: text(description.hellos[step].text, of: number), waits: readyTexts[step] != nil)
  }

  private static func contains(_ text: UnsafeRawBufferPointer, _ part: [UInt8]) -> Bool {
    text.count >= part.count && (0...text.count - part.count).contains { text[$0..<$0 + part.count].elementsEqual(part) }
  }

  func parse(_ text: UnsafeRawBufferPointer, on number: Int, step: Int?) -> ServerMessage {
    guard let step, step < readyTexts.count, let ready = readyTexts[step] else { return .nothing }
    return TemplateDialect.contains(text, ready) ? .stepDone : .nothing
  }
}
