import WebSocketTransport

/// The requests of an event stream, which come by HTTP and are answered there (Protocol.md, "Event
/// streams").
extension Session {
  /// Lets requests find the session, where it is an event stream that has signed in.
  /// - Returns: the key that they name; nil = it is none.
  func beginStream() -> String? {
    guard connection.isEventStream else { return nil }
    let (name, key) = streams.add(self)
    stream = name
    return key
  }

  /// A request, or a batch, has come for the session. On any thread.
  nonisolated func post(_ body: [UInt8], _ call: PostedCall) {
    connection.loop.perform { self.assumeIsolated { $0.receive(posted: body, call) } }
  }

  /// Answers a request, unless that has happened.
  func answer(_ call: PostedCall, _ answer: PostedCall.Answer) {
    guard posts.removeValue(forKey: ObjectIdentifier(call)) != nil else { return }
    call.answer(answer)
    closeIfAnswered()
  }

  /// The session has ended: what is under way is not answered, as with a connection that is lost.
  func endPosts() {
    if let stream { streams.remove(stream) }
    let unanswered = posts.values
    posts = [:]
    for call in unanswered { call.answer(.gone) }
  }
}
