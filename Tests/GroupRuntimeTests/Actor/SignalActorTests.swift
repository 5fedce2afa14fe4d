import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WireProtocol

/// Signals of a group at work: they wait for nothing that the store has to do.
@Suite struct SignalActorTests {
  private let typing = #"{"name":"typing"}"#

  private func publicGroup() async throws -> ActorScene {
    let scene = ActorScene()
    try await scene.makeGroup()
    return scene
  }

  @Test func aCommitInFlightDoesNotHoldASignal() async throws {
    let scene = try await publicGroup()
    scene.store.hold()
    let message = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    let info = try scene.begin("info", by: "mary")
    let signal = try scene.begin("sendGroupSignal", typing, by: "mary")
    scene.settle()
    #expect(signal.isAnswered && !message.isAnswered && !info.isAnswered)
    for name in ["olga", "adam"] { #expect(scene.events(name) == ["onGroupSignal"], "\(name)") }
    #expect(scene.events("mary") == [] && scene.events("oscar") == [])
    scene.store.release()
    #expect(try await signal.answer() == ActorScene.Answer(.empty))
    #expect(try await message.answer().result["seq"] == 1)
    #expect(try await info.answer().code == 0)
    #expect(scene.events("olga") == ["onRecvNewMessage"])
    #expect(message.count == 1 && signal.count == 1)
  }

  @Test func aRefusedOneIsAnsweredBehindWhatWasDecidedBefore() async throws {
    let scene = try await publicGroup()
    scene.store.hold()
    let joined = try scene.begin("joinGroup", by: "oscar")
    let muted = try scene.begin("muteGroupMember", #"{"userID":"mary","muteTime":60}"#, by: "olga")
    let signal = try scene.begin("sendGroupSignal", typing, by: "mary")
    scene.settle()
    #expect(!signal.isAnswered, "the mute may still fail")
    scene.store.release()
    #expect(try await joined.answer().code == 0)
    #expect(try await muted.answer().code == 0)
    #expect(try await signal.answer().code == 10017)
    #expect(!scene.events("olga").contains("onGroupSignal"))
  }

  @Test func aFailedCommitTakesNoSignalBack() async throws {
    let scene = try await publicGroup()
    scene.store.hold()
    let message = try scene.begin("sendGroupTextMessage", #"{"text":"lost"}"#, by: "mary")
    let signal = try scene.begin("sendGroupSignal", typing, by: "mary")
    scene.settle()
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    scene.store.release()
    #expect(try await signal.answer().code == 0)
    #expect(try await message.answer().code == 10002)
    #expect(scene.events("olga") == ["onGroupSignal"])
    // A disk that is full is no reason not to say that one is typing.
    #expect(try await scene.ask("sendGroupSignal", typing, by: "mary").code == 0)
    #expect(scene.events("olga") == ["onGroupSignal"])
  }

  @Test func signalsThatWaitLeaveByThemselves() async throws {
    let scene = try await publicGroup()
    for number in 0..<102 {
      #expect(try await scene.ask("sendGroupSignal", #"{"name":"n\#(number % 101)"}"#, by: "administrator").code == 0)
    }
    #expect(scene.events("olga").count == 100)
    scene.advance(by: 999)
    #expect(scene.events("olga") == [])
    // The 101st waits; the 102nd has the name of the first, which is another one.
    scene.advance(by: 1)
    #expect(try scene.params("onGroupSignal", to: "olga").map { $0["name"] } == ["n100", "n0"])
    let counts = scene.observer.signals
    #expect(counts.reduce(0) { $0 + Int($1.delivered) } == 102 && counts.allSatisfy { $0.dropped == 0 && $0.merged == 0 })
  }

  @Test func signalsThatWaitAreHeldByNoCommit() async throws {
    let scene = try await publicGroup()
    for number in 0..<101 { try await scene.ask("sendGroupSignal", #"{"name":"n\#(number)"}"#, by: "administrator") }
    _ = scene.events("olga")
    scene.store.hold()
    let message = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    scene.settle()
    scene.advance(by: 1000)
    #expect(scene.events("olga") == ["onGroupSignal"] && !message.isAnswered)
    scene.store.release()
    #expect(try await message.answer().code == 0)
  }

  @Test func refusedSignalsAreCounted() async throws {
    let scene = try await publicGroup()
    #expect(try await scene.ask("sendGroupSignal", typing, by: "oscar").code == 10007)
    #expect(scene.observer.signals.map(\.refused) == [1])
    #expect(try await scene.ask("sendGroupSignal", typing, by: "nobody").code == 10007)
    #expect(scene.observer.signals.map(\.refused) == [1, 1])
  }

  @Test func aSignalLoadsAGroupThatIsNotInMemory() async throws {
    let scene = try await publicGroup()
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    #expect(try await scene.ask("sendGroupSignal", typing, by: "mary").code == 0)
    #expect(scene.events("olga") == ["onGroupSignal"])
    #expect(try await scene.ask("sendGroupSignal", typing, by: "mary", of: "h").code == 10010)
  }
}
