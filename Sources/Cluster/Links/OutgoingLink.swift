import GroupModel

/// The sending end of a link: entries wait here until the next frame, which takes all of them
/// (Cluster.md, "Links").
public struct OutgoingLink: Sendable {
  private enum Phase: Sendable, Equatable {
    /// The receiver has not asked, or a frame could not be sent. → open
    case closed
    /// → closed, open (with a larger number)
    case open(number: UInt64, next: UInt64, sent: MonotonicInstant)
  }

  /// An idle link sends an empty frame so often.
  public static let heartbeat = Duration.milliseconds(500)
  /// The most bytes of entries that may wait; beyond, the link is closed, and begins again.
  public static let maxWaitingBytes = 64 << 20
  /// A frame takes no further entry behind so many bytes.
  public static let frameBytes = 256 << 10

  private var phase = Phase.closed
  /// The largest number that was asked for.
  private var lastNumber: UInt64 = 0
  /// The entries of each frame to come.
  private var waiting: [[UInt8]] = []
  /// Whether one of them is to leave at once.
  private var isUrgent = false
  private var waitingBytes = 0
  /// How often the link was closed because too much waited.
  public private(set) var overflows = 0

  /// A link that nobody has asked for.
  public init() {}

  public var isOpen: Bool {
    if case .open = phase { true } else { false }
  }

  /// Whether entries wait for a frame.
  public var hasEntries: Bool { !waiting.isEmpty }

  /// The receiver asks for a link: entries that waited are dropped, because what they say will be
  /// said from the beginning.
  /// - Returns: false where it has asked with this number, or a larger one, before.
  public mutating func open(_ number: UInt64, at now: MonotonicInstant) -> Bool {
    guard number > lastNumber else { return false }
    lastNumber = number
    dropEntries()
    phase = .open(number: number, next: 1, sent: now)
    return true
  }

  /// Adds an entry.
  /// - Parameter mayWait: it may leave with the next frame that takes everything.
  /// - Returns: false where the link is closed, or is closed now because too much waits.
  public mutating func append(_ entry: [UInt8], mayWait: Bool = false) -> Bool {
    guard isOpen else { return false }
    guard waitingBytes + entry.count <= OutgoingLink.maxWaitingBytes else {
      overflows += 1
      close()
      return false
    }
    waitingBytes += entry.count
    if !mayWait { isUrgent = true }
    if let last = waiting.last, last.count < OutgoingLink.frameBytes {
      waiting[waiting.count - 1] += entry
    } else {
      waiting.append(entry)
    }
    return true
  }

  /// The next frame that is to be sent: with entries, or an empty one where the link was idle.
  /// - Parameter takesAll: entries that may wait are due too, without one that is urgent or a full frame.
  public mutating func nextFrame(
    from own: NodeNumber, to receiver: NodeNumber, at now: MonotonicInstant, takesAll: Bool = true
  ) -> LinkFrame? {
    guard case .open(let number, let next, let sent) = phase else { return nil }
    let isBeginning = next == 1
    let areEntriesDue = hasEntries && (takesAll || isUrgent || waiting.count > 1)
    guard areEntriesDue || isBeginning || now >= sent + OutgoingLink.heartbeat else { return nil }
    let entries = waiting.isEmpty ? [] : waiting.removeFirst()
    waitingBytes -= entries.count
    if waiting.isEmpty { isUrgent = false }
    phase = .open(number: number, next: next + 1, sent: now)
    return LinkFrame(from: own, to: receiver, link: number, .entries(number: next, entries))
  }

  /// A frame could not be sent. The receiver hears nothing more, and asks again.
  public mutating func close() {
    phase = .closed
    dropEntries()
  }

  private mutating func dropEntries() {
    waiting = []
    waitingBytes = 0
    isUrgent = false
  }
}
