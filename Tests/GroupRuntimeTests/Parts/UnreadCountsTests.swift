import GroupModel
import Testing

@testable import GroupRuntime

/// The recorded counts of unread messages, and the ranges still to be counted.
@Suite struct UnreadCountsTests {
  private func messages(base: Int = 0, known: Int = 0, limit: Int = 10) -> UnreadMessages {
    UnreadMessages(
      reader: "mary", base: base, known: known, ranges: [], through: 0, managersOnly: false, skipsFlagged: false,
      limit: limit,
      question: UnreadCounts().question(of: "mary", after: 0, managersOnly: false).question)
  }

  @Test func theTotalIsExactUpToTheLimit() {
    #expect(messages().total() == 0)
    #expect(messages(base: 3, known: 4).total() == 7)
    #expect(messages(base: 3, known: 4).total(counting: 2) == 9)
    #expect(messages(base: 3, known: 4).total(counting: 3) == 10)
    #expect(messages(base: 3, known: 4).total(counting: 900) == 10)
    #expect(messages(base: 900).total() == 10)
  }

  @Test func countedMessagesAreNotCountedAgain() {
    var counts = UnreadCounts()
    let first = counts.question(of: "mary", after: 5, managersOnly: false)
    #expect(first.known == 0 && first.through == 5)
    counts.record(3, through: 20, for: "mary", first.question)
    let second = counts.question(of: "mary", after: 5, managersOnly: false)
    #expect(second.known == 3 && second.through == 20)
    let other = counts.question(of: "carl", after: 5, managersOnly: false)
    #expect(other.known == 0 && other.through == 5, "his own messages are others")
    counts.record(4, through: 22, for: "mary", second.question)
    counts.record(3, through: 20, for: "mary", first.question)
    #expect(counts.question(of: "mary", after: 5, managersOnly: false).known == 4, "a late answer of less")
  }

  @Test func anotherQuestionIsCountedAnew() {
    var counts = UnreadCounts()
    counts.record(3, through: 20, for: "mary", counts.question(of: "mary", after: 5, managersOnly: false).question)
    for (after, managersOnly) in [(6, false), (5, true), (4, false)] as [(Int64, Bool)] {
      let question = counts.question(of: "mary", after: after, managersOnly: managersOnly)
      #expect(question.known == 0 && question.through == after)
    }
    // The mark has moved on: the answer to it is kept though it reaches less far.
    counts.record(1, through: 10, for: "mary", counts.question(of: "mary", after: 8, managersOnly: false).question)
    #expect(counts.question(of: "mary", after: 8, managersOnly: false).through == 10)
  }

  @Test func aRecallDeletesCountsAndInvalidatesThoseInProgress() {
    var counts = UnreadCounts()
    let asked = counts.question(of: "mary", after: 5, managersOnly: false).question
    counts.record(3, through: 20, for: "mary", asked)
    counts.removeAll()
    #expect(counts.question(of: "mary", after: 5, managersOnly: false).known == 0)
    counts.record(4, through: 21, for: "mary", asked)
    #expect(counts.question(of: "mary", after: 5, managersOnly: false).known == 0, "counted before the recall")
    counts.record(2, through: 21, for: "mary", counts.question(of: "mary", after: 5, managersOnly: false).question)
    #expect(counts.question(of: "mary", after: 5, managersOnly: false).known == 2)
  }

  @Test func aBoundedNumberOfReadersIsKept() {
    var counts = UnreadCounts()
    for number in 0..<2500 {
      let reader = UserID(stringLiteral: "u\(number)")
      counts.record(1, through: 9, for: reader, counts.question(of: reader, after: 5, managersOnly: false).question)
      #expect(counts.question(of: reader, after: 5, managersOnly: false).known == 1)
    }
    let kept = (0..<2500).filter {
      counts.question(of: UserID(stringLiteral: "u\($0)"), after: 5, managersOnly: false).known == 1
    }
    #expect(kept.count <= 1000)
  }
}
