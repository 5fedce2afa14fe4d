import ServerConfiguration

/// Asks a running server for its health, for `throng health`.
public enum HealthProbe {
  /// The reason why there is no good answer, in a sentence.
  public typealias Failure = InternalClient.Failure

  /// Returns when `/healthz` of the configured internal listener answers 200.
  /// - Parameter seconds: the time limit of connecting, of sending and of each part of the answer.
  public static func ask(_ settings: Settings, seconds: Int = 2) throws(Failure) {
    let answer = try InternalClient(settings, seconds: seconds).get("/healthz")
    guard answer.status == 200 else { throw Failure(description: "\(settings.internalListen) answers \(answer.status)") }
  }
}
