import GroupModel

/// The messages of a group that a member has not read (Protocol.md, "Unread counts").
struct UnreadMessages: Sendable, Equatable {
  let reader: UserID
  /// How many there are besides those that are counted.
  let base: Int
  /// How many were counted before those that are still to be counted.
  let known: Int
  /// Those still to be counted; nil = none are.
  let range: ClosedRange<Int64>?
  /// Only those that managers and application administrators sent.
  let managersOnly: Bool
  /// Further than that nothing is counted, nor told.
  let limit: Int
  /// What the count has to be noted with.
  let question: UnreadCounts.Question

  /// Counts are exact up to it and read that number beyond.
  func total(counting more: Int = 0) -> Int { min(base + known + more, limit) }
}

/// What was counted lately, so that the same messages are not counted again for each question.
struct UnreadCounts: Sendable {
  /// What somebody asked for. An answer to it is worthless when a message has been recalled since.
  struct Question: Sendable, Equatable {
    let after: Int64
    let managersOnly: Bool
    fileprivate let recalls: Int
  }

  private struct Answer: Sendable {
    let question: Question
    let through: Int64
    let count: Int
  }

  /// How many readers' counts are kept.
  private static let most = 1000

  private var answers: [UserID: Answer] = [:]
  private var recalls = 0

  /// What is left to count of a reader's messages with `seq` above `after`, and how many are known.
  func question(
    of reader: UserID, after: Int64, managersOnly: Bool
  ) -> (question: Question, known: Int, through: Int64) {
    let question = Question(after: after, managersOnly: managersOnly, recalls: recalls)
    guard let answer = answers[reader], answer.question == question else { return (question, 0, after) }
    return (question, answer.count, answer.through)
  }

  /// So many were counted up to a message.
  mutating func note(_ count: Int, through: Int64, for reader: UserID, _ question: Question) {
    guard question.recalls == recalls, through > answers[reader]?.through ?? 0 || answers[reader]?.question != question else {
      return
    }
    if answers.count >= UnreadCounts.most { answers = [:] }
    answers[reader] = Answer(question: question, through: through, count: count)
  }

  /// A message was recalled: whoever had not read it has one less.
  mutating func forgetAll() {
    recalls += 1
    answers = [:]
  }
}
