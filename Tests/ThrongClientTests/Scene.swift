import Foundation

@testable import ThrongClient

/// A client's state with a server that answers as a test says.
struct Scene {
  var state: ClientState
  private(set) var now = ContinuousClock.now
  /// Everything that was done and not taken yet.
  private(set) var effects: [ClientEffect] = []
  /// The requests that were not answered yet, in their order.
  private(set) var requests: [Request] = []

  struct Request: Decodable {
    let id: Int
    let method: String
    let params: JSONValue
  }

  init(token: TokenSource = .fixed("token"), options: ClientOptions = ClientOptions(), random: Double = 1) {
    state = ClientState(token: token, options: options, random: { random }, now: now)
  }

  static let renewable = TokenSource.renewable { "not asked: the test answers" }

  mutating func feed(_ input: ClientInput) {
    for effect in state.handle(input, at: now) {
      effects.append(effect)
      if case .transmit(let frame) = effect {
        do {
          requests.append(try JSONDecoder().decode(Request.self, from: frame))
        } catch {
          preconditionFailure("no request: \(error)")
        }
      }
      if case .disconnect = effect { requests = [] }
    }
  }

  mutating func pass(_ duration: Duration) { now += duration }

  /// The number of the attempt that is under way.
  var attempt: Int { state.attempt ?? 0 }

  mutating func receive(_ text: String) { feed(.received(attempt: attempt, Data(text.utf8))) }

  mutating func event(_ name: String, _ params: String) {
    receive("{\"jsonrpc\":\"2.0\",\"method\":\"\(name)\",\"params\":\(params)}")
  }

  /// Answers the oldest request of that method.
  mutating func answer(_ method: String, _ result: String) {
    receive("{\"jsonrpc\":\"2.0\",\"id\":\(take(method)),\"result\":\(result)}")
  }

  mutating func refuse(
    _ method: String, code: Int, temporary: Bool = false, retryAfterMs: Int = 0, field: String? = nil
  ) {
    let named = field.map { ",\"field\":\"\($0)\"" } ?? ""
    let data = "{\"temporary\":\(temporary),\"retryAfterMs\":\(retryAfterMs)\(named)}"
    let error = "{\"code\":\(code),\"message\":\"no\",\"data\":\(data)}"
    receive("{\"jsonrpc\":\"2.0\",\"id\":\(take(method)),\"error\":\(error)}")
  }

  private mutating func take(_ method: String) -> Int {
    guard let index = requests.firstIndex(where: { $0.method == method }) else {
      preconditionFailure("no \(method) among \(requests.map(\.method))")
    }
    return requests.remove(at: index).id
  }

  func asked(_ method: String) -> [JSONValue] { requests.filter { $0.method == method }.map(\.params) }

  mutating func takeEffects() -> [ClientEffect] {
    defer { effects = [] }
    return effects
  }

  // MARK: Steps

  static func session(ttl: Int = 3_600, user: String = "alice", at time: Int = 1_000_000) -> String {
    "{\"userID\":\"\(user)\",\"sessionID\":\"s\",\"serverTime\":\(time),\"tokenExpiresAt\":\(time + ttl * 1000),\"heartbeat\":25}"
  }

  mutating func connect() {
    feed(.connect)
    open()
  }

  mutating func open(_ session: String = Scene.session()) {
    feed(.opened(attempt: attempt))
    answer("login", session)
  }

  static let noGroups = "{\"groupList\":[],\"leftGroupIDList\":[],\"nextSeq\":0}"

  static func groups(_ infos: String..., left: [String] = []) -> String {
    let gone = left.map { "\"\($0)\"" }.joined(separator: ",")
    return "{\"groupList\":[\(infos.joined(separator: ","))],\"leftGroupIDList\":[\(gone)],\"nextSeq\":0}"
  }

  /// - Parameter firstSeq: nil in a live room that remembers its last messages.
  static func info(
    _ groupID: String, type: String = "Public", lastSeq: Int = 0, changeSeq: Int = 0, epoch: String = "e", firstSeq: Int? = 1
  ) -> String {
    let kept = firstSeq.map { "\"firstSeq\":\($0)," } ?? ""
    return """
      {"groupID":"\(groupID)","groupType":"\(type)","groupName":"g","introduction":"","faceURL":"","owner":"bob","createTime":1,
      "memberCount":2,"onlineCount":1,"maxMemberNum":0,"customInfo":{},"lastSeq":\(lastSeq),"changeSeq":\(changeSeq),
      \(kept)"epoch":"\(epoch)","selfInfo":{"role":"Member","joinTime":1,"nameCard":"","muteUntil":0,"receiveMessageOpt":"Receive",
      "readSeq":0,"unreadCount":0,"customInfo":{}}}
      """
  }

  /// The same as a value.
  static func decoded(_ groupID: String, type: String = "Public", lastSeq: Int = 0) -> GroupInfo {
    do {
      let text = info(groupID, type: type, lastSeq: lastSeq, firstSeq: type == "AVChatRoom" ? nil : 1)
      return try JSONDecoder().decode(GroupInfo.self, from: Data(text.utf8))
    } catch {
      preconditionFailure("no group: \(error)")
    }
  }

  static func message(_ groupID: String, seq: Int, sender: String = "bob", clientMsgID: String? = nil, changeSeq: Int? = nil)
    -> String
  {
    let more = (clientMsgID.map { ",\"clientMsgID\":\"\($0)\"" } ?? "") + (changeSeq.map { ",\"changeSeq\":\($0)" } ?? "")
    return "{\"msgID\":\"m\(seq)\",\"groupID\":\"\(groupID)\",\"seq\":\(seq),\"sender\":\"\(sender)\",\"timestamp\":1,"
      + "\"type\":\"Text\",\"text\":\"\(seq)\",\"priority\":\"Normal\",\"platform\":\"Web\"\(more)}"
  }

  mutating func newMessage(_ groupID: String, seq: Int) {
    event("onRecvNewMessage", "{\"groupID\":\"\(groupID)\",\"opTime\":1,\"message\":\(Scene.message(groupID, seq: seq))}")
  }

  /// Connects as a member of one group, and takes the effects.
  mutating func connect(in groupID: String, type: String = "Public", lastSeq: Int = 10) {
    connect()
    answer("getJoinedGroupList", Scene.groups(Scene.info(groupID, type: type, lastSeq: lastSeq)))
    _ = takeEffects()
  }

  /// Loses the connection and makes the next, up to its sign-in.
  mutating func reconnect() {
    feed(.ended(attempt: attempt, .closed(code: 1006, reason: "cut"), didOpen: true))
    feed(.fired(.retry))
    open()
  }

  /// Loses the connection; the next one's sign-in is refused.
  mutating func reconnectRefused(code: Int) {
    feed(.ended(attempt: attempt, .closed(code: 1006, reason: "cut"), didOpen: true))
    feed(.fired(.retry))
    feed(.opened(attempt: attempt))
    refuse("login", code: code)
  }
}

extension Array where Element == ClientEffect {
  var events: [ClientEvent] {
    compactMap { effect in
      if case .tell(let event, _) = effect { event } else { nil }
    }
  }

  var states: [ConnectionState] {
    events.compactMap { event in
      if case .state(let state) = event { state } else { nil }
    }
  }

  var messages: [LocalMessage] {
    events.compactMap { event in
      if case .message(let message) = event { message } else { nil }
    }
  }

  var syncs: [GroupSync] {
    events.compactMap { event in
      if case .sync(let sync) = event { sync } else { nil }
    }
  }

  var readies: [Ready] {
    events.compactMap { event in
      if case .ready(let ready) = event { ready } else { nil }
    }
  }

  /// The seqs of onRecvNewMessage.
  var newMessages: [Int] {
    events.compactMap { event in
      if case .server(.onRecvNewMessage(let event)) = event { event.message.seq } else { nil }
    }
  }

  func delay(of timer: ClientTimer) -> Duration? {
    reversed().lazy.compactMap { effect in
      if case .start(timer, let delay) = effect { delay } else { nil }
    }.first
  }

  /// What the store is told.
  var storeEvents: [StoreEvent] {
    flatMap { effect -> [StoreEvent] in
      if case .store(let events, _) = effect { events } else { [] }
    }
  }

  /// The error of a call; nil = none was answered.
  func error(of call: Int) -> (any Error)? {
    for case .answer(call, .failure(let error)) in self { return error }
    return nil
  }

  var asksForToken: Bool { contains { if case .readToken = $0 { true } else { false } } }
  var opens: Bool { contains { if case .open = $0 { true } else { false } } }
}
