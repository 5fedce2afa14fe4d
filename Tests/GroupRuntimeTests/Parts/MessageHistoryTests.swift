import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit

@testable import GroupRuntime

@Suite struct MessageHistoryTests {
  private let history: MessageHistory

  init() {
    let record = GroupRecord(
      id: "g", type: .avChatRoom, epoch: "epoch", createTime: 1, owner: .administrator, name: "n", maxMemberNum: 10,
      policy: .defaults(for: .avChatRoom), nextOrdinal: 1)
    history = MessageHistory(StoredGroup(record: record, members: [], lastMessage: nil, recentlySent: []), at: 10)
  }

  @Test func anIDOfAStoredMessageIsItsGroupsEpochAndItsPlace() {
    let powers = (0...18).map { (0..<$0).reduce(Int64(1)) { power, _ in power * 10 } }
    let below = powers.map { $0 - 1 }
    for seq in powers + below + [1 << 53, .max] {
      #expect(history.messageID(seq: seq) == "epoch-\(seq)")
    }
  }

  @Test func idsOfOtherMessagesCountBehindARandomPrefix() {
    var history = history
    let ids = (0..<120).map { _ in history.nextMessageID(seq: nil) }
    let parts = ids.map { $0.split(separator: "-") }
    #expect(parts.allSatisfy { $0.count == 3 && $0[0] == "epoch" && $0[1] == parts[0][1] })
    #expect(parts.map { $0[2] } == (1...120).map { "\($0)" })
  }
}
