import GroupModel
import Testing
import ThrongTestKit
import WebSocketTransport
import WireProtocol

@testable import Gateway

/// What one user may have written: the allowance as a value, and on real connections.
@Suite struct WriteAllowanceTests {
  // MARK: The value

  @Test func aStockIsThereAtOnceAndTheRestComesWithTime() {
    var allowance = WriteAllowance(now: 1000)
    // What waits already comes first.
    let takes: [(Int, at: Instant)] = [(Int(WriteAllowance.stock), 1000), (640, 1000), (640 * 99, 1000), (0, 1100), (1, 1100)]
    let waits = takes.map { allowance.take($0.0, at: $0.at) }
    #expect(waits == [0, 1, 100, 0, 1])
    let isFull = [1100, 1102].map { allowance.isFull(at: $0 + WriteAllowance.stock / 640) }
    #expect(isFull == [false, true])
  }

  @Test func anEarlierInstantFillsNothing() {
    var allowance = WriteAllowance(now: 1000)
    let waits = [
      allowance.take(Int(WriteAllowance.stock) + 640 * 50, at: 2000), allowance.take(0, at: 1000), allowance.take(0, at: 2050),
    ]
    #expect(waits == [50, 50, 0])
  }

  @Test func whoSendsTheLongestMessagesAtTheRateDoesNotWait() throws {
    let request = try #require(
      call("sendGroupTextMessage", #"{"groupID":"g","text":"\#(String(repeating: "x", count: 12_288))"}"#))
    var allowance = WriteAllowance(now: 0)
    var waits: Set<Instant> = []
    // The burst, and then 50 a second for a minute.
    for _ in 0..<50 { waits.insert(allowance.take(request.writeCost.bytes, at: 0)) }
    for second in 0..<60 {
      for part in 0..<50 { waits.insert(allowance.take(request.writeCost.bytes, at: Instant(second * 1000 + part * 20))) }
    }
    #expect(waits == [0])
  }

  @Test(arguments: [
    ("getGroupsInfo", #"{"groupIDList":["g"]}"#, 0, false), ("ping", "{}", 0, false),
    ("quitGroup", #"{"groupID":"g"}"#, 0, false),
    ("inviteUserToGroup", #"{"groupID":"g","userIDList":["u1","u2","u3","u4","u5","u6","u7","u8","u9"]}"#, 9, false),
    ("inviteUserToGroup", #"{"groupID":"g","userIDList":["u1","u2","u3","u4","u5","u6","u7","u8","u9","u10"]}"#, 10, true),
  ])
  func aRequestSaysBeforeItRunsWhatItMayWrite(_ method: String, _ params: String, targets: Int, isHeavy: Bool) throws {
    let call = try #require(self.call(method, params))
    #expect(call.writeCost.targets == targets && call.writeCost.isHeavy == isHeavy)
    #expect((call.writeCost == .none) == (call.method?.specification.writes == false))
  }

  private func call(_ method: String, _ params: String) -> Call? {
    let text = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
    let padded = Array(text.utf8) + [UInt8](repeating: 0, count: JSONParser.padding)
    return padded.withUnsafeBytes { bytes in
      let text = UnsafeRawBufferPointer(rebasing: bytes.dropLast(JSONParser.padding))
      guard case .single(let call) = Envelope(padded: text, parser: JSONParser(), methods: MethodTable()) else { return nil }
      return call
    }
  }

  // MARK: On connections

  private func invitation(_ id: Int, of count: Int, message: Int = 0) -> String {
    let users = (0..<count).map { #""guest-\#(id)-\#($0)""# }.joined(separator: ",")
    let text = String(repeating: "m", count: message)
    return
      #"{"jsonrpc":"2.0","id":\#(id),"method":"inviteUserToGroup","params":{"groupID":"g","userIDList":[\#(users)],"message":"\#(text)"}}"#
  }

  private let create = #"{"groupType":"Work","groupName":"g","groupID":"g"}"#
  private let own = #"{"groupType":"Work","groupName":"b","groupID":"b"}"#

  @Test func writesThatNameManyUsersGoOneAtATimeForEachUserAndHoldUpNobodyElse() async throws {
    try await LiveGateway.with { live in
      let (first, second) = (try await live.signIn("alice"), try await live.signIn("alice"))
      _ = try await first.call("createGroup", create)
      live.store.inner.hold()
      try await first.send([invitation(1, of: 20), invitation(2, of: 20)])
      while live.store.inner.pendingCount < 1 { await Task.yield() }
      try await second.send(invitation(3, of: 20))
      let bob = try await live.signIn("bob")
      try await bob.send(#"{"jsonrpc":"2.0","id":"b","method":"createGroup","params":\#(own)}"#)
      while live.store.inner.pendingCount < 2 { await Task.yield() }
      for loop in live.transport.loops { await live.on(loop) {} }
      #expect(live.store.inner.pendingCount == 2, "one of alice's, and bob's")
      live.store.inner.release()
      #expect(try await bob.reply { $0["id"] == "b" }["result"]["groupID"] == "b")
      for id in [1, 2] as [JSON] {
        let reply = try await first.reply { $0["id"] == id }
        #expect(reply["result"]["memberList"].elements.allSatisfy { $0["result"] == "Success" })
      }
      #expect(try await second.reply { $0["id"] == 3 }["result"]["memberList"].elements.count == 20)
    }
  }

  @Test func whoHasHadTooMuchWrittenWaitsInTheOrderOfTheRequests() async throws {
    try await LiveGateway.with { live in
      let alice = try await live.signIn("alice")
      _ = try await alice.call("createGroup", create)
      // Six are more than the stock; what follows would wait for a minute in all.
      try await alice.send(
        (1...50).map { invitation($0, of: 100, message: 500) } + [#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#])
      let loop = live.transport.loops[0]
      var waits = false
      while !waits {
        waits = await live.on(loop) { [gateway = live.gateway] in
          gateway.context(of: loop).open.values.contains { $0.assumeIsolated { $0.deadlines[.writing] != nil } }
        }
        await Task.yield()
      }
      #expect(try await live.signIn("bob").call("createGroup", own)["result"]["groupID"] == "b", "nobody else waits")
      var answered: [JSON] = []
      while answered.count < 6 { answered.append(try await alice.reply { $0["id"] != nil }["id"]) }
      #expect(answered == [1, 2, 3, 4, 5, 6])
    }
  }
}
