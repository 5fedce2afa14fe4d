import Logging
import WireProtocol

/// What becomes of unknown parameters (Protocol.md, "Unknown parameters"): they are refused where the
/// server is strict, named by the log at the level debug, and by traces. Otherwise nobody looks for
/// them, and a request costs one load of `Tracer.isActive` for it.
package struct UnknownParameterPolicy: Sendable {
  private let untraced: UnknownParameterHandling
  private let tracer: Tracer

  /// - Parameter logger: its level is that of the whole run.
  package init(isStrict: Bool, logger: Logger, tracer: Tracer) {
    untraced = isStrict ? .refused : logger.logLevel <= .debug ? .noted : .ignored
    self.tracer = tracer
  }

  /// At this moment.
  var current: UnknownParameterHandling { untraced == .ignored && tracer.isActive ? .noted : untraced }

  /// Whether they have a line of the log. A request that is refused for them has one of its own.
  var isLogged: Bool { untraced == .noted }
}

extension [UnknownParameter] {
  /// All in one text, for logs and traces.
  var text: String { map(\.description).joined(separator: ", ") }
}
