import GroupModel
import Testing
import ThrongTestKit

@testable import OutgoingHTTP

/// A queue by reference: the macros of Swift Testing call nothing that is mutating.
private final class Requests {
  private var queue: TransferQueue

  init(_ queue: TransferQueue) { self.queue = queue }

  var waitingCount: Int { queue.waitingCount }
  func enqueue(_ request: PendingTransfer) -> TransferQueue.Admission { queue.enqueue(request) }
  func startNext() -> (request: PendingTransfer, slot: Int)? { queue.startNext() }
  func finish(slot: Int) -> PendingTransfer? { queue.finish(slot: slot) }
  func nextDeadline() -> ContinuousClock.Instant? { queue.nextDeadline() }
  func removeExpired(at now: ContinuousClock.Instant) -> PendingTransfer? { queue.removeExpired(at: now) }
  func remove(id: UInt64) -> TransferQueue.Removal? { queue.remove(id: id) }
  func removeAll() -> [TransferQueue.Removal] { queue.removeAll() }
}

@Suite struct TransferQueueTests {
  private let start = ContinuousClock.now

  private func request(_ id: UInt64, of user: UserID? = nil, expiresAfter seconds: Int = 10) -> PendingTransfer {
    PendingTransfer(
      id: id, user: user, url: "", headers: [], body: [], deadline: start + .seconds(seconds), completion: { _ in })
  }

  private func queue(slots: Int, waiting: Int = 100, ofUser: Int = 100) -> Requests {
    Requests(TransferQueue(TransferQueue.Bounds(slots: slots, waiting: waiting, waitingOfUser: ofUser)))
  }

  private func queue(slots: Int, _ ids: ClosedRange<UInt64>) -> Requests {
    let queue = queue(slots: slots)
    for id in ids { add(request(id, expiresAfter: Int(id)), to: queue) }
    return queue
  }

  private func add(_ request: PendingTransfer, to queue: Requests) {
    guard case .queued = queue.enqueue(request) else { return #expect(Bool(false), "\(request.id) has a place") }
  }

  /// Starts what may run, ends it, and so on.
  private func drain(_ queue: Requests) -> [UInt64] {
    var ids: [UInt64] = []
    while let next = queue.startNext() {
      ids.append(next.request.id)
      _ = queue.finish(slot: next.slot)
    }
    return ids
  }

  @Test func requestsStartInTheirOrderWhileSlotsAreFree() {
    let queue = queue(slots: 2, 1...3)
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
    let queue = queue(slots: 2, 1...4)
    let slot = queue.startNext()?.slot ?? 0
    #expect(queue.finish(slot: slot)?.id == 1)
    #expect(queue.finish(slot: slot) == nil)
    #expect(queue.startNext() != nil && queue.startNext() != nil && queue.startNext() == nil)
  }

  @Test func onlyWaitingRequestsExpire() {
    let queue = queue(slots: 1, 1...3)
    #expect(queue.startNext()?.request.id == 1)
    #expect(queue.nextDeadline() == start + .seconds(2))
    #expect(queue.removeExpired(at: start + .milliseconds(1999)) == nil)
    #expect(queue.removeExpired(at: start + .seconds(2))?.id == 2)
    #expect(queue.removeExpired(at: start + .seconds(2)) == nil)
    #expect(queue.removeExpired(at: start + .seconds(9))?.id == 3)
    #expect(queue.nextDeadline() == nil && queue.removeExpired(at: start + .seconds(9)) == nil)
  }

  @Test func aRequestIsRemovedWhereverItStands() {
    let queue = queue(slots: 1, 1...3)
    let slot = queue.startNext()?.slot
    guard case .waiting(let request)? = queue.remove(id: 2), request.id == 2 else { return #expect(Bool(false), "2 waits") }
    guard case .running(let request, let freed)? = queue.remove(id: 1), request.id == 1, freed == slot else {
      return #expect(Bool(false), "1 runs")
    }
    #expect(queue.remove(id: 1) == nil && queue.remove(id: 9) == nil)
    #expect(queue.startNext()?.request.id == 3)
  }

  @Test func allAreRemovedOnce() {
    let queue = queue(slots: 2, 1...4)
    _ = queue.startNext()
    _ = queue.startNext()
    let ids = queue.removeAll().map { removal in
      switch removal {
      case .waiting(let request), .running(let request, _): request.id
      }
    }
    #expect(ids.sorted() == [1, 2, 3, 4])
    #expect(queue.removeAll().isEmpty && queue.startNext() == nil)
    add(request(5), to: queue)
    #expect(queue.startNext()?.request.id == 5)
  }

  // MARK: Users

  @Test func usersTakeTurns() {
    let queue = queue(slots: 1)
    for id in 1...5 { add(request(UInt64(id), of: "flooder"), to: queue) }
    add(request(10, of: "ann"), to: queue)
    add(request(20), to: queue)
    add(request(11, of: "ann"), to: queue)
    #expect(drain(queue) == [1, 10, 20, 2, 11, 3, 4, 5])
  }

  /// A receiver that is slow for one user's requests is there for the others.
  @Test func aUserHasHalfOfTheSlots() {
    let queue = queue(slots: 4)
    for id in 1...5 { add(request(UInt64(id), of: "flooder"), to: queue) }
    #expect(queue.startNext()?.request.id == 1)
    let second = queue.startNext()
    #expect(second?.request.id == 2 && queue.startNext() == nil)
    add(request(10, of: "ann"), to: queue)
    #expect(queue.startNext()?.request.id == 10)
    _ = queue.finish(slot: second?.slot ?? 0)
    #expect(queue.startNext()?.request.id == 3 && queue.startNext() == nil)
  }

  @Test func aUserHasABoundedPartOfTheQueue() {
    let queue = queue(slots: 1, waiting: 10, ofUser: 3)
    for id in 1...3 { add(request(UInt64(id), of: "flooder"), to: queue) }
    guard case .userFull = queue.enqueue(request(4, of: "flooder")) else { return #expect(Bool(false)) }
    add(request(10, of: "ann"), to: queue)
    for id in 20..<25 { add(request(UInt64(id)), to: queue) }
    #expect(queue.waitingCount == 9)
  }

  @Test func theLongestLineGivesItsLastPlaceUp() {
    let queue = queue(slots: 1, waiting: 4, ofUser: 4)
    for id in 1...4 { add(request(UInt64(id), of: "flooder"), to: queue) }
    add(request(10, of: "ann"), to: queue)
    guard case .queuedInPlace(let displaced) = queue.enqueue(request(11, of: "bob")) else { return #expect(Bool(false)) }
    #expect(displaced.id == 4)
    guard case .queuedInPlace(let displaced) = queue.enqueue(request(12, of: "cat")) else { return #expect(Bool(false)) }
    #expect(displaced.id == 3)
    guard case .queuedInPlace(let displaced) = queue.enqueue(request(13, of: "dan")) else { return #expect(Bool(false)) }
    #expect(displaced.id == 2)
    // Everybody has one place.
    guard case .full = queue.enqueue(request(14, of: "eve")) else { return #expect(Bool(false)) }
    guard case .full = queue.enqueue(request(15, of: "flooder")) else { return #expect(Bool(false)) }
    #expect(drain(queue) == [1, 10, 11, 12, 13])
  }

  /// Random steps beside a model that is a plain list: nothing is lost, the bounds hold, each user's
  /// order is kept, and whoever waits has a turn before anybody has two.
  @Test(arguments: 0..<50)
  func everybodyHasTurns(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let queue = queue(slots: 4, waiting: 12, ofUser: 6)
    let users: [UserID?] = ["ann", "bob", "cat", nil]
    var waiting: [PendingTransfer] = []
    var running: [Int: PendingTransfer] = [:]
    /// How often others have begun since a user began to wait.
    var passed: [UserID?: [UserID?: Int]] = [:]
    for id in 1...1000 as ClosedRange<UInt64> {
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1, 2:
        let made = request(id, of: users[Int.random(in: 0..<4, using: &random)], expiresAfter: Int(id))
        let own = waiting.count { $0.user == made.user }
        switch queue.enqueue(made) {
        case .queued: waiting.append(made)
        case .queuedInPlace(let displaced):
          #expect(waiting.count { $0.user == displaced.user } > own + 1)
          #expect(waiting.last { $0.user == displaced.user }?.id == displaced.id)
          waiting.removeAll { $0.id == displaced.id }
          waiting.append(made)
        case .full: #expect(waiting.count + running.count == 16)
        case .userFull: #expect(own == 6 && made.user != nil)
        }
      case 3:
        guard let next = queue.startNext() else {
          let free = waiting.filter { waits in running.values.count { $0.user == waits.user && waits.user != nil } < 2 }
          #expect(running.count == 4 || free.isEmpty)
          continue
        }
        let user = next.request.user
        #expect(waiting.first { $0.user == user }?.id == next.request.id && running[next.slot] == nil)
        waiting.removeAll { $0.id == next.request.id }
        running[next.slot] = next.request
        passed[user] = nil
        for other in Set(waiting.map(\.user)) where other != user {
          passed[other, default: [:]][user, default: 0] += 1
          let isHeld = other != nil && running.values.count { $0.user == other } >= 2
          if isHeld { passed[other] = nil }
          #expect(passed[other]?[user, default: 0] ?? 0 <= 2, "\(String(describing: user)) before \(String(describing: other))")
        }
      default:
        if Bool.random(using: &random), let slot = running.keys.sorted().randomElement(using: &random) {
          #expect(queue.finish(slot: slot)?.id == running.removeValue(forKey: slot)?.id)
        } else if Int.random(in: 0..<4, using: &random) == 0, let oldest = waiting.first {
          #expect(queue.nextDeadline() == oldest.deadline)
          #expect(queue.removeExpired(at: oldest.deadline)?.id == oldest.id)
          waiting.removeFirst()
        } else if Int.random(in: 0..<4, using: &random) == 0, let some = waiting.randomElement(using: &random) {
          guard case .waiting(let removed)? = queue.remove(id: some.id) else { return #expect(Bool(false)) }
          #expect(removed.id == some.id)
          waiting.removeAll { $0.id == some.id }
        }
      }
      for user in users where !waiting.contains(where: { $0.user == user }) { passed[user] = nil }
      #expect(queue.waitingCount == waiting.count && waiting.count <= 16)
    }
  }
}
