import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// A live room that is woken at `nextWake`; its log has the format of `LiveRoomModel`.
struct LiveRoomScene {
  private(set) var state: GroupState
  private(set) var now: WallInstant
  /// Both clocks show the same number.
  private var reading: ClockReading { ClockReading(both: now.milliseconds) }
  private(set) var log: [String] = []
  private(set) var counts: [MessageCount] = []
  /// Violations of the rules.
  private(set) var faults: [String] = []
  /// The newest message that was delivered, where the room remembers them.
  private var lastSeq: Int64 = 0

  /// A room with the members u0 (its owner), u1, u2 and so on. It remembers messages if the limit is
  /// even.
  init(limit: Int, memberCount: Int, at now: WallInstant) {
    self.now = now
    let members = (0..<memberCount).map { number in
      Member(
        userID: UserID(stringLiteral: "u\(number)"), role: number == 0 ? .owner : .member, joinTime: 0, ordinal: Int64(number),
        receiveOption: .receiveNotNotify)
    }
    let record = GroupRecord(
      id: "g", type: .avChatRoom, epoch: "e", createTime: 0, owner: "u0", name: "n", maxMemberNum: 0,
      policy: .defaults(for: .avChatRoom), nextOrdinal: Int64(memberCount + 1))
    var limits = GroupLimits.standard
    limits.messagesPerSecond = [.avChatRoom: limit]
    state = GroupState(
      StoredGroup(record: record, members: members, lastMessage: nil, recentlySent: []), at: ClockReading(both: now.milliseconds),
      rules: GroupRules(limits: limits))
    if limit.isMultiple(of: 2) { state.live = LiveHistory(epoch: "memory") }
  }

  /// Removes and returns the lines since the last call.
  mutating func takeLog() -> [String] {
    defer { log = [] }
    return log
  }

  /// - Parameter lateness: of each wake-up.
  mutating func pass(until end: WallInstant, late lateness: () -> Int64 = { 0 }) {
    while let wake = state.nextWake {
      let instant = max(WallInstant(wake.milliseconds + lateness()), now)
      guard instant <= end else { break }
      now = instant
      write(state.wake(at: reading))
      if let next = state.nextWake, next <= reading.monotonic {
        return faults.append("\(now): wants to be woken again at \(next)")
      }
    }
    now = end
  }

  /// u1, u2 and u3 take turns.
  mutating func send(_ number: Int, _ priority: Priority) {
    let options = MessageOptions(priority: priority, clientMsgID: "\(number)")
    let decision = ask(
      .request(.sendGroupTextMessage(SendGroupTextMessage(text: "\(number)", options: options))), as: 1 + number % 3)
    guard case .reply(.success(.receipt(let receipt))) = decision.answer else {
      return faults.append("\(now): \(number) was refused")
    }
    log.append("\(now) \(number) \(receipt.status.rawValue)")
    let seq = state.live != nil && receipt.status == .delivered ? lastSeq : nil
    if receipt.seq != seq { faults.append("\(now): \(number) is answered with the place \(receipt.seq ?? 0)") }
  }

  mutating func join(_ number: Int) throws {
    _ = ask(try groupRequest("joinGroup", by: LiveRoomScene.caller(number)), as: number)
  }

  mutating func leave(_ number: Int) { _ = ask(.request(.quitGroup(QuitGroup())), as: number) }

  private mutating func ask(_ request: GroupOperation, as number: Int) -> Decision {
    let decision = state.decide(request, by: LiveRoomScene.caller(number), at: reading)
    write(decision)
    if let next = state.nextWake, next <= reading.monotonic { faults.append("\(now): wants to be woken at \(next)") }
    return decision
  }

  private static func caller(_ number: Int) -> Caller {
    .user(UserID(stringLiteral: "u\(number)"), platform: .web, session: session(number))
  }

  private static func session(_ number: Int) -> SessionKey { SessionKey(loop: 0, connection: UInt64(number)) }

  private mutating func write(_ decision: Decision) {
    counts += decision.counts
    for effect in decision.effects {
      switch effect {
      case .publish(let event, let kind, let session): write(published: event.frame, kind, except: session)
      case .sendToSession(let event, let session): write(told: event.frame, session)
      case .send(let event, let users, _): write(sent: event.frame, to: users)
      case .attach, .setReceiveOption, .attachSignedInUsers, .detach, .forgetContent, .disband, .post, .noteReceipts: break
      }
    }
  }

  private mutating func write(published frame: [UInt8], _ kind: EventClass, except session: SessionKey?) {
    guard let event = try? JSON(frame) else { return faults.append("no JSON") }
    switch event["method"].string {
    case "onRecvNewMessage":
      let seq = event["params"]["message"]["seq"].integer
      if state.live != nil { lastSeq += 1 }
      if seq != (state.live == nil ? nil : lastSeq) { faults.append("\(now): the place \(seq ?? 0) in place of \(lastSeq)") }
      let number = event["params"]["message"]["text"].string ?? "?"
      log.append("\(now) deliver \(number)")
      if session != Int(number).map({ LiveRoomScene.session(1 + $0 % 3) }) {
        faults.append("\(now): \(number) goes to its sender")
      }
      if kind != .liveChat(fromManager: false) { faults.append("\(now): \(number) is \(kind)") }
    case "onMemberEnter": write("enter", event["params"], kind)
    case "onMemberLeave": write("leave", event["params"], kind)
    default: faults.append("\(now): \(event)")
    }
  }

  private mutating func write(_ word: String, _ params: JSON, _ kind: EventClass) {
    let users = params["memberList"].elements.compactMap { $0["userID"].string }.joined(separator: ",")
    log.append("\(now) \(word) \(users) of \(params["memberCount"].integer ?? -1)")
    if kind != .notice { faults.append("\(now): \(word) is \(kind)") }
  }

  private mutating func write(told frame: [UInt8], _ session: SessionKey) {
    guard let event = try? JSON(frame), event["method"] == "onMessageDropped",
      let number = event["params"]["clientMsgID"].string.flatMap({ Int($0) })
    else { return faults.append("\(now): a session was told something else") }
    log.append("\(now) drop \(number)")
    if session != LiveRoomScene.session(1 + number % 3) { faults.append("\(now): \(session) was told of \(number)") }
  }

  private mutating func write(sent frame: [UInt8], to users: [UserID]) {
    guard let event = try? JSON(frame), event["method"] == "onMemberEnter" else { return }
    let named = event["params"]["memberList"].elements.compactMap { $0["userID"].string }.joined(separator: ",")
    log.append("\(now) own \(named) of \(event["params"]["memberCount"].integer ?? -1)")
    if users.map(\.description) != [named] { faults.append("\(now): \(users) were told that \(named) came") }
  }
}
