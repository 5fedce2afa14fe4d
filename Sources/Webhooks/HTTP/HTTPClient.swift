import Synchronization

/// Posts to HTTP servers over a few connections that it keeps open.
///
/// One thread of its own makes all transfers; no call blocks the caller's thread. Redirects are not
/// followed. https servers need a certificate from an authority of the system.
public final class HTTPClient: Sendable {
  /// The settings of a client.
  public struct Configuration: Sendable {
    /// How many requests run at once, each over a connection of its own.
    public var connections = 8
    /// How many requests may wait for a connection; more are refused.
    public var maxWaiting = 1024
    /// The limit for a request, its wait for a connection included.
    public var timeout = Duration.seconds(2)
    /// The limit of an answer's body, and of its headers.
    public var maxAnswerBytes = 64 * 1024
    /// PEM of the authorities to trust in place of the system's.
    public var authoritiesFile: String?

    /// The defaults.
    public init() {}
  }

  private let configuration: Configuration
  private let loop: TransferLoop
  private let lastID = Atomic<UInt64>(0)

  /// - Throws: `.outOfMemory` only.
  public init(_ configuration: Configuration = Configuration()) throws(HTTPError) {
    precondition(configuration.connections > 0 && configuration.maxWaiting >= 0 && configuration.maxAnswerBytes > 0)
    self.configuration = configuration
    let transfers = try Transfers(
      slots: configuration.connections, maxAnswerBytes: configuration.maxAnswerBytes,
      authoritiesFile: configuration.authoritiesFile)
    loop = TransferLoop(transfers: transfers, slots: configuration.connections, maxWaiting: configuration.maxWaiting)
  }

  deinit { loop.close() }

  /// Posts `body` and returns the answer, whatever its status. Cancelling the task closes the
  /// connection; the server may have received the request all the same.
  public func post(_ body: [UInt8], to url: String, headers: [HTTPHeader]) async -> Result<HTTPResponse, HTTPError> {
    let lines = headers.compactMap(\.line)
    guard !url.utf8.contains(0), lines.count == headers.count else {
      return .failure(HTTPError(.badRequest, "a control character in the URL or a header"))
    }
    let id = lastID.add(1, ordering: .relaxed).newValue
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        loop.submit(
          PendingRequest(
            id: id, url: url, headers: lines, body: body, deadline: .now + configuration.timeout,
            completion: { continuation.resume(returning: $0) }))
        // A cancellation from before `submit` found nothing to end.
        if Task.isCancelled { loop.cancel(id) }
      }
    } onCancel: {
      loop.cancel(id)
    }
  }

  /// Ends all requests with `.shutDown`, refuses later ones, and returns when the thread has ended.
  public func shutDown() async {
    loop.close()
    await loop.waitForEnd()
  }
}
