import ThrongClient

/// A storage that cannot be opened, or finds no room from one of its updates on.
actor FailingStorage: Storage {
  private let storage: any Storage
  /// The number of the first update that fails; nil = it is not even opened.
  private let first: Int?
  private var updates = 0

  init(_ storage: any Storage, from first: Int?) {
    self.storage = storage
    self.first = first
  }

  func open(_ name: String) async throws {
    guard first != nil else { throw StorageError(.refused, "as the test says") }
    try await storage.open(name)
  }

  func value(for key: String) async throws -> String? { try await storage.value(for: key) }

  func rows(from: String, to: String, limit: Int?, isDescending: Bool) async throws -> [StorageRow] {
    try await storage.rows(from: from, to: to, limit: limit, isDescending: isDescending)
  }

  func update(
    _ keys: [String], _ decide: @escaping @Sendable ([String: String]) throws -> [StorageChange]
  ) async throws {
    updates += 1
    if let first, updates >= first { throw StorageError(.full, "as the test says") }
    try await storage.update(keys, decide)
  }

  func close() async throws { try await storage.close() }

  func destroy() async throws { try await storage.destroy() }
}
