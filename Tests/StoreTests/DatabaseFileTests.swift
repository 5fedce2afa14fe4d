import Foundation
import GroupModel
import GroupRuntime
import Testing

@testable import SQLiteStore

/// SQLite: where the database is.
@Suite struct DatabaseFileTests {
  private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  private func size(of path: String) throws -> Int? { try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int }

  /// Why a store cannot be opened; nil where it can.
  private func refusal(_ directory: String, _ database: String? = nil) -> StoreOpenError.Kind? {
    do {
      try openSQLite(directory, database: database).close()
      return nil
    } catch {
      return error.kind
    }
  }

  @Test func aPathIsAbsoluteOrCountsFromTheDataDirectory() async throws {
    try await withDirectory { directory in
      let data = directory + "/data"
      let absolute = directory + "/x/y.db"
      for (given, path) in [("other.db", data + "/other.db"), ("in/a.db", data + "/in/a.db"), (absolute, absolute)] {
        let store = try openSQLite(data, database: given)
        try await store.put([.create()]).get()
        #expect(exists(path) && exists(path + "-wal") && exists(path + "-lock"))
        store.close()
        #expect(try size(of: path + "-wal") == 0)
        let again = try openSQLite(directory + "/elsewhere", database: path)
        #expect(try await again.groupCounts() == [.public: 1])
        again.close()
      }
      #expect(!exists(data + "/throng.db") && !exists(data + "/lock"))
    }
  }

  @Test func oneDatabaseHasOneStoreHoweverItIsNamed() async throws {
    try await withDirectory { directory in
      let (first, second) = (directory + "/first", directory + "/second")
      let store = try openSQLite(first)
      try FileManager.default.createSymbolicLink(atPath: directory + "/linked", withDestinationPath: first)
      try FileManager.default.createSymbolicLink(atPath: directory + "/link.db", withDestinationPath: first + "/throng.db")
      for name in ["first/throng.db", "linked/throng.db", "second/../first/throng.db", "link.db"] {
        #expect(refusal(second, directory + "/" + name) == .locked, "\(name)")
      }
      #expect(refusal(directory + "/linked") == .locked)
      // Another database of the same directory is somebody else's.
      let other = try openSQLite(first, database: "other.db")
      #expect(refusal(second, first + "/other.db") == .locked)
      other.close()
      store.close()
      #expect(refusal(second, directory + "/link.db") == nil)
      #expect(exists(first + "/throng.db") && !exists(second + "/throng.db"))
    }
  }

  @Test func aDirectoryIsNoDatabase() async throws {
    try await withDirectory { directory in
      try FileManager.default.createDirectory(atPath: directory + "/a.db", withIntermediateDirectories: true)
      #expect(refusal(directory, "a.db") == .unavailable)
    }
  }
}
