import GroupModel
import Testing

/// The known name that an unknown one most likely means.
@Suite struct NearestNameTests {
  private let names = [
    "groupID", "groupName", "introduction", "maxMemberNum", "memberList", "userIDList", "customInfo", "faceURL",
  ]

  @Test(arguments: [
    ("groupId", "groupID"), ("GROUPNAME", "groupName"), ("name", "groupName"), ("members", "memberList"),
    ("memberlist", "memberList"), ("introductoin", "introduction"), ("maxMember", "maxMemberNum"),
    ("userIds", "userIDList"), ("userList", "userIDList"), ("custom", "customInfo"), ("faceUrl", "faceURL"),
    ("id", "groupID"), ("memebr", "memberList"), ("gruopID", "groupID"), ("gropName", "groupName"),
  ])
  func aNameMeansTheNearest(name: String, nearest: String) {
    #expect(NearestName.near(name, among: names) == nearest)
  }

  @Test(arguments: ["", "colour", "intro", "max", "x", "é", "grüße", "text", String(repeating: "groupName", count: 8)])
  func nothingIsNear(name: String) {
    #expect(NearestName.near(name, among: names) == nil)
  }

  @Test func ofEqualsNoneIsNamed() {
    #expect(NearestName.near("cat", among: ["chat", "cats"]) == nil)
    #expect(NearestName.near("cat", among: ["chat", "cats", "cat"]) == "cat")
    #expect(NearestName.near("id", among: ["groupID", "userID"]) == nil)
    #expect(NearestName.near("cat", among: []) == nil)
  }

  /// Another word is another meaning, however few letters differ.
  @Test(arguments: [
    ("getRoles", "setRoles"), ("unmuteGroup", "muteGroup"), ("banMember", "unbanMember"), ("setGroupName", "setGroupInfo"),
    ("pinMessage", "unpinMessage"), ("mediaList", "memberList"), ("addUser", "askUser"),
  ])
  func anotherWordIsNotNear(name: String, known: String) {
    #expect(NearestName.near(name, among: [known]) == nil)
    #expect(NearestName.near(known, among: [name]) == nil)
  }

  @Test func aWordMayBeMissingAndNoneTooMany() {
    #expect(NearestName.near("joinGroup", among: ["joinGroupChat"]) == "joinGroupChat")
    #expect(NearestName.near("joinGroupChat", among: ["joinGroup"]) == nil)
  }

  @Test(arguments: [
    ("increaseCuonters", true), ("incraseCounter", true), ("icreseCounters", true), ("icreesCounters", false),
    ("gteCounter", false),
  ])
  func aLongWordMayHaveTwoSlips(name: String, isNear: Bool) {
    #expect(NearestName.near(name, among: ["increaseCounters"]) == (isNear ? "increaseCounters" : nil))
  }

  @Test func onlyFillersMayBeMissingWhereTheyAreNamed() {
    let fillers = Set([Array("group".utf8), Array("text".utf8)])
    func near(_ name: String) -> String? {
      NearestName.near(name, among: ["sendGroupTextMessage", "deleteGroupAttributes", "getGroupMembers"], fillers: fillers)
    }
    #expect(near("sendMessage") == "sendGroupTextMessage" && near("deleteAttributes") == "deleteGroupAttributes")
    #expect(near("deleteGroup") == nil && near("getGroup") == nil && near("group") == nil)
    #expect(near("GetMember") == "getGroupMembers")
  }

  @Test func aLongNameCostsNoMoreThanItsBound() {
    let longest = String(repeating: "a", count: NearestName.maxBytes)
    #expect(NearestName.near(longest, among: [longest]) == longest)
    #expect(NearestName.near(longest + "a", among: [longest + "a"]) == nil)
    #expect(NearestName.near("a", among: [longest]) == nil && NearestName.near(longest, among: ["a", "aB"]) == nil)
  }

  @Test func aKeyMayLackItsSections() {
    #expect(NearestName.nearest(to: "secret", among: ["demo", "auth.secret"], separator: ".") == "auth.secret")
    #expect(NearestName.nearest(to: "Demo", among: ["demo", "auth.secret"], separator: ".") == "demo")
  }
}
