/// How far the entries of a node were dealt with, for the frames that tell it so (Cluster.md, "Links"). A frame
/// says it only where what was sent in return meanwhile leaves in it, or has left before it.
public struct Acknowledgements: Sendable, Equatable {
  private struct Step: Sendable, Equatable {
    let place: LinkPosition
    /// The end of what was sent until then.
    let end: LinkPosition

    /// - Parameter frameEnd: the place behind the frame.
    func mayLeave(in frameEnd: LinkPosition) -> Bool {
      // What was sent by a link that has begun anew since comes no more.
      end.origin != frameEnd.origin || end.next <= frameEnd.next
    }
  }

  private var said: Step?
  /// The next one to be said, and the last: what comes between them is left out.
  private var next: Step?
  private var last: Step?

  /// Nothing was dealt with.
  public init() {}

  /// Whether frames are still to say something.
  public var isPending: Bool { next != nil }

  /// All entries before a place were dealt with.
  /// - Parameter end: of what was sent to their sender by now (`OutgoingLink.end`).
  public mutating func note(_ place: LinkPosition, behind end: LinkPosition) {
    let step = Step(place: place, end: end)
    if next == nil { next = step } else { last = step }
  }

  /// The place that a frame may acknowledge.
  /// - Parameter frameEnd: the place behind the frame (`OutgoingLink.nextFrameEnd`).
  public mutating func place(in frameEnd: LinkPosition) -> LinkPosition? {
    while let step = next, step.mayLeave(in: frameEnd) {
      said = step
      (next, last) = (last, nil)
    }
    // A frame that is sent again may be older.
    guard let said, said.mayLeave(in: frameEnd) else { return nil }
    return said.place
  }
}
