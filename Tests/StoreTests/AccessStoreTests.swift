import Foundation
import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import Synchronization
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// Decisions about users' sign-ins, on every store.
@Suite struct AccessStoreTests {
  private static let spam = UserAccess.Block(reason: "sp\0am e\u{301}")

  @Test(arguments: Backing.allCases)
  func aBlockIsReadWithTheSignInAndApartUntilItIsLifted(_ backing: Backing) async throws {
    try await backing.withStore { store in
      func expect(_ access: UserAccess, of user: UserID) async throws {
        #expect(try await store.access(of: user) == access)
        #expect(try await store.signInRecord(of: user).access == access)
      }
      try await expect(.unlimited, of: alice)
      try await store.put([.putBlock(alice, Self.spam, at: 5)]).get()
      try await expect(UserAccess(block: Self.spam), of: alice)
      try await expect(.unlimited, of: bob)
      let shorter = UserAccess.Block(until: 900, reason: "")
      try await store.put([.putBlock(alice, shorter, at: 6)]).get()
      try await expect(UserAccess(block: shorter), of: alice)
      try await store.put([.putBlock(alice, nil, at: 7), .putBlock(carol, nil, at: 7)]).get()
      try await expect(.unlimited, of: alice)
      try await expect(.unlimited, of: carol)
    }
  }

  @Test(arguments: Backing.allCases)
  func theLatestRevocationCountsAndOutlivesBlocks(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.raiseTokensBefore(alice, 700, at: 5), .raiseTokensBefore(alice, 600, at: 6)]).get()
      #expect(try await store.access(of: alice) == UserAccess(tokensBefore: 700))
      try await store.put([.putBlock(alice, Self.spam, at: 7), .raiseTokensBefore(alice, 800, at: 8)]).get()
      #expect(try await store.access(of: alice) == UserAccess(block: Self.spam, tokensBefore: 800))
      try await store.put([.putBlock(alice, nil, at: 9)]).get()
      #expect(try await store.access(of: alice) == UserAccess(tokensBefore: 800))
      try await store.put([.raiseTokensBefore(bob, 0, at: 9)]).get()
      #expect(try await store.access(of: bob) == .unlimited)
    }
  }

  /// "None of these methods makes a user known."
  @Test(arguments: Backing.allCases)
  func nobodyBecomesKnown(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.putBlock(alice, Self.spam, at: 5), .raiseTokensBefore(bob, 7, at: 5)]).get()
      #expect(try await store.known(among: [alice, bob]) == [])
      #expect(try await store.knownCount() == 0)
      #expect(try await store.statuses(of: [alice, bob]) == [])
      #expect(try await store.infos(of: [alice, bob]) == [])
    }
  }

  @Test(arguments: Backing.allCases)
  func blockedUsersComeByUserIDInPagesAndEndedBlocksAreLeftOut(_ backing: Backing) async throws {
    try await backing.withStore { store in
      #expect(try await store.blockedUsers(after: 0, at: 10, limit: 5) == BlockedPage(users: [], next: 0))
      #expect(try await store.blockedUsers(after: 77, at: 10, limit: 5) == nil, "no such place")
      // In another order than that of the list; every third has ended, every seventh is not blocked.
      let users = (0..<60).map { UserID(($0 < 10 ? "u0" : "u") + "\($0)")! }
      for index in users.indices.reversed() {
        let end: WallInstant = index % 3 == 0 ? 10 : 11
        let block = UserAccess.Block(until: index % 2 == 0 ? end : nil, reason: "\(index)")
        try await store.put([.putBlock(users[index], block, at: 5)]).get()
        if index % 7 == 0 { try await store.put([.putBlock(users[index], nil, at: 6)]).get() }
      }
      let expected = users.indices.filter { !($0 % 2 == 0 && $0 % 3 == 0) && $0 % 7 != 0 }.map { users[$0] }
      for limit in [1, 4, 100] {
        var (found, place): ([BlockedUser], Int64) = ([], 0)
        repeat {
          let page = try #require(try await store.blockedUsers(after: place, at: 10, limit: limit))
          #expect(page.users.count <= limit && (page.users.count == limit || page.next == 0))
          found += page.users
          place = page.next
        } while place != 0
        #expect(found.map(\.userID) == expected, "\(limit)")
        #expect(found.allSatisfy { $0.block.until == nil || $0.block.until == 11 })
      }
    }
  }

  @Test(arguments: Backing.allCases)
  func aPlaceStaysWhereItsUserIsNoLongerBlocked(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([alice, bob, carol].map { .putBlock($0, Self.spam, at: 5) }).get()
      let first = try #require(try await store.blockedUsers(after: 0, at: 10, limit: 2))
      #expect(first.users.map(\.userID) == [alice, bob] && first.next != 0)
      try await store.put([.putBlock(bob, nil, at: 6)]).get()
      let second = try #require(try await store.blockedUsers(after: first.next, at: 10, limit: 2))
      #expect(second.users.map(\.userID) == [carol] && second.next == 0)
      // A block that is renewed keeps its place.
      try await store.put([.putBlock(bob, UserAccess.Block(until: 99), at: 7)]).get()
      #expect(try await store.blockedUsers(after: first.next, at: 10, limit: 2) == second)
    }
  }

  // MARK: Deletions

  @Test(arguments: Backing.allCases)
  func aDeletionThatRunsIsReadWithTheSignInAndOneThatIsDoneIsNoObstacle(_ backing: Backing) async throws {
    try await backing.withStore { store in
      var deletion = UserDeletion(userID: alice, messages: .revoke, requestTime: 5)
      try await store.put([.putDeletion(deletion)]).get()
      var record = try await store.signInRecord(of: alice)
      #expect(record.access == UserAccess(isBeingDeleted: true) && record.hasDeletion)
      #expect(try await store.access(of: alice).isBeingDeleted)
      let other = try await store.signInRecord(of: bob)
      #expect(other.access == .unlimited && !other.hasDeletion)
      try await store.put([.putBlock(alice, Self.spam, at: 6), .raiseTokensBefore(alice, 9, at: 6)]).get()
      #expect(
        try await store.access(of: alice) == UserAccess(block: Self.spam, tokensBefore: 9, isBeingDeleted: true))
      (deletion.step, deletion.endTime) = (.done, 8)
      try await store.put([.putDeletion(deletion)]).get()
      record = try await store.signInRecord(of: alice)
      #expect(record.access == UserAccess(block: Self.spam, tokensBefore: 9) && record.hasDeletion)
      try await store.put([.forgetDeletion(alice)]).get()
      #expect(try await !store.signInRecord(of: alice).hasDeletion)
    }
  }
}

/// SQLite: what the decisions cost.
@Suite struct AccessCostTests {
  /// How many statements a read runs.
  private func statements(
    _ changes: [StoreChange], _ body: @escaping @Sendable (Database) throws -> Void
  ) async throws -> Int {
    let count = Mutex(0)
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await store.put(changes).get()
        try await store.pool.read { db in
          db.trace(options: .statement) { _ in count.withLock { $0 += 1 } }
          try body(db)
          db.trace(options: [])
        }
      }
    }
    return count.withLock { $0 }
  }

  @Test func aSignInReadsOneStatementMoreForAUserWithoutDecisions() async throws {
    let free = try await statements([.create(), .join(alice)]) { db in
      let access = try db.access(of: alice).access
      #expect(access == .unlimited)
    }
    #expect(free == 1)
    let blocked = try await statements([.putBlock(alice, UserAccess.Block(), at: 5)]) { db in
      let access = try db.access(of: alice).access
      #expect(access.block == UserAccess.Block())
    }
    #expect(blocked == 2)
  }

  /// A page of a list reads a bounded number of rows, however many blocks have ended.
  @Test func aListLooksAtABoundedNumberOfBlocks() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory, { $0.rowsPerRead = 20 }) { store in
        let users = (100..<180).map { UserID("u\($0)")! }
        try await store.put(users.map { .putBlock($0, UserAccess.Block(until: 7), at: 5) }).get()
        try await store.put([.putBlock(users[70], UserAccess.Block(), at: 5)]).get()
        var (pages, place): ([BlockedPage], Int64) = ([], 0)
        repeat {
          let page = try #require(try await store.blockedUsers(after: place, at: 10, limit: 3))
          pages.append(page)
          place = page.next
        } while place != 0
        #expect(pages.count == 5 && pages.flatMap(\.users).map(\.userID) == [users[70]])
      }
    }
  }
}
