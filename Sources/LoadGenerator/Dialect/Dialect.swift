/// The protocol of a kind of server above WebSocket: Throng's, or one given by templates.
protocol Dialect: AnyObject {
  /// The HTTP request that opens the connection.
  func upgrade(of number: Int, offersDeflate: Bool) -> [UInt8]

  /// The next setup step of a connection; nil: it is set up.
  /// - Parameter step: counts from 0.
  func step(_ step: Int, of number: Int) -> SetupStep?

  /// Understands a text of the server that has no stamp.
  /// - Parameters:
  ///   - text: valid for the call; the JSON parser's padding is readable behind it.
  ///   - step: the setup step that waits for an answer; nil: the connection is open.
  func parse(_ text: UnsafeRawBufferPointer, on number: Int, step: Int?) -> ServerMessage

  /// The server answers every message with whether it accepted it.
  var answersMessages: Bool { get }

  /// The opcode of the frames that carry messages and steps.
  var opcode: UInt8 { get }
}

/// One step between the upgrade and the first message, such as joining a group.
struct SetupStep {
  /// The text to send; nil: the server speaks first.
  let text: [UInt8]?
  /// The next step has to wait for an answer.
  let waits: Bool
}

/// The meaning of a text from the server.
enum ServerMessage: Equatable {
  /// The answer to the setup step.
  case stepDone
  /// The step was refused.
  case stepFailed(String)
  /// The reply to a request.
  case reply(id: Int, Outcome)
  /// A message that was `queued` will not be delivered.
  case dropped(messageID: String)
  /// Any other text.
  case nothing
}

/// The outcome of a request.
enum Outcome: Equatable {
  case delivered, stored, dropped
  case queued(messageID: String)
  /// A request that is no message succeeded.
  case done
  case failed(code: Int, String)
}
