/// What the connections say to a server and understand of it. Everything that is a server's own stands behind this.
protocol Dialect: AnyObject {
  /// The HTTP request that opens the connection.
  func upgrade(of number: Int) -> [UInt8]

  /// What the connection does next before it takes part; nil when it has done everything.
  /// - Parameter step: counts from 0.
  func step(_ step: Int, of number: Int) -> Step?

  /// What a text of the server means that is no counted delivery.
  /// - Parameters:
  ///   - text: valid for the call; the JSON parser's padding is readable behind it.
  ///   - step: the step that waits for an answer; nil when the connection takes part already.
  func read(_ text: UnsafeRawBufferPointer, on number: Int, step: Int?) -> Reading

  /// The server answers every message, so that it is known which ones it accepted.
  var answersMessages: Bool { get }

  /// The opcode of the frames that carry messages and steps.
  var opcode: UInt8 { get }
}

/// One step of entering.
struct Step {
  /// What is sent; nil when the server speaks first.
  let text: [UInt8]?
  /// The connection goes on only after the answer.
  let waits: Bool
}

/// What a text of the server means.
enum Reading: Equatable {
  /// The answer that the step waited for.
  case stepDone
  /// The step was refused.
  case stepFailed(String)
  /// The reply to a request.
  case reply(id: Int, Outcome)
  /// A message that had been `queued` is not going to be delivered.
  case dropped(messageID: String)
  /// Nothing that matters here.
  case nothing
}

/// What became of a request.
enum Outcome: Equatable {
  case delivered, stored, dropped
  case queued(messageID: String)
  /// It succeeded, and it was no message.
  case done
  case failed(code: Int, String)
}
