import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// The memory of all live rooms, against a plain list of everything that is remembered.
@Suite struct RecentRoomsTests {
  private static func at(_ milliseconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: milliseconds * 1_000_000) }

  private static func bounds(
    messages: Int = 1000, bytes: Int = 1 << 30, bytesOfRoom: Int = 1 << 20, milliseconds: Int64? = nil, emptyRooms: Int = 10_000
  ) -> RecentRooms.Bounds {
    RecentRooms.Bounds(
      messages: messages, bytesOfRoom: bytesOfRoom, bytes: bytes, milliseconds: milliseconds, emptyRooms: emptyRooms)
  }

  private func seqs(_ rooms: RecentRooms, _ number: RecentRooms.Number, at now: MonotonicInstant = at(0)) -> [Int64] {
    rooms[number]?.newer(than: 0, count: .max, since: rooms.since(now)).messages.map(\.seq) ?? []
  }

  private struct Remembered {
    let room: Int
    let message: RecentMessage
    let time: Int64
  }

  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func whatIsRememberedAgreesWithAPlainList(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let bounds = Self.bounds(
      messages: Int.random(in: 1...6, using: &random), bytes: Int.random(in: 400...6000, using: &random),
      bytesOfRoom: Int.random(in: 400...4000, using: &random),
      milliseconds: Bool.random(using: &random) ? Int64.random(in: 1...40, using: &random) : nil)
    var rooms = RecentRooms(bounds)
    let groups: [GroupID] = ["a", "b", "c"]
    var numbers = groups.map { rooms.open($0, epoch: "\($0) 1") }
    var list: [Remembered] = []
    var last = [0, 0, 0] as [Int64]
    var now: Int64 = 0
    for step in 1...200 {
      now += Int64.random(in: 0...5, using: &random)
      let room = Int.random(in: 0..<3, using: &random)
      if step.isMultiple(of: 50) {
        // The room begins anew.
        rooms.remove(groups[room])
        numbers[room] = rooms.open(groups[room], epoch: "\(step)")
        list.removeAll { $0.room == room }
        last[room] = 0
      }
      last[room] += 1
      let text = String(repeating: "x", count: Int.random(in: 0...300, using: &random))
      let message = try recentMessage(last[room], text)
      rooms.append(message, to: numbers[room], at: Self.at(now))
      list.append(Remembered(room: room, message: message, time: now))
      func drop(_ isOf: (Remembered) -> Bool) { if let index = list.firstIndex(where: isOf) { list.remove(at: index) } }
      func bytes(_ isOf: (Remembered) -> Bool) -> Int { list.filter(isOf).reduce(0) { $0 + $1.message.byteCount } }
      while list.count(where: { $0.room == room }) > bounds.messages { drop { $0.room == room } }
      while bytes({ $0.room == room }) > bounds.bytesOfRoom { drop { $0.room == room } }
      if let age = bounds.milliseconds { list.removeAll { $0.time <= now - age } }
      while bytes({ _ in true }) > bounds.bytes { drop { _ in true } }
      for (index, number) in numbers.enumerated() {
        #expect(seqs(rooms, number, at: Self.at(now)) == list.filter { $0.room == index }.map(\.message.seq), "step \(step)")
        #expect(rooms[number]?.lastSeq == last[index])
      }
      #expect(rooms.byteCount == bytes { _ in true } && rooms.messageCount == list.count, "step \(step)")
    }
  }

  /// A recall shrinks a message, and the sum with it.
  @Test func bytesFollowRecalls() throws {
    var rooms = RecentRooms(Self.bounds())
    let number = rooms.open("a", epoch: "e")
    rooms.append(try recentMessage(1, "a long text"), to: number, at: Self.at(1))
    rooms.recall(1, changeSeq: 1, in: number)
    #expect(rooms.byteCount == rooms[number]?.byteCount)
    rooms.recall(9, changeSeq: 2, in: number)
    #expect(rooms[number]?.changeSeq == 2 && rooms.byteCount == rooms[number]?.byteCount)
    rooms.remove("a")
    #expect(rooms.byteCount == 0 && rooms.messageCount == 0 && rooms[number] == nil)
    rooms.append(try recentMessage(2), to: number, at: Self.at(2))
    #expect(rooms.messageCount == 0, "its number is nobody's any more")
  }

  @Test func aRoomKeepsItsEpochWhileItIsOutOfMemory() throws {
    var rooms = RecentRooms(Self.bounds())
    let number = rooms.open("a", epoch: "first")
    rooms.append(try recentMessage(1), to: number, at: Self.at(1))
    rooms.close(number)
    #expect(rooms.open("a", epoch: "second") == number && rooms[number]?.epoch == "first" && seqs(rooms, number) == [1])
    rooms.remove("a")
    let other = rooms.open("a", epoch: "second")
    #expect(other != number && rooms[other]?.epoch == "second" && rooms[other]?.lastSeq == 0)
  }

  /// Another node decides for their groups, in memory or not.
  @Test func roomsOfOtherNodesAreForgotten() throws {
    var rooms = RecentRooms(Self.bounds())
    let numbers = (["a", "b", "c"] as [GroupID]).map { rooms.open($0, epoch: "e") }
    for number in numbers { rooms.append(try recentMessage(1), to: number, at: Self.at(1)) }
    rooms.close(numbers[0])
    rooms.removeAll { $0 != "c" }
    #expect(rooms[numbers[0]] == nil && rooms[numbers[1]] == nil && seqs(rooms, numbers[2]) == [1])
    #expect(rooms.roomCount == 1 && rooms.messageCount == 1 && rooms.byteCount == rooms[numbers[2]]?.byteCount)
    let next = rooms.open("a", epoch: "new")
    #expect(rooms[next]?.epoch == "new")
  }

  /// A quiet room at the front must not let the places of busy ones grow without end.
  @Test func placesOfMessagesThatAreGoneAreDropped() throws {
    var rooms = RecentRooms(Self.bounds(messages: 2))
    let (quiet, busy) = (rooms.open("quiet", epoch: "q"), rooms.open("busy", epoch: "b"))
    rooms.append(try recentMessage(1), to: quiet, at: Self.at(0))
    for seq in 1...5000 as ClosedRange<Int64> { rooms.append(try recentMessage(seq), to: busy, at: Self.at(seq)) }
    #expect(rooms.messageCount == 3 && rooms.placeCount <= 1100)
    #expect(seqs(rooms, quiet) == [1] && seqs(rooms, busy) == [4999, 5000])
  }

  /// What is too old is not read any more, and goes with the messages behind it.
  @Test func ofVeryManyOldMessagesSomeGoWithEachNewOne() throws {
    var rooms = RecentRooms(Self.bounds(messages: 5000, bytesOfRoom: 1 << 30, milliseconds: 100))
    let number = rooms.open("a", epoch: "e")
    for seq in 1...1000 as ClosedRange<Int64> { rooms.append(try recentMessage(seq), to: number, at: Self.at(1)) }
    for seq in 1001...1020 as ClosedRange<Int64> {
      rooms.append(try recentMessage(seq), to: number, at: Self.at(200))
      #expect(seqs(rooms, number, at: Self.at(200)) == Array(1001...seq))
      let left = 1000 - RecentRooms.removedAtOnce * Int(seq - 1000)
      #expect(rooms.messageCount == max(0, left) + Int(seq - 1000))
      #expect(rooms.byteCount == rooms[number]?.byteCount)
    }
    #expect(rooms.placeCount == 20)
  }

  @Test func ofEmptyRoomsABoundedNumberKeepsItsEpoch() throws {
    var rooms = RecentRooms(Self.bounds(emptyRooms: 10))
    let kept = rooms.open("kept", epoch: "k")
    rooms.append(try recentMessage(1), to: kept, at: Self.at(1))
    let inUse = rooms.open("in-use", epoch: "u")
    rooms.close(kept)
    for number in 1...100 {
      let room = rooms.open(GroupID(stringLiteral: "r\(number)"), epoch: "e")
      rooms.close(room)
    }
    #expect(rooms.roomCount <= 12)
    #expect(rooms[kept]?.epoch == "k" && rooms[inUse]?.epoch == "u", "one has a message, one is in use")
    let latest = rooms.open("r100", epoch: "new")
    #expect(rooms[latest]?.epoch == "e", "the room that was used last is kept")
  }
}
