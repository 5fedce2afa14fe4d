import GroupModel

/// The receiving end of a link: it finds every gap, and begins the link again behind one
/// (Cluster.md, "Links").
public struct IncomingLink: Sendable, Equatable {
  private enum Phase: Sendable, Equatable {
    /// The sender was asked; it is asked again at `retry`. → open, asking
    case asking(retry: MonotonicInstant, attempts: Int)
    /// All frames before `next` have come. → asking (a gap, or silence)
    case open(next: UInt64, heard: MonotonicInstant)
  }

  /// The fate of a frame.
  public enum Verdict: Sendable, Equatable {
    /// It is the next one. With `isFirst`, the link has just begun.
    case accept(isFirst: Bool)
    /// It belongs to an older link, or has come before.
    case ignore
    /// Frames are missing before it: the link is lost, and begins again.
    case lost
  }

  /// The work that is due at an instant.
  public enum Due: Sendable, Equatable {
    case nothing
    /// The sender has not answered: ask again, with the new number.
    case ask
    /// Nothing has come for too long: the link is lost, and the sender has to be asked.
    case lost
  }

  /// For how long nothing may come: several times the sender's `OutgoingLink.heartbeat`.
  public static let silence = Duration.seconds(2)
  /// The wait before the sender is asked again; it doubles up to the second.
  private static let retries = (first: Duration.milliseconds(500), last: Duration.seconds(8))

  /// The number of the link, which the sender's frames name.
  public private(set) var number: UInt64
  private var phase: Phase

  /// A link that the sender is now asked to begin.
  public init(number: UInt64 = 1, at now: MonotonicInstant) {
    self.number = number
    phase = .asking(retry: now + IncomingLink.retries.first, attempts: 1)
  }

  public var isOpen: Bool {
    if case .open = phase { true } else { false }
  }

  /// A frame with entries has come.
  public mutating func receive(link: UInt64, frame: UInt64, at now: MonotonicInstant) -> Verdict {
    guard link == number else { return .ignore }
    switch phase {
    case .asking:
      // A first frame that was lost is noticed by the second.
      guard frame == 1 else { return begin(at: now) }
      phase = .open(next: 2, heard: now)
      return .accept(isFirst: true)
    case .open(let next, _):
      if frame < next { return .ignore }
      guard frame == next else { return begin(at: now) }
      phase = .open(next: next + 1, heard: now)
      return .accept(isFirst: false)
    }
  }

  /// The sender is there, or the bus is back: a sender that was asked for long in vain is asked again
  /// as soon as at the beginning.
  public mutating func expectAnswer(at now: MonotonicInstant) {
    guard case .asking(let retry, _) = phase else { return }
    phase = .asking(retry: min(retry, now + IncomingLink.retries.first), attempts: 1)
  }

  /// The bus was away: frames may be missing.
  public mutating func didMiss(at now: MonotonicInstant) { _ = begin(at: now) }

  public mutating func due(at now: MonotonicInstant) -> Due {
    switch phase {
    case .asking(let retry, let attempts):
      guard now >= retry else { return .nothing }
      number += 1
      let wait = min(IncomingLink.retries.first * (1 << min(attempts, 6)), IncomingLink.retries.last)
      phase = .asking(retry: now + wait, attempts: attempts + 1)
      return .ask
    case .open(_, let heard):
      guard now >= heard + IncomingLink.silence else { return .nothing }
      _ = begin(at: now)
      return .lost
    }
  }

  private mutating func begin(at now: MonotonicInstant) -> Verdict {
    number += 1
    phase = .asking(retry: now + IncomingLink.retries.first, attempts: 1)
    return .lost
  }
}
