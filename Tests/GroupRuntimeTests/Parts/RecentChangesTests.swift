import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

@Suite struct RecentChangesTests {
  private func message(_ seq: Int64, _ changeSeq: Int64) -> Message {
    var message = Message(
      msgID: "e-\(seq)", groupID: "g", seq: seq, sender: "mary", nameCard: "", timestamp: .unset, content: .text("\(changeSeq)"),
      priority: .normal, clientMsgID: nil, platform: .web)
    message.changeSeq = changeSeq
    return message
  }

  @Test func aChangeStaysUntilItIsDurableAndTheReadingsBeforeHaveEnded() {
    var changes = RecentChanges()
    changes.note(message(1, 1), seq: 1)
    changes.noteCommit(5)
    changes.forget(durableThrough: 4, firstReading: 9, nextReading: 9)
    #expect(changes[1] != nil, "it is not durable")
    // Readings 7 and 8 are under way when it becomes durable.
    changes.forget(durableThrough: 5, firstReading: 7, nextReading: 9)
    changes.forget(durableThrough: 5, firstReading: 8, nextReading: 20)
    #expect(changes[1] != nil)
    changes.forget(durableThrough: 5, firstReading: 9, nextReading: 21)
    #expect(changes.isEmpty)
  }

  @Test func theLastChangeOfAMessageKeepsIt() {
    var changes = RecentChanges()
    for number in 1...3 {
      changes.note(message(1, Int64(number)), seq: 1)
      changes.noteCommit(number)
    }
    changes.forget(durableThrough: 2, firstReading: 1, nextReading: 1)
    #expect(changes[1]?.message.content == .text("3"))
    changes.forget(durableThrough: 3, firstReading: 1, nextReading: 1)
    #expect(changes.isEmpty)
  }

  @Test func underSteadyChangesMemoryIsBounded() {
    var changes = RecentChanges()
    for number in 1...10_000 {
      changes.note(message(Int64(number), Int64(number)), seq: Int64(number))
      changes.noteCommit(number)
      // Three commits and two readings are always under way.
      changes.forget(durableThrough: number - 3, firstReading: number - 2, nextReading: number)
      #expect(changes.count <= 8)
    }
  }

  @Test func readingsOfOneSessionEndInTheirOrder() {
    var readings = MessageReadings()
    let session = SessionKey(loop: 0, connection: 1)
    let numbers = [session, nil, session, SessionKey(loop: 0, connection: 2), session].map { readings.begin(for: $0) }
    func input(_ number: Int) -> GroupInput { .presence(Group.Presence(of: UserID(stored: "u\(number)")!)) {} }
    func ended(_ number: Int, fails: Bool = false) -> [String] {
      readings.end(number, fails ? nil : input(number)).compactMap { $0.userID?.rawValue }
    }
    #expect(ended(numbers[2]) == [] && ended(numbers[1]) == ["u2"] && ended(numbers[3]) == ["u4"])
    #expect(readings.first == 1)
    #expect(ended(numbers[0], fails: true) == ["u3"])
    #expect(readings.first == 5 && ended(numbers[4]) == ["u5"])
    #expect(readings.isEmpty && readings.first == readings.next)
  }
}

@Suite struct ChangeAnnouncementsTests {
  private func content(_ seq: Int64) -> GroupEvent.Content {
    .onRecvMessageRevoked(msgID: "", seq: seq, changeSeq: 0, by: EventOperator(.administrator, on: .web))
  }

  private func popped(_ waiting: inout ChangeAnnouncements, at time: MonotonicInstant) -> [Int64] {
    var seqs: [Int64] = []
    while let next = waiting.popDue(at: time) { seqs.append(next.seq) }
    return seqs
  }

  @Test func whatIsLimitedWaitsAndTheRestFollowsIt() {
    var waiting = ChangeAnnouncements()
    waiting.add(content(1), .modified(seq: 1), seq: 1, changeSeq: 1)
    waiting.add(content(2), .modified(seq: 2), seq: 2, changeSeq: 2)
    waiting.add(content(3), .single(changeSeq: 3), seq: 3, changeSeq: 3)
    #expect(popped(&waiting, at: 1000) == [1])
    #expect(popped(&waiting, at: 1054) == [])
    #expect(waiting.due == 1055)
    #expect(popped(&waiting, at: 1055) == [2, 3])
    #expect(waiting.due == nil && waiting.count == 0)
  }

  @Test func aLaterEventTakesThePlaceOfAnEarlierAndGoesToTheEnd() {
    var waiting = ChangeAnnouncements()
    for (number, seq) in [1, 2, 1, 3, 2].enumerated() {
      waiting.add(content(Int64(seq)), .modified(seq: Int64(seq)), seq: Int64(seq), changeSeq: Int64(number))
    }
    #expect(waiting.all.map(\.seq) == [1, 3, 2])
    waiting.add(content(3), .reactions(seq: 3), seq: 3, changeSeq: 9)
    waiting.removeAll(of: 3)
    #expect(waiting.all.map(\.seq) == [1, 2])
  }

  @Test func thereIsABound() {
    var waiting = ChangeAnnouncements()
    for seq in 1...Int64(ChangeAnnouncements.maxCount) {
      #expect(!waiting.isFull)
      waiting.add(content(seq), .modified(seq: seq), seq: seq, changeSeq: seq)
    }
    #expect(waiting.isFull)
    _ = waiting.popDue(at: 0)
    #expect(!waiting.isFull)
  }
}
