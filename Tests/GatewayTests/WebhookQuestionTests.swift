import GroupModel
import GroupRuntime
import Synchronization
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// An application whose answers a test gives, one question after the other.
private final class Application: WebhookAsking {
  private struct State {
    var questions: [WebhookQuestion] = []
    var open: [(text: String, answer: CheckedContinuation<WebhookVerdict, Never>)] = []
  }

  private let types: WebhookTypes
  private let immediate: WebhookVerdict?
  private let state = Mutex(State())

  /// - Parameter immediate: answers every question; nil = `answer` does.
  init(_ types: [WebhookType], immediate: WebhookVerdict? = .allow(replacement: nil)) {
    self.types = WebhookTypes(types)
    self.immediate = immediate
  }

  var questions: [WebhookQuestion] { state.withLock { $0.questions } }

  func asks(_ type: WebhookType) -> Bool { types.contains(type) }

  func verdict(on question: WebhookQuestion) async -> WebhookVerdict {
    if let immediate {
      state.withLock { $0.questions.append(question) }
      return immediate
    }
    return await withCheckedContinuation { continuation in
      state.withLock { state in
        state.questions.append(question)
        state.open.append((String(decoding: question.data, as: UTF8.self), continuation))
      }
    }
  }

  /// Answers the open question about the message of this text; those of several sessions come in any order.
  func answer(_ text: String, _ verdict: WebhookVerdict) throws {
    let question = state.withLock { state in
      state.open.firstIndex { $0.text.contains(#""text":"\#(text)""#) }.map { state.open.remove(at: $0) }
    }
    try #require(question).answer.resume(returning: verdict)
  }
}

private final class Posts: WebhookPoster {
  func searchStore() {}
  private let entries = Mutex<[WebhookEntry]>([])
  var types: [WebhookType] { entries.withLock { $0.map(\.type) } }
  var pendingCount: Int { entries.withLock { $0.count } }
  func post(_ entry: WebhookEntry) { entries.withLock { $0.append(entry) } }
  func retryFailures() async throws(StoreError) -> Int { 7 }
}

/// Before-events in the dispatcher (Protocol.md, "Webhooks").
@Suite struct WebhookQuestionTests {
  private static let asked: [WebhookType] = [.beforeCreateGroup, .beforeJoinGroup, .beforeInvite, .beforeSendMessage]

  private let posts = Posts()

  private func backend(_ application: Application?, rules: GroupRules = GroupRules()) -> Backend {
    Backend(rules: rules, webhooks: WebhookServices(poster: posts, asking: application))
  }

  private func create(_ backend: Backend, _ id: GroupID = "g", by user: UserID = "olga") async throws -> JSON {
    try await backend.ask(.createGroup(CreateGroup(groupType: .meeting, groupName: "n", groupID: id)), by: user)
  }

  private func send(_ text: String, clientMsgID: String? = nil) -> Request {
    .group("g", .sendGroupTextMessage(SendGroupTextMessage(text: text, options: MessageOptions(clientMsgID: clientMsgID))))
  }

  /// Replies of one session's requests, in the order of their coming.
  private final class Replies: Sendable {
    private let all = Mutex<[(name: String, code: Int)]>([])
    var names: [String] { all.withLock { $0.map(\.name) } }
    func add(_ name: String, _ reply: Reply) {
      let code = if case .failure(let error) = reply { error.code.rawValue } else { 0 }
      all.withLock { $0.append((name, code)) }
    }
    func code(_ name: String) -> Int? { all.withLock { $0.first { $0.name == name }?.code } }
  }

  private func start(_ backend: Backend, _ name: String, _ request: Request, by caller: Caller, _ replies: Replies) {
    backend.services.dispatcher.dispatch(request, by: caller) { replies.add(name, $0) }
  }

  private func olga(_ connection: UInt64) -> Caller {
    .user("olga", platform: .web, session: SessionKey(loop: 0, connection: connection))
  }

  @Test func questionsHoldTheRequest() async throws {
    let application = Application(Self.asked)
    let backend = backend(application)
    #expect(try await create(backend)["error"] == .null)
    #expect(try await backend.rpc("joinGroup", #"{"asUser":"mary","groupID":"g","message":"m"}"#)["error"] == .null)
    #expect(try await backend.ask(send("hi", clientMsgID: "c"), by: "mary")["result"]["status"].string == "Stored")
    let questions = application.questions
    #expect(questions.map(\.type) == [.beforeCreateGroup, .beforeJoinGroup, .beforeSendMessage])
    #expect(questions.map(\.subject) == [.other, .other, .text])
    let texts = questions.map { String(decoding: $0.data, as: UTF8.self) }
    #expect(
      texts == [
        #"{"userID":"olga","platform":"Unknown","groupID":"g","groupType":"Meeting","groupName":"n"}"#,
        #"{"userID":"mary","platform":"RESTful API","groupID":"g","message":"m"}"#,
        #"{"userID":"mary","platform":"Unknown","groupID":"g","message":{"type":"Text","text":"hi","priority":"Normal","clientMsgID":"c"}}"#,
      ])
  }

  /// "Asked after rights and state were checked once."
  @Test func nothingIsAskedAboutWhatIsRefusedAnyway() async throws {
    let application = Application(Self.asked)
    let backend = backend(application)
    _ = try await create(backend)
    #expect(try await create(backend, by: "mary")["error"]["code"].integer == 10021)
    #expect(try await backend.ask(send("x"), by: "mary")["error"]["code"].integer == 10007)
    for (group, code) in [("g", 10013), ("h", 10010)] {
      let refused = try await backend.rpc("joinGroup", #"{"asUser":"olga","groupID":"\#(group)"}"#)
      #expect(refused["error"]["code"].integer == Int64(code))
    }
    #expect(application.questions.map(\.type) == [.beforeCreateGroup])
  }

  @Test func typesThatAreNotConfiguredAreNotAsked() async throws {
    let application = Application([.beforeInvite])
    let backend = backend(application)
    _ = try await create(backend)
    #expect(try await backend.ask(send("x"), by: "olga")["result"]["seq"].integer == 1)
    #expect(application.questions.isEmpty)
  }

  @Test func theApplicationIsNotAskedAboutItself() async throws {
    let application = Application(Self.asked, immediate: .refuse(WireError(.refusedByApplication)))
    let backend = backend(application)
    let created = try await backend.rpc(
      "createGroup", #"{"groupType":"Work","groupName":"n","groupID":"g","ownerUserID":"olga"}"#)
    #expect(created["result"]["groupID"].string == "g")
    #expect(try await backend.rpc("sendGroupTextMessage", #"{"groupID":"g","text":"x"}"#)["result"]["seq"].integer == 1)
    let asUser = try await backend.rpc("sendGroupTextMessage", #"{"groupID":"g","text":"x","asUser":"olga"}"#)
    #expect(asUser["error"]["code"].integer == 10016 && asUser["error"]["data"]["temporary"].bool == false)
    #expect(application.questions.count == 1)
  }

  @Test func aSilenceThatRefusesIsTemporary() async throws {
    let backend = backend(Application([.beforeCreateGroup], immediate: .refuse(.applicationSilent)))
    let refused = try await create(backend)
    #expect(refused["error"]["code"].integer == 10016 && refused["error"]["data"]["temporary"].bool == true)
  }

  @Test func contentIsReplacedAndARepetitionAnsweredAtOnce() async throws {
    let application = Application([.beforeSendMessage], immediate: .allow(replacement: "other"))
    let backend = backend(application)
    _ = try await create(backend)
    let first = try await backend.ask(send("x", clientMsgID: "c"), by: "olga")
    #expect(backend.store.inner.allMessages(of: "g").map(\.content) == [.text("other")])
    #expect(try await backend.ask(send("x", clientMsgID: "c"), by: "olga") == first)
    #expect(application.questions.count == 1)
  }

  /// Everything is checked again with the answer, and meanwhile other requests go on.
  @Test func stateMayChangeWhileTheApplicationThinks() async throws {
    let application = Application([.beforeSendMessage], immediate: nil)
    let backend = backend(application)
    _ = try await create(backend)
    let replies = Replies()
    start(backend, "sent", send("x"), by: olga(1), replies)
    try await waitUntil("asked") { application.questions.count == 1 }
    #expect(try await backend.rpc("dismissGroup", #"{"groupID":"g"}"#)["error"] == .null)
    try application.answer("x", .allow(replacement: nil))
    try await waitUntil("answered") { !replies.names.isEmpty }
    #expect(replies.code("sent") == 10010)
  }

  /// "Those of one session to one group keep their order"; other sessions and groups go on.
  @Test func aSessionsRequestsToOneGroupKeepTheirOrder() async throws {
    let application = Application([.beforeSendMessage], immediate: nil)
    let backend = backend(application)
    _ = try await create(backend)
    _ = try await create(backend, "h")
    let replies = Replies()
    start(backend, "first", send("1"), by: olga(1), replies)
    start(backend, "second", send("2"), by: olga(1), replies)
    start(backend, "quit", .group("g", .quitGroup(QuitGroup())), by: olga(1), replies)
    start(backend, "other group", .group("h", .quitGroup(QuitGroup())), by: olga(1), replies)
    start(backend, "other session", send("3"), by: olga(2), replies)
    try await waitUntil("the other group's reply, and both sessions asked") {
      replies.names == ["other group"] && application.questions.count == 2
    }
    try application.answer("1", .refuse(WireError(.application10120)))
    try await waitUntil("the second is asked about") { application.questions.count == 3 }
    #expect(replies.names == ["other group", "first"] && replies.code("first") == 10120)
    try application.answer("3", .allow(replacement: nil))
    try await waitUntil("the other session's") { replies.names.contains("other session") }
    #expect(!replies.names.contains("quit"))
    try application.answer("2", .allow(replacement: nil))
    try await waitUntil("all") { replies.names.count == 5 }
    #expect(replies.names.suffix(2) == ["second", "quit"])
    #expect(backend.services.dispatcher.requestOrder.count == 0)
  }

  @Test func aDropIsAnsweredAsIfItWereSent() async throws {
    let backend = backend(
      Application([.beforeSendMessage], immediate: .drop), rules: GroupRules(webhooks: WebhookTypes([.messageDropped])))
    _ = try await create(backend)
    let reply = try await backend.ask(send("x"), by: "olga")
    #expect(reply["result"]["status"].string == "Dropped" && reply["result"].names == ["msgID", "status", "timestamp"])
    #expect(backend.store.inner.allMessages(of: "g").isEmpty && posts.types == [.messageDropped])
  }

  // MARK: Edits

  private func edit(_ text: String, seq: Int64 = 1) -> Request {
    .group("g", .modifyGroupMessage(ModifyGroupMessage(seq: seq, content: .text(text))))
  }

  @Test func anEditIsAskedAboutUnlessItIsRefusedOrChangesNothing() async throws {
    let application = Application([.beforeModifyMessage], immediate: .allow(replacement: "other"))
    let backend = backend(application, rules: GroupRules(webhooks: WebhookTypes([.messageModified])))
    _ = try await create(backend)
    _ = try await backend.ask(send("x"), by: "olga")
    #expect(try await backend.ask(edit("y", seq: 2), by: "olga")["error"]["code"].integer == 10030)
    #expect(try await backend.ask(edit("x"), by: "olga")["result"].names == [])
    #expect(application.questions.isEmpty)
    #expect(try await backend.ask(edit("y"), by: "olga")["result"].names == ["editTime"])
    #expect(application.questions.map(\.type) == [.beforeModifyMessage] && application.questions.map(\.subject) == [.text])
    #expect(
      application.questions.map { String(decoding: $0.data, as: UTF8.self) } == [
        #"{"userID":"olga","platform":"Unknown","groupID":"g","message":{"type":"Text","text":"y","priority":"Normal","seq":1}}"#
      ])
    #expect(backend.store.inner.allMessages(of: "g").map(\.content) == [.text("other")])
    #expect(posts.types == [.messageModified])
  }

  /// An edit brings in nothing that could not be sent: who moderates sends alone is asked about it, too.
  @Test func anEditIsAskedAboutAsASendWhereNothingElseAsks() async throws {
    let application = Application([.beforeSendMessage], immediate: .allow(replacement: "other"))
    let backend = backend(application)
    _ = try await create(backend)
    _ = try await backend.ask(send("x"), by: "olga")
    #expect(try await backend.ask(edit("y"), by: "olga")["error"] == .null)
    #expect(application.questions.map(\.type) == [.beforeSendMessage, .beforeSendMessage])
    #expect(application.questions.map(\.user) == ["olga", "olga"])
    let question = try JSON(#require(application.questions.last).data)
    #expect(question["message"]["text"].string == "y" && question["message"]["seq"].integer == 1)
    #expect(backend.store.inner.allMessages(of: "g").map(\.content) == [.text("other")])
  }

  @Test func anEditIsAskedAboutOnce() async throws {
    let application = Application([.beforeSendMessage, .beforeModifyMessage])
    let backend = backend(application)
    _ = try await create(backend)
    _ = try await backend.ask(send("x"), by: "olga")
    _ = try await backend.ask(edit("y"), by: "olga")
    #expect(application.questions.map(\.type) == [.beforeSendMessage, .beforeModifyMessage])
  }

  /// The application decides over the message, so it sees the options that it was sent with.
  @Test func anEditsQuestionHoldsTheMessagesOptions() async throws {
    let application = Application([.beforeModifyMessage], immediate: .allow(replacement: nil))
    let backend = backend(application)
    _ = try await backend.ask(.createGroup(CreateGroup(groupType: .public, groupName: "n", groupID: "g")), by: "olga")
    let options = MessageOptions(priority: .high, clientMsgID: "c1", atUserIDList: ["max"], needReadReceipt: true)
    let request = SendGroupCustomMessage(data: "x", options: options)
    _ = try await backend.ask(.group("g", .sendGroupCustomMessage(request)), by: "olga")
    let edit = ModifyGroupMessage(seq: 1, content: .custom("y"))
    #expect(try await backend.ask(.group("g", .modifyGroupMessage(edit)), by: "olga")["result"].names == ["editTime"])
    #expect(
      application.questions.map { String(decoding: $0.data, as: UTF8.self) } == [
        #"{"userID":"olga","platform":"Unknown","groupID":"g","message":{"type":"Custom","data":"y","priority":"High","#
          + #""clientMsgID":"c1","atUserIDList":["max"],"needReadReceipt":true,"seq":1}}"#
      ])
  }

  @Test func questionsHoldWhatMostMessagesHaveNot() async throws {
    let application = Application([.beforeSendMessage, .beforeModifyMessage], immediate: .allow(replacement: nil))
    let backend = backend(application)
    _ = try await create(backend)
    _ = try await backend.ask(send("x"), by: "olga")
    _ = try await backend.rpc("joinGroup", #"{"groupID":"g","asUser":"max"}"#)
    let extras = SendExtras(
      extension: "e", replyTo: 1, isExcludedFromUnreadCount: true, isExcludedFromLastMessage: true, toUserIDList: ["max", "zoe"])
    let request = SendGroupTextMessage(text: "t", options: MessageOptions(extras: extras))
    #expect(try await backend.ask(.group("g", .sendGroupTextMessage(request)), by: "olga")["error"] == .null)
    let edit = ModifyGroupMessage(seq: Int64(backend.store.inner.allMessages(of: "g").count), content: nil, extension: "f")
    #expect(try await backend.ask(.group("g", .modifyGroupMessage(edit)), by: "olga")["result"].names == ["editTime"])
    let asked = try application.questions.suffix(2).map { try JSON($0.data)["message"] }
    // An edit of the extension alone has the message's text beside it.
    #expect(application.questions.suffix(2).map(\.subject) == [.text, .text])
    try #require(asked.count == 2)
    #expect(
      asked[0] == [
        "type": "Text", "text": "t", "priority": "Normal", "extension": "e", "replyTo": 1, "isExcludedFromUnreadCount": true,
        "isExcludedFromLastMessage": true, "toUserIDList": ["max", "zoe"],
      ], "as the request gives them")
    #expect(
      asked[1] == [
        "type": "Text", "text": "t", "priority": "Normal", "extension": "f", "replyTo": 1, "isExcludedFromUnreadCount": true,
        "isExcludedFromLastMessage": true, "toUserIDList": ["max"], "seq": .number(Double(edit.seq)),
      ], "as the message would be")
  }

  /// What an edit leaves as it is may be replaced all the same: the application judges the message.
  @Test func aReplacementOfAnEditOfTheExtensionIsTheContent() async throws {
    let application = Application([.beforeModifyMessage], immediate: .allow(replacement: "other"))
    let backend = backend(application)
    _ = try await create(backend)
    _ = try await backend.ask(send("x"), by: "olga")
    let edit = ModifyGroupMessage(seq: 1, content: nil, extension: "e")
    #expect(try await backend.ask(.group("g", .modifyGroupMessage(edit)), by: "olga")["result"].names == ["editTime"])
    let message = backend.store.inner.allMessages(of: "g").first
    #expect(message?.content == .text("other") && message?.extras?.extension == "e")
  }

  /// What would be refused is not asked about, and a drop of a reply answers as if it were sent.
  @Test func aReplyIsCheckedBeforeItIsAskedAbout() async throws {
    let application = Application([.beforeSendMessage], immediate: .drop)
    let backend = backend(application)
    _ = try await create(backend)
    func reply(to seq: Int64) -> Request {
      .group(
        "g", .sendGroupTextMessage(SendGroupTextMessage(text: "r", options: MessageOptions(extras: SendExtras(replyTo: seq)))))
    }
    #expect(try await backend.ask(reply(to: 1), by: "olga")["error"]["code"].integer == 10030)
    #expect(application.questions.isEmpty)
    let unasked = SendGroupTextMessage(text: "x", options: MessageOptions())
    let sent = await backend.services.dispatcher.registry.group("g").ask(
      .request(.sendGroupTextMessage(unasked)), by: .user("olga", platform: .web, session: nil))
    guard case .success = sent else { return #expect(Bool(false)) }
    let dropped = try await backend.ask(reply(to: 1), by: "olga")["result"]
    #expect(dropped["status"].string == "Dropped" && application.questions.count == 1)
    #expect(backend.store.inner.allMessages(of: "g").count == 1)
  }

  @Test func aDroppedEditIsAnsweredAndChangesNothing() async throws {
    let backend = backend(
      Application([.beforeModifyMessage], immediate: .drop),
      rules: GroupRules(webhooks: WebhookTypes([.messageModified, .messageDropped])))
    _ = try await create(backend)
    _ = try await backend.ask(send("x"), by: "olga")
    #expect(try await backend.ask(edit("y"), by: "olga")["result"].names == ["editTime"])
    #expect(backend.store.inner.allMessages(of: "g").map(\.content) == [.text("x")] && posts.types == [])
  }

  // MARK: Failures

  @Test func failuresArePagedAndRetriedByAdministrators() async throws {
    let backend = backend(nil)
    for number in 0..<3 {
      let entry = WebhookEntry(
        id: "id\(number)", .messageSent, data: Array(#"{"n":\#(number)}"#.utf8), in: .group("g"), at: 5, since: 5, number: 0)
      _ = await backend.services.dispatcher.commit([.giveUpWebhook(entry, attempts: 2, lastError: "why")])
    }
    let first = try await backend.rpc("listWebhookFailures", #"{"count":2}"#)["result"]
    #expect(first["failureList"].elements.map { $0["id"].string } == ["id0", "id1"])
    let row = first["failureList"][1]
    #expect(row.names == ["attempts", "data", "id", "lastError", "timestamp", "type"])
    #expect(row["data"]["n"].integer == 1 && row["attempts"].integer == 2 && row["type"].string == "messageSent")
    let next = try #require(first["nextSeq"].integer)
    let second = try await backend.rpc("listWebhookFailures", #"{"count":2,"nextSeq":\#(next)}"#)["result"]
    #expect(second["failureList"].elements.map { $0["id"].string } == ["id2"] && second["nextSeq"].integer == 0)
    #expect(try await backend.rpc("retryWebhooks")["result"]["retried"].integer == 7)
    #expect(try await backend.rpc("retryWebhooks", #"{"asUser":"olga"}"#)["error"]["code"].integer == 10007)
  }

  @Test func withoutWebhooksNothingIsRetried() async throws {
    #expect(try await Backend().rpc("retryWebhooks")["result"]["retried"].integer == 0)
  }
}
