import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables
import Testing
import ThrongTestKit

@testable import PostgreSQLStore

/// PostgreSQL: the end of a departure.
@Suite struct PostgreSQLDepartureTests {
  @Test func whoJoinsAgainHasNotDepartedWhateverTheDatabaseDoesByItself() async throws {
    try await withSchema { url, schema in
      let store = try openPostgreSQL(url, schema)
      defer { store.close() }
      let connection = try PostgreSQLConnection(url, options: [(name: "search_path", value: schema)], timeout: 60_000)
      try connection.runScript("DROP TRIGGER memberInserted ON member")
      func departures() async throws -> [GroupID] { try await store.departures(of: bob, from: nil, since: 0) }

      try await store.put([.create(), .join(bob), .removeMember(bob, from: club, at: 5)]).get()
      #expect(try await departures() == [club])
      try await store.put([.join(bob)]).get()
      #expect(try await departures().isEmpty)

      // Its rows are not cleared away when another group gets its ID.
      try await store.put([.dismiss(club, at: 9, notifying: .sample(.groupDismissed))]).get()
      #expect(try await departures() == [club])
      try await store.put([.create(epoch: "e2"), .join(alice)]).get()
      #expect(try await departures() == [club], "somebody else has joined")
      try await store.put([.join(bob)]).get()
      #expect(try await departures().isEmpty)
      let told = try await store.notifications(of: bob, since: 0, before: 0, limit: 9)
      #expect(told.map(\.notification.kind) == [.groupDismissed])
      #expect(try connection.count("SELECT count(*) FROM member WHERE userID = $1", [bob.rawValue]) == 1)
    }
  }

  @Test func theStateOfAKnownMemberEndsNoDeparture() async throws {
    try await withPostgreSQL { store in
      try await store.put([.create(), .join(bob), .dismiss(club, at: 9), .create(epoch: "e2"), .join(alice)]).get()
      var member = Member.sample(alice)
      member.readSeq = 7
      try await store.put([.putMember(member, in: club, isKnown: true)]).get()
      #expect(try await store.group(club, sentSince: 0)?.members == [member])
      #expect(try await store.departures(of: bob, from: nil, since: 0) == [club])
    }
  }
}
