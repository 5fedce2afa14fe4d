import ThrongTestKit

/// The reason of a refusal.
struct ModelRefusal: Error {
  let code: Int
  var retryAfterMs: Int64?

  init(_ code: Int, retryAfterMs: Int64? = nil) {
    self.code = code
    self.retryAfterMs = retryAfterMs
  }
}

/// The expected outcome of an operation.
struct ModelExpectation {
  struct Event {
    let name: String
    let params: JSON
    let receivers: Set<SessionName>
  }

  struct Notification: Equatable {
    let users: Set<String>
    let content: JSON
  }

  /// 0 = success.
  var code = 0
  var retryAfterMs: Int64?
  var result: JSON = .object([:])
  var events: [Event] = []
  var notifications: [Notification] = []
  /// A message was published, or stored to be published.
  var delivers = false
}
