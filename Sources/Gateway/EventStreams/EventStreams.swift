import Cluster
import GroupModel
import Synchronization
import WebSocketTransport

/// Event streams on the public listener, and the requests of their sessions (Protocol.md, "Event
/// streams"), for the routes that know their paths.
public final class EventStreams: Sendable {
  /// What becomes of a request; the answer is given where it says nothing else.
  public enum Outcome: Sendable, Equatable {
    case accepted
    /// No stream has this key, or it has ended.
    case unknownKey
    /// Too many requests of the stream wait.
    case tooMany
  }

  private struct Post: Sendable {
    let name: StreamName
    let key: String
    let body: [UInt8]
    let trace: TraceContext?
    let exchange: HTTPExchange
    let headers: [(String, String)]
  }

  /// A stream's node answers for so long; the transport gives up a request at the same time.
  private static let answerTime = Duration.seconds(60)

  private let directory: StreamDirectory
  private let upgrades: UpgradePolicy
  private let proxies: TrustedProxies
  private let refusals: RefusalLog
  /// Nil = this node is alone.
  private let requests: RemoteRequests?
  private let queue = Mutex(PostQueue<Post>())

  /// - Parameter requests: bring requests to the nodes of their streams; nil = this node is alone.
  package init(
    _ directory: StreamDirectory, upgrades: UpgradePolicy, proxies: TrustedProxies, refusals: RefusalLog,
    requests: RemoteRequests?
  ) {
    self.directory = directory
    self.upgrades = upgrades
    self.proxies = proxies
    self.refusals = refusals
    self.requests = requests
  }

  /// How many requests of event streams are in service or wait.
  var postCount: Int { queue.withLock { $0.count } }

  // MARK: Who may ask

  /// The headers by which a browser lets the page of another origin read an answer; none where that
  /// origin may not connect. A cache must not give the answer to a third.
  public func originHeaders(for head: borrowing RequestHead) -> [(String, String)] {
    guard let origin = head.origin else { return [] }
    let isAllowed = upgrades.originRefusal(of: head, from: proxies.client(of: head)) == nil
    return (isAllowed ? [("Access-Control-Allow-Origin", origin)] : []) + [("Vary", "Origin")]
  }

  /// The status and sentence with which a new stream is refused, or nil; the refusal is counted and
  /// logged as that of an upgrade.
  public func refusal(ofStream head: borrowing RequestHead) -> (status: Int, sentence: String)? {
    let client = proxies.client(of: head)
    return note(upgrades.refusal(ofStream: head, from: client), head, client)
  }

  /// The same for any other request of a page, whose origin alone matters.
  public func refusal(ofOrigin head: borrowing RequestHead) -> (status: Int, sentence: String)? {
    let client = proxies.client(of: head)
    return note(upgrades.originRefusal(of: head, from: client), head, client)
  }

  private func note(
    _ refusal: UpgradeRefusal?, _ head: borrowing RequestHead, _ client: ForwardedClient
  ) -> (status: Int, sentence: String)? {
    guard let refusal else { return nil }
    refusals.upgrade(refusal, head, from: client)
    return (refusal.status, refusal.sentence)
  }

  // MARK: Requests

  /// Whether a stream of this node, or maybe one of another node, has a key.
  public func mayHave(_ key: String) -> Bool {
    guard let name = directory.name(in: key) else { return false }
    return directory.otherNode(of: name) != nil || directory.session(of: name) != nil
  }

  /// Has a request performed by the session that its key names, and answers it. On the loop of the
  /// exchange.
  /// - Parameters:
  ///   - trace: that the request tells of; nil = none.
  ///   - headers: of the answer.
  public func post(
    _ body: [UInt8], key: String, in trace: TraceContext?, _ exchange: HTTPExchange, headers: [(String, String)]
  ) -> Outcome {
    guard mayHave(key), let name = directory.name(in: key) else { return .unknownKey }
    let post = Post(name: name, key: key, body: body, trace: trace, exchange: exchange, headers: headers)
    let verdict = queue.withLock { $0.add(post, bytes: body.count, to: name) }
    switch verdict {
    case .begin: begin(post)
    // Meanwhile its connection may have to give way to others.
    case .wait: break
    case .refuse: return .tooMany
    }
    return .accepted
  }

  /// Performs a request. Its exchange may be on another loop: the one before it has ended there.
  private func begin(_ post: Post) {
    post.exchange.loop.perform { [self] in
      guard post.exchange.serve({ self.end(of: post.name) }) else { return end(of: post.name) }
      perform(post)
    }
  }

  private func end(of name: StreamName) {
    if let next = queue.withLock({ $0.end(of: name) }) { begin(next) }
  }

  private func perform(_ post: Post) {
    let call = PostedCall(in: post.trace) { answer in EventStreams.respond(answer, to: post) }
    if let node = directory.otherNode(of: post.name) {
      guard let requests else { return call.answer(.gone) }
      requests.send(.post(post.body, key: post.key, post.trace), to: node, timeout: EventStreams.answerTime) { outcome in
        // Where the node is not heard, its streams break as well, or this one's client connects anew.
        if case .reply(.posted(let answer)) = outcome { call.answer(answer) } else { call.answer(.gone) }
      }
    } else if let session = directory.session(of: post.name) {
      session.post(post.body, call)
    } else {
      call.answer(.gone)
    }
  }

  /// How many requests are under way or wait.
  var underWay: Int { queue.withLock { $0.count } }

  private static func respond(_ answer: PostedCall.Answer, to post: Post) {
    let headers = post.headers + [("Cache-Control", "no-store")]
    switch answer {
    case .text(let text): post.exchange.respond(status: 200, contentType: "application/json", headers: headers, body: text)
    case .nothing: post.exchange.respond(status: 204, contentType: nil, headers: headers, body: [])
    case .gone:
      post.exchange.respond(
        status: 401, contentType: "text/plain; charset=utf-8", headers: headers + EventStreams.challenge,
        body: Array("401: \(EventStreams.goneSentence)\n".utf8))
    }
  }

  /// What a request is told whose stream has gone.
  public static let goneSentence =
    "no event stream has this key, or it has ended: a request that was under way may have been performed"
  /// RFC 6750, section 3.1.
  public static let challenge = [("WWW-Authenticate", "Bearer error=\"invalid_token\"")]
}
