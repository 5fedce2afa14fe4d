import DequeModule
import GroupModel
import WireProtocol

/// The events of changed messages that wait (Protocol.md, "Events of changes"). They leave in the
/// order of `changeSeq`, so that a client has all changes up to the last that it was told of. Edits
/// and reactions of one message merge into the last of them.
struct ChangeAnnouncements: Sendable {
  /// The interval between events of edits and reactions: at most 20 in any second, also for
  /// receivers that get them a little early or late.
  static let intervalMilliseconds: Int64 = 55
  /// The most events that wait.
  static let maxCount = 1000
  /// The most bytes of the messages in them.
  static let maxBytes = 4 << 20

  /// Which events merge.
  enum Kind: Hashable, Sendable {
    case modified(seq: Int64)
    case reactions(seq: Int64)
    /// It does not merge, and counts for no rate.
    case single(changeSeq: Int64)

    /// Whether it counts for the rate.
    fileprivate var isLimited: Bool { if case .single = self { false } else { true } }
  }

  /// The only users who see a message.
  struct Audience: Sendable {
    let sender: UserID
    let targets: [UserID]

    /// Nil where it is for everybody.
    init?(of message: Message) {
      guard let extras = message.extras, !extras.toUserIDList.isEmpty else { return nil }
      (sender, targets) = (message.sender, extras.toUserIDList)
    }
  }

  /// An event that waits.
  struct Announcement: Sendable {
    let seq: Int64
    let content: GroupEvent.Content
    /// Nil where the message is for everybody, or where the event was lost with the state.
    let audience: Audience?
    let changeSeq: Int64

    fileprivate init(seq: Int64, content: GroupEvent.Content, changeSeq: Int64, audience: Audience?) {
      self.seq = seq
      self.content = content
      self.changeSeq = changeSeq
      self.audience = audience
    }

    /// The event of an effect; nil where it is of no changed message.
    init?(_ effect: Effect) {
      audience = nil
      switch effect {
      case .publish(let event, _, _), .send(let event, _, _): content = event.content
      default: return nil
      }
      switch content {
      case .onRecvMessageModified(let info): (seq, changeSeq) = (info.message.seq ?? 0, info.message.changeSeq)
      case .onRecvMessageReactionsChanged(let change, _): (seq, changeSeq) = (change.seq, change.changeSeq)
      case .onGroupMessagePinned(let seq, let changeSeq, _, _), .onRecvMessageRevoked(_, let seq, let changeSeq, _):
        (self.seq, self.changeSeq) = (seq, changeSeq)
      default: return nil
      }
    }

    fileprivate var byteCount: Int {
      switch content {
      case .onRecvMessageModified(let info): info.message.byteCount
      case .onGroupMessagePinned(_, _, let info, _): info?.message.byteCount ?? 0
      default: 0
      }
    }
  }

  private struct Place: Sendable {
    let changeSeq: Int64
    let kind: Kind
  }

  private var waiting: [Kind: Announcement] = [:]
  /// Ascending by `changeSeq`.
  private var order: Deque<Place> = []
  private var bytes = 0
  private var lastEvent: MonotonicInstant?

  /// How many events wait.
  var count: Int { order.count }

  /// The first change of which the members are not told; nil = no event waits.
  var firstChangeSeq: Int64? { order.first?.changeSeq }

  /// Whether no further event fits.
  var isFull: Bool { order.count >= ChangeAnnouncements.maxCount || bytes >= ChangeAnnouncements.maxBytes }

  /// When the next event is due; nil = none waits.
  var due: MonotonicInstant? {
    guard let first = order.first else { return nil }
    guard first.kind.isLimited, let lastEvent else { return .distantPast }
    return lastEvent.advanced(byMilliseconds: ChangeAnnouncements.intervalMilliseconds)
  }

  /// Whether an event waits that the next of its kind merges with.
  func isWaiting(_ kind: Kind) -> Bool { waiting[kind] != nil }

  /// Adds an event by its `changeSeq`, in the place of the one that it merges with.
  /// - Parameter audience: nil = the message is for everybody.
  mutating func add(
    _ content: GroupEvent.Content, _ kind: Kind, seq: Int64, changeSeq: Int64, audience: Audience? = nil
  ) {
    remove(kind)
    let announcement = Announcement(seq: seq, content: content, changeSeq: changeSeq, audience: audience)
    waiting[kind] = announcement
    order.insert(Place(changeSeq: changeSeq, kind: kind), at: place(of: changeSeq + 1))
    bytes += announcement.byteCount
  }

  /// Removes the events of a message, because a recall has made them void.
  mutating func removeAll(of seq: Int64) {
    for place in order where waiting[place.kind]?.seq == seq { remove(place.kind) }
  }

  /// Removes the next event, if it is due.
  mutating func popDue(at now: MonotonicInstant) -> Announcement? {
    guard let due, due <= now, let place = order.popFirst(), let announcement = waiting.removeValue(forKey: place.kind) else {
      return nil
    }
    bytes -= announcement.byteCount
    if place.kind.isLimited { lastEvent = now }
    return announcement
  }

  /// All events that wait, because the state is discarded.
  var all: [Announcement] { order.compactMap { waiting[$0.kind] } }

  private mutating func remove(_ kind: Kind) {
    guard let announcement = waiting.removeValue(forKey: kind) else { return }
    bytes -= announcement.byteCount
    for index in place(of: announcement.changeSeq)..<order.endIndex where order[index].kind == kind {
      order.remove(at: index)
      return
    }
  }

  /// The first place with such a number or a higher one.
  private func place(of changeSeq: Int64) -> Int {
    var (low, high) = (order.startIndex, order.endIndex)
    while low < high {
      let middle = (low + high) / 2
      if order[middle].changeSeq < changeSeq { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
