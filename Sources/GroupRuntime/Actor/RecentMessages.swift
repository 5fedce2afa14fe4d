import GroupModel
import Synchronization

/// What the live rooms of this process remember: `RecentRooms` behind a lock. It outlives the actors
/// of idle rooms, and states that a failed commit discards.
public final class RecentMessages: Sendable {
  private let rooms: Mutex<RecentRooms>

  /// An empty memory.
  /// - Parameters:
  ///   - messages: the most in each room; above 0.
  ///   - bytes: the most in all rooms, about; one room has 1 MiB.
  ///   - duration: for how long; nil = without end.
  public init(messages: Int, bytes: Int, duration: Duration?) {
    precondition(messages > 0, "a memory for no messages")
    rooms = Mutex(
      RecentRooms(RecentRooms.Bounds(messages: messages, bytes: bytes, milliseconds: duration?.wholeMilliseconds)))
  }

  /// How many messages there are, expired ones among them that are not freed yet.
  public var messageCount: Int { rooms.withLock { $0.messageCount } }

  /// About the memory of these messages.
  public var byteCount: Int { rooms.withLock { $0.byteCount } }

  /// Finds the room of a group that is in memory from now on, or makes one.
  /// - Parameter epoch: of a new one; nil = any.
  func open(_ group: GroupID, epoch: String? = nil) -> RecentRoom {
    rooms.withLock { rooms in
      let number = rooms.open(group, epoch: epoch ?? RandomID.with64Bits())
      return RecentRoom(in: self, number, epoch: rooms[number]?.epoch ?? "")
    }
  }

  /// Forgets the room of a group: it has ended, or another node decides for it.
  func remove(_ group: GroupID) { rooms.withLock { $0.remove(group) } }

  /// Forgets the rooms of groups that another node is to decide for, in memory or not.
  func removeAll(where isRemoved: (GroupID) -> Bool) { rooms.withLock { $0.removeAll(where: isRemoved) } }

  /// The rooms with messages of a user that are remembered and not recalled. Looks at every message.
  public func messages(of user: UserID, at now: MonotonicInstant) -> [RememberedMessages] {
    rooms.withLock { rooms in rooms.messages(of: user, since: rooms.since(now)) }
  }

  fileprivate func change<Result: Sendable>(_ body: (inout RecentRooms) -> Result) -> Result {
    rooms.withLock { body(&$0) }
  }
}

/// What a live room remembers of a user, and nobody has recalled.
public struct RememberedMessages: Sendable, Equatable {
  public let group: GroupID
  /// The place of the oldest message.
  public let oldest: Int64
  public let count: Int

  /// With everything given.
  public init(group: GroupID, oldest: Int64, count: Int) {
    self.group = group
    self.oldest = oldest
    self.count = count
  }
}

/// One live room's place in the memory, for its group. When the room is removed, it forgets all and
/// remembers nothing more.
final class RecentRoom: Sendable {
  private let memory: RecentMessages
  private let number: RecentRooms.Number
  /// Another one where the memory was lost.
  let epoch: String

  fileprivate init(in memory: RecentMessages, _ number: RecentRooms.Number, epoch: String) {
    self.memory = memory
    self.number = number
    self.epoch = epoch
  }

  /// The numbers as far as messages were handed to the fan-out; nil = the room was removed.
  var history: LiveHistory? {
    memory.change { rooms in
      rooms[number].map { LiveHistory(epoch: $0.epoch, lastSeq: $0.lastSeq, changeSeq: $0.changeSeq) }
    }
  }

  /// The group leaves memory; what is remembered stays.
  func close() { memory.change { $0.close(number) } }

  /// Remembers the next message.
  func append(_ message: consuming RecentMessage, at now: MonotonicInstant) {
    // A closure would capture a copy of the message itself.
    var moved = Optional(message)
    memory.change { rooms in
      if let message = moved.take() { rooms.append(message, to: number, at: now) }
    }
  }

  /// Takes the content of a message away.
  func recall(_ seq: Int64, changeSeq: Int64) { memory.change { $0.recall(seq, changeSeq: changeSeq, in: number) } }

  /// What is remembered for a question; nil = the room was removed.
  func answer(to question: RecentQuestion, at now: MonotonicInstant) -> RecentAnswer? {
    memory.change { rooms in rooms[number]?.answer(to: question, since: rooms.since(now)) }
  }

  /// The message that a request is about; nil = it is not remembered.
  func message(for lookUp: RecentLookUp, at now: MonotonicInstant) -> RecentMessage? {
    memory.change { rooms in rooms[number]?.message(lookUp.target, since: rooms.since(now)) }
  }
}
