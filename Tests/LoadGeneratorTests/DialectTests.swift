import GroupModel
import Testing
import WireProtocol

@testable import LoadGenerator

@Suite struct DialectTests {
  private func throng() throws -> ThrongDialect {
    try ThrongDialect(
      address: Address(url: "ws://h:1/ws"), groupType: .public, sessions: 3, token: { "token-of-\($0)" })
  }

  private func read(_ dialect: any Dialect, _ text: String, step: Int? = nil) -> ServerMessage {
    let padded = Array(text.utf8) + [UInt8](repeating: 0, count: JSONParser.padding)
    return padded.withUnsafeBytes {
      dialect.parse(UnsafeRawBufferPointer(rebasing: $0.prefix(text.utf8.count)), on: 0, step: step)
    }
  }

  @Test func repliesAreUnderstood() throws {
    let dialect = try throng()
    func reply(_ rest: String) -> ServerMessage { read(dialect, #"{"jsonrpc":"2.0","id":17,\#(rest)}"#) }
    func status(_ name: String) -> ServerMessage { reply(#""result":{"msgID":"m","timestamp":1,"status":"\#(name)"}"#) }
    #expect(status("Delivered") == .reply(id: 17, .delivered))
    #expect(status("Stored") == .reply(id: 17, .stored))
    #expect(status("Dropped") == .reply(id: 17, .dropped))
    #expect(status("Queued") == .reply(id: 17, .queued(messageID: "m")))
    #expect(reply(#""result":{}"#) == .reply(id: 17, .done))
    #expect(
      reply(#""error":{"code":7008,"message":"Too many","data":{}}"#) == .reply(id: 17, .failed(code: 7008, "Too many")))
    #expect(reply(#""other":1"#) == .reply(id: 17, .failed(code: 0, "a reply without result and error")))
  }

  @Test func statusesCountWhileTheyAreMeasured() throws {
    let dialect = try throng()
    let rows = #"[{"userID":"a"},{"userID":"b"}]"#
    let event = #"{"jsonrpc":"2.0","method":"onUsersStatusChanged","params":{"opTime":1,"userList":\#(rows)}}"#
    #expect(read(dialect, event) == .nothing && dialect.statusEvents == 0, "nobody measures")
    dialect.countsStatuses = { true }
    for _ in 0..<3 { _ = read(dialect, event) }
    _ = read(dialect, #"{"jsonrpc":"2.0","method":"onMemberEnter","params":{"userList":[{}]}}"#)
    #expect(dialect.statusEvents == 3 && dialect.statusRows == 6)
    let request = String(decoding: dialect.subscribe(to: [1, 2], id: -7), as: UTF8.self)
    #expect(request.contains(#""method":"subscribeUsersStatus""#) && request.contains(dialect.user(1)) && request.contains("-7"))
  }

  @Test func anInvitationThatFailsForAUserFails() throws {
    let rows = #"{"memberList":[{"userID":"a","result":"Success"},{"userID":"b","result":"OverLimit"}]}"#
    let reading = read(try throng(), #"{"jsonrpc":"2.0","id":-1,"result":\#(rows)}"#)
    guard case .reply(-1, .failed(_, let message)) = reading else { return #expect(Bool(false), "\(reading)") }
    #expect(message.contains("b") && message.contains("OverLimit"))
  }

  @Test func signingInAndJoiningAreTheSteps() throws {
    let dialect = try throng()
    dialect.setupAction = { $0 == 0 ? .createGroup(4) : $0 == 1 ? .joinGroup(4) : .signIn }
    let first = try #require(dialect.step(0, of: 0))
    #expect(first.text == nil && first.waits)
    #expect(read(dialect, #"{"jsonrpc":"2.0","method":"onConnectSuccess","params":{}}"#, step: 0) == .stepDone)
    #expect(read(dialect, #"{"jsonrpc":"2.0","method":"onConnectSuccess","params":{}}"#) == .nothing)
    let create = String(decoding: try #require(dialect.step(1, of: 0)?.text), as: UTF8.self)
    #expect(create.contains(#""method":"createGroup""#) && create.contains(dialect.groupID(4)))
    #expect(create.contains(#""groupType":"Public""#) && create.contains(#""joinMode":"Any""#))
    let join = String(decoding: try #require(dialect.step(1, of: 1)?.text), as: UTF8.self)
    #expect(join.contains(#""method":"joinGroup""#) && join.contains(dialect.groupID(4)))
    #expect(dialect.step(1, of: 2) == nil && dialect.step(2, of: 0) == nil)
  }

  @Test func aGroupCountsAsMadeUntilItIsRefused() throws {
    let dialect = try throng()
    dialect.setupAction = { $0 == 2 ? .joinGroup(4) : .createGroup(4 + $0) }
    func answer(_ rest: String) { _ = read(dialect, #"{"jsonrpc":"2.0","id":0,\#(rest)}"#, step: 1) }
    #expect(dialect.step(0, of: 0) != nil && dialect.createdGroups.isEmpty, "nothing was asked for before signing in")
    for number in 0..<3 { _ = dialect.step(1, of: number) }
    #expect(dialect.createdGroups == [0: 4, 1: 5] && dialect.creating == [0, 1])
    answer(#""error":{"code":10036,"message":"as many as allowed"}"#)
    #expect(dialect.createdGroups == [1: 5] && dialect.creating == [1])
    _ = dialect.step(1, of: 0)
    answer(#""result":{"groupID":"g"}"#)
    #expect(dialect.createdGroups == [0: 4, 1: 5] && dialect.creating == [1])
  }

  @Test func beingAMemberAlreadyCountsAsJoined() throws {
    let dialect = try throng()
    func answer(_ rest: String) -> ServerMessage { read(dialect, #"{"jsonrpc":"2.0","id":0,\#(rest)}"#, step: 1) }
    #expect(answer(#""result":{"status":"Joined"}"#) == .stepDone)
    #expect(answer(#""error":{"code":10013,"message":"a member"}"#) == .stepDone)
    #expect(answer(#""error":{"code":10014,"message":"full"}"#) == .stepFailed("10014 full"))
    #expect(answer(#""result":{"status":"Pending"}"#) == .stepFailed("the group asks its managers first"))
  }

  @Test func eventsThatMatter() throws {
    let dialect = try throng()
    let dropped = #"{"jsonrpc":"2.0","method":"onMessageDropped","params":{"groupID":"g","msgID":"m","reason":"RateLimit"}}"#
    #expect(read(dialect, dropped) == .dropped(messageID: "m"))
    #expect(read(dialect, #"{"jsonrpc":"2.0","method":"onMemberEnter","params":{}}"#) == .nothing)
    #expect(read(dialect, "no JSON") == .nothing)
  }

  @Test func theTokenIsInTheUpgradeAndIDsAreValid() throws {
    let dialect = try throng()
    let request = String(decoding: dialect.upgrade(of: 2, offersDeflate: false), as: UTF8.self)
    #expect(request.hasPrefix("GET /ws?token=token-of-\(dialect.user(2)) HTTP/1.1\r\n"))
    #expect(UserID(dialect.user(59_999)) != nil)
    #expect(GroupID(dialect.groupID(29_999)) != nil)
  }

  @Test(arguments: [21, 22, 250]) func aMessagesTextHasTheSize(size: Int) throws {
    let template = try throng().message(to: 0, size: size, priority: .low)
    let text = template.text(connection: 0)
    let parser = JSONParser()
    let params = try #require(parser.parse(text)?["params"])
    #expect(params["text"]?.string?.utf8.count == size)
    #expect(params["priority"]?.string == "Low")
  }

  @Test func anotherServerIsSpokenToAsTheTextsSay() throws {
    let description = TemplateDescription(
      subprotocol: "p", hellos: [.init(text: "login %d", ready: "ok"), .init(text: "go", ready: nil)], publish: "say %t%p",
      isBinary: true)
    let dialect = TemplateDialect(address: try Address(url: "ws://h:1/x%d"), description, size: 40) { _ in 0 }
    #expect(String(decoding: dialect.upgrade(of: 7, offersDeflate: false), as: UTF8.self).hasPrefix("GET /x7 HTTP/1.1\r\n"))
    #expect(dialect.opcode == Frame.Opcode.binary)
    #expect(dialect.step(0, of: 7)?.text == Array("login 7".utf8))
    #expect(dialect.step(0, of: 7)?.waits == true && dialect.step(1, of: 7)?.waits == false)
    #expect(dialect.step(2, of: 7) == nil)
    #expect(read(dialect, "it is ok now", step: 0) == .stepDone)
    #expect(read(dialect, "o k", step: 0) == .nothing && read(dialect, "o", step: 0) == .nothing)
    #expect(read(dialect, "ok", step: 1) == .nothing && read(dialect, "ok") == .nothing)
    #expect(dialect.message(to: 0).text(connection: 0).count == 40)
  }

  @Test func anotherServerIsToldTheGroupOfAConnection() throws {
    let description = TemplateDescription(
      subprotocol: nil, hellos: [.init(text: "join %g as %d", ready: nil)], publish: "%g:%d:%t%p", isBinary: false)
    let dialect = TemplateDialect(address: try Address(url: "ws://h:1/%g"), description, size: 60) { $0 % 5 }
    #expect(String(decoding: dialect.upgrade(of: 7, offersDeflate: false), as: UTF8.self).hasPrefix("GET /2 HTTP/1.1\r\n"))
    #expect(dialect.step(0, of: 7)?.text == Array("join 2 as 7".utf8))
    let message = dialect.message(to: 2).text(connection: 7)
    #expect(message.starts(with: Array("2:7:~T".utf8)) && message.count == 60)
  }
}
