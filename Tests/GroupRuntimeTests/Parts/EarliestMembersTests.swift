import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// The members who have joined first, beside a plain dictionary of all.
@Suite struct EarliestMembersTests {
  private func member(_ number: Int, joined time: WallInstant, role: Role = .member) -> Member {
    Member(
      userID: UserID(stringLiteral: "u\(number)"), role: role, joinTime: time, ordinal: Int64(number), receiveOption: .receive)
  }

  private func known(_ members: [Member]) -> [UserID: Member] {
    Dictionary(uniqueKeysWithValues: members.map { ($0.userID, $0) })
  }

  @Test func theEarliestBesidesTheOwnerFollows() {
    let members = [
      member(1, joined: 5, role: .owner), member(3, joined: 7), member(2, joined: 7), member(4, joined: 6, role: .admin),
    ]
    #expect(EarliestMembers(members).first(among: known(members))?.userID == "u4")
    let others = [members[0], members[1], members[2]]
    #expect(EarliestMembers(others).first(among: known(others))?.userID == "u2", "who was added first")
    #expect(EarliestMembers([members[0]]).first(among: known(members)) == nil)
  }

  @Test func someOfManyAreKeptWhateverTheirOrder() {
    for isAscending in [true, false] {
      let members = (0..<1000).map { member($0, joined: WallInstant(isAscending ? $0 : 1000 - $0)) }
      let earliest = EarliestMembers(members)
      #expect(earliest.count <= 2 * EarliestMembers.keptCount)
      #expect(earliest.first(among: known(members))?.userID == (isAscending ? "u0" : "u999"))
    }
  }

  /// Imported members may have joined long ago, and the owner may be any of them.
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func agreesWithAPlainDictionary(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var members: [UserID: Member] = [:]
    for number in 0..<400 {
      let added = member(number, joined: WallInstant(Int.random(in: 1...300, using: &random)))
      members[added.userID] = added
    }
    var earliest = EarliestMembers(members.values)
    var next = 400
    var scans = 0
    for step in 0..<3000 {
      let first = members.values.min { ($0.joinTime, $0.ordinal) < ($1.joinTime, $1.ordinal) }
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        // Those who have joined first leave first.
        guard let left = members.count > 50 ? first : nil else { continue }
        members[left.userID] = nil
        earliest.update(nil, was: left)
      case 2:
        guard var changed = members.values.randomElement(using: &random) else { continue }
        let previous = changed
        changed.role = changed.role == .owner ? .member : .owner
        members[changed.userID] = changed
        earliest.update(changed, was: previous)
      default:
        let time = Bool.random(using: &random) ? 300 + step : Int.random(in: 1...300, using: &random)
        let added = member(next, joined: WallInstant(time))
        next += 1
        members[added.userID] = added
        earliest.update(added, was: nil)
      }
      let follower = members.values.filter { $0.role != .owner }.min { ($0.joinTime, $0.ordinal) < ($1.joinTime, $1.ordinal) }
      if earliest.first(among: members) == nil {
        // All are looked at again.
        earliest = EarliestMembers(members.values)
        scans += 1
      }
      #expect(earliest.first(among: members) == follower, "seed \(seed) \(step)")
      #expect(earliest.count <= 2 * EarliestMembers.keptCount)
    }
    #expect(scans < 100)
  }
}
