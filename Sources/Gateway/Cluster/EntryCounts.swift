/// The entries of one kind that were sent.
public struct SentEntries: Sendable, Equatable {
  /// The name of the entry, such as `unit`.
  public let kind: String
  /// How many; one for several nodes counts once for each.
  public let count: Int
}

/// Counts entries by the first of their bytes.
struct EntryCounts: Sendable {
  private var counts = [Int](repeating: 0, count: Int(UInt8.max) + 1)

  /// - Parameter receivers: the nodes that it was sent to.
  mutating func add(_ entry: [UInt8], receivers: Int) {
    guard let tag = entry.first else { return }
    counts[Int(tag)] += receivers
  }

  /// Every kind of entry, also those of which there was none.
  var byKind: [SentEntries] {
    ClusterEntry.Tag.allCases.map { SentEntries(kind: "\($0)", count: counts[Int($0.rawValue)]) }
  }
}
