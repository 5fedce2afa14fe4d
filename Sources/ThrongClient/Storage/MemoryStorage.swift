/// Keeps stores until the process ends: for tests, and for an application that wants its clients, one
/// after the other, to go on where the last one ended.
public actor MemoryStorage: Storage {
  /// The rows of one store.
  private struct Rows {
    private(set) var values: [String: String] = [:]
    /// Ascending.
    private var keys: [String] = []

    /// The place of the first key that is not before this one.
    private func place(of key: String) -> Int {
      var (low, high) = (0, keys.count)
      while low < high {
        let middle = (low + high) / 2
        if keys[middle] < key { low = middle + 1 } else { high = middle }
      }
      return low
    }

    private func places(from: String, to: String) -> Range<Int> {
      let first = place(of: from)
      return first..<max(first, place(of: to))
    }

    func rows(from: String, to: String, limit: Int?, isDescending: Bool) -> [StorageRow] {
      let found = keys[places(from: from, to: to)]
      let count = max(0, limit ?? found.count)
      let wanted = isDescending ? Array(found.suffix(count).reversed()) : Array(found.prefix(count))
      return wanted.compactMap { key in values[key].map { StorageRow(key: key, value: $0) } }
    }

    mutating func apply(_ change: StorageChange) {
      switch change {
      case .put(let key, let value):
        if values.updateValue(value, forKey: key) == nil { keys.insert(key, at: place(of: key)) }
      case .delete(let key):
        if values.removeValue(forKey: key) != nil { keys.remove(at: place(of: key)) }
      case .deleteRange(let from, let to):
        let gone = places(from: from, to: to)
        for key in keys[gone] { values[key] = nil }
        keys.removeSubrange(gone)
      }
    }
  }

  private var stores: [String: Rows] = [:]
  /// The name of the open store.
  private var name: String?

  /// No stores yet.
  public init() {}

  private func openRows() throws -> Rows {
    guard let name, let rows = stores[name] else { throw StorageError(.failed, "no store is open") }
    return rows
  }

  private func values(for keys: [String]) throws -> [String: String] {
    let values = try openRows().values
    return Dictionary(keys.compactMap { key in values[key].map { (key, $0) } }, uniquingKeysWith: { $1 })
  }

  public func open(_ name: String) throws {
    guard self.name == nil else { throw StorageError(.inUse, "a client has it open") }
    self.name = name
    if stores[name] == nil { stores[name] = Rows() }
  }

  public func value(for key: String) throws -> String? { try openRows().values[key] }

  public func rows(from: String, to: String, limit: Int?, isDescending: Bool) throws -> [StorageRow] {
    try openRows().rows(from: from, to: to, limit: limit, isDescending: isDescending)
  }

  public func update(
    _ keys: [String], _ decide: @escaping @Sendable ([String: String]) throws -> [StorageChange]
  ) throws {
    let changes = try decide(try values(for: keys))
    // `values` has found it.
    guard let name else { return }
    for change in changes { stores[name]?.apply(change) }
  }

  public func close() { name = nil }

  public func destroy() {
    if let name { stores[name] = nil }
    name = nil
  }
}
