import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import PostgreSQLStore

/// The stamps of groups, and how messages were changed the last time, on every store.
@Suite struct StampStoreTests {
  private func changed(_ seq: Int64, _ changeSeq: Int64) -> Message {
    var message = Message.sample(seq)
    message.changeSeq = changeSeq
    return message
  }

  private func change(_ seq: Int64, _ changeSeq: Int64, _ origin: ChangeOrigin) -> [StoreChange] {
    [
      .noteChange(changed(seq, changeSeq)), .putChangeSeq(changeSeq, at: 5, in: club),
      .putChangeOrigin(origin, seq: seq, changeSeq: changeSeq, in: club),
    ]
  }

  private let edit = ChangeOrigin(.modified, by: bob, on: .android)
  private let pin = ChangeOrigin(.pinned, by: alice, on: .restAPI, isAdded: false)
  private let reaction = ChangeOrigin(.reaction, by: carol, on: .web, reaction: "a\0b", isAdded: true)

  // MARK: Stamps

  @Test(arguments: Backing.allCases)
  func theRowsOfMessagesAreTheirStamp(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .create(team)]).get()
      #expect(try await store.stamps(of: [club])[club] == GroupStamp(epoch: "e1", seq: 0, changeSeq: 0, revision: 0, board: 0))
      try await store.put([
        .append(.sample(1)), .append(.sample(2)), .noteChange(changed(1, 1)), .putChangeSeq(1, at: 5, in: club),
      ]).get()
      try await store.put([.putStamp(revision: 3, board: 4, in: club)]).get()
      let stamps = try await store.stamps(of: [club, GroupID("none")!, team])
      #expect(stamps.count == 2 && stamps[team]?.seq == 0)
      #expect(stamps[club] == GroupStamp(epoch: "e1", seq: 2, changeSeq: 1, revision: 3, board: 4))
      #expect(try await store.stamps(of: []).isEmpty)
      let record = try await store.group(club, sentSince: 0)?.record
      #expect(record?.revision == 3 && record?.board == 4)
    }
  }

  @Test(arguments: Backing.allCases)
  func noNumberGoesBack(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .putStamp(revision: 5, board: 1, in: club)]).get()
      try await store.put([.putStamp(revision: 4, board: 2, in: club), .putStamp(revision: 3, board: 1, in: club)]).get()
      // A correction of ends has the numbers of an earlier instant.
      try await store.put([.putGroup(.sample(), isNew: false)]).get()
      #expect(try await store.stamps(of: [club])[club] == GroupStamp(epoch: "e1", seq: 0, changeSeq: 0, revision: 5, board: 2))
      var ahead = GroupRecord.sample()
      (ahead.revision, ahead.board) = (7, 8)
      try await store.put([.putGroup(ahead, isNew: false), .putStamp(revision: 6, board: 9, in: club)]).get()
      #expect(try await store.stamps(of: [club])[club]?.revision == 7)
      #expect(try await store.stamps(of: [club])[club]?.board == 9)
    }
  }

  @Test(arguments: Backing.allCases)
  func aCommitThatIsRefusedRaisesNothing(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create()]).get()
      let (good, bad) = (CommitGeneration(), CommitGeneration())
      let answers = await store.putTogether([
        ([.putStamp(revision: 1, board: 1, in: club), .append(.sample(1))], good),
        ([.putStamp(revision: 9, board: 9, in: club), .removeMember(bob, from: club, at: 1)], bad),
        ([.putStamp(revision: 2, board: 1, in: club), .append(.sample(2))], good),
      ])
      #expect(answers.map(\.failure) == [nil, .inconsistent, nil])
      #expect(try await store.stamps(of: [club])[club] == GroupStamp(epoch: "e1", seq: 2, changeSeq: 0, revision: 2, board: 1))
    }
  }

  /// Another group of the same ID begins with numbers of its own, also in the same transaction.
  @Test(arguments: Backing.allCases)
  func theNumbersGoWithTheirGroup(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create()]).get()
      try await store.put([
        .putStamp(revision: 5, board: 5, in: club), .dismiss(club, at: 1), .create(epoch: "e2"),
        .putStamp(revision: 1, board: 0, in: club),
      ]).get()
      #expect(try await store.stamps(of: [club])[club] == GroupStamp(epoch: "e2", seq: 0, changeSeq: 0, revision: 1, board: 0))
      try await store.put([.dismiss(club, at: 2), .putStamp(revision: 9, board: 9, in: club)]).get()
      #expect(try await store.stamps(of: [club]).isEmpty)
    }
  }

  // MARK: Changes

  @Test(arguments: Backing.allCases)
  func theOriginOfTheLastChangeIsKept(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create()] + (1...3).map { .append(.sample($0)) }).get()
      try await store.put(change(1, 1, edit)).get()
      try await store.put(change(2, 2, reaction)).get()
      let origins = try await store.changeOrigins(of: club, seqs: [1, 2, 3, 9])
      #expect(origins == [1: StoredChangeOrigin(edit, changeSeq: 1), 2: StoredChangeOrigin(reaction, changeSeq: 2)])
      #expect(origins[2]?.origin.reaction?.bytes == "a\0b".bytes)
      try await store.put(change(1, 3, pin)).get()
      #expect(try await store.changeOrigins(of: club, seqs: [1]) == [1: StoredChangeOrigin(pin, changeSeq: 3, otherSeq: 1)])
      try await store.put(change(1, 4, ChangeOrigin(.pinned, by: bob, on: .web))).get()
      #expect(try await store.changeOrigins(of: club, seqs: [1])[1]?.otherSeq == 1, "the kind is the same")
      try await store.put(change(1, 5, reaction)).get()
      #expect(try await store.changeOrigins(of: club, seqs: [1])[1]?.otherSeq == 4)
      #expect(try await store.changeOrigins(of: team, seqs: [1]).isEmpty)
    }
  }

  @Test(arguments: Backing.allCases)
  func aChangeOfWhichNothingTellsHasNoOrigin(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .append(.sample(1))] + change(1, 1, edit)).get()
      try await store.put([.noteChange(changed(1, 2)), .putChangeSeq(2, at: 6, in: club)]).get()
      #expect(try await store.changeOrigins(of: club, seqs: [1]).isEmpty)
    }
  }

  @Test(arguments: Backing.allCases)
  func anOriginStandsBesideItsChange(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .append(.sample(1))] + change(1, 1, edit)).get()
      #expect(await store.put([.putChangeOrigin(pin, seq: 1, changeSeq: 2, in: club)]).failure == .inconsistent)
      #expect(await store.put([.putChangeOrigin(pin, seq: 4, changeSeq: 1, in: club)]).failure == .inconsistent)
      #expect(await store.put([.putChangeOrigin(pin, seq: 1, changeSeq: 1, in: team)]).failure == .inconsistent)
      #expect(try await store.changeOrigins(of: club, seqs: [1])[1]?.origin == edit)
    }
  }

  // MARK: Recent members

  @Test(arguments: Backing.allCases)
  func membersOfStoredGroupsAreFoundByTheirTime(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let room = GroupID("room")!
      try await store.put([
        .create(), .create(team), .create(room, type: .avChatRoom), .putMember(.sample(alice, at: 999), in: club),
        .putMember(.sample(bob, at: 1000), in: club), .putMember(.sample(bob, at: 2000), in: team),
        .putMember(.sample(carol, at: 2000), in: room),
      ]).get()
      let found = try await store.recentMembers(since: 1000, limit: 10)
      #expect(Set(found.map { "\($0.0) \($0.1)" }) == ["\(club) \(bob)", "\(team) \(bob)"])
      #expect(try await store.recentMembers(since: 1000, limit: 1).count == 1)
      #expect(try await store.recentMembers(since: 3000, limit: 10).isEmpty)
    }
  }

  // MARK: One row version for each group and transaction

  @Test func theGreatestOfEachNumberIsWrittenOnce() {
    var pending = PendingStamps()
    #expect(pending.isEmpty)
    for number in 1...200 as ClosedRange<Int64> { pending.raise(club, revision: number, board: 200 - number) }
    pending.raise(team, revision: 1, board: 0)
    pending.raise(GroupID("gone")!, revision: 1, board: 0)
    pending.forget(GroupID("gone")!)
    let stamps = pending.popAll()
    #expect(stamps.map(\.group) == [team, club], "in one order in every process")
    #expect(stamps.map(\.revision) == [1, 200] && stamps.map(\.board) == [0, 199])
    #expect(pending.isEmpty)
  }
}
