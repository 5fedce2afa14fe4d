import GroupModel

/// The sending end of a link: entries wait here until the next frame, which takes all of them
/// (Cluster.md, "Links"). Frames are kept until the receiver has acknowledged them, so that the link
/// can go on behind an interruption.
public struct OutgoingLink: Sendable {
  private enum Phase: Sendable, Equatable {
    /// The receiver has not asked, or too much waited. → open
    case closed
    /// Frames leave. → closed, suspended, open (with a larger number)
    case open(number: UInt64, sent: MonotonicInstant)
    /// The bus takes no frames: entries wait. → closed, open
    case suspended(number: UInt64)
  }

  /// How the receiver's request for a link was met.
  public enum Opening: Sendable, Equatable {
    /// From the beginning: what was sent before may be missing.
    case began
    /// From the first frame that the receiver has not got: nothing is missing.
    case resumed
  }

  private struct Frame: Sendable, Equatable {
    let number: UInt64
    let entries: [UInt8]
  }

  /// An idle link sends an empty frame so often.
  public static let heartbeat = Duration.milliseconds(500)
  /// The most bytes of entries that may wait; beyond, the link is closed, and begins again.
  public static let maxWaitingBytes = 64 << 20
  /// The most bytes, and frames, that are kept for a receiver that does not acknowledge them, what waits
  /// for a bus that is away included; beyond, the link cannot go on behind an interruption, but begins
  /// again.
  public static let maxKeptBytes = 16 << 20
  public static let maxKeptFrames = 16_384
  /// A frame takes no further entry behind so many bytes.
  public static let frameBytes = 256 << 10

  private var phase = Phase.closed
  /// The largest number that was asked for.
  private var lastNumber: UInt64 = 0
  /// The number under which the frames are counted from 1: that of the link that began, however often it went
  /// on since.
  public private(set) var origin: UInt64 = 0
  /// The number of the next new frame.
  private var next: UInt64 = 1
  /// The frames that the receiver has not acknowledged, ascending, the last one before `next`.
  private var kept: [Frame] = []
  /// How many of them were sent under the link's number.
  private var sentCount = 0
  /// The bytes of the kept frames.
  public private(set) var keptBytes = 0
  /// The most bytes that are kept; negative = no frame is.
  public var keptBytesLimit: Int
  /// A frame is due, though it may be empty: the receiver waits for it.
  private var mustSend = false
  /// The receiver has dealt with all frames before this number.
  private var acknowledgedNumber: UInt64 = 1
  /// All frames before this number are awaited: the last of them asks the receiver for an answer.
  private var awaitedNumber: UInt64 = 1
  /// The entries of each frame to come.
  private var waiting: [[UInt8]] = []
  /// Whether one of them is to leave at once.
  private var isUrgent = false
  private var waitingBytes = 0
  /// How often the link was closed because too much waited.
  public private(set) var overflows = 0
  /// How many frames were sent again.
  public private(set) var repeatedFrames = 0

  /// A link that nobody has asked for.
  /// - Parameter maxKeptBytes: fewer in tests.
  public init(maxKeptBytes: Int = OutgoingLink.maxKeptBytes) { keptBytesLimit = maxKeptBytes }

  /// Whether frames leave.
  public var isOpen: Bool {
    if case .open = phase { true } else { false }
  }

  /// Whether entries are taken: they reach the receiver, or it hears that some are missing.
  public var takesEntries: Bool { phase != .closed }

  /// Whether entries wait for a frame.
  public var hasEntries: Bool { !waiting.isEmpty }

  /// The place behind all entries that were sent, or wait.
  public var end: LinkPosition { LinkPosition(origin: origin, next: next + UInt64(waiting.count)) }

  /// The place behind the next frame.
  public var nextFrameEnd: LinkPosition {
    LinkPosition(origin: origin, next: (sentCount < kept.count ? kept[sentCount].number : next) + 1)
  }

  /// The receiver asks for the link. Where it begins, entries that waited are dropped, because what they
  /// say will be said from the beginning.
  /// - Parameter place: where to go on, if that is possible; nil = it begins.
  /// - Returns: nil where the receiver has asked with this number, or a larger one, before.
  public mutating func open(_ number: UInt64, resumingAt place: LinkPosition? = nil, at now: MonotonicInstant) -> Opening? {
    guard number > lastNumber else { return nil }
    lastNumber = number
    mustSend = true
    defer { phase = .open(number: number, sent: now) }
    if let place, takesEntries, place.origin == origin, (kept.first?.number ?? next)...next ~= place.next {
      forget(before: place.next)
      sentCount = 0
      return .resumed
    }
    dropAll()
    (origin, next) = (number, 1)
    (acknowledgedNumber, awaitedNumber) = (1, 1)
    return .began
  }

  /// The receiver has dealt with all frames before a place.
  public mutating func acknowledge(_ place: LinkPosition) {
    guard place.origin == origin else { return }
    let number = min(place.next, next)
    acknowledgedNumber = max(acknowledgedNumber, number)
    forget(before: number)
  }

  // MARK: Waiting for the receiver

  /// Asks the receiver to say when it has dealt with all entries so far.
  /// - Returns: the place that it acknowledges then; nil where the link is closed.
  public mutating func awaitAcknowledgement() -> LinkPosition? {
    guard takesEntries else { return nil }
    if waiting.isEmpty { mustSend = true } else { isUrgent = true }
    awaitedNumber = next + UInt64(max(1, waiting.count))
    return LinkPosition(origin: origin, next: awaitedNumber)
  }

  /// Whether a place was acknowledged.
  public func hasAcknowledged(_ place: LinkPosition) -> Bool { place.origin == origin && place.next <= acknowledgedNumber }

  /// Whether a place may still be acknowledged: the link goes on.
  public func mayAcknowledge(_ place: LinkPosition) -> Bool { place.origin == origin && takesEntries }

  private mutating func forget(before number: UInt64) {
    let count = kept.prefix { $0.number < number }.count
    if count == 0 { return }
    keptBytes -= kept[..<count].reduce(0) { $0 + $1.entries.count }
    kept.removeFirst(count)
    sentCount = max(0, sentCount - count)
  }

  /// A bus that is away may stay so.
  private var maxWaiting: Int {
    if case .suspended = phase { keptBytesLimit - min(keptBytes, keptBytesLimit) } else { OutgoingLink.maxWaitingBytes }
  }

  /// Adds an entry.
  /// - Parameter mayWait: it may leave with the next frame that takes everything.
  /// - Returns: false where the link is closed, or is closed now because too much waits.
  public mutating func append(_ entry: [UInt8], mayWait: Bool = false) -> Bool {
    guard takesEntries else { return false }
    guard waitingBytes + entry.count <= maxWaiting else {
      overflows += 1
      close()
      return false
    }
    waitingBytes += entry.count
    if !mayWait { isUrgent = true }
    let last = waiting.count - 1
    // By index: a copy of the last one would have all of its bytes copied.
    if last >= 0, waiting[last].count < OutgoingLink.frameBytes {
      waiting[last] += entry
    } else {
      waiting.append(entry)
    }
    return true
  }

  /// Lets the next frame leave, though it may be empty: it acknowledges what the other direction has
  /// brought.
  public mutating func requestFrame() { mustSend = true }

  /// The next frame that is to be sent: one that the receiver has not got, or a new one, with entries or
  /// an empty one.
  /// - Parameters:
  ///   - acknowledged: how far the link in the other direction has come.
  ///   - takesAll: entries that may wait are due too, without one that is urgent or a full frame.
  public mutating func nextFrame(
    from own: NodeNumber, to receiver: NodeNumber, at now: MonotonicInstant, acknowledging acknowledged: LinkPosition? = nil,
    takesAll: Bool = true
  ) -> LinkFrame? {
    guard case .open(let number, let sent) = phase else { return nil }
    let isRepeated = sentCount < kept.count
    if !isRepeated {
      let areEntriesDue = hasEntries && (takesAll || isUrgent || waiting.count > 1)
      guard areEntriesDue || mustSend || now >= sent + OutgoingLink.heartbeat else { return nil }
      addFrame()
    }
    let frame = kept[sentCount]
    sentCount += 1
    if isRepeated { repeatedFrames += 1 }
    mustSend = false
    phase = .open(number: number, sent: now)
    limitKept()
    let isAwaited = acknowledgedNumber < awaitedNumber && frame.number + 1 >= awaitedNumber
    return LinkFrame(
      from: own, to: receiver, link: number, acknowledging: acknowledged, isAwaited: isAwaited,
      .entries(origin: origin, number: frame.number, frame.entries))
  }

  private mutating func addFrame() {
    let entries = waiting.isEmpty ? [] : waiting.removeFirst()
    waitingBytes -= entries.count
    if waiting.isEmpty { isUrgent = false }
    kept.append(Frame(number: next, entries: entries))
    keptBytes += entries.count
    next += 1
  }

  /// A receiver that acknowledges nothing for so long is asked to begin again, if it comes back.
  private mutating func limitKept() {
    guard keptBytes > keptBytesLimit || kept.count > OutgoingLink.maxKeptFrames else { return }
    // Frames that are still to be sent stay: nothing before them is asked for.
    forget(before: sentCount < kept.count ? kept[sentCount].number : next)
  }

  /// The last frame was not taken by the bus. It leaves first when the bus takes frames again.
  public mutating func suspend() {
    guard case .open(let number, _) = phase else { return }
    sentCount = max(0, sentCount - 1)
    phase = .suspended(number: number)
  }

  /// The bus may take frames again.
  public mutating func retry(at now: MonotonicInstant) {
    guard case .suspended(let number) = phase else { return }
    mustSend = true
    phase = .open(number: number, sent: now)
  }

  /// A frame cannot be sent at all. The receiver hears nothing more, and asks again.
  public mutating func close() {
    phase = .closed
    dropAll()
  }

  private mutating func dropAll() {
    waiting = []
    waitingBytes = 0
    isUrgent = false
    kept = []
    keptBytes = 0
    sentCount = 0
  }
}
