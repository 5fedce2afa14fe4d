import Cluster
import Dispatch
import GroupModel
import GroupRuntime
import Synchronization
import Testing
import ThrongTestKit

/// Every bus.
@Suite struct BusTests {
  @Test(arguments: Adapter.allCases)
  func messagesOfEachPublisherArriveOnceAndInOrderAtAllSubscribersOfTheirSubjectAlone(
    _ adapter: Adapter
  ) async throws {
    try await withBuses(adapter) { buses in
      let (wanted, other) = (try subject("n1.stream"), try subject("n2.stream"))
      let (here, _) = try await buses.first.record(wanted)
      let (there, _) = try await buses.second.record(wanted)
      let (elsewhere, _) = try await buses.second.record(other)
      let (strange, _) = try await buses.stranger.record(wanted)
      for number in 0..<2_000 {
        for (publisher, bus) in [buses.first, buses.second].enumerated() {
          try bus.publish([UInt8(publisher), UInt8(number >> 8), UInt8(number & 255)], to: wanted)
        }
      }
      let expected = (0..<2_000).map { [UInt8($0 >> 8), UInt8($0 & 255)] }
      for received in [here, there] {
        try await waitUntil("all have arrived") { received.messages.count >= 4_000 }
        for publisher in [UInt8(0), 1] {
          #expect(received.messages.filter { $0[0] == publisher }.map { Array($0[1...]) } == expected)
        }
        #expect(received.gaps == 0)
      }
      // A last message shows that no other one was on its way.
      try buses.first.publish([9], to: other)
      try await waitUntil("the last has arrived") { !elsewhere.messages.isEmpty }
      #expect(elsewhere.messages == [[9]])
      try buses.stranger.publish([7], to: wanted)
      try await waitUntil("the stranger's own has arrived") { !strange.messages.isEmpty }
      #expect(strange.messages == [[7]])
      #expect(here.messages.count == 4_000)
    }
  }

  /// Links make their frames there.
  @Test(arguments: [Adapter.nats, .postgreSQL])
  func messagesMayBePublishedWhereTheyLeave(_ adapter: Adapter) async throws {
    try await withBuses(adapter) { buses in
      let place = try subject("n1.link")
      let (received, _) = try await buses.second.record(place)
      let queue = try #require(buses.first.sendingQueue)
      let first = buses.first
      for number in 0..<200 { queue.async { try? first.publish([UInt8(number)], to: place) } }
      try await waitUntil("all have arrived") { received.messages.count >= 200 }
      #expect(received.messages == (0..<200).map { [UInt8($0)] })
    }
  }

  @Test(arguments: Adapter.allCases)
  func longMessagesArriveWholeInTheirOrderAmongShortOnes(_ adapter: Adapter) async throws {
    try await withBuses(adapter) { buses in
      let place = try subject("n1.requests")
      let (received, _) = try await buses.second.record(place)
      let long = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      let sent: [[UInt8]] = [[1], long, [], Array(long.prefix(10_000)), [0, 255]]
      for message in sent { try buses.first.publish(message, to: place) }
      try await waitUntil("all have arrived") { received.all.count >= sent.count }
      #expect(received.messages == sent)
    }
  }

  @Test(arguments: Adapter.allCases)
  func aMessageThatIsTooLongIsRefusedAndCounted(_ adapter: Adapter) async throws {
    try await withBuses(adapter) { buses in
      let place = try subject("n1.requests")
      let (received, _) = try await buses.second.record(place)
      let long = [UInt8](repeating: 1, count: BusLimits.messageBytes + 1)
      #expect(throws: BusError.tooLong) { try buses.first.publish(long, to: place) }
      try buses.first.publish([1], to: place)
      try await waitUntil("the short one has arrived") { !received.all.isEmpty }
      #expect(received.messages == [[1]])
      #expect(buses.first.counters.publishedMessages == 1)
    }
  }

  @Test(arguments: Adapter.allCases)
  func aCancelledSubscriberGetsNothingMoreAndTheOthersGoOn(_ adapter: Adapter) async throws {
    try await withBuses(adapter) { buses in
      let place = try subject("all.rooms")
      let (ended, subscription) = try await buses.second.record(place)
      let (other, _) = try await buses.second.record(place)
      try buses.first.publish([1], to: place)
      try await waitUntil("both have the first") { ended.messages.count == 1 && other.messages.count == 1 }
      subscription.cancel()
      subscription.cancel()
      try buses.first.publish([2], to: place)
      try await waitUntil("the other has the second") { other.messages.count == 2 }
      #expect(ended.messages == [[1]])
    }
  }

  @Test(arguments: Adapter.allCases)
  func afterAnInterruptionSubscribersHearOfAGapAndGetWhatIsPublishedThen(_ adapter: Adapter) async throws {
    try await withBuses(adapter, ownsEngine: true) { buses in
      let place = try subject("n1.stream")
      let (received, _) = try await buses.second.record(place)
      try buses.first.publish([1], to: place)
      try await waitUntil("the first has arrived") { received.messages == [[1]] }
      try buses.cut()
      try await waitUntil("both are away") {
        // A lost connection may show at the next message only.
        try? buses.first.publish([2], to: place)
        try? buses.second.publish([2], to: place)
        return !buses.first.isConnected && !buses.second.isConnected
      }
      #expect(throws: BusError.disconnected) { try buses.first.publish([2], to: place) }
      try buses.mend()
      try await waitUntil("both are back, with a gap") {
        buses.first.isConnected && buses.second.isConnected && received.gaps > 0
      }
      try buses.first.publish([3], to: place)
      try await waitUntil("a message after the gap has arrived") { received.messages.last == [3] }
      #expect(buses.second.counters.gaps > 0 && buses.second.counters.reconnects > 0)
    }
  }

  @Test(arguments: Adapter.allCases)
  func aClosedBusTakesNothing(_ adapter: Adapter) async throws {
    try await withBuses(adapter) { buses in
      let place = try subject("n1.stream")
      let (received, _) = try await buses.second.record(place)
      try buses.first.publish([1], to: place)
      await buses.first.close()
      #expect(throws: BusError.closed) { try buses.first.publish([2], to: place) }
      await #expect(throws: BusError.closed) { _ = try await buses.first.subscribe(to: place) { _ in } }
      // Earlier entries have left.
      try await waitUntil("the first has arrived") { received.messages == [[1]] }
    }
  }
}
