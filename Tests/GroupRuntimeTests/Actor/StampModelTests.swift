import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Random work with a store that is slow and fails: the members never know more than the store, what
/// they know never goes back, and when all is quiet both are the same.
@Suite(.timeLimit(.minutes(10))) struct StampModelTests {
  private static let names = ["olga", "adam", "mary", "oscar"]

  private struct Work {
    let scene: ActorScene
    var random: SeededGenerator
    var pending: [Pending] = []

    private mutating func pick<Value>(_ values: [Value]) -> Value { values.randomElement(using: &random)! }

    mutating func step() throws {
      let (name, number) = (pick(StampModelTests.names), Int.random(in: 1...9, using: &random))
      switch Int.random(in: 0..<16, using: &random) {
      case 0...2: try begin("sendGroupTextMessage", #"{"text":"\#(number)"}"#, by: name)
      case 3: try begin("addMessageReaction", #"{"seq":\#(number),"reaction":"r\#(number % 3)"}"#, by: name)
      case 4: try begin("modifyGroupMessage", #"{"seq":\#(number),"text":"\#(number)"}"#, by: name)
      case 5: try begin("revokeGroupMessage", #"{"seq":\#(number)}"#, by: name)
      case 6: try begin("setGroupAttributes", #"{"attributes":{"k":"\#(number)"}}"#, by: name)
      case 7: try begin("setGroupCounters", #"{"counters":{"n":\#(number)}}"#, by: "olga")
      case 8: try begin(pick(["joinGroup", "quitGroup"]), by: "oscar")
      case 9: try begin("setGroupInfo", #"{"groupName":"n\#(number)"}"#, by: "olga")
      case 10: try begin("markGroupMessageAsRead", by: name)
      case 11: scene.store.hold()
      case 12: scene.store.release()
      case 13: scene.store.fail(with: pick([nil, nil, StoreError(.unavailable, "disk full")]))
      case 14: scene.registry.retireGroups(unusedFor: .zero)
      default: scene.advance(by: pick([20, 60, 250, 1100]))
      }
    }

    private mutating func begin(_ method: String, _ params: String = "{}", by name: String) throws {
      pending.append(try scene.begin(method, params, by: name))
    }
  }

  /// What the members were told, in its order, over all topics.
  private func told(_ scene: ActorScene) -> [GroupStamp] {
    scene.broker.topics(of: "g").flatMap { $0.stamps.compactMap { $0 } }
  }

  private func expectBounds(_ scene: ActorScene, seed: UInt64, step: Int) throws {
    // Told first: the store goes on meanwhile.
    let last = told(scene).last
    let stored = try #require(scene.store.stamp(of: "g"))
    if let last { #expect(!last.exceeds(stored), "seed \(seed), step \(step): \(last), \(stored)") }
  }

  @Test(arguments: 1...24 as ClosedRange<UInt64>) func membersNeverKnowMoreThanTheStore(seed: UInt64) async throws {
    let scene = ActorScene(permissions: GroupPermissions(attributeTypes: [.public]), keepsStamps: true)
    try await scene.makeGroup()
    var work = Work(scene: scene, random: SeededGenerator(seed: seed))
    for step in 1...80 {
      try work.step()
      scene.settle()
      try expectBounds(scene, seed: seed, step: step)
    }
    scene.store.fail(with: nil)
    scene.store.release()
    let pending = work.pending
    try await scene.wait {
      scene.advance(by: 250)
      return pending.allSatisfy(\.isAnswered)
    }
    // A group that was not in memory has nothing to tell before it is loaded.
    #expect(try await scene.ask("sendGroupTextMessage", #"{"text":"last"}"#, by: "olga").code == 0)
    try await scene.wait {
      scene.advance(by: 250)
      return told(scene).last == scene.store.stamp(of: "g")
    }
    let all = told(scene)
    for (earlier, later) in zip(all, all.dropFirst()) {
      #expect(!earlier.exceeds(later), "seed \(seed): \(earlier), \(later)")
    }
  }
}

extension GroupStamp {
  /// Whether it has something that the other has not.
  func exceeds(_ other: GroupStamp) -> Bool {
    switch order(to: other) {
    case .same, .behind: false
    case .ahead, .apart: true
    }
  }
}
