import Testing

@testable import Webhooks

@Suite struct RequestQueueTests {
  private let start = ContinuousClock.now

  private func request(_ id: UInt64, expiresAfter seconds: Int = 10) -> PendingRequest {
    PendingRequest(
      id: id, url: "", headers: [], body: [], deadline: start + .seconds(seconds), completion: { _ in })
  }

  private func queue(slots: Int, _ ids: ClosedRange<UInt64>) -> RequestQueue {
    var queue = RequestQueue(slots: slots)
    for id in ids { queue.enqueue(request(id, expiresAfter: Int(id))) }
    return queue
  }

  @Test func requestsStartInTheirOrderWhileSlotsAreFree() {
    var queue = queue(slots: 2, 1...3)
    #expect(queue.startNext()?.request.id == 1)
    let second = queue.startNext()
    #expect(second?.request.id == 2)
    #expect(queue.startNext() == nil)
    #expect(queue.finish(slot: second?.slot ?? 0)?.id == 2)
    let third = queue.startNext()
    #expect(third?.request.id == 3 && third?.slot == second?.slot)
    #expect(queue.startNext() == nil)
  }

  @Test func aSlotIsFreedOnce() {
    var queue = queue(slots: 2, 1...4)
    let slot = queue.startNext()?.slot ?? 0
    #expect(queue.finish(slot: slot)?.id == 1)
    #expect(queue.finish(slot: slot) == nil)
    #expect(queue.startNext() != nil && queue.startNext() != nil && queue.startNext() == nil)
  }

  @Test func onlyWaitingRequestsExpire() {
    var queue = queue(slots: 1, 1...3)
    #expect(queue.startNext()?.request.id == 1)
    #expect(queue.nextDeadline == start + .seconds(2))
    #expect(queue.removeExpired(at: start + .milliseconds(1999)) == nil)
    #expect(queue.removeExpired(at: start + .seconds(2))?.id == 2)
    #expect(queue.removeExpired(at: start + .seconds(2)) == nil)
    #expect(queue.removeExpired(at: start + .seconds(9))?.id == 3)
    #expect(queue.nextDeadline == nil && queue.removeExpired(at: start + .seconds(9)) == nil)
  }

  @Test func aRequestIsRemovedWhereverItStands() {
    var queue = queue(slots: 1, 1...3)
    let slot = queue.startNext()?.slot
    guard case .waiting(let request)? = queue.remove(id: 2), request.id == 2 else { return #expect(Bool(false), "2 waits") }
    guard case .running(let request, let freed)? = queue.remove(id: 1), request.id == 1, freed == slot else {
      return #expect(Bool(false), "1 runs")
    }
    #expect(queue.remove(id: 1) == nil && queue.remove(id: 9) == nil)
    #expect(queue.startNext()?.request.id == 3)
  }

  @Test func allAreRemovedOnce() {
    var queue = queue(slots: 2, 1...4)
    _ = queue.startNext()
    _ = queue.startNext()
    let ids = queue.removeAll().map { removal in
      switch removal {
      case .waiting(let request), .running(let request, _): request.id
      }
    }
    #expect(ids.sorted() == [1, 2, 3, 4])
    #expect(queue.removeAll().isEmpty && queue.startNext() == nil)
    queue.enqueue(request(5))
    #expect(queue.startNext()?.request.id == 5)
  }
}
