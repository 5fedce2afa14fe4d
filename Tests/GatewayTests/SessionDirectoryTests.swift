import Cluster
import GroupModel
import Testing
import ThrongTestKit

@testable import Gateway

/// Replacement of sessions (Protocol.md, "Sessions per user"), and what is left when all have gone.
@Suite struct SessionDirectoryTests {
  private let directory = SessionDirectory()
  private let made: BareSessions

  init() async throws { made = try await BareSessions(12) }

  private func register(_ number: Int, _ platform: Platform = .web, device: String? = nil, user: UserID = "u") {
    directory.register(made.entry(number, platform, device: device), of: user)
  }

  /// The numbers of those who give way; nil when the session itself has.
  private func complete(_ number: Int, limit: Int, user: UserID = "u") -> [Int]? {
    directory.completeSignIn(of: made[number], by: user, limit: limit)?.map { made.number(of: $0) }
  }

  private func signIn(_ number: Int, _ platform: Platform = .web, device: String? = nil, limit: Int) -> [Int]? {
    register(number, platform, device: device)
    return complete(number, limit: limit)
  }

  private var listed: [String] { directory.sessions(of: "u").map(\.sessionID) }

  @Test func withinTheLimitNobodyGivesWay() {
    for number in 0..<10 { #expect(signIn(number, limit: 10) == []) }
    #expect(signIn(10, limit: 10) == [0])
    #expect(signIn(11, limit: 10) == [1])
    #expect(listed.count == 10)
  }

  @Test func platformsAreCountedApart() {
    #expect(signIn(0, .iOS, limit: 1) == [])
    #expect(signIn(1, .android, limit: 1) == [])
    #expect(signIn(2, .iOS, limit: 1) == [0])
    #expect(listed == ["1", "2"])
  }

  @Test func aDeviceGivesWayToItselfOnAnyPlatform() {
    #expect(signIn(0, .iOS, device: "d", limit: 1) == [])
    #expect(signIn(1, .web, device: "e", limit: 10) == [])
    #expect(signIn(2, .web, device: "d", limit: 10) == [0])
    #expect(listed == ["1", "2"])
  }

  @Test func anotherSpellingOfADeviceIsAnotherDevice() {
    #expect(signIn(0, .web, device: "\u{e9}", limit: 10) == [])
    #expect(signIn(1, .web, device: "e\u{301}", limit: 10) == [])
    #expect(signIn(2, .web, device: "\u{e9}", limit: 10) == [0])
  }

  @Test func theDevicesOwnSessionMakesTheRoom() {
    #expect(signIn(0, .web, limit: 2) == [])
    #expect(signIn(1, .web, device: "d", limit: 2) == [])
    #expect(signIn(2, .web, device: "d", limit: 2) == [1], "the oldest stays: there is room again")
  }

  @Test func sessionsWithoutADeviceAreNotOneDevice() {
    #expect(signIn(0, .web, limit: 10) == [])
    #expect(signIn(1, .web, limit: 10) == [])
  }

  @Test func aLoweredLimitTakesAllThatAreTooMany() {
    for number in 0..<4 { _ = signIn(number, limit: 10) }
    #expect(signIn(4, limit: 2) == [0, 1, 2])
  }

  @Test func untilItHasSignedInASessionTakesNobodysPlace() {
    #expect(signIn(0, .iOS, limit: 1) == [])
    register(1, .iOS)
    #expect(listed == ["0", "1"])
    #expect(directory.unregister(made[1], of: "u").groups == [], "the store failed: the first is still there")
    #expect(listed == ["0"])
  }

  @Test func ofTwoThatSignInAtOnceTheLaterStays() {
    register(0, .iOS)
    register(1, .iOS)
    #expect(complete(1, limit: 1) == [0])
    #expect(complete(0, limit: 1) == nil, "it has been replaced meanwhile")
    #expect(listed == ["1"])
  }

  @Test func theEarlierOfTwoDoesNotTakeTheLatersPlace() {
    register(0, .iOS, device: "d")
    register(1, .iOS, device: "d")
    #expect(complete(0, limit: 1) == [])
    #expect(complete(1, limit: 1) == [0])
  }

  @Test func usersAreApart() {
    let other: UserID = "v"
    _ = signIn(0, .iOS, device: "d", limit: 1)
    register(1, .iOS, device: "d", user: other)
    #expect(complete(1, limit: 1, user: other) == [])
    #expect(directory.userCount == 2 && directory.sessionCount == 2)
    #expect(directory.signedInUsers().sorted() == ["u", other])
  }

  @Test func groupsHearOfTheLastSessionOnly() {
    let user: UserID = "u"
    let groups = ["g", "h"] as [GroupID]
    let topic = TopicNumber()
    #expect(directory.attach(groups[0], to: user, by: topic).isEmpty, "nobody is there")
    _ = signIn(0, limit: 10)
    _ = signIn(1, limit: 10)
    #expect(directory.attach(groups[0], to: user, by: topic).count == 2)
    #expect(directory.attach(groups[1], to: user, by: topic).count == 2)
    #expect(directory.detach(groups[1], from: user, by: topic).count == 2)
    #expect(directory.unregister(made[0], of: user).groups == [])
    #expect(directory.unregister(made[0], of: user).groups == [], "a second time changes nothing")
    #expect(directory.unregister(made[1], of: user).groups == [groups[0]])
    #expect(directory.attach(groups[0], to: user, by: topic).isEmpty)
    #expect(directory.userCount == 0 && directory.sessionCount == 0, "attaching made no entry")
  }

  @Test func sessionsSignInBeforeOrBehindTheLossOfANode() {
    let (first, second) = (NodeNumber(1), NodeNumber(2))
    func before(_ node: NodeNumber) -> [String] { directory.sessions(of: "u", before: node).map(\.sessionID) }
    register(0)
    #expect(before(first) == [], "its client reads later")
    directory.noteSignIn(made[0].key, of: "u")
    #expect(before(first) == ["0"])
    register(1)
    directory.noteLoss(of: first)
    #expect(before(first) == ["0"])
    directory.noteSignIn(made[1].key, of: "u")
    #expect(before(first) == ["0"] && before(second) == ["0", "1"])
    directory.noteLoss(of: second)
    #expect(before(first) == ["0"] && before(second) == ["0", "1"])
    #expect(directory.sessions(of: "v", before: first).isEmpty)
  }

  @Test func lossesOfNodesAreKeptInTheirOrder() {
    var losses = NodeLosses()
    let count = NodeLosses.maxNodes + 1
    for number in 1...count { losses.add(NodeNumber(Int64(number))) }
    #expect(losses.count == count)
    #expect(losses.includes(NodeNumber(2), amongFirst: 2) && !losses.includes(NodeNumber(2), amongFirst: 1))
    #expect(losses.includes(NodeNumber(Int64(count)), amongFirst: count))
    #expect(!losses.includes(NodeNumber(Int64(count)), amongFirst: count - 1))
    #expect(!losses.includes(NodeNumber(1), amongFirst: count), "it is forgotten")
    #expect(!losses.includes(NodeNumber(Int64(count + 1)), amongFirst: count), "it has not gone")
  }

  /// Of many users it is noted a little later, when another topic may have attached some of them.
  @Test func theUsersOfAClosedTopicStayWithALaterOne() async throws {
    let users = (0..<2 * SessionDirectory.batchSize + 1).map { UserID(stringLiteral: "user\($0)") }
    let (first, second) = (TopicNumber(), TopicNumber())
    for user in users {
      register(0, user: user)
      #expect(directory.attach("g", to: user, by: first).count == 1)
    }
    for user in users.prefix(3) { _ = directory.attach("g", to: user, by: second) }
    directory.detach("g", fromAll: Set(users), by: first)
    try await waitUntil("all are detached") { users.dropFirst(3).allSatisfy { directory.groups(of: $0).isEmpty } }
    for user in users.prefix(3) { #expect(directory.groups(of: user) == ["g"]) }
    directory.detach("g", fromAll: Set(users.prefix(3)), by: second)
    #expect(directory.groups(of: users[0]).isEmpty, "those of few are detached at once")
  }
}
