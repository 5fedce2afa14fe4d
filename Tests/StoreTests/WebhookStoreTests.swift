import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import SQLiteStore

extension WebhookEntry {
  fileprivate static func sample(_ id: String, _ lane: Lane = .group(club), at time: WallInstant = 5) -> WebhookEntry {
    WebhookEntry(
      id: id, .messageSent, data: Array(#"{"n":"\#(id)"}"#.utf8), in: lane, at: time, since: time.advanced(byMilliseconds: 1),
      number: 0)
  }
}

/// After-events in the store (Protocol.md, "Webhooks").
@Suite("Webhooks, on every store")
struct WebhookStoreTests {
  private func all(
    _ store: any AnyStore, in lane: WebhookEntry.Lane? = nil, after: Int64 = 0, limit: Int = 100
  ) async throws -> [WebhookEntry] {
    try await store.webhooks(in: lane, after: after, limit: limit, bytes: .max)
  }

  @Test(arguments: Backing.allCases)
  func `entries come back with every field in the order of their commits`(_ backing: Backing) async throws {
    try await backing.withStore { (store) async throws in
      let entries = [WebhookEntry.sample("a"), .sample("b", .user(alice)), .sample("c", .group(team), at: 9)]
      try await store.put([.create()] + entries.map(StoreChange.appendWebhook)).get()
      #expect(entries.map(\.storedNumber) == [1, 2, 3])
      let read = try await all(store)
      #expect(read.map(\.storedNumber) == [1, 2, 3])
      for (kept, made) in zip(read, entries) {
        #expect(kept.id == made.id && kept.lane == made.lane && kept.type == made.type && kept.data == made.data)
        #expect(kept.timestamp == made.timestamp && kept.since == made.since)
      }
      #expect(try await all(store, in: .user(alice)).map(\.id) == ["b"])
      #expect(try await all(store, after: 1, limit: 1).map(\.id) == ["b"])
      #expect(try await all(store, in: .group(club), after: 1).isEmpty)
      #expect(try await store.webhookCounts() == WebhookCounts(pending: 3, failures: 0))
    }
  }

  @Test(arguments: Backing.allCases)
  func `a commit that fails leaves no entry`(_ backing: Backing) async throws {
    try await backing.withStore { (store) async throws in
      let result = await store.put([.appendWebhook(.sample("a")), .append(.sample(7))])
      #expect(throws: StoreError.self) { try result.get() }
      #expect(try await all(store).isEmpty)
    }
  }

  @Test(arguments: Backing.allCases)
  func `what is removed is gone, and its number is not used again`(_ backing: Backing) async throws {
    try await backing.withStore { (store) async throws in
      try await store.put([.appendWebhook(.sample("a")), .appendWebhook(.sample("b"))]).get()
      try await store.put([.removeWebhooks([2, 77])]).get()
      #expect(try await all(store).map(\.id) == ["a"])
      try await store.put([.removeWebhooks([1])]).get()
      let later = WebhookEntry.sample("c")
      try await store.put([.appendWebhook(later)]).get()
      #expect(later.storedNumber == 3)
    }
  }

  @Test(arguments: Backing.allCases)
  func `what is given up moves to the failures and keeps its id`(_ backing: Backing) async throws {
    try await backing.withStore { (store) async throws in
      let (stored, volatile) = (WebhookEntry.sample("a", .user(bob)), WebhookEntry.sample("v"))
      try await store.put([.appendWebhook(stored)]).get()
      try await store.put([
        .giveUpWebhook(stored, attempts: 4, lastError: "why\0"), .giveUpWebhook(volatile, attempts: 0, lastError: "not tried"),
      ]).get()
      #expect(try await store.webhookCounts() == WebhookCounts(pending: 0, failures: 2))
      let failures = try await store.webhookFailures(after: 0, limit: 9, bytes: .max)
      #expect(failures.map(\.entry.id) == ["a", "v"] && failures.map(\.attempts) == [4, 0])
      #expect(failures.map(\.lastError) == ["why\0", "not tried"] && failures.map(\.entry.data) == [stored.data, volatile.data])
      #expect(failures[0].entry.lane == .user(bob) && failures[0].entry.timestamp == 5 && failures[0].entry.storedNumber == 0)
      let second = try await store.webhookFailures(after: failures[0].number, limit: 1, bytes: .max)
      #expect(second.map(\.number) == [failures[1].number])
      try await store.put([.removeWebhookFailures([failures[0].number])]).get()
      #expect(try await store.webhookCounts() == WebhookCounts(pending: 0, failures: 1))
    }
  }

  @Test(arguments: Backing.allCases)
  func `the oldest failures are trimmed`(_ backing: Backing) async throws {
    try await backing.withStore { (store) async throws in
      try await store.put((0..<5).map { .giveUpWebhook(.sample("f\($0)"), attempts: 1, lastError: "e") }).get()
      try await store.put([.trimWebhookFailures(keeping: 2)]).get()
      #expect(try await store.webhookFailures(after: 0, limit: 9, bytes: .max).map(\.entry.id) == ["f3", "f4"])
    }
  }

  @Test func `a read ends with the bytes that it may bring, and brings one at least`() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { (store) async throws in
        try await store.put((0..<5).map { .appendWebhook(.sample("\($0)")) }).get()
        #expect(try await store.webhooks(in: nil, after: 0, limit: 9, bytes: 1).count == 1)
        #expect(try await store.webhooks(in: nil, after: 0, limit: 9, bytes: 20).count == 3)
        try await store.put((0..<5).map { .giveUpWebhook(.sample("\($0)"), attempts: 1, lastError: "e") }).get()
        #expect(try await store.webhookFailures(after: 0, limit: 9, bytes: 1).count == 1)
      }
    }
  }

  @Test(arguments: [false, true])
  func `users whom a crash found online are offline at the next opening`(_ posts: Bool) async throws {
    try await withDirectory { directory in
      try await withSQLite(directory, { $0.postsUserOffline = posts }) { (store) async throws in
        store.notePresence(of: alice, offlineSince: nil)
        store.notePresence(of: bob, offlineSince: 5)
        try await store.put([.create()]).get()
      }
      for _ in 0..<2 {
        try await withSQLite(directory, { $0.postsUserOffline = posts }) { (store) async throws in
          let entries = try await all(store)
          #expect(entries.map(\.type) == (posts ? [.userOffline] : []) && entries.allSatisfy { $0.lane == .user(alice) })
          #expect(entries.allSatisfy { String(decoding: $0.data, as: UTF8.self) == #"{"userID":"alice","platform":"Unknown"}"# })
        }
      }
    }
  }

  @Test func `entries and failures outlive the process`() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { (store) async throws in
        try await store.put([.appendWebhook(.sample("a")), .giveUpWebhook(.sample("f"), attempts: 2, lastError: "e")]).get()
      }
      try await withSQLite(directory) { (store) async throws in
        #expect(try await all(store).map(\.id) == ["a"])
        #expect(try await store.webhookFailures(after: 0, limit: 9, bytes: .max).map(\.entry.id) == ["f"])
      }
    }
  }
}
