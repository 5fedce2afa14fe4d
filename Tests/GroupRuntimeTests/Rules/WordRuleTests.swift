import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// Texts of users are compared with words (Protocol.md, "Words").
@Suite struct WordRuleTests {
  private func words(_ action: CurrentWords.Action, _ terms: String = "bad") throws -> CurrentWords {
    CurrentWords(try WordList(parsing: Array(terms.utf8)), action)
  }

  private func rules(
    _ action: CurrentWords.Action, limits: GroupLimits = .standard, permissions: GroupPermissions = GroupPermissions(),
    webhooks: WebhookTypes = .none
  ) throws -> GroupRules {
    GroupRules(permissions: permissions, limits: limits, webhooks: webhooks, words: try words(action))
  }

  /// The requests with a text each, and the parameter that has it. The message at seq 1 is the owner's.
  private static let requests: [(method: String, params: String, field: String)] = [
    ("sendGroupTextMessage", #"{"text":"so BAD!"}"#, "text"),
    ("modifyGroupMessage", #"{"seq":1,"text":"so BAD!"}"#, "text"),
    ("setGroupInfo", #"{"groupName":"so BAD!"}"#, "groupName"),
    ("setGroupInfo", #"{"introduction":"so BAD!"}"#, "introduction"),
    ("setGroupInfo", #"{"notification":"so BAD!"}"#, "notification"),
    ("setGroupMemberInfo", #"{"userID":"olga","nameCard":"so BAD!"}"#, "nameCard"),
    ("setGroupMemberInfo", #"{"userID":"mary","nameCard":"so BAD!"}"#, "nameCard"),
  ]

  private func scene(_ type: GroupType = .public, _ rules: GroupRules) throws -> Scene {
    let scene = try Scene(type, rules: rules)
    try #require(try scene.ask("sendGroupTextMessage", #"{"text":"old"}"#, by: "olga").code == 0)
    return scene
  }

  @Test(arguments: WordRuleTests.requests.indices)
  func aRefusedTextChangesNothing(index: Int) throws {
    let (method, params, field) = WordRuleTests.requests[index]
    let scene = try scene(.public, try rules(.refuse))
    let before = scene.fingerprint
    let outcome = try scene.ask(method, params, by: "olga")
    scene.expectNothingDone(outcome, code: 10016, before: before, method)
    #expect(outcome.field == field && outcome.message?.contains("BAD") == false)
    guard case .reply(.failure(let error)) = outcome.decision.answer else { return #expect(Bool(false), "no error") }
    #expect(!error.isTemporary)
    let counted = try #require(CurrentWords.Field(rawValue: field))
    #expect(scene.rules.words?.matchCounts == [counted: 1])
  }

  @Test(arguments: WordRuleTests.requests.indices)
  func aMaskedTextIsWhatAllSee(index: Int) throws {
    let (method, params, _) = WordRuleTests.requests[index]
    let scene = try scene(.public, try rules(.mask))
    let outcome = try scene.ask(method, params, by: "olga")
    #expect(outcome.code == 0)
    let seen = outcome.events.values.flatMap { $0 }.map { "\($0)" }
    #expect(!seen.isEmpty && seen.allSatisfy { !$0.contains("BAD") } && seen.contains { $0.contains("so ***!") })
    let state = try #require(scene.state)
    let kept = scene.messages.map { "\($0.content)" } + ["\(state.record)", "\(Array(state.roster.all))"]
    #expect(kept.allSatisfy { !$0.contains("BAD") } && kept.contains { $0.contains("so ***!") })
  }

  /// "Application administrators without asUser are not compared."
  @Test(arguments: WordRuleTests.requests.indices)
  func administratorsAreNotCompared(index: Int) throws {
    let (method, params, _) = WordRuleTests.requests[index]
    let scene = try scene(.public, try rules(.refuse))
    #expect(try scene.ask(method, params, by: "administrator").code == 0)
    #expect(scene.rules.words?.matchCounts == [:])
  }

  @Test(arguments: CurrentWords.Action.allCases)
  func whatTheApplicationHasWrittenIsNotCompared(action: CurrentWords.Action) throws {
    let permissions = GroupPermissions(attributeTypes: [.public])
    let scene = try scene(.public, try rules(action, permissions: permissions))
    let requests = [
      ("sendGroupCustomMessage", #"{"data":"bad","extension":"bad"}"#),
      ("sendGroupTextMessage", #"{"text":"x","extension":"bad"}"#),
      ("modifyGroupMessage", #"{"seq":1,"extension":"bad"}"#), ("setGroupInfo", #"{"customInfo":{"bad":"bad"},"faceURL":"bad"}"#),
      ("setGroupMemberInfo", #"{"userID":"olga","customInfo":{"bad":"bad"}}"#),
      ("setGroupAttributes", #"{"attributes":{"bad":"bad"}}"#), ("addMessageReaction", #"{"seq":1,"reaction":"bad"}"#),
      ("kickGroupMember", #"{"userIDList":["carl"],"reason":"bad"}"#), ("joinGroup", #"{"message":"bad"}"#),
    ]
    for (method, params) in requests {
      #expect(try scene.ask(method, params, by: method == "joinGroup" ? "oscar" : "olga").code != 10016, "\(method)")
    }
    #expect(scene.rules.words?.matchCounts == [:])
  }

  // MARK: Order

  /// "Words after rights and state."
  @Test func rightsAndStateComeFirst() throws {
    var limits = GroupLimits.standard
    limits.messagesPerSecond = [.public: 2]
    let scene = try scene(.public, try rules(.refuse, limits: limits))
    scene.clocks.advance(by: 2000)
    let bad = #"{"text":"bad"}"#
    #expect(try scene.ask("sendGroupTextMessage", bad, by: "oscar").code == 10007)
    #expect(try scene.ask("modifyGroupMessage", #"{"seq":1,"text":"bad"}"#, by: "mary").code == 10032)
    #expect(try scene.ask("modifyGroupMessage", #"{"seq":9,"text":"bad"}"#, by: "olga").code == 10030)
    #expect(try scene.ask("setGroupInfo", #"{"groupName":"bad"}"#, by: "mary").code == 10007)
    #expect(try scene.ask("setGroupInfo", #"{"groupName":"bad","maxMemberNum":1}"#, by: "olga").code == 10038)
    #expect(try scene.ask("setGroupMemberInfo", #"{"userID":"olga","nameCard":"bad"}"#, by: "mary").code == 10007)
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":60}"#, by: "olga")
    #expect(try scene.ask("sendGroupTextMessage", bad, by: "mary").code == 10017)
    // A refused text counts for no rate.
    for _ in 0..<3 { #expect(try scene.ask("sendGroupTextMessage", bad, by: "olga").code == 10016) }
    for _ in 0..<2 { #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga").code == 0) }
    #expect(try scene.ask("sendGroupTextMessage", bad, by: "olga").code == 10023)
  }

  @Test func ofSeveralBadTextsTheFirstParameterIsNamed() throws {
    let scene = try scene(.public, try rules(.refuse))
    let all = #"{"notification":"bad","introduction":"bad","groupName":"bad"}"#
    #expect(try scene.ask("setGroupInfo", all, by: "olga").field == "groupName")
    let two = #"{"notification":"bad","introduction":"bad","groupName":"fine"}"#
    #expect(try scene.ask("setGroupInfo", two, by: "olga").field == "introduction")
    #expect(scene.state?.record.name == "n", "all of what is given, or nothing")
  }

  @Test func aRepeatedSendIsAnsweredBefore() throws {
    let scene = try scene(.public, try rules(.refuse))
    let first = try scene.ask("sendGroupTextMessage", #"{"text":"x","clientMsgID":"c"}"#, by: "mary")
    let again = try scene.ask("sendGroupTextMessage", #"{"text":"bad","clientMsgID":"c"}"#, by: "mary")
    #expect(again.code == 0 && again.result["msgID"] == first.result["msgID"])
    // A refused one is not remembered.
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"bad","clientMsgID":"d"}"#, by: "mary").code == 10016)
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"y","clientMsgID":"d"}"#, by: "mary").result["seq"].integer == 3)
  }

  // MARK: Messages

  @Test func aMaskIsStoredSentAndPosted() throws {
    let scene = try scene(.public, try rules(.mask, webhooks: WebhookTypes([.messageSent])))
    let sent = try scene.ask("sendGroupTextMessage", #"{"text":"a bad word"}"#, by: "mary")
    #expect(scene.messages.last?.content == .text("a *** word"))
    let event = try sent.params("onRecvNewMessage", to: "olga")
    #expect(event["message"]["text"].string == "a *** word" && sent.names("mary").isEmpty)
    let posted = sent.decision.changes.compactMap { change -> WebhookEntry? in
      if case .appendWebhook(let entry) = change { entry } else { nil }
    }
    #expect(posted.count == 1 && String(decoding: posted[0].data, as: UTF8.self).contains("a *** word"))
    #expect(sent.result["text"] == .null, "the sender is not told")
  }

  @Test(arguments: [GroupType.avChatRoom, .bChatRoom])
  func liveRoomsCompareToo(type: GroupType) throws {
    let (sender, reader) = type == .bChatRoom ? ("olga", "mary") : ("mary", "olga")
    let refusing = try Scene(type, rules: try rules(.refuse))
    #expect(try refusing.ask("sendGroupTextMessage", #"{"text":"bad"}"#, by: sender).code == 10016)
    let masking = try Scene(type, rules: try rules(.mask))
    let sent = try masking.ask("sendGroupTextMessage", #"{"text":"bad"}"#, by: sender)
    #expect(try sent.params("onRecvNewMessage", to: reader)["message"]["text"].string == "***")
  }

  @Test func aReplyIsCompared() throws {
    let refusing = try scene(.public, try rules(.refuse))
    #expect(try refusing.ask("sendGroupTextMessage", #"{"text":"bad","replyTo":1}"#, by: "mary").code == 10016)
    #expect(try refusing.ask("sendGroupTextMessage", #"{"text":"bad","replyTo":9}"#, by: "mary").code == 10030)
    let masking = try scene(.public, try rules(.mask))
    #expect(try masking.ask("sendGroupTextMessage", #"{"text":"bad","replyTo":1}"#, by: "mary").code == 0)
    #expect(masking.messages.last?.content == .text("***"))
  }

  /// An edit is compared behind its mask: the same stars change nothing.
  @Test func anEditToTheSameMaskChangesNothing() throws {
    let scene = try scene(.public, try rules(.mask))
    try scene.ask("modifyGroupMessage", #"{"seq":1,"text":"bad"}"#, by: "olga")
    #expect(scene.messages.first?.content == .text("***"))
    #expect(try scene.expectNothing("modifyGroupMessage", #"{"seq":1,"text":"BAD"}"#, by: "olga") == [:] as JSON)
    #expect(try scene.expectNothing("setGroupInfo", #"{"groupName":"n"}"#, by: "olga") == [:] as JSON)
  }

  // MARK: Groups and members

  @Test func aNewGroupsTextsAreCompared() throws {
    let texts = [("groupName", ""), ("introduction", #","groupName":"n""#), ("notification", #","groupName":"n""#)]
    for (field, more) in texts {
      let refusing = Scene(rules: try rules(.refuse))
      let params = #"{"groupType":"Public","\#(field)":"so bad"\#(more)}"#
      let refused = try refusing.ask("createGroup", params, by: "olga")
      #expect(refused.code == 10016 && refused.field == field && refusing.state == nil)
      let masking = Scene(rules: try rules(.mask))
      #expect(try masking.ask("createGroup", params, by: "olga").code == 0)
      let record = try #require(masking.state?.record)
      #expect([record.name, record.introduction, record.notification].contains("so ***"))
    }
    // Behind the type's rights, and before the numbers of groups.
    let scene = Scene(rules: try rules(.refuse))
    let bad = #"{"groupType":"Public","groupName":"bad"}"#
    #expect(try scene.ask("createGroup", bad, by: "olga", UserFacts(atGroupLimit: ["olga"])).code == 10016)
    #expect(try scene.ask("createGroup", #"{"groupType":"BChatRoom","groupName":"bad"}"#, by: "olga").code == 10007)
    let named = #"{"groupType":"Public","groupName":"bad","ownerUserID":"olga"}"#
    #expect(try scene.ask("createGroup", named, by: "administrator").code == 0)
  }

  @Test func importsAreNotCompared() throws {
    let scene = Scene(rules: try rules(.refuse))
    let group = #"{"groupType":"Public","groupName":"bad","ownerUserID":"olga"}"#
    #expect(try scene.ask("importGroup", group, by: "administrator").code == 0)
    let members = #"{"memberList":[{"userID":"mary","nameCard":"bad"}]}"#
    #expect(try scene.ask("importGroupMembers", members, by: "administrator").code == 0)
    #expect(scene.state?.roster["mary"]?.nameCard == "bad")
  }

  /// Changes of a crowd are compared each for itself.
  @Test func nameCardsOfACrowd() throws {
    let scene = try Scene(.public, rules: try rules(.refuse))
    let card = { (user: String, text: String) in #"{"userID":"\#(user)","nameCard":"\#(text)"}"# }
    let (outcome, codes) = try scene.askTogether([
      ("mary", "setGroupMemberInfo", card("mary", "bad")), ("carl", "setGroupMemberInfo", card("carl", "good")),
    ])
    #expect(
      codes == [10016, 0] && scene.state?.roster["mary"]?.nameCard == "" && scene.state?.roster["carl"]?.nameCard == "good")
    #expect(outcome.receivers(of: "onGroupMemberInfoChanged").contains("olga"))
  }

  // MARK: Asking the application first

  private func asked(_ method: String, _ params: String, _ scene: Scene) throws -> AskedGroupRequest {
    guard case .request(let request, _) = try groupRequest(method, params, by: scene.caller("olga")) else {
      throw WireError(.internalError)
    }
    return try #require(request.asked)
  }

  @Test(arguments: WordRuleTests.requests.indices)
  func aCheckRefusesAndAnAnswerIsNotCompared(index: Int) throws {
    let (method, params, field) = WordRuleTests.requests[index]
    let scene = try scene(.public, try rules(.refuse))
    let before = scene.fingerprint
    let checked = try scene.ask(.check(try asked(method, params, scene), .none), by: scene.caller("olga"))
    scene.expectNothingDone(checked, code: 10016, before: before, method)
    #expect(checked.field == field)
    #expect(try scene.ask(method, params, by: "olga", .filtered).code == 0)
    #expect(try scene.ask(method, params.replacing("BAD", with: "bad"), by: "olga").code == 10016, "the next one is")
  }

  @Test(arguments: WordRuleTests.requests.indices)
  func theApplicationIsShownTheMask(index: Int) throws {
    let (method, params, field) = WordRuleTests.requests[index]
    let scene = try scene(.public, try rules(.mask))
    let request = try asked(method, params, scene)
    let before = scene.fingerprint
    let checked = try scene.ask(.check(request, .none), by: scene.caller("olga"))
    #expect(checked.code == 0 && scene.fingerprint == before)
    let words = try #require(scene.rules.words)
    let counted = try #require(CurrentWords.Field(rawValue: field))
    #expect(words.matchCounts == [counted: 1])
    let filtered = try AskedRequest.group("g", request).filtered(by: words)
    let shown = "\(filtered)"
    #expect(shown.contains("so ***!") && !shown.contains("BAD"))
    #expect(words.matchCounts == [counted: 1], "each text counts once")
  }

  /// A reply and an edit are decided over what is looked up: they carry on that they were compared.
  @Test func anAnswerAboutAReplyIsNotCompared() throws {
    let scene = try scene(.public, try rules(.refuse))
    let reply = #"{"text":"bad","replyTo":1}"#
    #expect(try scene.ask(.check(try asked("sendGroupTextMessage", reply, scene), .none), by: scene.caller("olga")).code == 10016)
    #expect(try scene.ask("sendGroupTextMessage", reply, by: "olga", .filtered).code == 0)
    #expect(scene.messages.last?.content == .text("bad"))
  }

  /// The application has dropped what it was shown.
  @Test func aDropIsNotCompared() throws {
    let scene = try scene(.public, try rules(.refuse))
    for (method, params) in [("sendGroupTextMessage", #"{"text":"bad"}"#), ("modifyGroupMessage", #"{"seq":1,"text":"bad"}"#)] {
      guard case .message(let message) = try asked(method, params, scene) else { throw WireError(.internalError) }
      #expect(try scene.ask(.dropMessage(message), by: scene.caller("olga")).code == 0)
    }
    #expect(scene.messages.map(\.content) == [.text("old")])
  }
}
