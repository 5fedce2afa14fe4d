import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// The members whose info was changed last, beside a plain dictionary of all.
@Suite struct InfoChangesTests {
  private func user(_ number: Int) -> UserID { UserID(stringLiteral: "u\(number)") }

  /// A member who has joined at 10.
  private func member(_ number: Int, changed time: WallInstant? = nil) -> Member {
    var member = Member(
      userID: user(number), role: .member, joinTime: 10, ordinal: Int64(number), receiveOption: .receiveNotNotify)
    if let time { member.infoTime = time }
    return member
  }

  @Test func whoHasJoinedAloneIsNotChanged() {
    let members = [member(1), member(2, changed: 10), member(3, changed: 11), member(4, changed: 30)]
    let changes = InfoChanges(members)
    let known = Dictionary(uniqueKeysWithValues: members.map { ($0.userID, $0) })
    #expect(changes.changed(since: 0, among: known).map(\.userID) == [user(3), user(4)])
    #expect(changes.changed(since: 12, among: known).map(\.userID) == [user(4)])
    #expect(changes.changed(since: 31, among: known).isEmpty)
  }

  @Test func whoHasLeftOrJoinedAgainIsNotChanged() {
    var members = [user(1): member(1, changed: 20), user(2): member(2, changed: 20)]
    let changes = InfoChanges(members.values)
    members[user(1)] = nil
    #expect(changes.changed(since: 0, among: members).map(\.userID) == [user(2)])
    members[user(1)] = Member(userID: user(1), role: .member, joinTime: 20, ordinal: 9, receiveOption: .receive)
    #expect(changes.changed(since: 0, among: members).map(\.userID) == [user(2)])
  }

  @Test func theLatestOfManyAreKept() {
    let many = (0..<3 * InfoChanges.keptCount).map { member($0, changed: WallInstant(11 + $0)) }
    let members = Dictionary(uniqueKeysWithValues: many.map { ($0.userID, $0) })
    let latest = many.suffix(InfoChanges.keptCount).map(\.userID)
    #expect(InfoChanges(members.values).changed(since: 0, among: members).map(\.userID) == latest)
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func agreesWithAPlainDictionary(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var members: [UserID: Member] = [:]
    // Fewer than are kept.
    for number in 0..<300 { members[user(number)] = member(number) }
    var changes = InfoChanges(members.values)
    for step in 0..<5000 {
      let now = WallInstant(20 + step)
      let number = Int.random(in: 0..<300, using: &random)
      let previous = members[user(number)]
      switch Int.random(in: 0..<8, using: &random) {
      case 0: members[user(number)] = nil
      case 1:
        // A change that others do not see.
        members[user(number)]?.changeTime = now
      default:
        var changed =
          previous
          ?? Member(
            userID: user(number), role: .member, joinTime: now, ordinal: Int64(step), receiveOption: .receive)
        if previous != nil { changed.infoTime = now }
        members[user(number)] = changed
      }
      if let member = members[user(number)] { changes.note(member, was: previous, among: members) }
      #expect(changes.count <= 2 * InfoChanges.keptCount)
      guard step % 50 == 0 else { continue }
      let known = members.values.filter { $0.infoTime > $0.joinTime }.sorted { $0.infoTime < $1.infoTime }
      #expect(changes.changed(since: 0, among: members) == known, "seed \(seed) \(step)")
      let latest = known.filter { $0.infoTime > now - 200 }
      #expect(changes.changed(since: now - 199, among: members) == latest, "seed \(seed) \(step)")
    }
  }
}
