import Cluster
import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// The rows of a round, and answers before their turn, as values.
@Suite struct RemoteRowsTests {
  private static let one = NodeNumber(1)
  private static let two = NodeNumber(2)

  private func text(_ bytes: Int) -> Reply { .success(.encoded([UInt8](repeating: 0, count: bytes - 1))) }

  @Test func theRowsOfANodeAreOneRequest() {
    let routes: [ShardRouter.Route] = [.node(Self.two), .here, .node(Self.one), .nobody, .node(Self.two), .here]
    let round = RowRound([0, 1, 2, 3, 4, 5]) { routes[$0] }
    #expect(round.here == [1, 5])
    #expect(round.batches == [.init(node: Self.two, rows: [0, 4]), .init(node: Self.one, rows: [2])])
  }

  @Test func aRequestHasAFewHundredRows() {
    let round = RowRound(Array(0..<2000)) { $0.isMultiple(of: 2) ? .here : .node(Self.one) }
    #expect(round.here == (0..<RowBounds.rows).map { 2 * $0 })
    #expect(round.batches == [.init(node: Self.one, rows: (0..<RowBounds.rows).map { 2 * $0 + 1 })])
    #expect(RowRound([7]) { _ in .nobody } == RowRound([]) { _ in .here })
  }

  @Test func anAnswerIsTakenInItsTurn() {
    var ahead = RowsAhead()
    for index in 2...4 { ahead.add(text(index), at: index, bytesAsked: .max) }
    #expect(ahead.missing(in: 1..<7, bytesLeft: .max) == [1, 5, 6])
    #expect(ahead.reply(at: 3, bytesLeft: .max)?.rowBytes == 3)
    #expect(ahead.reply(at: 1, bytesLeft: .max) == nil)
    ahead.remove(3)
    #expect(ahead.missing(in: 2..<5, bytesLeft: .max) == [3])
  }

  @Test func anAnswerThatIsTooLongNowIsAskedForAgain() {
    var ahead = RowsAhead()
    ahead.add(text(100), at: 0, bytesAsked: 1000)
    ahead.add(text(101), at: 1, bytesAsked: 1000)
    // One message always fits, so an answer may be longer than what was left.
    ahead.add(text(500), at: 2, bytesAsked: 100)
    #expect(ahead.reply(at: 0, bytesLeft: 100) != nil)
    #expect(ahead.reply(at: 1, bytesLeft: 100) == nil)
    #expect(ahead.reply(at: 2, bytesLeft: 100) != nil)
    #expect(ahead.reply(at: 2, bytesLeft: 99) == nil)
    #expect(ahead.missing(in: 0..<3, bytesLeft: 100) == [1])
    #expect(ahead.missing(in: 0..<3, bytesLeft: 99) == [0, 1, 2])
    // Bytes never become more.
    #expect(ahead.missing(in: 0..<3, bytesLeft: 1000) == [0, 1, 2])
  }

  @Test func onlyRowsOfMessagesShareBytes() {
    let sync = RowOperation.sync(epoch: "e", seq: 5, changeSeq: 6, bytes: 100)
    #expect(sync.leaving(30) == .sync(epoch: "e", seq: 5, changeSeq: 6, bytes: 70))
    #expect(sync.leaving(130) == .sync(epoch: "e", seq: 5, changeSeq: 6, bytes: 0))
    #expect(sync.bounded(to: 7) == .sync(epoch: "e", seq: 5, changeSeq: 6, bytes: 7))
    let report = RowOperation.report(ReportMessage(groupID: "g", target: .seq(1)), mayPass: true)
    for row in [RowOperation.info, .unreadCount, .foundInfo(joinedOnly: true), .joinedInfo(updatedSince: 5), report] {
      #expect(row.leaving(30) == row && row.bounded(to: 7) == row)
      #expect(row.writes == (row == report), "an answer that is lost says nothing of a report")
    }
  }
}
