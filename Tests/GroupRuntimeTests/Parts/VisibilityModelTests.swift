import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Random histories of a group against an oracle, which knows only who joined, left, cleared and sent
/// what to whom, and in which order (Protocol.md, "History"). What a reader may see is made of what a
/// roster keeps of the user.
@Suite struct VisibilityModelTests {
  private static let users: [UserID] = ["ann", "bob", "cat", "dan"]

  private enum Happening {
    case joined(UserID)
    case left(UserID)
    case cleared(UserID)
    case sent(Message)
  }

  /// The group as its actor has it, as far as this goes.
  private struct Group {
    var roster: Roster
    var newest: Int64 = 0
    var cleared: [UserID: Int64] = [:]
    var log: [Happening] = []

    init() {
      let record = GroupRecord(
        id: "g", type: .public, epoch: "e", createTime: 1, owner: "olga", name: "n", maxMemberNum: 10,
        policy: .defaults(for: .public), nextOrdinal: 1)
      roster = Roster(StoredGroup(record: record, members: [], lastMessage: nil, recentlySent: []), at: 10)
    }

    mutating func join(_ user: UserID) {
      let first = newest + 1
      log.append(.joined(user))
      _ = roster.add(user, role: .member, joinTime: 1, at: 10) { $0.firstVisibleSeq = first }
      send(from: user, isTip: true)
    }

    mutating func leave(_ member: Member) {
      let user = member.userID
      log.append(.left(user))
      _ = roster.remove(
        user, visibleRange: member.firstVisibleSeq <= newest ? member.firstVisibleSeq...newest : nil, bannedUntil: .unset,
        banReason: "", at: 10)
      send(from: user, isTip: true)
    }

    mutating func clear(_ user: UserID) {
      log.append(.cleared(user))
      cleared[user] = newest
    }

    mutating func send(from sender: UserID, to targets: [UserID] = [], isTip: Bool = false) {
      newest += 1
      var message = Message(
        msgID: "e-\(newest)", groupID: "g", seq: newest, sender: sender, nameCard: "", timestamp: 1,
        content: isTip ? .tips("{}") : .text("t"), priority: .normal, clientMsgID: nil, platform: .web)
      message.extras = MessageExtras(toUserIDList: targets)
      log.append(.sent(message))
    }

    var messages: [Message] { log.compactMap { if case .sent(let message) = $0 { message } else { nil } } }

    func visibility(of member: Member, under policy: HistoryVisibility) -> Visibility {
      Visibility(
        of: member.userID, from: member.firstVisibleSeq, earlier: member.earlierVisibleRanges,
        clearedThrough: cleared[member.userID] ?? 0, through: newest, under: policy)
    }

    /// The oracle: goes through the log once.
    func seen(by user: UserID, under policy: HistoryVisibility) -> [Message] {
      var seen: [Message] = []
      var isMember = false
      for happening in log {
        switch happening {
        case .joined(user): isMember = true
        case .left(user): isMember = false
        case .cleared(user): seen = []
        case .sent(let message):
          let targets = message.extras?.toUserIDList ?? []
          let isForUser = targets.isEmpty || targets.contains(user) || message.sender == user
          if isForUser, isMember || policy == .all { seen.append(message) }
        case .joined, .left, .cleared: break
        }
      }
      return seen
    }
  }

  private func group(seed: UInt64) -> Group {
    var random = SeededGenerator(seed: seed)
    var group = Group()
    for _ in 0..<Int.random(in: 0...60, using: &random) {
      let user = Self.users[Int.random(in: 0..<Self.users.count, using: &random)]
      guard let member = group.roster[user] else {
        group.join(user)
        continue
      }
      switch Int.random(in: 0..<10, using: &random) {
      case 0: group.leave(member)
      case 1: group.clear(user)
      case 2, 3:
        let others = group.roster.userIDs.sorted().filter { $0 != user }
        let targets = others.filter { _ in Bool.random(using: &random) }
        if !targets.isEmpty { group.send(from: user, to: targets) }
      default: group.send(from: user)
      }
    }
    return group
  }

  @Test(arguments: 1...200 as ClosedRange<UInt64>)
  func everyReaderSeesWhatTheOracleSays(seed: UInt64) {
    let group = group(seed: seed)
    for policy in HistoryVisibility.allCases {
      for member in group.roster.all {
        let visible = group.visibility(of: member, under: policy)
        let expected = group.seen(by: member.userID, under: policy)
        let sees = "\(member.userID) under \(policy), seed \(seed)"
        #expect(group.messages.filter(visible.contains) == expected, "\(sees)")
        let hidden = group.messages.filter { !visible.isAddressed(to: $0.extras?.toUserIDList ?? [], from: $0.sender) }
        let places = visible.without(hidden.compactMap(\.seq)).ranges.flatMap { Array($0) }
        #expect(places == expected.compactMap(\.seq), "\(sees)")
      }
    }
    #expect(group.messages.filter(Visibility(ofApplicationThrough: group.newest).contains) == group.messages)
  }

  /// Pages over what is left when the messages of others are taken out.
  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func pagesHoldWhatTheOracleSays(seed: UInt64) {
    let group = group(seed: seed)
    for policy in HistoryVisibility.allCases {
      for member in group.roster.all {
        let visible = group.visibility(of: member, under: policy)
        let hidden = group.messages.filter { !visible.isAddressed(to: $0.extras?.toUserIDList ?? [], from: $0.sender) }
        let history = VisibleHistory(visible.without(hidden.compactMap(\.seq)))
        let seqs = group.seen(by: member.userID, under: policy).compactMap(\.seq)
        for bound in 0...(group.newest + 1) {
          for count in [1, 2, 5] as [Int64] {
            let (older, newer) = (history.older(than: bound, count: count), history.newer(than: bound, count: count))
            let (below, above) = (Array(seqs.filter { $0 < bound }.reversed()), seqs.filter { $0 > bound })
            #expect(older.ranges.flatMap { $0.reversed() } == Array(below.prefix(Int(count))), "seed \(seed), \(bound)")
            #expect(older.isFinished == (below.count <= count), "seed \(seed), \(bound)")
            #expect(newer.ranges.flatMap { Array($0) } == Array(above.prefix(Int(count))), "seed \(seed), \(bound)")
            #expect(newer.isFinished == (above.count <= count), "seed \(seed), \(bound)")
          }
        }
      }
    }
  }

  /// The random histories have what the rules are about.
  @Test func everythingHappens() {
    let groups = (1...200 as ClosedRange<UInt64>).map { group(seed: $0) }
    #expect(groups.contains { group in group.roster.all.contains { $0.earlierVisibleRanges.count > 1 } })
    #expect(groups.contains { group in group.messages.contains(where: \.isTargeted) })
    #expect(groups.contains { group in group.roster.all.contains { group.cleared[$0.userID] ?? 0 > $0.firstVisibleSeq } })
    let cleared = groups.flatMap { group in
      group.roster.all.filter { (group.cleared[$0.userID] ?? 0) > ($0.earlierVisibleRanges.last?.lowerBound ?? .max) }
    }
    #expect(!cleared.isEmpty, "somebody cleared a part of an earlier membership")
  }
}
