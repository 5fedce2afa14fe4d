import GroupModel

/// The unread messages of one member (Protocol.md, "Unread counts").
struct UnreadMessages: Sendable, Equatable {
  let reader: UserID
  /// How many the application has set, besides those that are counted.
  let base: Int
  /// How many are known from an earlier count.
  let known: Int
  /// The messages still to be counted.
  let ranges: [ClosedRange<Int64>]
  /// The last message that the count includes.
  let through: Int64
  /// Only messages of managers and application administrators count.
  let managersOnly: Bool
  /// Some messages of the group do not count, as their senders chose.
  let skipsFlagged: Bool
  /// The highest count.
  let limit: Int
  /// The question that the count answers, to record it.
  let question: UnreadCounts.Question

  /// Counts are exact up to it and read that number beyond.
  func total(counting more: Int = 0) -> Int { min(base + known + more, limit) }
}

/// The counts of recent questions, so that the same messages are not counted for each question.
struct UnreadCounts: Sendable {
  /// The parameters of a count. A recall since makes its answer useless.
  struct Question: Sendable, Equatable {
    let after: Int64
    /// Those that came under NotReceive.
    let unheard: [ClosedRange<Int64>]
    let managersOnly: Bool
    fileprivate let recalls: Int
  }

  private struct Answer: Sendable {
    let question: Question
    let through: Int64
    let count: Int
  }

  /// How many readers' counts are kept.
  private static let maxReaders = 1000

  private var answers: [UserID: Answer] = [:]
  private var recalls = 0

  /// The question for a reader's messages with `seq` above `after`, and the known count up to
  /// `through`.
  func question(
    of reader: UserID, after: Int64, unheard: [ClosedRange<Int64>] = [], managersOnly: Bool
  ) -> (question: Question, known: Int, through: Int64) {
    let question = Question(after: after, unheard: unheard, managersOnly: managersOnly, recalls: recalls)
    guard let answer = answers[reader], answer.question == question else { return (question, 0, after) }
    return (question, answer.count, answer.through)
  }

  /// Records a count up to a message, unless it is outdated.
  mutating func record(_ count: Int, through: Int64, for reader: UserID, _ question: Question) {
    guard question.recalls == recalls, through > answers[reader]?.through ?? 0 || answers[reader]?.question != question else {
      return
    }
    if answers.count >= UnreadCounts.maxReaders { answers = [:] }
    answers[reader] = Answer(question: question, through: through, count: count)
  }

  /// Deletes all counts, because a message was recalled.
  mutating func removeAll() {
    recalls += 1
    answers = [:]
  }
}
