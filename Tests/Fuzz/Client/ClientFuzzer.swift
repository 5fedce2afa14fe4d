import Foundation

@testable import ThrongClient

/// An input is a script of what happens to a client, a step in a line, or, behind an "F", bytes of a
/// server as its transport reads them. No input may stop the client, and nothing in it may grow
/// beyond its bound.
struct ClientFuzzer {
  private static let mostSteps = 500

  private var state: ClientState
  private var now = ContinuousClock.now
  /// Requests without an answer yet.
  private var requests: [Int] = []
  private var timers: [ClientTimer: Duration] = [:]
  private var lastCall = 0

  private init() {
    let options = ClientOptions(positions: [GroupPosition(groupID: "g", epoch: "e", seq: 3, changeSeq: 1)])
    state = ClientState(token: .renewable { "" }, options: options, random: { 0 }, now: now)
  }

  static func run(_ input: UnsafeRawBufferPointer) {
    if input.first == UInt8(ascii: "F") { return decode(Array(input.dropFirst())) }
    var fuzzer = ClientFuzzer()
    for line in input.split(separator: UInt8(ascii: "\n")).prefix(mostSteps) {
      fuzzer.step(line.first ?? 0, String(decoding: line.dropFirst(), as: UTF8.self))
    }
  }

  // MARK: The state

  private mutating func step(_ kind: UInt8, _ text: String) {
    switch kind {
    case UInt8(ascii: "c"): feed(.connect)
    case UInt8(ascii: "t"): feed(.tokenRead(.success(text)))
    case UInt8(ascii: "o"): feed(.opened(attempt: state.attempt ?? 0))
    case UInt8(ascii: "l"): signIn(text)
    case UInt8(ascii: "e"):
      feed(.ended(attempt: state.attempt ?? 0, .closed(code: Int(text) ?? 1006, reason: text), didOpen: true))
    case UInt8(ascii: "p"): now += .seconds(min(100_000, max(0, Int(text) ?? 0)))
    case UInt8(ascii: "f"): fire(Int(text) ?? 0)
    case UInt8(ascii: "r"): receive(text)
    case UInt8(ascii: "v"): event(text)
    case UInt8(ascii: "a"): answer("\"result\":\(text)")
    case UInt8(ascii: "x"): answer("\"error\":\(text)")
    case UInt8(ascii: "s"): feed(.send(LocalMessage(.text(text), to: "g", options: SendOptions(), clientMsgID: text)))
    case UInt8(ascii: "k"):
      lastCall += 1
      feed(.call(lastCall, EncodedRequest(Methods.Ping()), waits: true))
    default: return
    }
  }

  /// The way to a session as a good server goes, so that a script begins behind it.
  private mutating func signIn(_ time: String) {
    feed(.connect)
    fire(0)
    feed(.tokenRead(.success("token")))
    feed(.opened(attempt: state.attempt ?? 0))
    let start = Int(time) ?? 1
    answer(
      "\"result\":{\"userID\":\"me\",\"sessionID\":\"s\",\"serverTime\":\(start),\"tokenExpiresAt\":3600000,\"heartbeat\":25}")
  }

  private mutating func event(_ text: String) {
    let parts = text.split(separator: " ", maxSplits: 1)
    guard parts.count == 2 else { return }
    receive("{\"jsonrpc\":\"2.0\",\"method\":\"\(parts[0])\",\"params\":\(parts[1])}")
  }

  /// To the oldest request.
  private mutating func answer(_ body: String) {
    guard !requests.isEmpty else { return }
    receive("{\"jsonrpc\":\"2.0\",\"id\":\(requests.removeFirst()),\(body)}")
  }

  private mutating func receive(_ text: String) { feed(.received(attempt: state.attempt ?? 0, Data(text.utf8))) }

  private mutating func fire(_ index: Int) {
    let started = timers.keys.sorted { "\($0)" < "\($1)" }
    guard started.indices.contains(index) else { return }
    now += timers.removeValue(forKey: started[index]) ?? .zero
    feed(.fired(started[index]))
  }

  private mutating func feed(_ input: ClientInput) {
    for effect in state.handle(input, at: now) {
      switch effect {
      case .start(let timer, let delay): start(timer, delay)
      case .stop(let timer): timers[timer] = nil
      case .stopAllTimers: timers = [:]
      case .disconnect: requests = []
      case .transmit(let frame): noteRequest(frame)
      case .readToken, .abandonToken, .open, .tell, .answer, .store: continue
      }
    }
    checkBounds()
  }

  private mutating func noteRequest(_ frame: Data) {
    struct Request: Decodable { let id: Int }
    guard let request = try? JSONDecoder().decode(Request.self, from: frame) else { fatalError("a request is no JSON") }
    precondition(frame.count <= EncodedRequest.longestFrame)
    requests.append(request.id)
    precondition(requests.count <= 4 * ClientFuzzer.mostSteps, "more requests than what has happened asks for")
  }

  private mutating func start(_ timer: ClientTimer, _ delay: Duration) {
    precondition(delay <= ClientLimits.longestWait, "\(timer) waits for \(delay)")
    switch timer {
    case .life, .renewal, .entry: precondition(delay >= .seconds(1), "\(timer) waits for \(delay)")
    case .retry, .resume, .pause, .groupPause, .queued, .watch, .connect, .ping, .token:
      precondition(delay >= Backoff.leastDelay, "\(timer) waits for \(delay)")
    }
    timers[timer] = delay
  }

  private func checkBounds() {
    let tracker = state.tracker
    precondition(tracker.groups.count <= ClientLimits.groups)
    precondition(tracker.untracked.count <= ClientLimits.newGroups && tracker.entered.count <= ClientLimits.newGroups)
    precondition(tracker.enteredBefore.count <= ClientLimits.newGroups)
    precondition(tracker.held.count <= ClientLimits.waitingEvents && tracker.held.bytes <= ClientLimits.heldBytes)
    var held = HeldEvent.Size()
    for group in tracker.groups.values {
      held += group.heldSize
      precondition(group.own.count <= ClientLimits.ownMessages)
      precondition((0...ClientLimits.largestNumber + 1 + group.own.count).contains(group.place.seq))
      precondition((0...ClientLimits.largestNumber).contains(group.place.changeSeq))
    }
    precondition(held.count == tracker.held.count && held.bytes == tracker.held.bytes, "the sum of what waits is another")
    precondition(tracker.toldUntil <= ClientLimits.largestNumber)
    precondition(state.ended.count <= ClientLimits.groups && state.unexplained.count <= ClientLimits.groups)
  }

  // MARK: Frames

  /// However the bytes are cut, the same comes out.
  private static func decode(_ bytes: [UInt8]) {
    let whole = outputs(of: bytes, by: max(1, bytes.count))
    precondition(whole == outputs(of: bytes, by: Int(bytes.first ?? 0) % 7 + 1), "pieces make other frames")
    for case .message(let message) in whole.outputs {
      precondition(message.count <= bytes.count)
      _ = try? ServerFrame(message)
    }
    _ = try? Upgrade(subprotocol: "", key: "dGhlIHNhbXBsZSBub25jZQ==").accept(bytes)
    var output: [UInt8] = []
    for case .ping(let payload) in whole.outputs { FrameEncoder.answer(ping: payload, in: &output) }
    precondition(output.count <= (64 << 10) + 131)
  }

  private struct Decoded: Equatable {
    var outputs: [FrameDecoder.Output] = []
    var fault: FrameDecoder.Fault?
  }

  private static func outputs(of bytes: [UInt8], by count: Int) -> Decoded {
    var decoder = FrameDecoder()
    var decoded = Decoded()
    do throws(FrameDecoder.Fault) {
      for start in stride(from: 0, to: bytes.count, by: count) {
        decoder.append(bytes[start..<min(bytes.count, start + count)])
        while let output = try decoder.next() { decoded.outputs.append(output) }
      }
    } catch {
      decoded.fault = error
    }
    return decoded
  }
}

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  ClientFuzzer.run(UnsafeRawBufferPointer(start: data, count: count))
  return 0
}
