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
  typealias Number = Int

  private struct Room: Sendable {
    let group: GroupID
    var ring: MessageRing
    /// The group is in memory, and counts on the numbers of the ring.
    var isOpen = true
    var lastUse: Int

    var isEmpty: Bool { ring.count == 0 && !isOpen }

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
  }

  private let bounds: Bounds
  private var rooms: [Number: Room] = [:]
  private var numbers: [GroupID: Number] = [:]
  /// All messages in the order in which they came; those that are gone stay for a while.
  private var order: Deque<Place> = []
  private var lastNumber = 0
  private var lastUse = 0
  private var emptyCount = 0

  /// About the memory of all messages.
  private(set) var byteCount = 0
  /// How many messages are remembered, old ones among them that are not read any more.
  private(set) var messageCount = 0

  init(_ bounds: Bounds) { self.bounds = bounds }

  /// How many rooms have an epoch.
  var roomCount: Int { rooms.count }
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
    if let number = numbers[group], let room = rooms[number] {
      if room.isEmpty { emptyCount -= 1 }
      rooms[number]?.isOpen = true
      rooms[number]?.lastUse = lastUse
      return number
    }
    lastNumber += 1
    numbers[group] = lastNumber
    rooms[lastNumber] = Room(group: group, ring: MessageRing(epoch: epoch()), lastUse: lastUse)
    return lastNumber
  }

  /// The group leaves memory. What is remembered stays.
  mutating func close(_ number: Number) {
    guard rooms[number]?.isOpen == true else { return }
    rooms[number]?.isOpen = false
    noteIfEmpty(number)
  }

  /// Forgets the room of a group: it has ended, or another node decides for it.
  mutating func remove(_ group: GroupID) {
    guard let number = numbers.removeValue(forKey: group), let room = rooms.removeValue(forKey: number) else { return }
    if room.isEmpty { emptyCount -= 1 }
    byteCount -= room.ring.byteCount
    messageCount -= room.ring.count
    dropGonePlaces()
  }

  /// Forgets the rooms of some groups.
  mutating func removeAll(where isRemoved: (GroupID) -> Bool) {
    for group in numbers.keys.filter(isRemoved) { remove(group) }
  }

  /// What a room remembers; nil = the room was removed.
  subscript(number: Number) -> MessageRing? { rooms[number]?.ring }

  private mutating func noteIfEmpty(_ number: Number) {
    guard rooms[number]?.isEmpty == true else { return }
    emptyCount += 1
    if emptyCount > bounds.emptyRooms { forgetEmptyRooms() }
  }

  /// Forgets the half of the empty rooms that was not used for longest.
  private mutating func forgetEmptyRooms() {
    let empty = rooms.filter(\.value.isEmpty).sorted { $0.value.lastUse < $1.value.lastUse }
    for (number, room) in empty.prefix((empty.count + 1) / 2) {
      rooms[number] = nil
      numbers[room.group] = nil
      emptyCount -= 1
    }
  }

  // MARK: Messages

  /// Adds the next message of a room. What is beyond the bounds goes.
  mutating func append(_ message: RecentMessage, to number: Number, at now: MonotonicInstant) {
    // In place: a copy of a ring would have all of its messages copied with the next one.
    guard let more = rooms[number]?.append(message, at: now, bounds) else { return }
    byteCount += more.bytes
    messageCount += more.messages
    order.append(Place(room: number, seq: message.seq))
    removeOld(since: since(now))
    while byteCount > bounds.bytes, let place = order.popFirst() { if isThere(place) { removeOldest(of: place.room) } }
    dropGonePlaces()
  }

  /// Notes a recall.
  mutating func recall(_ seq: Int64, changeSeq: Int64, in number: Number) {
    guard let before = rooms[number]?.ring.byteCount else { return }
    rooms[number]?.ring.recall(seq, changeSeq: changeSeq)
    byteCount += (rooms[number]?.ring.byteCount ?? before) - before
  }

  private func isThere(_ place: Place) -> Bool { rooms[place.room].map { $0.ring.firstSeq <= place.seq } ?? false }

  private mutating func removeOldest(of number: Number) {
    guard let before = rooms[number]?.ring.byteCount else { return }
    rooms[number]?.ring.removeOldest()
    byteCount -= before - (rooms[number]?.ring.byteCount ?? before)
    messageCount -= 1
    noteIfEmpty(number)
  }

  private mutating func removeOld(since: MonotonicInstant) {
    while let place = order.first {
      if isThere(place) {
        guard let time = rooms[place.room]?.ring.firstTime, time <= since else { return }
        removeOldest(of: place.room)
      }
      order.removeFirst()
    }
  }

  /// Each message adds a place, and a quiet room's first message holds up those behind it.
  private mutating func dropGonePlaces() {
    guard order.count > 2 * messageCount + 1024 else { return }
    let rooms = rooms
    order.removeAll { place in rooms[place.room].map { $0.ring.firstSeq > place.seq } ?? true }
  }
}
