import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// "One user has at most one open application of a kind per group".
@Suite struct OpenApplicationsTests {
  private func application(
    _ id: String, _ kind: GroupApplication.Kind, from: UserID, to: UserID? = nil, message: String = ""
  ) -> GroupApplication {
    GroupApplication(
      id: id, groupID: "g", epoch: "e", kind: kind, fromUser: from, toUser: to, addTime: 1, requestMsg: message)
  }

  @Test func aUserCanHaveAnApplicationOfEachKind() {
    let join = application("1", .join, from: "oscar")
    let invitation = application("2", .invite, from: "mary", to: "oscar")
    let open = OpenApplications([join, invitation])
    #expect(open.application(.join, of: "oscar") == join && open.application(.invite, of: "oscar") == invitation)
    #expect(open.application(.join, of: "mary") == nil && open.application(.invite, of: "mary") == nil)
  }

  @Test func aRenewedApplicationReplacesTheFirst() {
    var open = OpenApplications([application("1", .join, from: "oscar", message: "a")])
    open.put(application("1", .join, from: "oscar", message: "b"))
    #expect(open.application(.join, of: "oscar")?.requestMsg == "b")
    #expect(open.open(application("1", .join, from: "oscar", message: "a"))?.requestMsg == "b", "it is known by its id")
  }

  @Test func aDecidedApplicationIsNotOpen() {
    var open = OpenApplications([])
    let first = application("1", .invite, from: "mary", to: "oscar")
    open.put(first)
    open.remove(first)
    #expect(open.open(first) == nil && open.application(.invite, of: "oscar") == nil)
    open.put(application("2", .invite, from: "mary", to: "oscar"))
    #expect(open.open(first) == nil, "the same user was invited once more since")
  }

  @Test func theNumberIsBounded() {
    var open = OpenApplications([])
    for number in 1...OpenApplications.maxCount {
      #expect(!open.isFull)
      open.put(application("\(number)", .join, from: UserID(stringLiteral: "u\(number)")))
    }
    #expect(open.isFull)
    open.put(application("1", .join, from: "u1"))
    #expect(open.isFull)
    open.remove(application("1", .join, from: "u1"))
    #expect(!open.isFull)
  }
}
