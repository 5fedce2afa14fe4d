import Cluster
import GroupModel

/// The links with one other node, one in each direction, and the calls that wait for it.
struct LinkPair {
  var incoming: IncomingLink
  var outgoing: OutgoingLink
  /// The incoming link is to be asked for by the next flush.
  var mustAsk = true
  var status = LinkStatus()
  /// When it was first seen, or the last new frame came.
  var heard: MonotonicInstant
  /// How far its entries were dealt with.
  var acknowledgements = Acknowledgements()
  /// Calls that wait until the node has dealt with what was sent to it.
  var waits = LinkWaits()

  /// A frame with entries has come.
  mutating func receive(
    _ frame: LinkFrame, _ origin: UInt64, _ number: UInt64, _ bytes: Int, at now: MonotonicInstant
  ) -> IncomingLink.Verdict {
    status.receivedFrames += 1
    status.receivedBytes += bytes
    let verdict = incoming.receive(link: frame.link, origin: origin, frame: number, bytes: bytes, at: now)
    // An old one may be a stranger's, who has kept it.
    if verdict != .ignore { heard = now }
    switch verdict {
    case .accept, .resume, .begin: if let place = frame.acknowledged { outgoing.acknowledge(place) }
    // What was sent in return stands in frames before it, or in this one: it comes again with them.
    case .ignore, .interrupted: break
    }
    return verdict
  }

  /// The entries of a frame that has come in its turn were dealt with.
  /// - Returns: the calls whose node has dealt with everything, and whether a frame is to leave.
  mutating func didProcess(_ frame: LinkFrame) -> (heard: [LinkWaits.Completion], mustFlush: Bool) {
    if let place = incoming.position { acknowledgements.note(place, behind: outgoing.end) }
    let mustFlush = frame.isAwaited || incoming.mustAcknowledge
    if mustFlush { outgoing.requestFrame() }
    return (waits.popHeard(by: outgoing), mustFlush)
  }

  /// The next frame that is due.
  mutating func nextFrame(from own: NodeNumber, to node: NodeNumber, at now: MonotonicInstant, takesAll: Bool) -> LinkFrame? {
    let place = acknowledgements.place(in: outgoing.nextFrameEnd)
    guard let frame = outgoing.nextFrame(from: own, to: node, at: now, acknowledging: place, takesAll: takesAll) else {
      return nil
    }
    // The frames behind it say the rest.
    if acknowledgements.isPending { outgoing.requestFrame() } else { incoming.didAcknowledge() }
    return frame
  }

  /// Waits until the node has dealt with what was sent to it.
  /// - Parameter origin: of the link by which it was sent.
  /// - Returns: false where that is in vain.
  mutating func addWait(
    from origin: UInt64, or deadline: MonotonicInstant, _ completion: @escaping LinkWaits.Completion
  ) -> Bool {
    guard outgoing.origin == origin, let place = outgoing.awaitAcknowledgement() else { return false }
    return waits.add(completion, until: place, or: deadline)
  }

  /// The calls that wait in vain.
  mutating func popVoidWaits(at now: MonotonicInstant) -> [LinkWaits.Completion] { waits.popVoid(of: outgoing, at: now) }
}
