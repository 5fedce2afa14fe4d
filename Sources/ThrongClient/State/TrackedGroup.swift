/// A place in the history of a group; 0 = none.
struct Place: Equatable {
  var seq = 0
  var changeSeq = 0

  init() {}

  /// - Parameters: as a server, or an application's memory of one, has them.
  init(seq: Int? = nil, changeSeq: Int? = nil) {
    self.seq = ClientLimits.count(seq)
    self.changeSeq = ClientLimits.count(changeSeq)
  }

  var isNone: Bool { seq == 0 && changeSeq == 0 }

  /// The later of both, in each of the two countings.
  func reaching(_ other: Place) -> Place { Place(seq: max(seq, other.seq), changeSeq: max(changeSeq, other.changeSeq)) }
}

/// An event that waits until its group is in step.
struct HeldEvent {
  /// How much waits.
  struct Size {
    var count = 0
    var bytes = 0

    static func += (size: inout Size, other: Size) {
      size.count += other.count
      size.bytes += other.bytes
    }

    static func -= (size: inout Size, other: Size) {
      size.count -= other.count
      size.bytes -= other.bytes
    }

    func hasRoom(for more: Int) -> Bool {
      count < ClientLimits.waitingEvents && bytes + more <= ClientLimits.heldBytes
    }
  }

  let event: ServerEvent
  let bytes: Int
}

/// One group, up to where the application was told of it.
struct TrackedGroup {
  let isLive: Bool
  /// A live room whose last messages a sync brings.
  var remembers: Bool
  private(set) var epoch: String
  private(set) var place: Place
  /// Events of this connection that wait until the group is in step; nil = they do not wait.
  private var held: [HeldEvent]?
  /// How much waits.
  private(set) var heldSize = HeldEvent.Size()
  /// More came than may wait: the group is synchronized once more.
  private(set) var hasOverflowed = false
  /// Own messages of this session beyond `seq`, which no event brings. Only the last ones where
  /// others' messages do not come: the next sync brings those before again, and `Outbox` knows them.
  private(set) var own: Set<Int> = []

  var isHeld: Bool { held != nil }

  /// Whether a sync may bring what was missed.
  var hasHistory: Bool { !isLive || remembers }

  init(epoch: String, place: Place, isLive: Bool = false, remembers: Bool = false) {
    self.epoch = epoch
    self.place = place
    self.isLive = isLive
    self.remembers = remembers
  }

  init(_ row: PositionRow) {
    self.init(epoch: row.epoch, place: Place(seq: row.seq, changeSeq: row.changeSeq))
    for seq in row.own { addOwn(seq) }
  }

  init(_ info: GroupInfo) {
    self.init(
      epoch: info.epoch ?? "", place: Place(seq: info.lastSeq, changeSeq: info.changeSeq),
      isLive: info.groupType == .avChatRoom, remembers: info.remembersMessages)
  }

  /// Events of a group come in their order: one tells that those before it have come.
  mutating func reach(_ other: Place) {
    place = place.reaching(other)
    while own.contains(place.seq + 1) { place.seq += 1 }
    let last = place.seq
    if !own.isEmpty { own = own.filter { $0 > last } }
  }

  mutating func addOwn(_ seq: Int) {
    guard hasHistory, seq > place.seq else { return }
    own.insert(ClientLimits.count(seq))
    if own.count > ClientLimits.ownMessages, let first = own.min() { own.remove(first) }
    reach(Place())
  }

  /// The history begins anew.
  mutating func restart(epoch: String, at place: Place) {
    self.epoch = epoch
    self.place = place
    own = []
  }

  mutating func restart(_ info: GroupInfo) {
    restart(epoch: info.epoch ?? "", at: Place(seq: info.lastSeq, changeSeq: info.changeSeq))
  }

  /// Whether the application has been told of what an event tells.
  func knows(_ other: Place) -> Bool {
    (other.seq > 0 && other.seq <= place.seq) || (other.changeSeq > 0 && other.changeSeq <= place.changeSeq)
  }

  /// Whether an event shows that the room's memory was lost: its places begin anew, under another
  /// epoch.
  func beginsAnew(at other: Place) -> Bool { isLive && remembers && !isHeld && knows(other) }

  /// A connection has ended, and what waits with it.
  mutating func endSession() { _ = release() }

  /// Events wait until the group is in step, unless no sync could bring anything.
  mutating func hold() {
    if hasHistory, held == nil { held = [] }
  }

  mutating func keep(_ event: HeldEvent, hasRoom: Bool) {
    if hasRoom, !hasOverflowed {
      held?.append(event)
      heldSize += HeldEvent.Size(count: 1, bytes: event.bytes)
    } else {
      held = []
      heldSize = HeldEvent.Size()
      hasOverflowed = true
    }
  }

  /// The group is synchronized anew, so that what could not wait comes all the same.
  mutating func retryAfterOverflow() { hasOverflowed = false }

  /// The events that have waited; later ones do not.
  mutating func release() -> [HeldEvent] {
    defer {
      held = nil
      heldSize = HeldEvent.Size()
      hasOverflowed = false
    }
    return held ?? []
  }
}

extension ServerEvent {
  /// The place of an event in the history of its group.
  var place: Place {
    switch self {
    case .onRecvNewMessage(let event): Place(seq: event.message.seq)
    case .onGroupCreated(let event): Place(seq: event.seq)
    case .onMemberEnter(let event): Place(seq: event.seq)
    case .onMemberLeave(let event): Place(seq: event.seq)
    case .onMemberInvited(let event): Place(seq: event.seq)
    case .onMemberKicked(let event): Place(seq: event.seq)
    case .onGrantAdministrator(let event): Place(seq: event.seq)
    case .onRevokeAdministrator(let event): Place(seq: event.seq)
    case .onGroupInfoChanged(let event): Place(seq: event.seq)
    case .onGroupMemberInfoChanged(let event): Place(seq: event.seq)
    case .onRecvMessageRevoked(let event): Place(changeSeq: event.changeSeq)
    case .onRecvMessageModified(let event): Place(changeSeq: event.changeSeq)
    case .onRecvMessageReactionsChanged(let event): Place(changeSeq: event.changeSeq)
    case .onGroupMessagePinned(let event): Place(changeSeq: event.changeSeq)
    default: Place()
    }
  }

  /// Whether a user who gets the event has left the group.
  func isEnd(for userID: String) -> Bool {
    switch self {
    case .onGroupDismissed, .onGroupRecycled, .onQuitFromGroup: true
    case .onMemberKicked(let event): event.memberList.contains { $0.userID == userID }
    default: false
    }
  }

  /// Whether a user who gets the event has entered the group.
  func isEntry(of userID: String) -> Bool {
    switch self {
    case .onGroupCreated: true
    case .onMemberEnter(let event): event.memberList.contains { $0.userID == userID }
    case .onMemberInvited(let event): event.memberList.contains { $0.userID == userID }
    default: false
    }
  }
}
