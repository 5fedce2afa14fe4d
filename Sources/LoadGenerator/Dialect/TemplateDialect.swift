/// The dialect of a server that is no Throng, given as texts on the command line.
public struct TemplateDescription: Sendable {
  /// What a connection sends first, and a text within the answer it waits for.
  public struct Hello: Sendable {
    /// The text; `%d` is the connection's number.
    public let text: String
    /// What the answer contains; nil: there is nothing to wait for.
    public let ready: String?

    /// A pair of `--hello` and `--ready`.
    public init(text: String, ready: String?) {
      self.text = text
      self.ready = ready
    }
  }

  /// The subprotocol that is asked for.
  public var subprotocol: String?
  /// What each connection says before it takes part, in this order.
  public var hellos: [Hello]
  /// A message: `%t` the stamp, `%p` padding, `%d` the connection's number.
  public var publish: String
  /// Messages are binary frames.
  public var isBinary: Bool

  /// A dialect with everything given.
  public init(subprotocol: String?, hellos: [Hello], publish: String, isBinary: Bool) {
    self.subprotocol = subprotocol
    self.hellos = hellos
    self.publish = publish
    self.isBinary = isBinary
  }
}

/// Says what a `TemplateDescription` tells it to.
final class TemplateDialect: Dialect {
  let answersMessages = false
  let opcode: UInt8
  /// The messages.
  let message: Template
  private let address: Address
  private let target: Template
  private let subprotocol: String?
  private let hellos: [(text: Template, ready: [UInt8]?)]

  init(address: Address, _ description: TemplateDescription, size: Int) {
    self.address = address
    target = Template(address.target)
    subprotocol = description.subprotocol
    hellos = description.hellos.map { (Template($0.text), $0.ready.map { Array($0.utf8) }) }
    message = Template(description.publish, paddedSize: size)
    opcode = description.isBinary ? Frame.Opcode.binary : Frame.Opcode.text
  }

  func upgrade(of number: Int) -> [UInt8] {
    let target = String(decoding: target.text(connection: number), as: UTF8.self)
    return Handshake.request(target: target, host: address.authority, subprotocol: subprotocol)
  }

  func step(_ step: Int, of number: Int) -> Step? {
    guard step < hellos.count else { return nil }
    return Step(text: hellos[step].text.text(connection: number), waits: hellos[step].ready != nil)
  }

  private static func contains(_ text: UnsafeRawBufferPointer, _ part: [UInt8]) -> Bool {
    text.count >= part.count && (0...text.count - part.count).contains { text[$0..<$0 + part.count].elementsEqual(part) }
  }

  func read(_ text: UnsafeRawBufferPointer, on number: Int, step: Int?) -> Reading {
    guard let step, step < hellos.count, let ready = hellos[step].ready else { return .nothing }
    return TemplateDialect.contains(text, ready) ? .stepDone : .nothing
  }
}
