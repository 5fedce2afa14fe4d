import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// A remembered message of a text, as a room would fan it out.
func recentMessage(_ seq: Int64, _ text: String = "t", from sender: UserID = "ann") throws -> RecentMessage {
  let message = Message(
    msgID: "m\(seq)", groupID: "g", seq: seq, sender: sender, nameCard: "", timestamp: WallInstant(milliseconds: seq),
    content: .text(text), priority: .normal, clientMsgID: nil, platform: .web)
  let event = GroupEvent(groupID: "g", opTime: message.timestamp, .onRecvNewMessage(message))
  return try #require(RecentMessage(event))
}

/// The memory of one live room, against plain lists of numbers.
@Suite struct MessageRingTests {
  private static func at(_ seconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }

  /// A ring whose message n came at second n.
  private func ring(through last: Int64, without first: Int64 = 0) throws -> MessageRing {
    var ring = MessageRing(epoch: "e")
    for seq in 1..<last + 1 { ring.append(try recentMessage(seq), at: Self.at(seq)) }
    for _ in 0..<first { ring.removeOldest() }
    return ring
  }

  @Test func anEmptyRingBeginsWithOne() throws {
    let ring = MessageRing(epoch: "e")
    #expect(ring.lastSeq == 0 && ring.firstSeq == 1 && ring.count == 0 && ring.byteCount == 0)
    let sync = try #require(ring.sync(epoch: "e", seq: 0, changeSeq: 0, limit: 100, since: .distantPast))
    #expect(sync.messages.isEmpty && sync.changes.isEmpty && sync.changeSeq == 0 && !sync.more)
    #expect(ring.sync(epoch: "e", seq: 1, changeSeq: nil, limit: 100, since: .distantPast) == nil)
    #expect(ring.older(than: .max, count: 5, since: .distantPast).isFinished)
  }

  /// As getGroupMessages asks: in the order of the request, without those that are not there.
  @Test func messagesAreFoundByTheirPlaces() throws {
    var ring = try ring(through: 9, without: 2)
    ring.recall(5, changeSeq: 1)
    let found = ring.messages([9, 5, 1, 2, 3, 10, 0], since: .distantPast)
    #expect(found.map(\.seq) == [9, 5, 3] && found.map(\.isRecalled) == [false, true, false])
    #expect(ring.messages([9, 5, 3], since: Self.at(5)).map(\.seq) == [9])
    #expect(MessageRing(epoch: "e").messages([1], since: .distantPast).isEmpty)
  }

  @Test func pagesAgreeWithAPlainList() throws {
    for last in 0...9 as ClosedRange<Int64> {
      for gone in 0...last {
        let ring = try ring(through: last, without: gone)
        for age in 0...last {
          let list = Array(max(gone, age) + 1..<last + 1)
          for bound in 0...last + 1 {
            for count in 1...4 {
              let older = ring.older(than: bound, count: count, since: Self.at(age))
              let newer = ring.newer(than: bound, count: count, since: Self.at(age))
              let (below, above) = (Array(list.filter { $0 < bound }.reversed()), list.filter { $0 > bound })
              #expect(older.messages.map(\.seq) == Array(below.prefix(count)))
              #expect(older.isFinished == (below.count <= count))
              #expect(newer.messages.map(\.seq) == Array(above.prefix(count)))
              #expect(newer.isFinished == (above.count <= count))
            }
            #expect((ring.message(bound, since: Self.at(age))?.seq == bound) == list.contains(bound))
            #expect((ring.message(msgID: "m\(bound)", since: Self.at(age)) != nil) == list.contains(bound))
          }
        }
      }
    }
  }

  /// "None missing, or recovered:false and none."
  @Test func aPositionIsRecoveredWhileNothingBehindItIsForgotten() throws {
    for last in 0...6 as ClosedRange<Int64> {
      for gone in 0...last {
        let ring = try ring(through: last, without: gone)
        for age in 0...last {
          let list = Array(max(gone, age) + 1..<last + 1)
          for seq in 0...last + 1 {
            let sync = ring.sync(epoch: "e", seq: seq, changeSeq: nil, limit: 3, since: Self.at(age))
            let missed = Array(seq + 1..<max(seq, last) + 1)
            let isComplete = seq <= last && missed.allSatisfy(list.contains)
            #expect((sync != nil) == isComplete, "\(seq) of \(gone)...\(last)")
            if let sync {
              #expect(sync.messages.map(\.seq) == Array(missed.prefix(3)) && sync.more == (missed.count > 3))
              #expect(sync.changes.isEmpty && sync.changeSeq == 0)
            }
          }
        }
      }
    }
    #expect(try ring(through: 3).sync(epoch: "other", seq: 3, changeSeq: nil, limit: 3, since: .distantPast) == nil)
  }

  @Test func recallsAreChangesOfWhatIsRemembered() throws {
    var ring = try ring(through: 6, without: 1)
    let before = ring.byteCount
    for (number, seq) in [4, 1, 3, 6].enumerated() { ring.recall(Int64(seq), changeSeq: Int64(number + 1)) }
    #expect(ring.changeSeq == 4 && ring.byteCount < before)
    #expect(ring.message(4, since: .distantPast)?.isRecalled == true && ring.message(5, since: .distantPast)?.isRecalled == false)
    func sync(_ seq: Int64, _ changeSeq: Int64?, limit: Int = 10) -> RecentSync? {
      ring.sync(epoch: "e", seq: seq, changeSeq: changeSeq, limit: limit, since: .distantPast)
    }
    // That of message 1 is a change no more, and 6 lies behind the position.
    let all = try #require(sync(5, 0))
    #expect(all.changes.map(\.seq) == [4, 3] && all.messages.map(\.seq) == [6] && all.changeSeq == 4 && !all.more)
    let later = try #require(sync(5, 1))
    #expect(later.changes.map(\.seq) == [3])
    #expect(sync(5, nil)?.changes.isEmpty == true && sync(5, 4)?.changes.isEmpty == true)
    #expect(sync(5, 5) == nil, "a change that this room never had")
    let cut = try #require(sync(5, 0, limit: 1))
    #expect(cut.changes.map(\.seq) == [4] && cut.messages.isEmpty && cut.changeSeq == 1 && cut.more)
    let full = try #require(sync(5, 0, limit: 2))
    #expect(full.changes.count == 2 && full.messages.isEmpty && full.changeSeq == 4 && full.more)
  }

  @Test func aRecalledMessageHasNoContent() throws {
    var ring = MessageRing(epoch: "e")
    ring.append(try recentMessage(1, "a secret"), at: Self.at(1))
    ring.recall(1, changeSeq: 1)
    let message = try #require(ring.message(1, since: .distantPast))
    let text = String(decoding: message.frame.message(showing: nil).text, as: UTF8.self)
    #expect(!text.contains("secret") && text.contains(#""isRevoked":true"#) && text.contains(#""changeSeq":1"#))
    #expect(ring.byteCount == message.byteCount)
    ring.removeOldest()
    ring.removeOldest()
    #expect(ring.byteCount == 0 && ring.firstSeq == 2)
  }
}

@Suite struct LiveHistoryTests {
  @Test func numbersFollowEachOther() {
    var history = LiveHistory(epoch: "e", lastSeq: 7, changeSeq: 2)
    #expect(history.nextSeq() == 8 && history.nextSeq() == 9 && history.lastSeq == 9)
    #expect(history.recall(8) == 3)
    #expect(history.recall(8) == nil, "decided, and not performed yet")
    #expect(history.recall(7) == 4 && history.changeSeq == 4)
    history.didRecall(8)
    #expect(history.recall(8) == 5, "who looks it up finds it recalled, and does not ask")
  }
}
