import Foundation
import GroupModel
import Testing
import WireProtocol

/// Members that take a few words: how errors, schemas and the page name them, and what words go
/// together.
@Suite struct WordTests {
  private func schema(_ method: String, _ parameter: String) throws -> [String: Any] {
    let entry = try #require(MethodTable()[method])
    let description = try #require(entry.parameters.first { $0.name == parameter })
    return try #require(try JSONSerialization.jsonObject(with: Data(description.schema.utf8)) as? [String: Any])
  }

  @Test func wordsAreNamedInASentence() {
    #expect(AllowedWords(["A", "B"]).sentence == "A, B")
    #expect(AllowedWords(["A", "B"], or: AllowedWords.Pattern("[0-9]", meaning: "0 to 9")).sentence == "A, B, or 0 to 9")
  }

  @Test func errorsNameTheWords() {
    #expect(
      fault("setGroupMemberRole", #"{"groupID":"g","userID":"u","role":"x"}"#)?.message
        == "role is one of Admin, Member, or 100 to 2147483647")
    #expect(
      fault("muteGroup", #"{"groupID":"g","mode":"None","roles":["x"]}"#)?.message
        == "roles is one of Admin, Member, or 100 to 2147483647")
    #expect(
      fault("getGroupMemberList", #"{"groupID":"g","filter":"x"}"#)?.message == "filter is one of All, Owner, Admin, Common")
  }

  @Test func anEnumerationListsNothingThatIsNoWord() throws {
    #expect(try schema("muteGroup", "mode")["enum"] as? [String] == ["None", "Ordinary", "All", "Custom"])
    let fields = try #require(try schema("searchGroups", "matchFields")["items"] as? [String: Any])
    #expect(fields["enum"] as? [String] == ["groupID", "groupName", "memberUserID", "memberNameCard", "memberNickName"])
    for entry in MethodTable().entries {
      for parameter in entry.parameters { #expect(!parameter.schema.contains(#" to 2147483647",""#), "\(entry.name)") }
    }
  }

  @Test func theSchemaOfARoleLetsPassWhatTheServerTakes() throws {
    var roles = [try schema("setGroupMemberRole", "role"), try schema("setGroupMemberInfo", "role")]
    roles.append(try #require(try schema("muteGroup", "roles")["items"] as? [String: Any]))
    for method in ["createGroup", "importGroupMembers"] {
      let items = try #require(try schema(method, "memberList")["items"] as? [String: Any])
      roles.append(try #require((items["properties"] as? [String: [String: Any]])?["role"]))
    }
    for role in roles {
      #expect(role["type"] as? String == "string" && role["enum"] == nil)
      // The elements of a list are described by the list.
      let description = role["description"] as? String
      #expect(description?.hasSuffix("One of Admin, Member, or 100 to 2147483647.") != false)
      let pattern = try #require(role["pattern"] as? String)
      #expect(pattern.hasPrefix("^(") && pattern.hasSuffix(")$"))
      let regex = try Regex(pattern)
      for word in ["Admin", "Member", "100", "200", "2147483647"] { #expect(try regex.wholeMatch(in: word) != nil, "\(word)") }
      for word in ["Owner", "NotMember", "", "99", "0100", "-100", "1e3", "Admin ", "xMember", "12345678901"] {
        #expect(try regex.firstMatch(in: word) == nil, "\(word)")
      }
    }
  }

  @Test func modeCustomNeedsRoles() throws {
    for roles in ["", #","roles":[]"#, #","roles":null"#] {
      let error = fault("muteGroup", #"{"groupID":"g","mode":"Custom"\#(roles)}"#)
      #expect(error?.code == .badValue && error?.field == "roles")
    }
    for mode in ["None", "Ordinary", "All", "Custom"] {
      let error = fault("muteGroup", #"{"groupID":"g","mode":"\#(mode)","roles":["Member","Owner"]}"#)
      #expect(error?.code == .badValue && error?.field == "roles", "nobody mutes the owner by a role")
    }
    guard
      case .group(_, .muteGroup(let mute)) = try decoded(
        "muteGroup", #"{"groupID":"g","mode":"Custom","roles":["Member","100","Member","Admin"],"duration":60}"#)
    else { return fail("muteGroup") }
    #expect(mute.mute.mode == .custom && mute.mute.roles == [.member, .custom(100), .admin])
    #expect(mute.mute.muteUntil == nil && mute.duration == 60)
  }

  @Test func rolesBesideAnotherModeMeanNothing() throws {
    guard case .group(_, .muteGroup(let mute)) = try decoded("muteGroup", #"{"groupID":"g","mode":"All","roles":["Member"]}"#)
    else {
      return fail("muteGroup")
    }
    #expect(mute.mute == GroupMute(mode: .all, roles: []) && mute.duration == 0)
  }
}
