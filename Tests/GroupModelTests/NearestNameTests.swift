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
    ("id", "groupID"),
  ])
  func aNameMeansTheNearest(name: String, nearest: String) {
    #expect(NearestName.near(name, among: names) == nearest)
  }

  @Test(arguments: ["", "colour", "intro", "max", "x", "é", "grüße", "text", String(repeating: "groupName", count: 8)])
  func nothingIsNear(name: String) {
    #expect(NearestName.near(name, among: names) == nil)
  }

  @Test func theFirstOfEqualsIsNamed() {
    #expect(NearestName.near("cat", among: ["bat", "hat"]) == "bat")
    #expect(NearestName.near("cat", among: ["chat", "cats", "cat"]) == "cat")
    #expect(NearestName.near("cat", among: []) == nil)
  }

  @Test func aLongNameCostsNoMoreThanItsBound() {
    let longest = String(repeating: "a", count: NearestName.maxBytes)
    #expect(NearestName.near(longest, among: [longest]) == longest)
    #expect(NearestName.near(longest + "a", among: [longest + "a"]) == nil)
  }

  @Test func aKeyMayLackItsSections() {
    #expect(NearestName.nearest(to: "secret", among: ["demo", "auth.secret"], separator: ".") == "auth.secret")
    #expect(NearestName.nearest(to: "Demo", among: ["demo", "auth.secret"], separator: ".") == "demo")
  }
}
