import GRDB
import GroupModel
import GroupRuntime
import Synchronization
import Testing

@testable import SQLiteStore

@Suite("SQLite: what a change costs")
struct CostTests {
  /// How many statements a change runs, however often they were prepared before.
  private func statements(of change: StoreChange, after: [StoreChange] = []) async throws -> Int {
    let counter = Counter()
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await store.put([.create(), .join(alice)] + after).get()
        try await store.pool.write { db in
          db.trace(options: .statement) { _ in counter.increment() }
          try db.apply(change)
          db.trace(options: [])
        }
      }
    }
    return counter.count
  }

  @Test func `a message is one statement`() async throws {
    #expect(try await statements(of: .append(.sample(1))) == 1)
    #expect(try await statements(of: .append(.sample(2, isFromManager: true)), after: [.append(.sample(1))]) == 1)
  }

  @Test(arguments: [1, 6_000])
  func `notifying is two statements for any number of users`(_ count: Int) async throws {
    let users = (0..<count).map { UserID("user\($0)")! }
    #expect(try await statements(of: .notify(.sample(), users)) == 2)
  }
}

private final class Counter: Sendable {
  private let value = Atomic<Int>(0)
  var count: Int { value.load(ordering: .relaxed) }
  func increment() { value.wrappingAdd(1, ordering: .relaxed) }
}
