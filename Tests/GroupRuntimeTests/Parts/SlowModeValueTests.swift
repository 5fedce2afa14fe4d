import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// The times of slow mode: "messages are at least that far apart per user".
@Suite struct SlowModeValueTests {
  @Test func aUserWaitsForTheRestOfTheTime() {
    var slow = SlowMode()
    #expect(slow.wait("mary", seconds: 5, at: 1000) == nil)
    slow.note("mary", seconds: 5, at: 1000)
    #expect(slow.wait("mary", seconds: 5, at: 1000) == 5000)
    #expect(slow.wait("mary", seconds: 5, at: 5999) == 1)
    #expect(slow.wait("mary", seconds: 5, at: 6000) == nil)
    #expect(slow.wait("carl", seconds: 5, at: 1000) == nil, "each for itself")
  }

  @Test func anotherChoiceCountsAtOnce() {
    var slow = SlowMode()
    slow.note("mary", seconds: 60, at: 0)
    #expect(slow.wait("mary", seconds: 5, at: 5000) == nil)
    #expect(slow.wait("mary", seconds: 86_400, at: 5000) == 86_395_000)
  }

  @Test func whoMayWriteAgainIsForgotten() {
    var slow = SlowMode()
    for number in 0..<100 {
      slow.note(UserID(stringLiteral: "u\(number)"), seconds: 1, at: MonotonicInstant(milliseconds: number))
    }
    #expect(slow.count == 100)
    slow.note("mary", seconds: 1, at: 1050)
    #expect(slow.count == 50, "u51 to u99, and mary")
    let end = slow.removeExpired(seconds: 1, at: 1098)
    #expect(slow.count == 2 && end == 2050)
    let none = slow.removeExpired(seconds: 1, at: 2050)
    #expect(slow.count == 0 && none == nil)
  }

  @Test func moreThanAHundredThousandAreNotRemembered() {
    var slow = SlowMode()
    for number in 0...SlowMode.maxUsers { slow.note(UserID(stringLiteral: "u\(number)"), seconds: 86_400, at: 0) }
    #expect(slow.count == SlowMode.maxUsers)
    #expect(slow.wait("u0", seconds: 86_400, at: 1) == nil, "the oldest goes")
    for number in [1, SlowMode.maxUsers] {
      #expect(slow.wait(UserID(stringLiteral: "u\(number)"), seconds: 86_400, at: 0) == 86_400_000)
    }
  }

  @Test func usersWhoseMessageWasNeverSentAreFree() {
    var slow = SlowMode()
    for name in ["mary", "carl", "olga"] as [UserID] { slow.note(name, seconds: 60, at: 0) }
    slow.remove(["mary", "nobody"])
    slow.remove([])
    #expect(slow.count == 2)
    #expect(slow.wait("mary", seconds: 60, at: 0) == nil)
    #expect(slow.wait("carl", seconds: 60, at: 0) == 60_000)
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func anyTwoMessagesAreFarEnoughApart(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var slow = SlowMode()
    var last: [UserID: MonotonicInstant] = [:]
    var now: MonotonicInstant = 0
    let seconds = Int64.random(in: 1...4, using: &random)
    for step in 0..<400 {
      now += Int64.random(in: 0...900, using: &random)
      let user = UserID(stringLiteral: "u\(Int.random(in: 0..<4, using: &random))")
      let rest = last[user].map { seconds * 1000 - now.milliseconds(since: $0) } ?? 0
      #expect(slow.wait(user, seconds: seconds, at: now) == (rest > 0 ? rest : nil), "seed \(seed), step \(step)")
      if rest > 0 { continue }
      slow.note(user, seconds: seconds, at: now)
      last[user] = now
      #expect(slow.count <= last.count)
    }
  }
}

/// What groups that left memory know of slow mode.
@Suite struct SlowModeMemoryTests {
  private func slow(_ users: [UserID], at now: MonotonicInstant = 0) -> SlowMode {
    var slow = SlowMode()
    for user in users { slow.note(user, seconds: 60, at: now) }
    return slow
  }

  @Test func itIsThereWhenTheGroupComesBackAndOnlyOnce() {
    let memory = SlowModeMemory()
    memory.keep(slow(["mary"], at: 500), of: "g", seconds: 60, at: 1000)
    #expect(memory.pop("h") == nil)
    #expect(memory.pop("g")?.wait("mary", seconds: 60, at: 1000) == 59_500)
    #expect(memory.pop("g") == nil && memory.count == 0)
  }

  @Test func nothingIsKeptWhereNobodyWaits() {
    let memory = SlowModeMemory()
    memory.keep(slow(["mary"]), of: "g", seconds: 60, at: 60_000)
    memory.keep(SlowMode(), of: "h", seconds: 60, at: 0)
    memory.keep(slow(["mary"]), of: "i", seconds: 0, at: 0)
    #expect(memory.count == 0)
  }

  @Test func groupsWhereNobodyWaitsAnyMoreAreForgotten() {
    let memory = SlowModeMemory()
    for name in ["a", "b", "c"] as [GroupID] { memory.keep(slow(["mary"]), of: name, seconds: 60, at: 0) }
    #expect(memory.count == 3)
    memory.keep(slow(["mary"], at: 60_000), of: "d", seconds: 60, at: 60_000)
    #expect(memory.count == 1 && memory.pop("d") != nil)
  }

  @Test func beyondItsBoundTheGroupThatLeftFirstIsForgotten() {
    let memory = SlowModeMemory()
    let half = slow((0..<SlowModeMemory.maxUsers / 2).map { UserID(stringLiteral: "u\($0)") })
    for name in ["a", "b"] as [GroupID] { memory.keep(half, of: name, seconds: 60, at: 1) }
    #expect(memory.count == 2)
    memory.keep(slow(["mary"]), of: "c", seconds: 60, at: 2)
    #expect(memory.count == 2 && memory.pop("a") == nil)
    #expect(memory.pop("b")?.count == SlowModeMemory.maxUsers / 2 && memory.pop("c")?.count == 1)
  }

  @Test func groupsThatComeAndGoTakeNoMoreThanTheirPlace() {
    let memory = SlowModeMemory()
    memory.keep(slow(["olga"]), of: "first", seconds: 86_400, at: 0)
    for number in 0..<1000 {
      let group = GroupID(stringLiteral: "g\(number % 7)")
      memory.keep(slow(["mary"]), of: group, seconds: 60, at: MonotonicInstant(milliseconds: number))
      if number % 3 == 0 { #expect(memory.pop(group)?.count == 1) }
    }
    #expect(memory.count <= 8)
    memory.removeAll { $0 != "first" }
    #expect(memory.count == 1 && memory.pop("first")?.wait("olga", seconds: 86_400, at: 0) == 86_400_000)
  }
}
