import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// The trace of a request is that of the after-events which it causes, then or later (Protocol.md,
/// "Trace context").
@Suite struct TraceRuleTests {
  private let one = TraceContext.begin()
  private let two = TraceContext.begin()

  private func ask(
    _ scene: Scene, _ method: String, _ params: String, by name: String = "mary", in trace: TraceContext?
  ) throws -> Scene.Outcome {
    let caller = scene.caller(name).with(trace: trace)
    return try scene.ask(try groupRequest(method, params, by: caller), by: caller)
  }

  /// The traces of what was posted.
  private func posted(_ outcome: Scene.Outcome, _ type: WebhookType) -> [TraceContext?] {
    outcome.decision.effects.compactMap { if case .post(let entry) = $0, entry.type == type { entry } else { nil } }.map(\.trace)
  }

  private func stored(_ changes: [StoreChange]) -> [TraceContext?] {
    changes.compactMap { if case .appendWebhook(let entry) = $0 { entry } else { nil } }.map(\.trace)
  }

  @Test func whatIsStoredKeepsIt() throws {
    let rules = GroupRules(webhooks: WebhookTypes([.messageSent, .memberJoined]))
    let scene = try Scene(.public, rules: rules) { $0.joinMode = .any }
    let sent = try ask(scene, "sendGroupTextMessage", #"{"text":"x"}"#, in: one)
    #expect(posted(sent, .messageSent) == [one] && stored(sent.decision.changes) == [one])
    let joined = try ask(scene, "joinGroup", "{}", by: "oscar", in: two)
    #expect(posted(joined, .memberJoined) == [two])
    let untraced = try ask(scene, "sendGroupTextMessage", #"{"text":"y"}"#, in: nil)
    #expect(posted(untraced, .messageSent) == [nil])
  }

  /// A message that waits for a slot is delivered by a decision of nobody's.
  @Test func whatWaitsKeepsItsOwn() throws {
    var limits = GroupLimits.standard
    limits.messagesPerSecond = [.avChatRoom: 1]
    let rules = GroupRules(limits: limits, webhooks: WebhookTypes([.messageSent, .messageDropped]))
    let scene = try Scene(.avChatRoom, rules: rules)
    let text = #"{"text":"x","priority":"Low"}"#
    #expect(posted(try ask(scene, "sendGroupTextMessage", text, in: one), .messageSent) == [one])
    #expect(posted(try ask(scene, "sendGroupTextMessage", text, in: two), .messageSent).isEmpty, "it waits")
    scene.clocks.advance(by: 1000)
    #expect(posted(try scene.wake(), .messageSent) == [two])
    // One that is displaced is dropped by another's request, and is of its own trace.
    #expect(posted(try ask(scene, "sendGroupTextMessage", text, in: one), .messageSent).isEmpty)
    let high = #"{"text":"y","priority":"High"}"#
    #expect(posted(try ask(scene, "sendGroupTextMessage", high, by: "adam", in: two), .messageDropped) == [one])
  }

  @Test func countersHaveTheLastOne() throws {
    let scene = try Scene(.public, rules: GroupRules(webhooks: WebhookTypes([.countersChanged])))
    _ = try ask(scene, "setGroupCounters", #"{"counters":{"a":1}}"#, by: "olga", in: one)
    #expect(stored(try #require(scene.counterWrite).changes) == [one])
    // These share a write.
    _ = try ask(scene, "setGroupCounters", #"{"counters":{"a":2}}"#, by: "olga", in: one)
    _ = try ask(scene, "setGroupCounters", #"{"counters":{"a":3}}"#, by: "olga", in: two)
    _ = try ask(scene, "setGroupCounters", #"{"counters":{"a":4}}"#, by: "olga", in: nil)
    scene.clocks.advance(by: 100)
    _ = try scene.wake()
    #expect(stored(try #require(scene.counterWrite).changes) == [two])
  }
}
