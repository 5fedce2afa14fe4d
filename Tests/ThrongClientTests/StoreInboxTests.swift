import Testing

@testable import ThrongClient

/// Changes that wait for the store.
@Suite struct StoreInboxTests {
  private func ready(_ number: Int) -> StoreEvent { .ready(toldUntil: number) }

  private func numbers(_ events: [StoreEvent]) -> [Int] {
    events.compactMap { event -> Int? in if case .ready(let number) = event { number } else { nil } }
  }

  @Test func changesThatBelongTogetherAreTakenTogether() {
    var inbox = StoreInbox()
    #expect(inbox.isEmpty && inbox.take().isEmpty)
    let half = ClientLimits.changesAtOnce / 2 + 1
    for number in 0..<3 { inbox.append((0..<half).map { ready(number * half + $0) }, bytes: 10) }
    #expect(numbers(inbox.take()) == Array(0..<2 * half))
    #expect(inbox.count == 3 && inbox.takenCount == 2)
    inbox.append([ready(7)], bytes: 10)
    #expect(numbers(inbox.take()) == Array(2 * half..<3 * half) + [7])
    #expect(inbox.isEmpty && !inbox.isFull && inbox.takenCount == 4)
  }

  @Test func theConnectionIsReadWhileThereIsRoom() {
    var inbox = StoreInbox()
    for number in 1..<ClientLimits.waitingChanges { inbox.append([ready(number)], bytes: 1) }
    #expect(!inbox.isFull)
    inbox.append([ready(0)], bytes: 1)
    #expect(inbox.isFull)
    #expect(inbox.take().count == ClientLimits.changesAtOnce && !inbox.isFull)
    inbox.append([ready(0)], bytes: ClientLimits.waitingBytes)
    #expect(inbox.isFull)
    while !inbox.isEmpty { _ = inbox.take() }
    #expect(!inbox.isFull)
  }

  @Test func aLongRun() {
    var inbox = StoreInbox()
    var taken: [Int] = []
    for number in 0..<5_000 {
      inbox.append([ready(number)], bytes: 1)
      if number % 400 == 399 { taken += numbers(inbox.take()) }
    }
    while !inbox.isEmpty { taken += numbers(inbox.take()) }
    #expect(taken == Array(0..<5_000))
  }
}
