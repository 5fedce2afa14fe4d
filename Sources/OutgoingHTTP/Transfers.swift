import CHTTPClient
import GroupModel

/// libcurl's transfers, one to a slot.
///
/// @unchecked Sendable: `client` never changes. The thread of `TransferLoop` makes all calls but
/// `wake`, which any thread may, and the last owner frees it.
final class Transfers: @unchecked Sendable {
  private let client: OpaquePointer

  init(slots: Int, maxAnswerBytes: Int, authoritiesFile: String?) throws(HTTPError) {
    var options = hc_options(slots: Int32(clamping: slots), max_answer_bytes: maxAnswerBytes, authorities_file: nil)
    let client =
      authoritiesFile?.withCString {
        options.authorities_file = $0
        return hc_client_create(&options)
      } ?? (authoritiesFile == nil ? hc_client_create(&options) : nil)
    guard let client else { throw HTTPError(.outOfMemory, "no memory for \(slots) transfers") }
    self.client = client
  }

  deinit { hc_client_free(client) }

  /// Prepares the calling thread for the transfers.
  static func enterThread(niceness: Int32) { hc_enter_thread(niceness) }

  /// Starts a request in a free slot; nil where it has begun.
  func start(_ request: PendingTransfer, slot: Int, timeout: Duration) -> HTTPError? {
    let number = Int32(slot)
    // Below a millisecond curl would take it for no limit.
    let milliseconds = max(1, Int(clamping: timeout.wholeMilliseconds))
    let isStarted = request.headers.allSatisfy { hc_add_header(client, number, $0) } && begin(request, number, milliseconds)
    guard !isStarted else { return nil }
    cancel(slot: slot)
    return HTTPError(.outOfMemory, "no memory for the request")
  }

  private func begin(_ request: PendingTransfer, _ slot: Int32, _ milliseconds: Int) -> Bool {
    guard let body = request.body else { return hc_start_get(client, slot, request.url, milliseconds) }
    return body.withUnsafeBufferPointer {
      hc_start(client, slot, request.url, $0.baseAddress, $0.count, milliseconds)
    }
  }

  func cancel(slot: Int) { hc_cancel(client, Int32(slot)) }

  /// Waits for events or `wake`. False where libcurl cannot go on with what runs.
  func wait(_ limit: Duration) -> Bool {
    // Rounded up: a wait that ends early would be repeated until the time has come.
    hc_wait(client, limit <= .zero ? 0 : Int32(clamping: limit.wholeMilliseconds + 1))
  }

  /// Ends the present or next `wait`; any thread.
  func wake() { hc_wakeup(client) }

  /// A request that has ended, and what has come of it.
  func nextEnded() -> (slot: Int, result: Result<HTTPResponse, HTTPError>)? {
    var ended = hc_ended()
    guard hc_next_ended(client, &ended) else { return nil }
    guard let code = HTTPError.Code(ended.outcome) else {
      let body = Array(UnsafeBufferPointer(start: ended.body, count: ended.body_length))
      return (Int(ended.slot), .success(HTTPResponse(status: Int(ended.status), body: body)))
    }
    let reason = ended.reason.map { String(cString: $0) } ?? ""
    return (Int(ended.slot), .failure(HTTPError(code, reason)))
  }
}

extension HTTPError.Code {
  /// Nil for an answer.
  fileprivate init?(_ outcome: hc_outcome) {
    switch outcome {
    case HC_ANSWERED: return nil
    case HC_TIMED_OUT: self = .timedOut
    case HC_UNRESOLVED: self = .unresolved
    case HC_UNREACHABLE: self = .unreachable
    case HC_UNTRUSTED: self = .untrusted
    case HC_TLS_FAILED: self = .tls
    case HC_TOO_LARGE: self = .tooLarge
    case HC_BAD_URL: self = .badRequest
    default: self = .broken
    }
  }
}
