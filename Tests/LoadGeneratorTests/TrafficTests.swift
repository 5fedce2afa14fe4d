import Histogram
import Testing

@testable import LoadGenerator

@Suite struct TrafficTests {
  /// Messages are their number and their stamp; sender k sends in flow f from `senders[k]`.
  private func traffic(_ plain: PlainRun, senders: [Int], pace: Traffic.Pace) -> Traffic {
    let participants = Participants(senders: senders, groups: 1, groupOf: { _ in 0 }, sendersReceive: true)
    let traffic = Traffic(plain.run.pool, plain.dialect, participants: participants, pace: pace) { _, _ in
      MessageTemplate("%i %t")
    }
    plain.run.traffic = traffic
    return traffic
  }

  /// The numbers and stamps of messages that have arrived at the peer.
  private func messages(_ plain: PlainRun, _ socket: Int) -> [(number: Int, stamp: UInt64)] {
    plain.peer.texts(plain.sockets[socket]).compactMap { text in
      let parts = text.split(separator: " ")
      guard parts.count == 2, let number = Int(parts[0]), let stamp = UInt64(parts[1].dropFirst(2).dropLast()) else { return nil }
      return (number, stamp)
    }
  }

  private func openWindow(_ plain: PlainRun, from start: UInt64, seconds: Double) {
    plain.run.pool.recorder.counters.pointee.windowStart = start
    plain.run.pool.recorder.counters.pointee.windowEnd = start + Clock.nanoseconds(seconds)
  }

  @Test func theOpenLoopStampsTheDueInstantAndSharesTheRate() throws {
    let plain = try PlainRun(connections: 3)
    // Begun a second ago: everything is late already, and nothing may be skipped.
    let start = Clock.start() - Clock.second
    openWindow(plain, from: start, seconds: 0.5)
    let traffic = traffic(plain, senders: [1, 2], pace: .schedules([Schedule(rate: 1000, start: start)]))
    var first: [(number: Int, stamp: UInt64)] = []
    var second: [(number: Int, stamp: UInt64)] = []
    try plain.wait {
      first += messages(plain, 1)
      second += messages(plain, 2)
      return first.count + second.count == 500
    }
    #expect(first.count == 250 && second.count == 250)
    let stamps = (first + second).sorted { $0.number < $1.number }.map(\.stamp)
    #expect(stamps == (0..<500).map { Stamp.value(at: start + $0 * Clock.millisecond, flow: 0) })
    plain.run.poll(until: Clock.now())
    #expect(messages(plain, 1).isEmpty && messages(plain, 2).isEmpty, "the window has an end")
    #expect(traffic.deliveryLog.total.sent == 500 && traffic.deliveryLog.unanswered == 500)
    #expect(try #require(Report.Latencies(traffic.delays)).p50 > 500, "they went out late, and that is told")
  }

  @Test func flowsKeepTheirOwnRates() throws {
    let plain = try PlainRun(connections: 1)
    let start = Clock.start() - Clock.second
    openWindow(plain, from: start, seconds: 1)
    let schedules = [100.0, 0, 30, 10].map { Schedule(rate: $0, start: start) }
    let traffic = traffic(plain, senders: [0], pace: .schedules(schedules))
    var all: [(number: Int, stamp: UInt64)] = []
    try plain.wait {
      all += messages(plain, 0)
      return all.count == 140
    }
    #expect((0..<4).map { flow in all.count { $0.stamp & 3 == flow } } == [100, 0, 30, 10])
    #expect(traffic.deliveryLog.tallies.map(\.sent) == [100, 0, 30, 10])
    let instants = all.sorted { $0.number < $1.number }.map { $0.stamp & ~3 }
    #expect(instants == instants.sorted(), "what is due first goes out first")
  }

  @Test func theClosedLoopKeepsItsWindowFull() throws {
    let plain = try PlainRun(connections: 2)
    openWindow(plain, from: Clock.now(), seconds: 60)
    plain.run.pool.table[0].countsDeliveries = true
    let traffic = traffic(plain, senders: [1], pace: .window(5))
    traffic.pacer = 0
    var sent: [(number: Int, stamp: UInt64)] = []
    try plain.wait {
      sent += messages(plain, 1)
      return sent.count == 5
    }
    // Answered is not done.
    for message in sent { plain.peer.send(plain.sockets[1], text: "\(message.number)") }
    try plain.wait { traffic.deliveryLog.unanswered == 0 }
    #expect(messages(plain, 1).isEmpty)
    // Come back on the clock is.
    for message in sent.prefix(2) { plain.peer.send(plain.sockets[0], text: "~T" + padded(message.stamp) + "~") }
    try plain.wait {
      sent += messages(plain, 1)
      return sent.count == 7
    }
    // Dropped is done too: it never comes back.
    plain.dialect.outcome = .dropped
    plain.peer.send(plain.sockets[1], text: "\(sent[6].number)")
    try plain.wait {
      sent += messages(plain, 1)
      return sent.count == 8
    }
    // The clock is gone: there is no closed loop any more.
    plain.peer.hangUp(plain.sockets[0])
    try plain.wait { traffic.failure != nil }
  }

  @Test func anExpiredMessageIsReplacedByAnother() throws {
    let plain = try PlainRun(connections: 2)
    openWindow(plain, from: Clock.now(), seconds: 60)
    plain.run.pool.table[0].countsDeliveries = true
    let traffic = traffic(plain, senders: [1], pace: .window(2))
    traffic.pacer = 0
    var sent: [(number: Int, stamp: UInt64)] = []
    func wait(until count: Int) throws {
      try plain.wait {
        sent += messages(plain, 1)
        return sent.count == count
      }
    }
    try wait(until: 2)
    let full = Clock.now()
    #expect(traffic.sendDue(full) > full && sent.count == 2, "it asks to be woken, but not at once")
    _ = traffic.sendDue(full + InFlight.timeout)
    try wait(until: 4)
    #expect(traffic.expired == 2)
    // A late return makes no place for a fifth.
    plain.peer.send(plain.sockets[0], text: "~T" + padded(sent[0].stamp) + "~")
    try plain.wait { plain.run.pool.recorder.counters.pointee.total == 1 }
    plain.run.poll(until: Clock.now())
    #expect(messages(plain, 1).isEmpty)
    plain.peer.send(plain.sockets[0], text: "~T" + padded(sent[2].stamp) + "~")
    try wait(until: 5)
  }

  private func padded(_ stamp: UInt64) -> String {
    String(repeating: "0", count: 18 - String(stamp).count) + String(stamp)
  }

  @Test func eachSenderHasOneInFlight() throws {
    let plain = try PlainRun(connections: 3)
    let counters = plain.run.pool.recorder.counters
    counters.pointee.timesDeliveries = false
    counters.pointee.isMeasuring = true
    openWindow(plain, from: Clock.now(), seconds: 60)
    plain.dialect.outcome = .stored
    let traffic = traffic(plain, senders: [0, 1, 2], pace: .eachSender)
    var sent = [[(number: Int, stamp: UInt64)]](repeating: [], count: 3)
    func collect() { for socket in 0..<3 { sent[socket] += messages(plain, socket) } }
    try plain.wait {
      collect()
      return sent.map(\.count) == [1, 1, 1]
    }
    for round in 0..<10 {
      plain.peer.send(plain.sockets[1], text: "\(sent[1][round].number)")
      try plain.wait {
        collect()
        return sent[1].count == round + 2
      }
    }
    #expect(sent.map(\.count) == [1, 11, 1])
    #expect(traffic.timelyStored == 10 && plain.run.pool.recorder.allLatencies.totalCount == 10)
    // A refusal is no stored message, and the sender goes on after a rest.
    plain.dialect.outcome = .failed(code: 7008, "slow")
    plain.peer.send(plain.sockets[0], text: "\(sent[0][0].number)")
    try plain.wait {
      collect()
      return sent[0].count == 2
    }
    #expect(traffic.timelyStored == 10 && traffic.deliveryLog.errors == ["7008 slow": 1])
  }

  @Test func withoutAnySenderLeftTheTrafficFails() throws {
    let plain = try PlainRun(connections: 2)
    openWindow(plain, from: Clock.now(), seconds: 60)
    let traffic = traffic(plain, senders: [0], pace: .schedules([Schedule(rate: 1000, start: Clock.now())]))
    plain.peer.hangUp(plain.sockets[0])
    try plain.wait { traffic.failure == "no connection is left to send from" }
    #expect(plain.run.openCount == 1)
  }

  @Test(arguments: [true, false]) func aClosedLoopFailsWithItsLastSenderThoughNothingIsToBeSent(isWindow: Bool) throws {
    let plain = try PlainRun(connections: 3)
    openWindow(plain, from: Clock.now(), seconds: 60)
    let traffic = traffic(plain, senders: [1, 2], pace: isWindow ? .window(2) : .eachSender)
    if isWindow { traffic.pacer = 0 }
    // Each has a message under way that is never answered.
    try plain.wait { traffic.deliveryLog.unanswered == 2 }
    plain.peer.hangUp(plain.sockets[1])
    try plain.wait { plain.run.openCount == 2 }
    #expect(traffic.failure == nil)
    plain.peer.hangUp(plain.sockets[2])
    try plain.wait { plain.run.openCount == 1 }
    #expect(traffic.failure == "no connection is left to send from")
  }

  @Test func itIsCompleteWhenEverythingHasArrived() throws {
    let plain = try PlainRun(connections: 2)
    let start = Clock.start() - Clock.second
    openWindow(plain, from: start, seconds: 0.5)
    plain.run.pool.table[0].countsDeliveries = true
    let traffic = traffic(plain, senders: [1], pace: .schedules([Schedule(rate: 4, start: start)]))
    var sent: [(number: Int, stamp: UInt64)] = []
    try plain.wait {
      sent += messages(plain, 1)
      return sent.count == 2
    }
    #expect(!traffic.isComplete(receiversInGroup: [2]))
    for message in sent { plain.peer.send(plain.sockets[1], text: "\(message.number)") }
    try plain.wait { traffic.deliveryLog.unanswered == 0 }
    plain.peer.send(plain.sockets[0], text: "~T" + padded(sent[0].stamp) + "~")
    try plain.wait { plain.run.pool.recorder.counters.pointee.matched == 1 }
    // The sender is a receiver, but not of its own: two messages to one connection, one of them
    // still on its way.
    #expect(!traffic.isComplete(receiversInGroup: [2]))
    plain.peer.send(plain.sockets[0], text: "~T" + padded(sent[1].stamp) + "~")
    try plain.wait { plain.run.pool.recorder.counters.pointee.matched == 2 }
    #expect(traffic.isComplete(receiversInGroup: [2]))
  }
}
