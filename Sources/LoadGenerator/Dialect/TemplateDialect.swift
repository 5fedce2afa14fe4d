/// The protocol of another server, given as texts on the command line.
public struct TemplateDescription: Sendable {
  /// A text that a connection sends before its first message, and a part of the expected answer.
  public struct Hello: Sendable {
    /// The text; `%d` is the connection's number.
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
  /// A message: `%t` the stamp, `%p` padding, `%d` the connection's number.
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
  /// The messages.
  let message: MessageTemplate
  private let address: Address
  private let target: MessageTemplate
  private let subprotocol: String?
  private let hellos: [(text: MessageTemplate, ready: [UInt8]?)]

  init(address: Address, _ description: TemplateDescription, size: Int) {
    self.address = address
    target = MessageTemplate(address.target)
    subprotocol = description.subprotocol
    hellos = description.hellos.map { (MessageTemplate($0.text), $0.ready.map { Array($0.utf8) }) }
    message = MessageTemplate(description.publish, paddedSize: size)
    opcode = description.isBinary ? Frame.Opcode.binary : Frame.Opcode.text
  }

  func upgrade(of number: Int) -> [UInt8] {
    let target = String(decoding: target.text(connection: number), as: UTF8.self)
    return Handshake.request(target: target, host: address.authority, subprotocol: subprotocol)
  }

  func step(_ step: Int, of number: Int) -> SetupStep? {
    guard step < hellos.count else { return nil }
    return SetupStep(text: hellos[step].text.text(connection: number), waits: hellos[step].ready != nil)
  }

  private static func contains(_ text: UnsafeRawBufferPointer, _ part: [UInt8]) -> Bool {
    text.count >= part.count && (0...text.count - part.count).contains { text[$0..<$0 + part.count].elementsEqual(part) }
  }

  func parse(_ text: UnsafeRawBufferPointer, on number: Int, step: Int?) -> ServerMessage {
    guard let step, step < hellos.count, let ready = hellos[step].ready else { return .nothing }
    return TemplateDialect.contains(text, ready) ? .stepDone : .nothing
  }
}
