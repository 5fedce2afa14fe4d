/// The groups of the user, and up to where the application was told of each.
struct GroupTracker {
  private(set) var groups: [String: TrackedGroup]
  /// Groups that the user has entered in this session and that are not tracked yet, with the number
  /// of tries to read them.
  private(set) var entered: [String: Int] = [:]
  /// The same of earlier sessions, which ended before the groups' positions were read.
  private(set) var enteredBefore: Set<String> = []
  /// Groups that a resume has found and that the application was not told of yet.
  private(set) var joined: Set<String> = []
  /// The last places that were told of groups that are not tracked yet.
  private(set) var untracked: [String: Place] = [:]
  /// Live rooms that are read anew because their places do not ascend, with how often more events
  /// came than may wait.
  private var rereads: [String: Int] = [:]
  /// How much waits in all groups.
  private(set) var held = HeldEvent.Size()
  /// The server's clock at the last frame that shows it, and at the end of the last session that
  /// was in step.
  private var serverTime = 0
  private(set) var toldUntil = 0
  private var isInStep = false

  init(_ positions: [GroupPosition]) {
    groups = Dictionary(
      positions.map { ($0.groupID, TrackedGroup(epoch: $0.epoch, place: Place(seq: $0.seq, changeSeq: $0.changeSeq))) },
      uniquingKeysWith: { _, last in last })
    hold()
  }

  /// Begins where a store has ended, if it holds any group.
  /// - Parameters:
  ///   - rooms: live rooms of which nothing but the membership is known.
  ///   - toldUntil: the server's clock when the list of groups was read last.
  mutating func restore(_ positions: [String: PositionRow], rooms: [GroupInfo], toldUntil: Int) {
    if !positions.isEmpty { groups = positions.mapValues { TrackedGroup($0) } }
    for room in rooms where groups[room.groupID] == nil {
      groups[room.groupID] = TrackedGroup(epoch: room.epoch ?? "", place: Place(), isLive: true)
    }
    self.toldUntil = ClientLimits.count(toldUntil)
    hold()
  }

  var positions: [GroupPosition] {
    groups.filter { !$0.value.isLive }.map { groupID, group in
      GroupPosition(groupID: groupID, epoch: group.epoch, seq: group.place.seq, changeSeq: group.place.changeSeq)
    }.sorted { $0.groupID < $1.groupID }
  }

  func isTracked(_ groupID: String) -> Bool { groups[groupID] != nil }

  func place(of groupID: String) -> Place? { groups[groupID]?.place }

  mutating func note(time: Int?) { serverTime = max(serverTime, ClientLimits.count(time)) }

  mutating func addOwn(_ seq: Int, in groupID: String) { groups[groupID]?.addOwn(seq) }

  mutating func reach(_ place: Place, in groupID: String) { groups[groupID]?.reach(place) }

  mutating func restart(_ groupID: String, epoch: String, at place: Place) { groups[groupID]?.restart(epoch: epoch, at: place) }

  /// Begins with the group as it is: the application reads what is before from its history.
  /// - Returns: false where there is no room for one more group.
  @discardableResult
  mutating func track(_ info: GroupInfo) -> Bool {
    guard groups.count < ClientLimits.groups, info.hasIdentifiers else { return false }
    var group = TrackedGroup(info)
    group.reach(untracked.removeValue(forKey: info.groupID) ?? Place())
    groups[info.groupID] = group
    return true
  }

  /// The user has entered a group. Answers how often its position was asked for; nil = it is not to be
  /// asked for: the next resume finds the group.
  mutating func enter(_ groupID: String) -> Int? {
    let tries = entered[groupID]
    guard tries != nil || entered.count < ClientLimits.newGroups, ClientLimits.isIdentifier(groupID) else { return nil }
    entered[groupID] = (tries ?? 0) + 1
    return tries ?? 0
  }
  mutating func didEnter(_ groupID: String) {
    entered[groupID] = nil
    enteredBefore.remove(groupID)
  }
  mutating func didJoin(_ groupID: String) { joined.insert(groupID) }

  // MARK: Live rooms

  /// A resume has read a room. Answers whether a sync may bring what was missed; otherwise the room
  /// begins anew.
  mutating func check(_ groupID: String, _ info: GroupInfo) -> Bool {
    guard var group = groups[groupID], group.isLive else { return false }
    let hasRemembered = group.remembers
    group.remembers = info.remembersMessages
    let maySync = hasRemembered && group.remembers
    if !maySync { group.restart(info) }
    groups[groupID] = group
    return maySync
  }

  /// Whether a room is to be read anew, because an event at that place shows that its memory was lost.
  /// Its events wait from then on.
  mutating func startReread(_ groupID: String, at place: Place) -> Bool {
    // A resume that is under way finds it by itself.
    guard isInStep, groups[groupID]?.beginsAnew(at: place) == true, enter(groupID) != nil else { return false }
    rereads[groupID] = 0
    groups[groupID]?.hold()
    return true
  }

  func isReread(_ groupID: String) -> Bool { rereads[groupID] != nil }

  /// More events came than may wait: the room is read once more. False = too often.
  mutating func repeatReread(_ groupID: String) -> Bool {
    rereads[groupID, default: 0] += 1
    return rereads[groupID, default: 0] <= ClientLimits.repeatedSyncs && enter(groupID) != nil
  }

  /// A room was read anew. Answers whether its memory is the one that the application was told of, and
  /// no event was given up: then all that have waited are news.
  mutating func endReread(_ info: GroupInfo) -> Bool {
    let isWhole = rereads.removeValue(forKey: info.groupID) == 0
    guard var group = groups[info.groupID] else { return false }
    group.remembers = info.remembersMessages
    let isSame = isWhole && group.epoch == info.epoch
    if !isSame { group.restart(info) }
    groups[info.groupID] = group
    return isSame
  }

  // MARK: Events

  /// Keeps an event whose group waits for its sync; false = it does not wait.
  mutating func hold(_ event: HeldEvent) -> Bool {
    // No copy of the group is at hand while its events grow: they would be copied for each.
    guard let groupID = event.event.groupID, groups[groupID]?.isHeld == true else { return false }
    let before = groups[groupID]?.heldSize ?? HeldEvent.Size()
    groups[groupID]?.keep(event, hasRoom: held.hasRoom(for: event.bytes))
    held -= before
    held += groups[groupID]?.heldSize ?? HeldEvent.Size()
    return true
  }

  /// The application is told of an event.
  mutating func note(_ event: ServerEvent) {
    guard let groupID = event.groupID else { return }
    let place = event.place
    if groups[groupID] != nil {
      groups[groupID]?.reach(place)
    } else if !place.isNone, ClientLimits.isIdentifier(groupID),
      untracked[groupID] != nil || untracked.count < ClientLimits.newGroups
    {
      untracked[groupID] = (untracked[groupID] ?? Place()).reaching(place)
    }
  }

  /// The group is in step: answers the events that came meanwhile, without those that the sync
  /// held.
  mutating func release(_ groupID: String) -> [HeldEvent] {
    held -= groups[groupID]?.heldSize ?? HeldEvent.Size()
    return groups[groupID]?.release() ?? []
  }

  /// Whether an event is news: a sync may have told of it.
  func isNews(_ event: ServerEvent) -> Bool {
    guard let groupID = event.groupID, let group = groups[groupID] else { return true }
    return !group.knows(event.place)
  }

  /// Whether events of the group were given up for want of room; then it is synchronized once more.
  mutating func retryAfterOverflow(_ groupID: String) -> Bool {
    guard groups[groupID]?.hasOverflowed == true else { return false }
    groups[groupID]?.retryAfterOverflow()
    return true
  }

  mutating func remove(_ groupID: String) {
    held -= groups[groupID]?.heldSize ?? HeldEvent.Size()
    groups[groupID] = nil
    rereads[groupID] = nil
  }

  // MARK: Sessions

  mutating func didResume() {
    isInStep = true
    joined = []
  }

  mutating func endSession() {
    if isInStep { toldUntil = serverTime }
    isInStep = false
    enteredBefore.formUnion(entered.keys.sorted().prefix(max(0, ClientLimits.newGroups - enteredBefore.count)))
    entered = [:]
    untracked = [:]
    rereads = [:]
    held = HeldEvent.Size()
    for groupID in groups.keys { groups[groupID]?.endSession() }
    hold()
  }

  /// Events of all groups wait for a resume.
  mutating func hold() {
    for groupID in groups.keys { groups[groupID]?.hold() }
  }
}
