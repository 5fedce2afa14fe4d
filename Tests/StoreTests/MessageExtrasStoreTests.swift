import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// The parts that most messages have not.
@Suite struct MessageExtrasStoreTests {
  private func message(_ seq: Int64, from sender: UserID = alice, _ extras: MessageExtras? = nil) -> Message {
    var message = Message.sample(seq, from: sender)
    message.extras = extras
    return message
  }

  /// A change for each of the messages.
  private func appends(_ range: ClosedRange<Int64>, _ extras: (_ seq: Int64) -> MessageExtras?) -> [StoreChange] {
    range.map { .append(message($0, extras($0))) }
  }

  private func reply(to seq: Int64, targets: [UserID] = []) -> MessageExtras? {
    MessageExtras(replyTo: ReplyReference(seq: seq, sender: alice), toUserIDList: targets)
  }

  @Test(arguments: Backing.allCases)
  func everyPartComesBackAndCanBeChanged(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let extras = try #require(
        MessageExtras(
          extension: "a\0b 长", replyTo: ReplyReference(seq: 1, sender: carol), isExcludedFromUnreadCount: true,
          isExcludedFromLastMessage: true, toUserIDList: [bob, carol]))
      try await store.put([.create(), .append(message(1)), .append(message(2, extras))]).get()
      for text in difficultTexts.dropFirst() {
        var changed = message(2, extras.with(extension: text))
        changed.content = .text(text)
        try await store.put([.revise(changed)]).get()
        #expect(try await store.messages(of: club, seqs: [1, 2]) == [message(1), changed])
      }
      // A message loses its extension, gets one, and loses all.
      let changed = [message(1, MessageExtras(extension: "e")), message(2, extras.with(extension: nil))]
      try await store.put(changed.map { .revise($0) }).get()
      #expect(try await store.messages(of: club, in: 1...9, newestFirst: false, limit: 9) == changed)
      try await store.put([.revise(message(1))]).get()
      #expect(try await store.messages(of: club, seqs: [1]) == [message(1)])
    }
  }

  @Test(arguments: Backing.allCases)
  func aGroupIsLoadedWithItsLastShownMessage(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let excluded = MessageExtras(isExcludedFromLastMessage: true)
      func loaded() async throws -> StoredGroup { try #require(try await store.group(club, sentSince: 0)) }
      // Nothing was ever shown.
      try await store.put([.create(), .append(message(1, excluded))]).get()
      var group = try await loaded()
      #expect(group.lastMessage == nil && group.lastSeq == 1 && group.newestTime == 1 && group.lastTime == .unset)
      try await store.put([.append(message(2))]).get()
      group = try await loaded()
      #expect(group.lastMessage?.seq == 2 && group.lastSeq == 2 && group.lastTime == 2)
      try await store.put([.append(message(3, MessageExtras(toUserIDList: [bob]))), .putLastShown(seq: 2, at: 2, in: club)]).get()
      try await store.put([.append(message(4, excluded))]).get()
      group = try await loaded()
      #expect(group.lastMessage == message(2) && group.lastSeq == 4 && group.newestTime == 4 && group.lastTime == 2)
      #expect(group.record.lastShownSeq == 2 && group.record.lastShownTime == 2)
      // Retention removes the message that was shown, and then those that never were.
      try await removeMessages(of: club, before: 3, from: store)
      group = try await loaded()
      #expect(group.lastMessage == nil && group.lastSeq == 4 && group.lastTime == 2 && group.removedTime == 2)
      try await removeMessages(of: club, before: 5, from: store)
      group = try await loaded()
      #expect(group.lastMessage == nil && group.lastSeq == 4 && group.lastTime == 2 && group.firstSeq == 5)
      #expect(await store.put([.putLastShown(seq: 1, at: 1, in: team)]).failure == .inconsistent)
    }
  }

  @Test(arguments: Backing.allCases)
  func messagesThatNameOthersAreHidden(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let named: [Int64: [UserID]] = [2: [bob], 4: [carol], 6: [bob, carol]]
      try await store.put([.create(), .create(team), .append(.sample(1, in: team))]).get()
      try await store.put(appends(1...6) { MessageExtras(extension: "e", toUserIDList: named[$0] ?? []) }).get()
      func hidden(from user: UserID, _ range: ClosedRange<Int64> = 1...9, newestFirst: Bool = false, limit: Int = 9) async throws
        -> [Int64]
      {
        try await store.hiddenSeqs(of: club, from: user, in: range, newestFirst: newestFirst, limit: limit)
      }
      #expect(try await hidden(from: alice) == [], "the sender sees them")
      #expect(try await hidden(from: bob) == [4])
      let dave = try #require(UserID("dave"))
      #expect(try await hidden(from: dave) == [2, 4, 6])
      #expect(try await hidden(from: dave, newestFirst: true, limit: 2) == [6, 4])
      #expect(try await hidden(from: dave, 3...5) == [4])
      // A userID that is a part of another is another.
      #expect(try await hidden(from: try #require(UserID("bo"))) == [2, 4, 6])
      #expect(try await store.hiddenSeqs(of: team, from: dave, in: 1...9, newestFirst: false, limit: 9) == [])
    }
  }

  @Test(arguments: Backing.allCases)
  func repliesComeInPagesAndAreCountedForTheReader(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let replies: [Int64: MessageExtras?] = [2: reply(to: 1), 3: reply(to: 1, targets: [carol]), 7: reply(to: 2)]
      try await store.put([.create(), .append(message(1))]).get()
      try await store.put(appends(2...7) { replies[$0] ?? reply(to: 1) }).get()
      var recalled = message(5, reply(to: 1))
      recalled.isRevoked = true
      try await store.put([.revise(recalled)]).get()
      let all = Visibility(ofApplicationThrough: 7)
      let bobs = Visibility(of: bob, from: 1, through: 7, under: .joined)
      let first = try await store.replies(to: 1, in: club, visible: all, after: 0, limit: 2)
      #expect(first.messages.map(\.seq) == [2, 3] && first.total == 4)
      let next = try await store.replies(to: 1, in: club, visible: all, after: 3, limit: 2)
      #expect(next.messages.map(\.seq) == [4, 6] && next.total == 4)
      let seen = try await store.replies(to: 1, in: club, visible: bobs, after: 0, limit: 9)
      #expect(seen.messages.map(\.seq) == [2, 4, 6] && seen.total == 3)
      let late = Visibility(of: carol, from: 6, earlier: [3...3], clearedThrough: 0, through: 7, under: .joined)
      #expect(try await store.replyCounts(of: club, to: [1, 2, 6, 99], visible: late) == [1: 2, 2: 1])
      #expect(try await store.replyCounts(of: club, to: [2, 1, 2], visible: bobs) == [1: 3, 2: 1])
      #expect(try await store.replyCounts(of: club, to: [1], visible: Visibility(ofApplicationThrough: 0)) == [:])
      #expect(try await store.replyCounts(of: team, to: [1], visible: all) == [:])
    }
  }

  /// A reply leaves all lists and counts with its recall, and stays there with an edit.
  @Test(arguments: Backing.allCases)
  func aRecalledReplyIsInNoListOfAnybody(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let targets: [Int64: [UserID]] = [3: [carol], 4: [bob, carol]]
      try await store.put([.create(), .append(message(1)), .append(message(2, from: bob, reply(to: 1)))]).get()
      try await store.put(appends(3...5) { reply(to: 1, targets: targets[$0] ?? []) }).get()
      let readers = [alice, bob, carol].map { Visibility(of: $0, from: 1, through: 5, under: .joined) }
      func seen() async throws -> [[Int64?]] {
        var lists: [[Int64?]] = []
        for reader in readers + [Visibility(ofApplicationThrough: 5)] {
          let page = try await store.replies(to: 1, in: club, visible: reader, after: 0, limit: 9)
          let counts = try await store.replyCounts(of: club, to: [1], visible: reader)
          #expect(page.total == page.messages.count && counts[1] ?? 0 == page.total)
          lists.append(page.messages.map(\.seq))
        }
        return lists
      }
      #expect(try await seen() == [[2, 3, 4, 5], [2, 4, 5], [2, 3, 4, 5], [2, 3, 4, 5]])
      for seq in [3, 5] as [Int64] {
        try await store.put([.revise(message(seq, reply(to: 1, targets: targets[seq] ?? [])?.with(extension: "e")))]).get()
      }
      #expect(try await seen() == [[2, 3, 4, 5], [2, 4, 5], [2, 3, 4, 5], [2, 3, 4, 5]])
      for (seq, sender) in [(2, bob), (3, alice), (4, alice)] as [(Int64, UserID)] {
        var recalled = message(seq, from: sender, reply(to: 1, targets: targets[seq] ?? []))
        (recalled.isRevoked, recalled.content) = (true, .text(""))
        try await store.put([.revise(recalled)]).get()
        #expect(try await store.messages(of: club, seqs: [seq]) == [recalled], "it says still what it answered")
      }
      #expect(try await seen() == [[5], [5], [5], [5]])
    }
  }

  /// Replies from before a membership, and from between two, are none of its replies.
  @Test(arguments: Backing.allCases)
  func repliesOfEveryMembershipAreCountedTogether(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let count = Int64(ReplyCount.max) + 40
      try await store.put([.create(), .append(message(1))]).get()
      try await store.put(appends(2...count) { reply(to: $0 % 2 == 0 ? 1 : 2) }).get()
      let bobs = Visibility(of: bob, from: 31, earlier: [1...6, 11...14], through: 40, under: .joined)
      #expect(try await store.replyCounts(of: club, to: [1, 2, 3], visible: bobs) == [1: 10, 2: 9])
      var (seqs, after) = ([] as [Int64], 0 as Int64)
      while let last = try await page(of: store, bobs, after: after, &seqs) { after = last }
      #expect(seqs == [2, 4, 6, 12, 14, 32, 34, 36, 38, 40])
      // No more than are counted of one alone.
      try await store.put(appends(count + 1...count + 2000) { _ in reply(to: 1) }).get()
      let long = Visibility(
        of: bob, from: count + 901, earlier: [1...30, count...count + 800], through: count + 2000, under: .joined)
      #expect(try await store.replyCounts(of: club, to: [1, 2], visible: long) == [1: ReplyCount.max, 2: 14])
    }
  }

  /// Appends a page of three replies to the first message.
  /// - Returns: the last of them; nil = there are no more.
  private func page(
    of store: any AnyStore, _ visible: Visibility, after: Int64, _ seqs: inout [Int64]
  ) async throws -> Int64? {
    let page = try await store.replies(to: 1, in: club, visible: visible, after: after, limit: 3)
    #expect(page.total == 10)
    seqs += page.messages.compactMap(\.seq)
    return page.messages.last?.seq
  }

  @Test(arguments: Backing.allCases)
  func repliesAreCountedToAThousand(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let count = Int64(ReplyCount.max) + 2
      try await store.put([.create()]).get()
      try await store.put(appends(1...count) { $0 == 1 ? nil : reply(to: 1) }).get()
      let all = Visibility(ofApplicationThrough: count)
      #expect(try await store.replyCounts(of: club, to: [1], visible: all) == [1: ReplyCount.max])
      let last = try await store.replies(to: 1, in: club, visible: all, after: count - 2, limit: 50)
      #expect(last.messages.map(\.seq) == [count - 1, count] && last.total == ReplyCount.max)
    }
  }

  @Test(arguments: Backing.allCases)
  func whatDoesNotCountAsUnreadIsLeftOutUpToAnyLimit(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let flags = [MessageExtras(isExcludedFromUnreadCount: true), MessageExtras(toUserIDList: [carol]), nil]
      try await store.put([.create()]).get()
      try await store.put(appends(1...30) { flags[Int($0) % 3] }).get()
      for limit in [1, 4, 10, 11, 100] {
        let count = try await store.unreadCount(
          of: club, in: 1...30, reader: bob, managersOnly: false, skipsFlagged: true, limit: limit)
        #expect(count == min(limit, 10))
        let all = try await store.unreadCount(
          of: club, in: 1...30, reader: bob, managersOnly: false, skipsFlagged: false, limit: limit)
        #expect(all == min(limit, 30))
      }
      let own = try await store.unreadCount(
        of: club, in: 1...30, reader: alice, managersOnly: false, skipsFlagged: true, limit: 100)
      #expect(own == 0)
      let managers = try await store.unreadCount(
        of: club, in: 1...30, reader: bob, managersOnly: true, skipsFlagged: true, limit: 100)
      #expect(managers == 0)
    }
  }

  @Test(arguments: Backing.allCases)
  func onlyThoseWhomAMessageNamesConfirmIt(_ backing: Backing) async throws {
    try await backing.withStore { store in
      var (targeted, toAll) = (Message.sample(1, needReadReceipt: true), Message.sample(2, needReadReceipt: true))
      targeted.extras = MessageExtras(toUserIDList: [carol])
      toAll.extras = MessageExtras(extension: "e")
      try await store.put([
        .create(), .append(targeted), .append(toAll), .putReceiptMembers([alice, bob, carol], from: 2, in: club),
      ]).get()
      #expect(try await store.confirmable([1, 2], of: club, epoch: "e1", by: bob) == [2])
      #expect(try await store.confirmable([1, 2], of: club, epoch: "e1", by: carol) == [1, 2])
      let counts = try await store.receiptCounts(of: [1, 2], in: club, epoch: "e1")
      #expect(counts.map(\.unread) == [1, 2])
      #expect(try await store.readers(of: 1, in: club, epoch: "e1")?.members == [carol])
      // Whom a message names is told of every one, so that others can be refused.
      try await store.put([.append(message(3, reply(to: 1, targets: [bob, carol])))]).get()
      for (seq, targets) in [(1, [carol]), (2, []), (3, [bob, carol])] as [(Int64, [UserID])] {
        #expect(try await store.readers(of: seq, in: club, epoch: "e1")?.targets == targets)
      }
      #expect(try await store.readers(of: 3, in: club, epoch: "e1")?.members == nil)
    }
  }

  @Test func retentionAndTheEndOfAGroupTakeTheRows() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        func rows() async throws -> Int { try await store.pool.read { try $0.count("SELECT count(*) FROM messageExtras", []) } }
        try await store.put([.create()]).get()
        try await store.put(appends(1...6) { _ in MessageExtras(extension: "e") }).get()
        #expect(try await rows() == 6)
        try await removeMessages(of: club, before: 4, from: store)
        #expect(try await rows() == 3)
        try await store.pool.writeWithoutTransaction { db in
          try db.apply(.dismiss(club, at: 9))
          while try DisbandedGroupCleanup.chunk(of: 2, in: db) {}
        }
        #expect(try await rows() == 0)
      }
    }
  }
}
