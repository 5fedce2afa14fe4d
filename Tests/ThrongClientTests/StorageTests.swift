import Foundation
import Testing

@testable import ThrongClient

/// The two storages: what one of them holds, the other would too.
@Suite struct StorageTests {
  /// A directory that is gone with the test.
  final class Directory: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "throng-\(UUID().uuidString)")

    deinit {
      // Left behind where this fails: the system clears its directory.
      try? FileManager.default.removeItem(at: url)
    }

    var files: [String] {
      get throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: url.path)
        return names.sorted()
      }
    }
  }

  enum Kind: CaseIterable { case memory, sqlite }

  private let directory = Directory()

  private func make(_ kind: Kind) -> any Storage {
    switch kind {
    case .memory: MemoryStorage()
    case .sqlite: SQLiteStorage(directory: directory.url)
    }
  }

  private func put(_ storage: any Storage, _ rows: [String: String]) async throws {
    try await storage.update([]) { _ in rows.map { .put($0.key, value: $0.value) } }
  }

  private func keys(
    _ storage: any Storage, _ from: String = "", _ to: String = "~", limit: Int? = nil, isDescending: Bool = false
  ) async throws -> [String] {
    try await storage.rows(from: from, to: to, limit: limit, isDescending: isDescending).map(\.key)
  }

  @Test(arguments: Kind.allCases) func rowsAreInTheOrderOfTheirKeys(kind: Kind) async throws {
    let storage = make(kind)
    try await storage.open("store")
    // In bytes: capital letters, digits and the underscore are where ASCII has them.
    try await put(storage, ["m/b/2": "3", "m/a/1": "1", "m/b/1": "2", "g/a": "0", "m/B/1": "4", "m/_/1": "5", "m/a%2F/1": "6"])
    #expect(try await keys(storage) == ["g/a", "m/B/1", "m/_/1", "m/a%2F/1", "m/a/1", "m/b/1", "m/b/2"])
    #expect(try await keys(storage, "m/b/", "m/b0") == ["m/b/1", "m/b/2"])
    #expect(try await keys(storage, "m/b/1", "m/b/2") == ["m/b/1"], "the end is not among them")
    #expect(try await keys(storage, limit: 2) == ["g/a", "m/B/1"])
    #expect(try await keys(storage, limit: 2, isDescending: true) == ["m/b/2", "m/b/1"])
    #expect(try await keys(storage, limit: 0).isEmpty)
    #expect(try await keys(storage, "z", "a").isEmpty)
    #expect(try await storage.value(for: "m/b/1") == "2")
    #expect(try await storage.value(for: "m/b/3") == nil)
  }

  @Test(arguments: Kind.allCases) func aChangeSeesWhatItAsksFor(kind: Kind) async throws {
    let storage = make(kind)
    try await storage.open("store")
    try await put(storage, ["a": "1", "b": "2", "c": "3", "d": "4"])
    try await storage.update(["a", "x"]) { values in
      #expect(values == ["a": "1"])
      return [.put("a", value: "é\u{0}\u{1F600}"), .delete("b"), .delete("unknown"), .deleteRange(from: "c", to: "d")]
    }
    #expect(try await keys(storage) == ["a", "d"])
    #expect(try await storage.value(for: "a") == "é\u{0}\u{1F600}")
    try await storage.update(["o/1"]) { _ in [.put("o/1", value: "behind a loss of power, too")] }
    #expect(try await keys(storage) == ["a", "d", "o/1"])
  }

  private struct Refusal: Error {}

  @Test(arguments: Kind.allCases) func aChangeIsWholeOrNotMade(kind: Kind) async throws {
    let storage = make(kind)
    try await storage.open("store")
    try await put(storage, ["a": "1"])
    await #expect(throws: Refusal.self) { try await storage.update(["a"]) { _ in throw Refusal() } }
    try await storage.update(["a"]) { values in [.put("b", value: values["a"] ?? "")] }
    #expect(try await storage.value(for: "b") == "1")
  }

  @Test(arguments: Kind.allCases) func storesAreApartAndOutliveTheirClients(kind: Kind) async throws {
    let storage = make(kind)
    try await storage.open("wss://chat.example/ws|ann")
    try await put(storage, ["a": "ann's"])
    await #expect(throws: StorageError.self) { try await storage.open("wss://chat.example/ws|ben") }
    try await storage.close()
    await #expect(throws: StorageError.self) { try await storage.value(for: "a") }
    try await storage.open("wss://chat.example/ws|ben")
    #expect(try await storage.value(for: "a") == nil)
    try await put(storage, ["a": "ben's"])
    try await storage.close()
    try await storage.open("wss://chat.example/ws|ann")
    #expect(try await storage.value(for: "a") == "ann's")
    try await storage.destroy()
    await #expect(throws: StorageError.self) { try await storage.value(for: "a") }
    try await storage.open("wss://chat.example/ws|ann")
    #expect(try await keys(storage).isEmpty)
    try await storage.close()
    try await storage.open("wss://chat.example/ws|ben")
    #expect(try await storage.value(for: "a") == "ben's")
  }

  // MARK: Files

  private func reason(_ work: () async throws -> Void) async -> StorageError.Reason? {
    do {
      try await work()
      return nil
    } catch {
      return (error as? StorageError)?.reason
    }
  }

  @Test func aFileIsOfOneStorageAtATime() async throws {
    let (first, second) = (make(.sqlite), make(.sqlite))
    try await first.open("store")
    try await put(first, ["a": "1"])
    #expect(await reason { try await second.open("store") } == .inUse)
    // Another store is nobody's yet.
    try await second.open("other")
    try await second.close()
    try await first.close()
    try await second.open("store")
    #expect(try await second.value(for: "a") == "1")
  }

  @Test func nothingIsLeftOfAStoreThatWasRemoved() async throws {
    let storage = make(.sqlite)
    try await storage.open("wss://chat.example/ws|ann/é")
    try await put(storage, ["a": "1"])
    #expect(try directory.files.contains("wss%3A%2F%2Fchat.example%2Fws%7Cann%2F%C3%A9.throng.sqlite3"))
    try await storage.destroy()
    #expect(try directory.files.isEmpty)
  }

  @Test func theFilesAreTheUsersAlone() async throws {
    let storage = make(.sqlite)
    try await storage.open("store")
    try await put(storage, ["a": "1"])
    let names = try directory.files
    for name in names {
      var info = stat()
      let status = stat(directory.url.appending(path: name).path, &info)
      let rights = info.st_mode & 0o777
      #expect(status == 0 && rights == 0o600, "\(name)")
    }
  }

  @Test func aFileThatIsDamagedMayBeRemoved() async throws {
    let storage = make(.sqlite)
    try await storage.open("store")
    try await put(storage, ["a": "1"])
    try await storage.close()
    let noise = Data((0..<8_192).map { _ in UInt8.random(in: 0...255) })
    try noise.write(to: directory.url.appending(path: "store.throng.sqlite3"))
    #expect(await reason { try await storage.open("store") } == .corrupt)
    try await storage.destroy()
    try await storage.open("store")
    #expect(try await keys(storage).isEmpty)
  }

  @Test func whatTheSystemRefuses() async throws {
    // A file where the directory should be.
    try Data().write(to: directory.url)
    #expect(await reason { try await make(.sqlite).open("store") } == .refused)
  }

  @Test func aNameThatNoFileHas() async throws {
    let storage = make(.sqlite)
    #expect(await reason { try await storage.open(String(repeating: "x", count: 241)) } == .refused)
    try await storage.open("..")
    #expect(try directory.files.contains("...throng.sqlite3"))
  }

  @Test func anErrorOfSQLiteHasItsKind() {
    // Extended codes have the kind in their low byte (sqlite3.h).
    let kinds: [(code: Int32, systemError: Int32, reason: StorageError.Reason)] = [
      (13, 0, .full), (14 | 1 << 8, 0, .refused), (8, 0, .refused), (26, 0, .corrupt), (11 | 2 << 8, 0, .corrupt), (5, 0, .inUse),
      (10 | 3 << 8, ENOSPC, .full), (10 | 3 << 8, EIO, .failed), (1, 0, .failed),
    ]
    for kind in kinds { #expect(SQLiteDatabase.reason(kind.code, systemError: kind.systemError) == kind.reason) }
  }
}
