import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// Changes of messages.
@Suite struct MessageChangeTests {
  private func changed(_ seq: Int64, _ changeSeq: Int64, isPinned: Bool = false) -> Message {
    var message = Message.sample(seq)
    message.changeSeq = changeSeq
    message.isPinned = isPinned
    return message
  }

  private func given(
    _ reaction: String, _ number: Int64, by user: UserID, _ changeSeq: Int64, isAdded: Bool = true, seq: Int64 = 1
  ) -> StoreChange {
    .updateReaction(
      ReactionUpdate(
        group: club, seq: seq, number: number, reaction: reaction, user: user, isAdded: isAdded, changeSeq: changeSeq))
  }

  @Test(arguments: Backing.allCases)
  func aMessageShowsItsChangesAndTheGroupItsPinsAndItsNumber(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create()] + (1...3).map { .append(.sample($0)) }).get()
      var edited = changed(2, 1)
      edited.content = .text("new")
      edited.editTime = 70
      try await store.put([.revise(edited), .putChangeSeq(1, at: 70, in: club)]).get()
      try await store.put([.noteChange(changed(3, 2, isPinned: true)), .noteChange(changed(1, 3, isPinned: true))]).get()
      try await store.put([.noteChange(changed(3, 4, isPinned: true)), .putChangeSeq(4, at: 90, in: club)]).get()
      #expect(try await store.messages(of: club, seqs: [2, 9, 3]) == [edited, changed(3, 4, isPinned: true)])
      let group = try #require(try await store.group(club, sentSince: 0))
      #expect(group.pinned == [1, 3], "what stays pinned keeps its place")
      #expect(group.record.changeSeq == 4 && group.record.changeTime == 90 && group.lastMessage?.changeSeq == 4)
      let page = try await store.changedMessages(of: club, after: 1, in: [1...3], limit: 1)
      #expect(page.messages.map(\.seq) == [1] && page.cutAt == 3)
      #expect(try await store.changedMessages(of: club, after: 3, in: [1...3], limit: 1).cutAt == nil)
      #expect(await store.put([.noteChange(changed(9, 5))]).failure == .inconsistent)
      #expect(await store.put([.noteChange(changed(1, 4))]).failure == .inconsistent, "the number is of another message")
    }
  }

  @Test(arguments: Backing.allCases, [1, 2, 3, 40])
  func changesThatAReaderMayNotSeeArePassedBy(_ backing: Backing, limit: Int) async throws {
    try await backing.withStore { store in
      try await store.put([.create()] + (1...40).map { .append(.sample($0)) }).get()
      for seq in 1...40 as ClosedRange<Int64> { try await store.put([.noteChange(changed(seq, seq))]).get() }
      var (seqs, place): ([Int64?], Int64?) = ([], 0)
      while let after = place {
        let page = try await store.changedMessages(of: club, after: after, in: [5...6, 20...20, 38...39], limit: limit)
        #expect(page.messages.count <= limit)
        (seqs, place) = (seqs + page.messages.map(\.seq), page.cutAt)
      }
      #expect(seqs == [5, 6, 20, 38, 39])
    }
  }

  @Test(arguments: Backing.allCases)
  func reactionsKeepTheirOrderAndTheirUsersTheirs(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .append(.sample(1))]).get()
      try await store.put([given("a", 1, by: bob, 1), given("b", 2, by: bob, 2), given("a", 1, by: alice, 3)]).get()
      try await store.put([given("a", 1, by: bob, 4, isAdded: false), given("a", 1, by: carol, 5), given("a", 1, by: bob, 6)])
        .get()
      let found = try await store.reactions(of: club, to: [1, 2], reader: carol, users: 2)
      #expect(
        found == [
          1: [
            StoredReaction(number: 1, reaction: "a", count: 3, isByReader: true, users: [alice, carol]),
            StoredReaction(number: 2, reaction: "b", count: 1, users: [bob]),
          ]
        ])
      #expect(await store.put([given("a", 1, by: bob, 7)]).failure != nil, "twice")
      #expect(await store.put([given("a", 1, by: UserID("dave")!, 7, isAdded: false)]).failure == .inconsistent)
      try await store.put([given("b", 2, by: bob, 8, isAdded: false)]).get()
      #expect(try await store.reactions(of: club, to: [1], reader: nil, users: 0)[1]?.map(\.reaction) == ["a"])
      try await store.put([.removeReactions(seq: 1, in: club)]).get()
      #expect(try await store.reactions(of: club, to: [1], reader: nil, users: 0) == [:])
    }
  }

  @Test func usersOfRemovedReactionsAreDeletedInBoundedChunks() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory, { $0.cleanupRows = 10 }) { store in
        try await store.put([.create(), .append(.sample(1)), .append(.sample(2))]).get()
        let users = (1...25).map { UserID("user\($0)")! }
        try await store.put(users.enumerated().map { given("a", 1, by: $1, Int64($0 + 1)) }).get()
        try await store.put([given("b", 40, by: bob, 40, seq: 2)]).get()
        // Without the writer, to see each step.
        let steps = try await store.pool.writeWithoutTransaction { db in
          try db.apply(.removeReactions(seq: 1, in: club))
          var left: [Int] = []
          while try ReactionRows.clearGone(10, in: db) {
            left.append(try Int.fetchOne(db, sql: "SELECT count(*) FROM reactionUser") ?? -1)
          }
          return left
        }
        #expect(steps == [16, 6, 1])
        try await store.put([given("c", 50, by: bob, 50), .removeReactions(seq: 1, in: club)]).get()
        await store.waitForWriter()
        let left = try await store.pool.read { db in
          try Int.fetchAll(db, sql: "SELECT count(*) FROM reactionUser UNION ALL SELECT count(*) FROM goneReaction")
        }
        #expect(left == [1, 0])
        try await store.put([.dismiss(club, at: 5)]).get()
        await store.waitForWriter()
        let tables = ["messageChange", "reaction", "reactionUser", "goneReaction"]
        let rows = try await store.pool.read { db in
          try tables.map { try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)") }
        }
        #expect(rows == [0, 0, 0, 0])
      }
    }
  }
}
