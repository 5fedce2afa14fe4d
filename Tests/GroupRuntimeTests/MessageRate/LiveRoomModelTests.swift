import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Random arrivals of messages and members in a room that is woken in time: `GroupState` and
/// `LiveRoomModel` log the same events at the same instants.
@Suite struct LiveRoomModelTests {
  private static let memberCount = 120

  /// Times between arrivals, in milliseconds: of a busy, a mixed and a quiet room.
  private static let gaps: [[Int64]] = [
    [0, 0, 0, 0, 0, 1, 3, 10], [0, 0, 1, 5, 20, 100, 250, 700], [0, 1, 200, 999, 1000, 1001, 2000, 2500],
  ]

  @Test(arguments: 0..<20 as Range<UInt64>) func stateAndModelAgree(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let limit = [1, 2, 3, 7, 40].randomElement(using: &random)!
    let gaps = LiveRoomModelTests.gaps.randomElement(using: &random)!
    let start: WallInstant = 1_700_000_000_000
    var room = LiveRoomScene(limit: limit, memberCount: LiveRoomModelTests.memberCount, at: start)
    var model = LiveRoomModel(limit: limit, memberCount: LiveRoomModelTests.memberCount, at: start)
    var (newest, oldest) = (LiveRoomModelTests.memberCount, 4)
    for number in 0..<250 {
      let next = room.now + gaps.randomElement(using: &random)!
      room.pass(until: next)
      model.pass(until: next)
      let (kind, priority) = (Int.random(in: 0..<10, using: &random), Priority.allCases.randomElement(using: &random)!)
      switch kind {
      case 0, 1:
        try room.join(newest)
        model.join("u\(newest)")
        newest += 1
      // The user has joined long ago, and so is not in two notices at once.
      case 2 where oldest < LiveRoomModelTests.memberCount:
        room.leave(oldest)
        model.leave("u\(oldest)")
        oldest += 1
      default:
        room.send(number, priority)
        model.send(number, priority)
      }
      #expect((room.state.nextWake != nil) == model.isWaiting, "seed \(seed), step \(number), limit \(limit)")
      guard agree(&room, &model, "seed \(seed), step \(number), limit \(limit)") else { return }
    }
    room.pass(until: room.now + 5000)
    model.pass(until: model.now + 5000)
    _ = agree(&room, &model, "seed \(seed), at the end")
    #expect(room.state.nextWake == nil && !model.isWaiting)
    for priority in Priority.allCases { expectBalance(of: room.counts.filter { $0.priority == priority }) }
  }

  private func agree(_ room: inout LiveRoomScene, _ model: inout LiveRoomModel, _ what: String) -> Bool {
    let (happened, should) = (room.takeLog(), model.takeLog())
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
