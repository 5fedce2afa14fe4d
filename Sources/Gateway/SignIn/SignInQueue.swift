import DequeModule
import WebSocketTransport

/// The sign-ins of one loop, first in, first out. One is started at a time, in the background, and
/// few are in flight: a storm delays signed-in users by one sign-in, not by thousands.
struct SignInQueue {
  typealias SignIn = @Sendable () -> Void

  /// The most sign-ins that wait for the store.
  static let maxInFlight = 8

  private var waiting: Deque<SignIn> = []
  private var inFlight = 0
  private var isScheduled = false

  /// The number of sign-ins that wait to be started.
  var count: Int { waiting.count }

  /// Adds one at the end.
  mutating func append(_ signIn: @escaping SignIn) { waiting.append(signIn) }

  /// - Returns: true where the caller has to schedule a call of `next` on the loop.
  mutating func schedule() -> Bool {
    guard !isScheduled, !waiting.isEmpty, inFlight < SignInQueue.maxInFlight else { return false }
    isScheduled = true
    return true
  }

  /// Removes the oldest.
  mutating func next() -> SignIn? {
    isScheduled = false
    return waiting.popFirst()
  }

  /// One waits for the store.
  mutating func begin() { inFlight += 1 }

  /// The store has answered.
  mutating func end() { inFlight -= 1 }
}

extension LoopContext {
  /// Queues a sign-in.
  func enqueueSignIn(on loop: EventLoop, _ signIn: @escaping SignInQueue.SignIn) {
    signIns.append(signIn)
    scheduleNext(on: loop)
  }

  /// A sign-in that waited for the store is over.
  func signInEnded(on loop: EventLoop) {
    signIns.end()
    scheduleNext(on: loop)
  }

  private func scheduleNext(on loop: EventLoop) {
    guard signIns.schedule() else { return }
    loop.enqueueInBackground {
      let signIn = self.signIns.next()
      signIn?()
      self.scheduleNext(on: loop)
    }
  }
}
