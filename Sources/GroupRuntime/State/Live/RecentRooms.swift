import DequeModule
import GroupModel

/// What all live rooms of a process remember, within bounds: beyond them the oldest message of all
/// rooms goes first. A value without a clock, like `MessageRing`.
struct RecentRooms: Sendable {
  /// The most that is remembered.
  struct Bounds: Sendable {
    /// In each room.
    var messages: Int
    /// In each room, about the bytes of memory.
    var bytesOfRoom = 1 << 20
    /// In all rooms.
    var bytes: Int
    /// For how long; nil = without end.
    var milliseconds: Int64?
    /// How many rooms keep their epoch that have no message and are not in use.
    var emptyRooms = 10_000
  }

  /// The name of a room in this value: never used again.
  struct Number: Sendable, Equatable {
    /// Where the room is found, without a hash for each message. Another room comes there later.
    fileprivate let index: Int
    fileprivate let serial: Int
  }

  private struct Room: Sendable {
    /// Nil = the room is gone.
    let group: GroupID?
    /// That of its number.
    let serial: Int
    var ring: MessageRing
    /// The group is in memory, and counts on the numbers of the ring.
    var isOpen = true
    var lastUse: Int

    static let gone = Room(group: nil, serial: 0, ring: MessageRing(epoch: ""), isOpen: false, lastUse: 0)

    /// Whether it is there, without messages, and not in use.
    var isEmpty: Bool { group != nil && ring.count == 0 && !isOpen }

    /// Adds a message, and removes what is beyond the bounds of a room.
    /// - Returns: how much more there is then, or less.
    mutating func append(
      _ message: RecentMessage, at now: MonotonicInstant, _ bounds: Bounds
    ) -> (bytes: Int, messages: Int) {
      let (bytes, count) = (ring.byteCount, ring.count)
      ring.append(message, at: now)
      while ring.count > bounds.messages || ring.byteCount > bounds.bytesOfRoom { ring.removeOldest() }
      return (ring.byteCount - bytes, ring.count - count)
    }
  }

  private struct Place: Sendable {
    let room: Number
    let seq: Int64
    let time: MonotonicInstant
  }

  /// The most messages that are removed with a new one because of their age. All of a busy hour may be old
  /// when the first message of the next day comes, and loops wait for it.
  static let removedAtOnce = 64

  private let bounds: Bounds
  private var rooms: [Room] = []
  /// Where rooms are gone.
  private var freeIndices: [Int] = []
  private var numbers: [GroupID: Number] = [:]
  /// All messages in the order in which they came; those that are gone stay for a while.
  private var order: Deque<Place> = []
  private var lastSerial = 0
  private var lastUse = 0
  private var emptyCount = 0

  /// About the memory of all messages.
  private(set) var byteCount = 0
  /// How many messages are remembered, old ones among them that are not read any more.
  private(set) var messageCount = 0

  init(_ bounds: Bounds) { self.bounds = bounds }

  /// How many rooms have an epoch.
  var roomCount: Int { numbers.count }
  /// How many places are kept, of messages that are gone, too.
  var placeCount: Int { order.count }

  /// The instant up to which messages are not read any more.
  func since(_ now: MonotonicInstant) -> MonotonicInstant {
    bounds.milliseconds.map { now.advanced(byMilliseconds: -$0) } ?? .distantPast
  }

  // MARK: Rooms

  /// Finds the room of a group that is in memory from now on, or makes one.
  /// - Parameter epoch: of a new one.
  mutating func open(_ group: GroupID, epoch: @autoclosure () -> String) -> Number {
    lastUse += 1
    if let number = numbers[group] {
      if rooms[number.index].isEmpty { emptyCount -= 1 }
      rooms[number.index].isOpen = true
      rooms[number.index].lastUse = lastUse
      return number
    }
    lastSerial += 1
    let room = Room(group: group, serial: lastSerial, ring: MessageRing(epoch: epoch()), lastUse: lastUse)
    let number = Number(index: freeIndices.popLast() ?? rooms.count, serial: lastSerial)
    if number.index < rooms.count { rooms[number.index] = room } else { rooms.append(room) }
    numbers[group] = number
    return number
  }

  private func isThere(_ number: Number) -> Bool { rooms[number.index].serial == number.serial }

  /// The group leaves memory. What is remembered stays.
  mutating func close(_ number: Number) {
    guard isThere(number), rooms[number.index].isOpen else { return }
    rooms[number.index].isOpen = false
    noteIfEmpty(number.index)
  }

  /// Forgets the room of a group: it has ended, or another node decides for it.
  mutating func remove(_ group: GroupID) {
    guard let index = numbers.removeValue(forKey: group)?.index else { return }
    if rooms[index].isEmpty { emptyCount -= 1 }
    byteCount -= rooms[index].ring.byteCount
    messageCount -= rooms[index].ring.count
    free(index)
    dropGonePlaces()
  }

  private mutating func free(_ index: Int) {
    rooms[index] = .gone
    freeIndices.append(index)
  }

  /// Forgets the rooms of some groups.
  mutating func removeAll(where isRemoved: (GroupID) -> Bool) {
    for group in numbers.keys.filter(isRemoved) { remove(group) }
  }

  /// What a room remembers; nil = the room was removed.
  subscript(number: Number) -> MessageRing? { isThere(number) ? rooms[number.index].ring : nil }

  /// The rooms with messages of a user that are remembered and not recalled.
  func messages(of user: UserID, since: MonotonicInstant) -> [RememberedMessages] {
    rooms.compactMap { room in
      guard let group = room.group else { return nil }
      let seqs = room.ring.seqs(of: user, since: since)
      return seqs.first.map { RememberedMessages(group: group, oldest: $0, count: seqs.count) }
    }
  }

  private mutating func noteIfEmpty(_ index: Int) {
    guard rooms[index].isEmpty else { return }
    emptyCount += 1
    if emptyCount > bounds.emptyRooms { forgetEmptyRooms() }
  }

  /// Forgets the half of the empty rooms that was not used for longest.
  private mutating func forgetEmptyRooms() {
    let empty = rooms.indices.filter { rooms[$0].isEmpty }.sorted { rooms[$0].lastUse < rooms[$1].lastUse }
    for index in empty.prefix((empty.count + 1) / 2) {
      if let group = rooms[index].group { numbers[group] = nil }
      free(index)
      emptyCount -= 1
    }
  }

  // MARK: Messages

  /// Adds the next message of a room. What is beyond the bounds goes.
  mutating func append(_ message: RecentMessage, to number: Number, at now: MonotonicInstant) {
    guard isThere(number) else { return }
    // In place: a copy of a ring would have all of its messages copied with the next one.
    let more = rooms[number.index].append(message, at: now, bounds)
    byteCount += more.bytes
    messageCount += more.messages
    order.append(Place(room: number, seq: message.seq, time: now))
    removeOld(since: since(now))
    while byteCount > bounds.bytes, let place = order.popFirst() { if isThere(place) { removeOldest(of: place.room.index) } }
    dropGonePlaces()
  }

  /// Notes a recall.
  mutating func recall(_ seq: Int64, changeSeq: Int64, in number: Number) {
    guard isThere(number) else { return }
    byteCount -= rooms[number.index].ring.byteCount
    rooms[number.index].ring.recall(seq, changeSeq: changeSeq)
    byteCount += rooms[number.index].ring.byteCount
  }

  private func isThere(_ place: Place) -> Bool {
    isThere(place.room) && rooms[place.room.index].ring.firstSeq <= place.seq
  }

  /// Removes the oldest message of the room at an index, which has one.
  private mutating func removeOldest(of index: Int) {
    byteCount -= rooms[index].ring.byteCount
    rooms[index].ring.removeOldest()
    byteCount += rooms[index].ring.byteCount
    messageCount -= 1
    noteIfEmpty(index)
  }

  /// Removes some of the messages from before an instant, which are not read any more, and the first places of
  /// those that are gone.
  private mutating func removeOld(since: MonotonicInstant) {
    var count = 0
    while count < RecentRooms.removedAtOnce, let place = order.first {
      if isThere(place) {
        guard place.time <= since else { return }
        removeOldest(of: place.room.index)
      }
      order.removeFirst()
      count += 1
    }
  }

  /// Each message adds a place, and a quiet room's first message holds up those behind it.
  private mutating func dropGonePlaces() {
    guard order.count > 2 * messageCount + 1024 else { return }
    order = order.filter { isThere($0) }
  }
}
