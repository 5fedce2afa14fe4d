import GroupModel

/// The receiving end of a link: it finds every gap, and lets the link go on behind one, or begin again
/// where the sender cannot (Cluster.md, "Links").
public struct IncomingLink: Sendable, Equatable {
  private enum Phase: Sendable, Equatable {
    /// The sender was asked; it is asked again at `retry`. → open, asking
    /// - Parameter interruption: nil = it is asked to begin.
    case asking(retry: MonotonicInstant, attempts: Int, Interruption?)
    /// All frames before the place have come. → asking (a gap, or silence)
    case open(LinkPosition, heard: MonotonicInstant)
  }

  /// A link that is to go on.
  private struct Interruption: Sendable, Equatable {
    let place: LinkPosition
    /// Since when the bus could have brought an answer.
    var since: MonotonicInstant
  }

  /// The fate of a frame.
  public enum Verdict: Sendable, Equatable {
    /// It is the next one.
    case accept
    /// It is the next one, behind an interruption: nothing is missing.
    case resume
    /// It is the first one of a link that begins. With `isBehindLoss`, entries of the former are missing.
    case begin(isBehindLoss: Bool)
    /// It belongs to an older link, or has come before.
    case ignore
    /// Frames are missing before it: the sender has to be asked.
    case interrupted
  }

  /// The work that is due at an instant.
  public enum Due: Sendable, Equatable {
    case nothing
    /// The sender has not answered: ask again, with the new number.
    case ask
    /// Nothing has come for too long: the sender has to be asked.
    case interrupted
    /// The sender has not answered for too long: what is missing may never come, and the sender has to
    /// be asked to begin.
    case lost
  }

  /// For how long nothing may come: several times the sender's `OutgoingLink.heartbeat`.
  public static let silence = Duration.seconds(2)
  /// For how long an interruption may last while the bus is there: then clients are better served by a
  /// node that hears the sender.
  public static let patience = Duration.seconds(10)
  /// So much may come before it is acknowledged, however little there is to send.
  public static let acknowledged = (frames: 64, bytes: 1 << 20)
  /// The wait before the sender is asked again; it doubles up to the second.
  private static let retries = (first: Duration.milliseconds(500), last: Duration.seconds(8))

  /// The number of the link, which the sender's frames name.
  public private(set) var number: UInt64
  private var phase: Phase
  /// What has come since the last acknowledgement.
  private var newFrames = 0
  private var newBytes = 0

  /// A link that the sender is now asked to begin.
  public init(number: UInt64 = 1, at now: MonotonicInstant) {
    self.number = number
    phase = .asking(retry: now + IncomingLink.retries.first, attempts: 1, nil)
  }

  public var isOpen: Bool {
    if case .open = phase { true } else { false }
  }

  /// The place before which all has come; nil = the link has to begin.
  public var position: LinkPosition? {
    switch phase {
    case .asking(_, _, let interruption): interruption?.place
    case .open(let place, _): place
    }
  }

  /// A frame with entries has come.
  /// - Parameters:
  ///   - origin: of its number.
  ///   - bytes: of the entries.
  public mutating func receive(
    link: UInt64, origin: UInt64, frame: UInt64, bytes: Int = 0, at now: MonotonicInstant
  ) -> Verdict {
    guard link == number else { return .ignore }
    let verdict: Verdict
    switch phase {
    case .asking(_, _, let interruption):
      if origin == link, frame == 1 {
        verdict = .begin(isBehindLoss: interruption != nil)
      } else if interruption?.place == LinkPosition(origin: origin, next: frame) {
        verdict = .resume
      } else {
        // A frame that was lost is noticed by the next.
        return interrupt(at: now)
      }
    case .open(let place, _):
      // The sender keeps to the origin while the link has its number.
      if frame < place.next { return .ignore }
      guard origin == place.origin, frame == place.next else { return interrupt(at: now) }
      verdict = .accept
    }
    phase = .open(LinkPosition(origin: origin, next: frame + 1), heard: now)
    newFrames += 1
    newBytes += bytes
    return verdict
  }

  /// Whether so much has come that the sender is to hear of it soon.
  public var mustAcknowledge: Bool {
    newFrames >= IncomingLink.acknowledged.frames || newBytes >= IncomingLink.acknowledged.bytes
  }

  /// A frame with the place has left.
  public mutating func didAcknowledge() { (newFrames, newBytes) = (0, 0) }

  /// The sender is there, or the bus is back: a sender that was asked for long in vain is asked again
  /// as soon as at the beginning.
  public mutating func expectAnswer(at now: MonotonicInstant) {
    guard case .asking(let retry, _, let interruption) = phase else { return }
    phase = .asking(retry: min(retry, now + IncomingLink.retries.first), attempts: 1, interruption)
  }

  /// The bus was away: frames may be missing.
  public mutating func didMiss(at now: MonotonicInstant) { _ = interrupt(at: now) }

  /// Entries have come that cannot be read: the link has to begin.
  public mutating func didLose(at now: MonotonicInstant) {
    number += 1
    phase = .asking(retry: now + IncomingLink.retries.first, attempts: 1, nil)
  }

  /// - Parameter isBusConnected: while it is not, nobody could answer.
  public mutating func due(at now: MonotonicInstant, isBusConnected: Bool = true) -> Due {
    switch phase {
    case .asking(let retry, let attempts, var interruption):
      if !isBusConnected { interruption?.since = now }
      if let since = interruption?.since, now >= since + IncomingLink.patience {
        didLose(at: now)
        return .lost
      }
      guard now >= retry else {
        phase = .asking(retry: retry, attempts: attempts, interruption)
        return .nothing
      }
      number += 1
      let wait = min(IncomingLink.retries.first * (1 << min(attempts, 6)), IncomingLink.retries.last)
      phase = .asking(retry: now + wait, attempts: attempts + 1, interruption)
      return .ask
    case .open(_, let heard):
      guard now >= heard + IncomingLink.silence else { return .nothing }
      _ = interrupt(at: now)
      return .interrupted
    }
  }

  private mutating func interrupt(at now: MonotonicInstant) -> Verdict {
    number += 1
    let interruption: Interruption? =
      switch phase {
      case .asking(_, _, let interruption): interruption
      case .open(let place, _): Interruption(place: place, since: now)
      }
    phase = .asking(retry: now + IncomingLink.retries.first, attempts: 1, interruption)
    return .interrupted
  }
}
