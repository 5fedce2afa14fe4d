/// Counts of what has passed between this node and another one.
public struct LinkStatus: Sendable, Equatable {
  /// Whether both directions are open.
  public internal(set) var isOpen = false
  public internal(set) var sentFrames = 0
  public internal(set) var sentBytes = 0
  public internal(set) var receivedFrames = 0
  public internal(set) var receivedBytes = 0
  /// For how long nothing has come, or since the node is there: up to half a second as a rule.
  public internal(set) var silence = Duration.zero
}

/// Faults of all links since the start.
public struct LinkCounters: Sendable, Equatable {
  /// How often frames of a node were missing, or nothing came from it: it was asked for them.
  public internal(set) var gaps = 0
  /// How often a link went on behind that, without a loss.
  public internal(set) var resumes = 0
  /// How often a link began again, because what was missing could not be had.
  public internal(set) var losses = 0
  /// Bytes of frames that other nodes have not acknowledged now.
  public internal(set) var keptBytes = 0
  /// Frames that were opened, and could not be read.
  public internal(set) var malformed = 0
  /// Messages that did not open, by reason.
  public internal(set) var refused: [FrameSeal.Refusal: Int] = [:]
  /// How often a link was closed because too much waited for a node.
  public internal(set) var overflows = 0
  /// Entries for other nodes, by kind; one for several nodes counts once for each.
  public internal(set) var sentEntries: [SentEntries] = []
}

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
