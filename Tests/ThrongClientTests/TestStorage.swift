@testable import ThrongClient

/// A storage in memory that outlives its clients, and does as a test says.
actor TestStorage: Storage {
  enum Operation { case open, value, rows, update, close, destroy }

  private let memory = MemoryStorage()
  /// What an operation throws, by how often it was done; nil = it succeeds.
  private var failure: @Sendable (Operation, Int) -> StorageError?
  private var counts: [Operation: Int] = [:]
  private var isHeld = false
  private var held: [CheckedContinuation<Void, Never>] = []

  init(_ failure: @escaping @Sendable (Operation, Int) -> StorageError? = { _, _ in nil }) { self.failure = failure }

  func fail(_ failure: @escaping @Sendable (Operation, Int) -> StorageError?) { self.failure = failure }

  /// Updates wait until `release`.
  func hold() { isHeld = true }

  func release() {
    isHeld = false
    for one in held { one.resume() }
    held = []
  }

  /// The end of a process: nobody closes anything.
  func kill() async { await memory.close() }

  /// All rows of a store that is not open.
  func dump(_ name: String) async throws -> [String: String] {
    try await memory.open(name)
    let rows = try await memory.rows(from: "", to: "~", limit: nil, isDescending: false)
    await memory.close()
    return Dictionary(rows.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
  }

  /// Changes a row of a store that is not open.
  func poke(_ name: String, _ key: String, _ value: String) async throws {
    try await memory.open(name)
    try await memory.update([]) { _ in [.put(key, value: value)] }
    await memory.close()
  }

  func count(_ operation: Operation) -> Int { counts[operation] ?? 0 }

  private func note(_ operation: Operation) throws {
    counts[operation, default: 0] += 1
    if let error = failure(operation, counts[operation] ?? 0) { throw error }
  }

  func open(_ name: String) async throws {
    try note(.open)
    try await memory.open(name)
  }

  func value(for key: String) async throws -> String? {
    try note(.value)
    return try await memory.value(for: key)
  }

  func rows(from: String, to: String, limit: Int?, isDescending: Bool) async throws -> [StorageRow] {
    try note(.rows)
    return try await memory.rows(from: from, to: to, limit: limit, isDescending: isDescending)
  }

  func update(
    _ keys: [String], _ decide: @escaping @Sendable ([String: String]) throws -> [StorageChange]
  ) async throws {
    while isHeld { await withCheckedContinuation { held.append($0) } }
    try note(.update)
    try await memory.update(keys, decide)
  }

  func close() async throws {
    try note(.close)
    await memory.close()
  }

  func destroy() async throws {
    try note(.destroy)
    await memory.destroy()
  }
}
