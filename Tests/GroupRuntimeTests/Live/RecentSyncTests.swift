import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// Catching up with a live room page by page, while others talk and recall: "none missing".
@Suite struct RecentSyncTests {
  private static func at(_ seconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }

  /// What a client has, as far as it knows.
  private struct Client {
    var seq: Int64 = 0
    var changeSeq: Int64 = 0
    /// Whether each message is recalled.
    var messages: [Int64: Bool] = [:]

    /// Reads the next page.
    /// - Returns: whether there are more.
    mutating func read(_ ring: MessageRing, maxBytes: Int) throws -> Bool {
      let question = RecentQuestion.sync(epoch: "e", seq: seq, changeSeq: changeSeq, bytes: maxBytes)
      let row = try RecentSyncTests.row(of: ring, question)
      let (changes, texts) = (row.changeList ?? [], row.messageList ?? [])
      for encoded in changes + texts {
        let message = try JSON(encoded.text)
        let place = try #require(message["seq"].integer)
        messages[place] = message["isRevoked"] == true
      }
      if let last = texts.last { seq = try #require(try JSON(last.text)["seq"].integer) }
      changeSeq = try #require(row.changeSeq)
      #expect(row.recovered == true && row.lastSeq == ring.lastSeq)
      #expect(row.more == false || !changes.isEmpty || !texts.isEmpty, "a page without progress")
      let bytes = (changes + texts).reduce(0) { $0 + $1.text.count + 1 }
      // One change and one message always fit.
      #expect(bytes <= maxBytes + 1000, "\(bytes) bytes")
      return row.more == true
    }
  }

  private static func row(of ring: MessageRing, _ question: RecentQuestion) throws -> SyncGroups.Row {
    let answer = ring.answer(to: question, since: .distantPast)
    guard case .success(.syncRow(let row)) = answer.reply(of: "g", maxBytes: 1 << 20, showing: [:]) else {
      throw WireError(.internalError)
    }
    return row
  }

  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func aClientMissesNothing(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var ring = MessageRing(epoch: "e")
    var client = Client()
    var expected: [Int64: Bool] = [:]
    for _ in 0..<400 {
      switch Int.random(in: 0..<4, using: &random) {
      case 0, 1:
        let seq = ring.lastSeq + 1
        let text = String(repeating: "x", count: Int.random(in: 0...200, using: &random))
        ring.append(try recentMessage(seq, text), at: Self.at(seq))
        expected[seq] = false
      case 2:
        guard ring.lastSeq > 0 else { continue }
        let seq = Int64.random(in: 1...ring.lastSeq, using: &random)
        guard ring.message(seq, since: .distantPast)?.isRecalled == false else { continue }
        ring.recall(seq, changeSeq: ring.changeSeq + 1)
        expected[seq] = true
      default: _ = try client.read(ring, maxBytes: Int.random(in: 1...2000, using: &random))
      }
    }
    var pages = 0
    var more = true
    while more {
      more = try client.read(ring, maxBytes: Int.random(in: 1...2000, using: &random))
      pages += 1
      try #require(pages <= 1000, "it never ends")
    }
    #expect(client.messages == expected && client.seq == ring.lastSeq && client.changeSeq == ring.changeSeq)
  }

  /// Another row of the same answer has taken all bytes: the position stays, and there is more.
  @Test func aRowWithoutBytesHoldsNothing() throws {
    var ring = MessageRing(epoch: "e")
    for seq in 1...3 as ClosedRange<Int64> { ring.append(try recentMessage(seq), at: Self.at(seq)) }
    let ahead = try Self.row(of: ring, .sync(epoch: "e", seq: 1, changeSeq: 0, bytes: 0))
    #expect(ahead.messageList?.isEmpty == true && ahead.more == true && ahead.recovered == true && ahead.changeSeq == 0)
    #expect(try Self.row(of: ring, .sync(epoch: "e", seq: 3, changeSeq: 0, bytes: 0)).more == false)
    ring.recall(1, changeSeq: 1)
    let changed = try Self.row(of: ring, .sync(epoch: "e", seq: 3, changeSeq: 0, bytes: 0))
    #expect(changed.changeList?.isEmpty == true && changed.more == true && changed.changeSeq == 0)
    let lost = try Self.row(of: ring, .sync(epoch: "other", seq: 3, changeSeq: 0, bytes: 0))
    #expect(lost.recovered == false && lost.more == false && lost.changeSeq == 1 && lost.epoch == "e")
  }

  @Test func aPageShowsTheProfilesOfItsSenders() throws {
    var ring = MessageRing(epoch: "e")
    for (index, sender) in (["ann", "bob", .administrator, "ann"] as [UserID]).enumerated() {
      ring.append(try recentMessage(Int64(index + 1), from: sender), at: Self.at(Int64(index + 1)))
    }
    let answer = ring.answer(to: .history(.older, from: 4, count: 3), since: .distantPast)
    #expect(answer.users == ["bob", "ann"], "the application has no profile")
    let profile = try #require(UserProfile.make(nickName: "Ann", faceURL: ""))
    guard case .success(.history(let page)) = answer.reply(of: "g", maxBytes: 1 << 20, showing: ["ann": profile]) else {
      throw WireError(.internalError)
    }
    let names = try page.messageList.map { try JSON($0.text)["nickName"].string }
    #expect(names == [nil, nil, "Ann"] && page.isFinished)
  }
}
