import GroupRuntime
import Synchronization

/// Collects the answers of many commits and the order in which they came.
final class Answers: Sendable {
  typealias Answer = Commit.Answer

  private struct State {
    var answers: [Answer?]
    var order: [Int] = []
    var whenAllCame: (@Sendable ([Answer]) -> Void)?

    var complete: [Answer]? { order.count == answers.count ? answers.compactMap { $0 } : nil }
  }

  private let state: Mutex<State>

  init(expected: Int) {
    state = Mutex(State(answers: Array(repeating: nil, count: expected)))
  }

  /// The indices of the commits in the order of their answers.
  var order: [Int] { state.withLock { $0.order } }

  /// All answers; nil = some have not come.
  var complete: [Answer]? { state.withLock { $0.complete } }

  func whenAllCame(_ action: @escaping @Sendable ([Answer]) -> Void) {
    let all = state.withLock { state -> [Answer]? in
      state.whenAllCame = action
      return state.complete
    }
    if let all { action(all) }
  }

  func came(_ answer: Answer, _ index: Int) {
    let (all, action) = state.withLock { state in
      precondition(state.answers[index] == nil, "a commit was answered twice")
      state.answers[index] = answer
      state.order.append(index)
      return (state.complete, state.whenAllCame)
    }
    if let all { action?(all) }
  }

  /// Waits for all answers.
  func all() async -> [Answer] {
    await withCheckedContinuation { continuation in
      whenAllCame { continuation.resume(returning: $0) }
    }
  }
}
