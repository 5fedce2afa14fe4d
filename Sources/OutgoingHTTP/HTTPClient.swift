import GroupModel
import Synchronization

/// Asks HTTP servers over a few connections that it keeps open.
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
    /// How many of them may be those of one user.
    public var maxWaitingOfUser = 64
    /// The limit of the wait for a connection.
    public var maxWait = Duration.seconds(2)
    /// The limit for a request, from the moment at which it leaves.
    public var timeout = Duration.seconds(2)
    /// How late the end of that time may be noticed; later, this process stood still.
    var pauseLimit = Duration.seconds(1)
    /// The limit of an answer's body, and of its headers.
    public var maxAnswerBytes = 64 * 1024
    /// PEM of the authorities to trust in place of the system's.
    public var authoritiesFile: String?
    /// How far the thread gives way to the others of the process where cores are scarce: 0 to 19.
    public var niceness = 0

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
    loop = TransferLoop(
      transfers: transfers,
      TransferQueue.Bounds(
        slots: configuration.connections, waiting: configuration.maxWaiting, waitingOfUser: configuration.maxWaitingOfUser),
      timeout: configuration.timeout, pauseLimit: configuration.pauseLimit, niceness: configuration.niceness)
  }

  deinit { loop.close() }

  /// Posts `body` and returns the answer, whatever its status. Cancelling the task closes the
  /// connection; the server may have received the request all the same.
  /// - Parameter user: takes turns with other users; nil = the server itself.
  public func post(
    _ body: [UInt8], to url: String, headers: [HTTPHeader], for user: UserID? = nil
  ) async -> Result<HTTPResponse, HTTPError> {
    await send(body, to: url, headers: headers, for: user)
  }

  /// Asks for what is at a URL, and returns the answer, whatever its status. Cancelling the task closes
  /// the connection.
  public func get(_ url: String, headers: [HTTPHeader]) async -> Result<HTTPResponse, HTTPError> {
    await send(nil, to: url, headers: headers, for: nil)
  }

  private func send(
    _ body: [UInt8]?, to url: String, headers: [HTTPHeader], for user: UserID?
  ) async -> Result<HTTPResponse, HTTPError> {
    let id = lastID.add(1, ordering: .relaxed).newValue
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        submit(id, body, to: url, headers: headers, for: user) { continuation.resume(returning: $0) }
        // A cancellation from before `submit` found nothing to end.
        if Task.isCancelled { loop.cancel(id) }
      }
    } onCancel: {
      loop.cancel(id)
    }
  }

  /// Posts `body`.
  /// - Parameter completion: called once with the answer, on the client's thread; at once where the
  ///   request is refused.
  public func post(
    _ body: [UInt8], to url: String, headers: [HTTPHeader],
    completion: @escaping @Sendable (Result<HTTPResponse, HTTPError>) -> Void
  ) {
    submit(lastID.add(1, ordering: .relaxed).newValue, body, to: url, headers: headers, for: nil, completion)
  }

  private func submit(
    _ id: UInt64, _ body: [UInt8]?, to url: String, headers: [HTTPHeader], for user: UserID?,
    _ completion: @escaping @Sendable (Result<HTTPResponse, HTTPError>) -> Void
  ) {
    let lines = headers.compactMap(\.line)
    guard !url.utf8.contains(0), lines.count == headers.count else {
      return completion(.failure(HTTPError(.badRequest, "a control character in the URL or a header")))
    }
    loop.submit(
      PendingTransfer(
        id: id, user: user, url: url, headers: lines, body: body, deadline: .now + configuration.maxWait,
        completion: completion))
  }

  /// Performs `work` on the client's thread, where posts wake no other; not at all once the client is
  /// shut down.
  /// - Parameter isDeferrable: it can wait for a millisecond, which spares many callers the waking.
  public func perform(isDeferrable: Bool = false, _ work: @escaping @Sendable () -> Void) {
    loop.perform(isDeferrable: isDeferrable, work)
  }

  /// Ends all requests with `.shutDown`, refuses later ones, and returns when the thread has ended.
  public func shutDown() async {
    loop.close()
    await loop.waitForEnd()
  }
}
