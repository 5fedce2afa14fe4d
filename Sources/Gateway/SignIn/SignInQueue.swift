import DequeModule
import WebSocketTransport

/// Sign-ins of one loop in the order they came. One is begun at a time, behind everything else the loop has to do, and only so many
/// are under way, so that a storm delays those who are signed in by one sign-in and not by thousands.
struct SignInQueue {
  typealias SignIn = @Sendable () -> Void

  /// How many may wait for the store.
  static let mostUnderWay = 8

  private var waiting: Deque<SignIn> = []
  private var underWay = 0
  private var isScheduled = false

  /// How many wait for their turn.
  var count: Int { waiting.count }

  /// Puts one at the end.
  mutating func append(_ signIn: @escaping SignIn) { waiting.append(signIn) }

  /// Whether the loop is to be asked for a turn. After true, whoever asked calls `next` when it comes.
  mutating func schedule() -> Bool {
    guard !isScheduled, !waiting.isEmpty, underWay < SignInQueue.mostUnderWay else { return false }
    isScheduled = true
    return true
  }

  /// The one whose turn has come.
  mutating func next() -> SignIn? {
    isScheduled = false
    return waiting.popFirst()
  }

  /// One has gone to the store.
  mutating func began() { underWay += 1 }

  /// It has come back.
  mutating func ended() { underWay -= 1 }
}

extension LoopContext {
  /// Begins a sign-in when it is its turn.
  func enqueue(on loop: EventLoop, _ signIn: @escaping SignInQueue.SignIn) {
    signIns.append(signIn)
    askForTurn(on: loop)
  }

  /// A sign-in that had gone to the store is over.
  func signInEnded(on loop: EventLoop) {
    signIns.ended()
    askForTurn(on: loop)
  }

  private func askForTurn(on loop: EventLoop) {
    guard signIns.schedule() else { return }
    loop.enqueueInBackground {
      let signIn = self.signIns.next()
      signIn?()
      self.askForTurn(on: loop)
    }
  }
}
