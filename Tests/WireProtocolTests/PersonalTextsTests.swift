import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

/// What the deletion of a user blanks in JSON that the server has written.
@Suite struct PersonalTextsTests {
  private let mary = UserID("mary")!

  private func erased(_ json: String, _ messages: UserDeletion.MessageFate = .keep, of user: UserID? = nil) -> String? {
    PersonalTexts.erase(user ?? mary, in: Array(json.utf8), messages: messages).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func whatStandsBesideTheUserIDGoes() {
    let tips =
      #"{"type":"Join","opUser":{"userID":"mary","nickName":"M","faceURL":"f","nameCard":"card","role":"Member"},"memberCount":2}"#
    #expect(erased(tips) == #"{"type":"Join","opUser":{"userID":"mary","nameCard":"","role":"Member"},"memberCount":2}"#)
    let change = #"{"changeInfoList":[{"userID":"mary","nameCard":"c","customInfo":{"a":"b"}},{"userID":"adam","nameCard":"a"}]}"#
    #expect(erased(change) == #"{"changeInfoList":[{"userID":"mary","nameCard":""},{"userID":"adam","nameCard":"a"}]}"#)
  }

  @Test func textsOfOthersStayByteForByte() {
    let other = #"{"opUser":{"userID":"adam","nickName":"mary","nameCard":"mary"},"data":"\"mary\"\u0000"}"#
    #expect(erased(other) == nil)
    let both = #"{"a":{"userID":"adam","nickName":"A\\\"\n"},"b":{"userID":"mary","nickName":"M"},"n":[1,-2.5e+3,true,null,{}]}"#
    #expect(erased(both) == #"{"a":{"userID":"adam","nickName":"A\\\"\n"},"b":{"userID":"mary"},"n":[1,-2.5e+3,true,null,{}]}"#)
  }

  @Test func withKeepWhatTheUserHasSaidStays() {
    let message = #"{"message":{"msgID":"e-1","sender":"mary","nickName":"M","nameCard":"c","text":"hello","extension":"x"}}"#
    #expect(erased(message) == #"{"message":{"msgID":"e-1","sender":"mary","nameCard":"","text":"hello","extension":"x"}}"#)
    #expect(erased(message, .revoke) == #"{"message":{"msgID":"e-1","sender":"mary","nameCard":"","text":"","extension":""}}"#)
    let replied = #"{"message":{"sender":"adam","text":"hello","replyTo":{"seq":1,"sender":"mary"}}}"#
    #expect(erased(replied, .revoke) == nil, "what others say about the user is theirs")
  }

  @Test func wordsOfApplicationsGo() {
    let application = #"{"application":{"fromUser":"mary","toUser":"","requestMsg":"let me in","attach":"a","handledMsg":"no"}}"#
    #expect(
      erased(application) == #"{"application":{"fromUser":"mary","toUser":"","requestMsg":"","attach":"","handledMsg":""}}"#)
    let decided = #"{"fromUser":"adam","toUser":"","requestMsg":"please","handledMsg":"welcome","handledBy":"mary"}"#
    #expect(erased(decided) == #"{"fromUser":"adam","toUser":"","requestMsg":"please","handledMsg":"","handledBy":"mary"}"#)
  }

  @Test func theReasonOfARemovalGoesWithWhoHasGivenIt() {
    let removal = #"{"memberList":[{"userID":"adam","nameCard":"a"}],"reason":"rude","opUser":{"userID":"mary","role":"Owner"}}"#
    #expect(erased(removal) == removal.replacing(#""rude""#, with: #""""#))
    let removed = #"{"memberList":[{"userID":"mary","nameCard":""}],"reason":"rude","opUser":{"userID":"adam","role":"Owner"}}"#
    #expect(erased(removed) == nil, "another's words")
    #expect(erased(#"{"reason":"rude","opUser":{"userID":"mary2"},"x":"mary"}"#) == nil)
  }

  @Test func aReportAboutTheUserKeepsTheWordsOfItsReporter() {
    let about = #"{"report":{"reporter":"adam","message":{"sender":"mary","text":"x"},"category":"c","text":"t"}}"#
    #expect(erased(about) == nil)
    #expect(
      erased(about, .revoke) == #"{"report":{"reporter":"adam","message":{"sender":"mary","text":""},"category":"c","text":"t"}}"#
    )
  }

  @Test func wordsOfReportersGo() {
    let report = #"{"reporter":"mary","message":{"sender":"adam","text":"hello"},"category":"spam","text":"mine","note":"n"}"#
    let blanked = #"{"reporter":"mary","message":{"sender":"adam","text":"hello"},"category":"","text":"","note":"n"}"#
    #expect(erased(report) == blanked)
  }

  @Test func namesThatNeedAnEscapeAreFound() throws {
    let odd = try #require(UserID(#"a"b\c"#))
    #expect(erased(#"{"userID":"a\"b\\c","nickName":"N"}"#, of: odd) == #"{"userID":"a\"b\\c"}"#)
    #expect(erased(#"{"userID":"a\"b","nickName":"N"}"#, of: odd) == nil)
  }

  @Test func twiceIsOnce() throws {
    let once = try #require(erased(#"{"userID":"mary","nickName":"M","nameCard":"c"}"#))
    #expect(erased(once) == nil)
  }

  @Test(arguments: [
    "", "{", #"{"userID":"mary""#, #"{"userID":"mary",}"#, #"["mary""#, #"{"userID":"mary","nickName":"M"} "#, #""mary"#,
  ])
  func whatIsNoJSONStays(text: String) { #expect(erased(text) == nil) }

  @Test func aMemberInfoIsToldFromOthers() {
    #expect(PersonalTexts.isInfo(of: mary, Array(#"{"userID":"mary","nameCard":""}"#.utf8)))
    #expect(!PersonalTexts.isInfo(of: mary, Array(#"{"userID":"mary2"}"#.utf8)))
    #expect(!PersonalTexts.isInfo(of: mary, Array(#"{"other":{"userID":"mary"}}"#.utf8)))
  }

  /// Whatever the server writes stays JSON, and nothing of the user stands in it any more.
  @Test func anyTextOfOursStaysJSON() throws {
    var generator = SeededGenerator(seed: 159)
    for _ in 0..<500 {
      let text = PersonalTextsTests.object(depth: 0, &generator)
      let known = try JSON(text)
      guard let result = erased(text, .revoke) else {
        #expect(!PersonalTextsTests.names(known, "mary"))
        continue
      }
      let left = try JSON(result)
      #expect(!PersonalTextsTests.names(left, "mary"), "\(text) became \(result)")
      #expect(erased(result, .revoke) == nil)
    }
  }

  private static func object(depth: Int, _ generator: inout SeededGenerator) -> String {
    let users = ["mary", "adam", "\"mary"]
    var members: [String] = []
    for key in ["userID", "sender", "nickName", "nameCard", "text", "other", "list"] where Bool.random(using: &generator) {
      let value: String
      switch key {
      case "userID", "sender": value = quoted(users.randomElement(using: &generator) ?? "adam")
      case "other" where depth < 3: value = object(depth: depth + 1, &generator)
      case "list" where depth < 3: value = "[\(object(depth: depth + 1, &generator)),7]"
      default: value = quoted(["", "secret", "a\"b\\", "\u{1}é"].randomElement(using: &generator) ?? "")
      }
      members.append("\"\(key)\":\(value)")
    }
    return "{\(members.joined(separator: ","))}"
  }

  private static func quoted(_ text: String) -> String { String(decoding: JSONWriter.text { $0.value(text) }, as: UTF8.self) }

  /// Whether an object of the user has a text of theirs.
  private static func names(_ json: JSON, _ user: String) -> Bool {
    if json["userID"].string == user || json["sender"].string == user {
      if json["nickName"] != .null || !(json["nameCard"].string ?? "").isEmpty { return true }
      if json["sender"].string == user, !(json["text"].string ?? "").isEmpty { return true }
    }
    return names(inside: json["other"], user) || json["list"].elements.contains { names($0, user) }
  }

  private static func names(inside json: JSON, _ user: String) -> Bool { json == .null ? false : names(json, user) }
}
