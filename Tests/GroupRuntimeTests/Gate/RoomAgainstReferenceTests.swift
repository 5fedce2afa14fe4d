import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Random arrivals of messages and members in a room that is woken in time: everything happens at the instant and in the order in which
/// the rules of contract section 6 say it does.
@Suite struct RoomAgainstReferenceTests {
  private static let memberCount = 120

  /// What may happen between two arrivals, in milliseconds; a room is busy, mixed, or quiet.
  private static let gaps: [[Instant]] = [
    [0, 0, 0, 0, 0, 1, 3, 10], [0, 0, 1, 5, 20, 100, 250, 700], [0, 1, 200, 999, 1000, 1001, 2000, 2500],
  ]

  @Test(arguments: 0..<60 as Range<UInt64>) func whatTheRulesSayHappens(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let limit = [1, 2, 3, 7, 40].randomElement(using: &random)!
    let gaps = RoomAgainstReferenceTests.gaps.randomElement(using: &random)!
    let start: Instant = 1_700_000_000_000
    var room = RoomScene(limit: limit, memberCount: RoomAgainstReferenceTests.memberCount, at: start)
    var reference = ReferenceRoom(limit: limit, memberCount: RoomAgainstReferenceTests.memberCount, at: start)
    var (newest, oldest) = (RoomAgainstReferenceTests.memberCount, 4)
    for number in 0..<250 {
      let next = room.now + gaps.randomElement(using: &random)!
      room.pass(until: next)
      reference.pass(until: next)
      let (kind, priority) = (Int.random(in: 0..<10, using: &random), Priority.allCases.randomElement(using: &random)!)
      switch kind {
      case 0, 1:
        try room.join(newest)
        reference.join("u\(newest)")
        newest += 1
      // Who leaves had come long ago: nobody is in two notices at once.
      case 2 where oldest < RoomAgainstReferenceTests.memberCount:
        room.leave(oldest)
        reference.leave("u\(oldest)")
        oldest += 1
      default:
        room.send(number, priority)
        reference.send(number, priority)
      }
      #expect((room.state.nextWake != nil) == reference.isWaiting, "seed \(seed), step \(number), limit \(limit)")
      guard agree(&room, &reference, "seed \(seed), step \(number), limit \(limit)") else { return }
    }
    room.pass(until: room.now + 5000)
    reference.pass(until: reference.now + 5000)
    _ = agree(&room, &reference, "seed \(seed), at the end")
    #expect(room.state.nextWake == nil && !reference.isWaiting)
    for priority in Priority.allCases { expectBalance(of: room.counts.filter { $0.priority == priority }) }
  }

  private func agree(_ room: inout RoomScene, _ reference: inout ReferenceRoom, _ what: String) -> Bool {
    let (happened, should) = (room.takeLog(), reference.takeLog())
    #expect(happened == should && room.faults.isEmpty, "\(what): \(room.faults)")
    return happened == should && room.faults.isEmpty
  }

  /// "Accepted = delivered + dropped once the queue is empty."
  private func expectBalance(of counts: [MessageCount]) {
    func number(_ step: MessageCount.Steps) -> Int { counts.count { $0.steps.contains(step) } }
    #expect(number(.accepted) == number(.delivered) + number(.dropped))
    #expect(!counts.contains { $0.steps.isSuperset(of: [.delivered, .dropped]) })
  }
}
