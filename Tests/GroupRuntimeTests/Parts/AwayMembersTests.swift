import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// The members without a session, by their receive options, beside a look at all members.
@Suite struct AwayMembersTests {
  private func user(_ number: Int) -> UserID { UserID(stringLiteral: "u\(number)") }

  private func roster(_ count: Int) -> Roster {
    let record = GroupRecord(
      id: "g", type: .public, epoch: "e", createTime: 1, owner: "u0", name: "n", maxMemberNum: 1000,
      policy: .defaults(for: .public), nextOrdinal: 1)
    let members = (0..<count).map { number in
      Member(
        userID: user(number), role: number == 0 ? .owner : .member, joinTime: 1, ordinal: Int64(number),
        receiveOption: ReceiveOption.allCases[number % ReceiveOption.allCases.count])
    }
    return Roster(StoredGroup(record: record, members: members, former: [], lastMessage: nil, recentlySent: []), at: 10)
  }

  private func away(_ roster: inout Roster, _ isFromManager: Bool, _ mentionsAll: Bool) -> [UserID] {
    roster.awayMembers(toldFromManager: isFromManager, mentionsAll: mentionsAll).sorted()
  }

  @Test func theOptionTellsWhichMessagesAreShown() {
    var roster = roster(5)
    roster.update("u0") { $0.receiveOption = .receive }
    roster.update("u1") { $0.receiveOption = .notReceive }
    roster.update("u2") { $0.receiveOption = .receiveNotNotify }
    roster.update("u3") { $0.receiveOption = .receiveFromManagers }
    roster.update("u4") { $0.receiveOption = .notifyFromManagers }
    func told(_ isFromManager: Bool = false, mentionsAll: Bool = false) -> [UserID] {
      away(&roster, isFromManager, mentionsAll)
    }
    #expect(told() == ["u0"])
    #expect(told(true) == ["u0", "u3", "u4"])
    #expect(told(mentionsAll: true) == ["u0", "u1", "u2", "u3", "u4"])
    roster.setOnline("u0")
    roster.setOnline("u3")
    #expect(told(true) == ["u4"])
    roster.update("u3") { $0.receiveOption = .receive }
    #expect(told(true) == ["u4"], "a choice is made online")
    roster.setOffline("u3", since: 20)
    #expect(told() == ["u3"])
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func agreesWithALookAtAllMembers(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var roster = roster(40)
    for step in 0..<2000 {
      let user = user(Int.random(in: 0..<60, using: &random))
      switch Int.random(in: 0..<6, using: &random) {
      case 0: roster.setOnline(user)
      case 1: roster.setOffline(user, since: MonotonicInstant(milliseconds: step))
      case 2:
        let option = ReceiveOption.allCases.randomElement(using: &random) ?? .receive
        roster.update(user) { $0.receiveOption = option }
      case 3: roster.update(user) { $0.nameCard = "n\(step)" }
      case 4:
        _ = roster.remove(user, visibleRange: nil, bannedUntil: .unset, banReason: "", at: WallInstant(20 + step))
      default:
        if roster[user] == nil { _ = roster.add(user, role: .member, joinTime: 20, at: WallInstant(20 + step)) { _ in } }
      }
      for (isFromManager, mentionsAll) in [(false, false), (true, false), (false, true)] {
        let expected = roster.all.filter { member in
          guard !roster.isOnline(member.userID) else { return false }
          return mentionsAll || member.receiveOption.shows(isFromManager: isFromManager)
        }
        let found = away(&roster, isFromManager, mentionsAll)
        #expect(found == expected.map(\.userID).sorted(), "seed \(seed) \(step)")
      }
    }
  }
}
