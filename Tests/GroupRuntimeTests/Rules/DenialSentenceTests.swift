import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// 10007 says which of its reasons it is: not a member, too low a role, or the type of the group.
@Suite struct DenialSentenceTests {
  /// A call that is refused, with the sentence of its error.
  struct Row: Sendable, CustomTestStringConvertible {
    let type: GroupType
    let method: String
    let params: String
    let name: String
    let sentence: String

    var testDescription: String { "\(method) by \(name) in \(type)" }

    init(_ type: GroupType, _ method: String, _ params: String, by name: String, _ sentence: String) {
      self.type = type
      self.method = method
      self.params = params
      self.name = name
      self.sentence = sentence
    }
  }

  private static let rows: [Row] = [
    Row(.public, "getGroupMemberList", "{}", by: "oscar", "Not a member"),
    Row(.public, "muteGroupMember", #"{"userID":"mary","muteTime":60}"#, by: "oscar", "Not a member"),
    Row(.public, "muteGroupMember", #"{"userID":"oscar","muteTime":60}"#, by: "adam", "userID is not a member"),
    Row(
      .public, "muteGroupMember", #"{"userID":"carl","muteTime":60}"#, by: "mary",
      "The role is too low: it takes Admin or Owner"),
    Row(.public, "dismissGroup", "{}", by: "adam", "The role is too low: it takes Owner"),
    Row(.work, "dismissGroup", "{}", by: "olga", "Only for application administrators"),
    Row(
      .public, "muteGroupMember", #"{"userID":"olga","muteTime":60}"#, by: "adam",
      "The role is too low: the other's is as high or higher"),
    Row(.public, "muteGroupMember", #"{"userID":"adam","muteTime":60}"#, by: "adam", "Nobody can do it to oneself"),
    Row(
      .work, "setGroupMemberRole", #"{"userID":"mary","role":"Admin"}"#, by: "olga",
      "Groups of type Work do not support it"),
    Row(.work, "setGroupInfo", #"{"joinMode":"Any"}"#, by: "olga", "Groups of type Work have a fixed joinMode"),
    Row(.avChatRoom, "setGroupInfo", #"{"maxMemberNum":10}"#, by: "olga", "Groups of type AVChatRoom have no maxMemberNum"),
    Row(.bChatRoom, "setGroupInfo", #"{"joinMode":"Any"}"#, by: "olga", "Groups of type BChatRoom have no policy"),
    Row(.public, "setGroupInfo", #"{"serverCustomInfo":"x"}"#, by: "olga", "Only for application administrators"),
  ]

  @Test(arguments: rows) func theReasonIsSaid(row: Row) throws {
    let scene = try Scene(row.type)
    let outcome = try scene.ask(row.method, row.params, by: row.name)
    #expect(outcome.code == 10007)
    #expect(outcome.message == row.sentence)
  }

  @Test func aGroupThatForbidsToJoinSaysSo() throws {
    let scene = try Scene(.public) { $0.joinMode = .forbid }
    let outcome = try scene.ask("joinGroup", by: "oscar")
    #expect(outcome.code == 10007 && outcome.message == "The group's joinMode leaves it to application administrators")
  }
}
