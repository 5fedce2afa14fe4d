import Testing

@testable import ThrongClient

/// Events that wait for a reader.
@Suite struct EventBufferTests {
  private func event(_ groupID: String) -> ClientEvent { .sync(GroupSync(groupID: groupID, recovered: true)) }

  private func drain(_ buffer: inout EventBuffer) -> [String] {
    var told: [String] = []
    while let event = buffer.next() {
      if case .lost(let lost) = event { told.append("lost \(lost.count) \(lost.groupIDs.sorted())") }
      if let groupID = event.groupID { told.append(groupID) }
    }
    return told
  }

  @Test func eventsComeInTheirOrder() {
    var buffer = EventBuffer(limit: 10)
    for name in ["a", "b", "c"] { buffer.append(event(name)) }
    #expect(drain(&buffer) == ["a", "b", "c"])
    #expect(buffer.isEmpty)
  }

  @Test func whatDoesNotFitIsToldBehindWhatDoes() {
    var buffer = EventBuffer(limit: 2)
    for name in ["a", "b", "c", "d", "c"] { buffer.append(event(name)) }
    #expect(buffer.next()?.groupID == "a")
    // There is room again, but the order must not break.
    buffer.append(event("e"))
    #expect(drain(&buffer) == ["b", "lost 4 [\"c\", \"d\", \"e\"]"])
    buffer.append(event("f"))
    #expect(drain(&buffer) == ["f"])
  }

  @Test func theirBytesHaveABoundToo() {
    var buffer = EventBuffer(limit: 1_000)
    // One alone may be larger: the reader takes it before others come.
    for name in ["a", "b"] { buffer.append(event(name), bytes: 40 << 20) }
    #expect(drain(&buffer) == ["a", "lost 1 [\"b\"]"])
    for name in ["a", "b", "c", "d"] { buffer.append(event(name), bytes: 10 << 20) }
    #expect(drain(&buffer) == ["a", "b", "c", "lost 1 [\"d\"]"])
  }

  @Test func groupsWithoutEndAreNotNamed() {
    var buffer = EventBuffer(limit: 1)
    for number in 0..<10_010 { buffer.append(event("\(number)")) }
    _ = buffer.next()
    guard case .lost(let lost) = buffer.next() else { Issue.record("nothing is lost"); return }
    #expect(lost.count == 10_009 && lost.groupIDs.count == 10_000)
  }

  @Test func eventsWithoutAGroupAreCounted() {
    var buffer = EventBuffer(limit: 1)
    buffer.append(event("a"))
    buffer.append(.state(.connecting))
    #expect(drain(&buffer) == ["a", "lost 1 []"])
  }

  @Test func alongRun() {
    var buffer = EventBuffer(limit: 3)
    var told: [String] = []
    for number in 0..<1_000 {
      buffer.append(event("\(number)"))
      if number % 2 == 1 { told += drain(&buffer) }
    }
    #expect(told == (0..<1_000).map(String.init))
  }
}
