import GroupModel
import GroupRuntime
import Synchronization
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// An application that is asked about infos, and answers alike, or when the test lets it.
private final class InfoApplication: WebhookAsking {
  private struct State {
    var questions: [WebhookQuestion] = []
    var open: [CheckedContinuation<WebhookVerdict, Never>] = []
  }

  private let types: WebhookTypes
  private let immediate: WebhookVerdict?
  private let state = Mutex(State())

  /// - Parameter immediate: answers every question; nil = `answerNext` does.
  init(
    _ types: [WebhookType] = [.beforeSetGroupInfo, .beforeSetMemberInfo, .beforeSetSelfInfo],
    immediate: WebhookVerdict? = .allow(replacement: nil)
  ) {
    self.types = WebhookTypes(types)
    self.immediate = immediate
  }

  var questions: [WebhookQuestion] { state.withLock { $0.questions } }
  var texts: [String] { questions.map { String(decoding: $0.data, as: UTF8.self) } }

  func asks(_ type: WebhookType) -> Bool { types.contains(type) }

  func verdict(on question: WebhookQuestion) async -> WebhookVerdict {
    if let immediate {
      state.withLock { $0.questions.append(question) }
      return immediate
    }
    return await withCheckedContinuation { continuation in
      state.withLock { state in
        state.questions.append(question)
        state.open.append(continuation)
      }
    }
  }

  func answerNext(_ verdict: WebhookVerdict) throws {
    let next = state.withLock { $0.open.isEmpty ? nil : $0.open.removeFirst() }
    try #require(next).resume(returning: verdict)
  }
}

private final class NoPosts: WebhookPoster {
  func searchStore() {}
  var pendingCount: Int { 0 }
  func post(_ entry: WebhookEntry) {}
  func retryFailures() async throws(StoreError) -> Int { 0 }
}

/// beforeSetGroupInfo, beforeSetMemberInfo and beforeSetSelfInfo (Protocol.md, "Before-events"), and
/// the words behind which they come (Protocol.md, "Words").
@Suite struct InfoQuestionTests {
  /// A backend with a Public group `g` of olga, mary and carl.
  private func backend(_ application: InfoApplication?, words: CurrentWords? = nil) async throws -> Backend {
    let services = application.map { WebhookServices(poster: NoPosts(), asking: $0) }
    let backend = Backend(rules: GroupRules(words: words), webhooks: services)
    let members = #"[{"userID":"mary"},{"userID":"carl"}]"#
    let created = try await backend.rpc(
      "createGroup", #"{"groupType":"Public","groupName":"n","groupID":"g","ownerUserID":"olga","memberList":\#(members)}"#)
    try #require(created["error"] == .null)
    return backend
  }

  private func words(_ action: CurrentWords.Action) throws -> CurrentWords {
    CurrentWords(try WordList(parsing: Array("bad".utf8)), action)
  }

  private func code(_ reply: JSON) -> Int64 { reply["error"]["code"].integer ?? 0 }

  // MARK: What is asked

  @Test func questionsHoldWhatTheRequestGives() async throws {
    let application = InfoApplication()
    let backend = try await backend(application)
    let calls = [
      (
        "setGroupInfo",
        #"{"asUser":"olga","groupID":"g","groupName":"N","introduction":"i","notification":"","faceURL":"f","maxMemberNum":0,"customInfo":{"k":"v"},"joinMode":"Auth","memberChangeNotification":false,"slowMode":3,"allMuted":true}"#
      ),
      (
        "setGroupMemberInfo",
        #"{"asUser":"olga","groupID":"g","userID":"mary","nameCard":"M","customInfo":{"k":"v"},"role":"Admin","muteUntil":0}"#
      ),
      ("setGroupMemberInfo", #"{"asUser":"mary","groupID":"g","userID":"mary","nameCard":"M"}"#),
      ("setSelfInfo", #"{"asUser":"mary","nickName":"Mary","faceURL":"","customInfo":{"k":""}}"#),
    ]
    for (method, params) in calls { #expect(code(try await backend.rpc(method, params)) == 0, "\(method)") }
    #expect(
      application.questions.map(\.type) == [.beforeSetGroupInfo, .beforeSetMemberInfo, .beforeSetMemberInfo, .beforeSetSelfInfo])
    #expect(application.questions.allSatisfy { $0.subject == .other })
    #expect(application.questions.map(\.user) == ["olga", "olga", "mary", "mary"])
    let asked = try application.texts.map { try JSON($0) }
    #expect(
      asked[0] == [
        "userID": "olga", "platform": "RESTful API", "groupID": "g", "groupName": "N", "introduction": "i", "notification": "",
        "faceURL": "f", "maxMemberNum": 0, "customInfo": ["k": "v"], "joinMode": "Auth", "memberChangeNotification": false,
        "slowMode": 3, "allMuted": true,
      ])
    #expect(
      asked[1] == [
        "userID": "olga", "platform": "RESTful API", "groupID": "g", "memberUserID": "mary", "nameCard": "M",
        "customInfo": ["k": "v"], "role": "Admin", "muteUntil": 0,
      ])
    #expect(
      asked[2] == ["userID": "mary", "platform": "RESTful API", "groupID": "g", "memberUserID": "mary", "nameCard": "M"])
    #expect(
      asked[3] == ["userID": "mary", "platform": "RESTful API", "nickName": "Mary", "faceURL": "", "customInfo": ["k": ""]])
  }

  /// muteGroup, muteGroupMember, setGroupMemberRole and the application's own calls.
  @Test func nothingElseIsAskedAbout() async throws {
    let application = InfoApplication()
    let backend = try await backend(application)
    for (method, params) in [
      ("muteGroup", #"{"asUser":"olga","groupID":"g","mode":"Ordinary"}"#),
      ("muteGroupMember", #"{"asUser":"olga","groupID":"g","userID":"carl","muteTime":60}"#),
      ("setGroupMemberRole", #"{"asUser":"olga","groupID":"g","userID":"carl","role":"Admin"}"#),
      ("setGroupInfo", #"{"groupID":"g","groupName":"N"}"#),
      ("setGroupMemberInfo", #"{"groupID":"g","userID":"mary","nameCard":"M"}"#),
      ("setUserInfo", #"{"userID":"mary","nickName":"M"}"#), ("importUsers", #"{"userList":[{"userID":"x","nickName":"X"}]}"#),
    ] {
      #expect(code(try await backend.rpc(method, params)) == 0, "\(method)")
    }
    #expect(application.questions.isEmpty)
  }

  @Test func typesThatAreNotConfiguredAreNotAsked() async throws {
    let application = InfoApplication([.beforeSetSelfInfo])
    let backend = try await backend(application)
    #expect(code(try await backend.rpc("setGroupInfo", #"{"asUser":"olga","groupID":"g","groupName":"N"}"#)) == 0)
    #expect(code(try await backend.rpc("setSelfInfo", #"{"asUser":"olga","nickName":"O"}"#)) == 0)
    #expect(application.questions.map(\.type) == [.beforeSetSelfInfo])
  }

  /// "Asked after rights and state were checked."
  @Test func whatIsRefusedAnywayIsNotAskedAbout() async throws {
    let application = InfoApplication()
    let backend = try await backend(application)
    let many = (0..<11).map { #""k\#($0)":"v""# }.joined(separator: ",")
    for (method, params, expected) in [
      ("setGroupInfo", #"{"asUser":"mary","groupID":"g","groupName":"N"}"#, 10007),
      ("setGroupInfo", #"{"asUser":"olga","groupID":"h","groupName":"N"}"#, 10010),
      ("setGroupInfo", #"{"asUser":"olga","groupID":"g","maxMemberNum":1}"#, 10038),
      ("setGroupMemberInfo", #"{"asUser":"mary","groupID":"g","userID":"carl","nameCard":"N"}"#, 10007),
      ("setGroupMemberInfo", #"{"asUser":"olga","groupID":"g","userID":"oscar","nameCard":"N"}"#, 10007),
      ("setSelfInfo", #"{"asUser":"olga","customInfo":{\#(many)}}"#, 10004),
    ] {
      #expect(code(try await backend.rpc(method, params)) == Int64(expected), "\(params)")
    }
    #expect(application.questions.isEmpty)
  }

  // MARK: Answers

  @Test(arguments: [ErrorCode.refusedByApplication, .application10120, .application10130])
  func aRefusalIsTheErrorOfTheCall(refusal: ErrorCode) async throws {
    let backend = try await backend(InfoApplication(immediate: .refuse(WireError(refusal, "why"))))
    for (method, params) in [
      ("setGroupInfo", #"{"asUser":"olga","groupID":"g","groupName":"N"}"#),
      ("setGroupMemberInfo", #"{"asUser":"mary","groupID":"g","userID":"mary","nameCard":"M"}"#),
      ("setSelfInfo", #"{"asUser":"mary","nickName":"M"}"#),
    ] {
      let error = try await backend.rpc(method, params)["error"]
      #expect(error["code"].integer == Int64(refusal.rawValue) && error["message"].string == "why", "\(method)")
      #expect(error["data"]["temporary"].bool == false)
    }
    let info = try await backend.rpc("getGroupsInfo", #"{"groupIDList":["g"]}"#)["result"]["resultList"][0]["info"]
    #expect(info["groupName"].string == "n")
    let user = try await backend.rpc("getUsersInfo", #"{"userIDList":["mary"]}"#)["result"]["userList"]
    #expect(user.elements.allSatisfy { $0["nickName"].string == "" })
  }

  /// An info is no message: the questioner takes no Drop for an answer about one.
  @Test func anInfoIsNotDropped() async throws {
    let backend = try await backend(InfoApplication(immediate: .drop))
    let dropped = try await backend.rpc("setSelfInfo", #"{"asUser":"mary","nickName":"M"}"#)
    #expect(code(dropped) == -32603)
  }

  /// Everything is checked again with the answer.
  @Test func stateMayChangeWhileTheApplicationThinks() async throws {
    let application = InfoApplication(immediate: nil)
    let backend = try await backend(application)
    let replies = Replies()
    let change = SetGroupInfo(groupName: "N", fields: GroupFields(), allMuted: nil)
    start(backend, "changed", .group("g", .setGroupInfo(change)), by: session(1, of: "olga"), replies)
    try await waitUntil("asked") { application.questions.count == 1 }
    #expect(code(try await backend.rpc("dismissGroup", #"{"groupID":"g"}"#)) == 0)
    try application.answerNext(.allow(replacement: nil))
    try await waitUntil("answered") { replies.names == ["changed"] }
    #expect(replies.codes == [10010])
  }

  /// The replies of sessions, in the order of their coming.
  private final class Replies: Sendable {
    private let all = Mutex<[(name: String, code: Int)]>([])
    var names: [String] { all.withLock { $0.map(\.name) } }
    var codes: [Int] { all.withLock { $0.map(\.code) } }
    func add(_ name: String, _ reply: Reply) {
      let code = if case .failure(let error) = reply { error.code.rawValue } else { 0 }
      all.withLock { $0.append((name, code)) }
    }
  }

  private func start(_ backend: Backend, _ name: String, _ request: Request, by caller: Caller, _ replies: Replies) {
    backend.services.dispatcher.dispatch(request, by: caller) { replies.add(name, $0) }
  }

  private func session(_ connection: UInt64, of user: UserID) -> Caller {
    .user(user, platform: .web, session: SessionKey(loop: 0, connection: connection))
  }

  private func named(_ nickName: String) -> Request { .setSelfInfo(SetSelfInfo(fields: UserInfoFields(nickName: nickName))) }

  /// A session's changes of its user's texts keep their order, as its requests to one group do;
  /// another's go on.
  @Test func changesOfOneselfKeepTheirOrder() async throws {
    let application = InfoApplication(immediate: nil)
    let backend = try await backend(application)
    let replies = Replies()
    start(backend, "first", named("1"), by: session(1, of: "mary"), replies)
    start(backend, "second", named("2"), by: session(1, of: "mary"), replies)
    try await waitUntil("the first is asked about") { application.questions.count == 1 }
    start(backend, "other", named("3"), by: session(2, of: "carl"), replies)
    try await waitUntil("the other user's is asked about") { application.questions.count == 2 }
    try application.answerNext(.allow(replacement: nil))
    try await waitUntil("the second is asked about") { application.questions.count == 3 }
    #expect(replies.names == ["first"])
    try application.answerNext(.allow(replacement: nil))
    try application.answerNext(.allow(replacement: nil))
    try await waitUntil("all are answered") { replies.names.count == 3 }
    for (user, nickName) in [("mary", "2"), ("carl", "3")] {
      let found = try await backend.rpc("getUsersInfo", #"{"userIDList":["\#(user)"]}"#)["result"]["userList"][0]
      #expect(found["nickName"].string == nickName)
    }
  }

  // MARK: Words

  @Test func aNicknameIsCompared() async throws {
    let refusing = try await backend(nil, words: try words(.refuse))
    let error = try await refusing.rpc("setSelfInfo", #"{"asUser":"mary","nickName":"a BAD one"}"#)["error"]
    #expect(error["code"].integer == 10016 && error["data"]["field"].string == "nickName")
    #expect(error["data"]["temporary"].bool == false)
    let masking = try await backend(nil, words: try words(.mask))
    #expect(code(try await masking.rpc("setSelfInfo", #"{"asUser":"mary","nickName":"a BAD one","faceURL":"bad"}"#)) == 0)
    let user = try await masking.rpc("getUsersInfo", #"{"userIDList":["mary"]}"#)["result"]["userList"][0]
    #expect(user["nickName"].string == "a *** one" && user["faceURL"].string == "bad")
    // "Application administrators without asUser are not compared."
    for backend in [refusing, masking] {
      #expect(code(try await backend.rpc("setUserInfo", #"{"userID":"carl","nickName":"bad"}"#)) == 0)
      let carl = try await backend.rpc("getUsersInfo", #"{"userIDList":["carl"]}"#)["result"]["userList"][0]
      #expect(carl["nickName"].string == "bad")
    }
  }

  /// The user's own limits come before the words.
  @Test func aFullInfoIsTheFirstError() async throws {
    let backend = try await backend(nil, words: try words(.refuse))
    let many = (0..<11).map { #""k\#($0)":"v""# }.joined(separator: ",")
    let refused = try await backend.rpc("setSelfInfo", #"{"asUser":"mary","nickName":"bad","customInfo":{\#(many)}}"#)
    #expect(code(refused) == 10004)
  }

  private static let texts = [
    ("setGroupInfo", #"{"asUser":"olga","groupID":"g","groupName":"so bad"}"#, "groupName"),
    ("setGroupMemberInfo", #"{"asUser":"mary","groupID":"g","userID":"mary","nameCard":"so bad"}"#, "nameCard"),
    ("setSelfInfo", #"{"asUser":"mary","nickName":"so bad"}"#, "nickName"),
    ("sendGroupTextMessage", #"{"asUser":"mary","groupID":"g","text":"so bad"}"#, "text"),
    ("createGroup", #"{"asUser":"mary","groupType":"Work","groupID":"h","groupName":"so bad"}"#, "groupName"),
  ]
  private static let types: [WebhookType] = [
    .beforeSetGroupInfo, .beforeSetMemberInfo, .beforeSetSelfInfo, .beforeSendMessage, .beforeCreateGroup,
  ]

  @Test(arguments: InfoQuestionTests.texts.indices)
  func aTextThatTheWordsRefuseIsNotAskedAbout(index: Int) async throws {
    let (method, params, field) = InfoQuestionTests.texts[index]
    let application = InfoApplication(InfoQuestionTests.types)
    let backend = try await backend(application, words: try words(.refuse))
    let error = try await backend.rpc(method, params)["error"]
    #expect(error["code"].integer == 10016 && error["data"]["field"].string == field)
    #expect(application.questions.isEmpty)
  }

  @Test(arguments: InfoQuestionTests.texts.indices)
  func aMaskedTextIsShownMasked(index: Int) async throws {
    let (method, params, field) = InfoQuestionTests.texts[index]
    let application = InfoApplication(InfoQuestionTests.types)
    let words = try words(.mask)
    let backend = try await backend(application, words: words)
    #expect(code(try await backend.rpc(method, params)) == 0)
    #expect(application.texts.count == 1 && application.texts[0].contains("so ***") && !application.texts[0].contains("bad"))
    let counted = try #require(CurrentWords.Field(rawValue: field))
    #expect(words.matchCounts == [counted: 1], "each text counts once")
  }

  /// "Its answer is not compared."
  @Test(arguments: CurrentWords.Action.allCases)
  func whatTheApplicationPutsInIsNotCompared(action: CurrentWords.Action) async throws {
    let application = InfoApplication([.beforeSendMessage], immediate: .allow(replacement: "a bad word"))
    let backend = try await backend(application, words: try words(action))
    #expect(code(try await backend.rpc("sendGroupTextMessage", #"{"asUser":"mary","groupID":"g","text":"x"}"#)) == 0)
    #expect(backend.store.inner.allMessages(of: "g").last?.content == .text("a bad word"))
  }

  /// Another list may come while the application thinks: what it was asked about is decided.
  @Test func aNewListDoesNotUndoAnAnswer() async throws {
    let application = InfoApplication([.beforeSendMessage], immediate: nil)
    let words = try words(.refuse)
    let backend = try await backend(application, words: words)
    let replies = Replies()
    let message = SendGroupTextMessage(text: "worse", options: MessageOptions())
    start(backend, "sent", .group("g", .sendGroupTextMessage(message)), by: session(1, of: "mary"), replies)
    try await waitUntil("asked") { application.questions.count == 1 }
    words.replace(with: try WordList(parsing: Array("worse".utf8)))
    try application.answerNext(.allow(replacement: nil))
    try await waitUntil("answered") { replies.names == ["sent"] }
    #expect(replies.codes == [0])
    let next = try await backend.rpc("sendGroupTextMessage", #"{"asUser":"mary","groupID":"g","text":"worse"}"#)
    #expect(code(next) == 10016, "refused before anything is asked")
  }
}
