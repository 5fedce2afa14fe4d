import DequeModule

/// The requests that came to this node by HTTP for event streams, of each stream a few at a time and
/// the others behind them, in order. A value: `EventStreams` acts.
///
/// A request counts until the system has its whole answer, so a client that does not read its answers
/// holds the memory of a few.
struct PostQueue<Work: Sendable>: Sendable {
  /// Requests of a stream that are performed, or whose answers are being sent.
  static var maxInService: Int { 16 }
  /// Requests of a stream that wait, and their bytes.
  static var maxWaiting: Int { 256 }
  static var maxWaitingBytes: Int { 4 << 20 }

  /// What becomes of a request.
  enum Verdict: Equatable {
    case begin, wait, refuse
  }

  private struct Stream {
    var inService = 0
    var waiting: Deque<(work: Work, bytes: Int)> = []
    var waitingBytes = 0
  }

  private var streams: [StreamName: Stream] = [:]

  /// No requests.
  init() {}

  var isEmpty: Bool { streams.isEmpty }
  /// How many there are, waiting ones included.
  var count: Int { streams.values.reduce(0) { $0 + $1.inService + $1.waiting.count } }

  /// A request has come. Where it begins or waits, `end` follows when it is over.
  /// - Parameter work: is kept where it has to wait.
  mutating func add(_ work: Work, bytes: Int, to name: StreamName) -> Verdict {
    var stream = streams[name] ?? Stream()
    defer { if stream.inService > 0 { streams[name] = stream } }
    guard stream.inService >= PostQueue.maxInService else {
      stream.inService += 1
      return .begin
    }
    guard stream.waiting.count < PostQueue.maxWaiting, stream.waitingBytes + bytes <= PostQueue.maxWaitingBytes else {
      return .refuse
    }
    stream.waiting.append((work, bytes))
    stream.waitingBytes += bytes
    return .wait
  }

  /// A request that had begun is over.
  /// - Returns: the next one, which begins in its place.
  mutating func end(of name: StreamName) -> Work? {
    guard var stream = streams[name] else { return nil }
    guard let next = stream.waiting.popFirst() else {
      stream.inService -= 1
      streams[name] = stream.inService > 0 ? stream : nil
      return nil
    }
    stream.waitingBytes -= next.bytes
    streams[name] = stream
    return next.work
  }
}
