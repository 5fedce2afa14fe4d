import GroupModel
import Testing

@Suite struct MessageExtrasTests {
  private let ann: UserID
  private let bob: UserID
  private let group: GroupID

  init() throws {
    ann = try #require(UserID("ann"))
    bob = try #require(UserID("bob"))
    group = try #require(GroupID("g"))
  }

  private func message(_ content: Message.Content = .text("t"), _ extras: MessageExtras? = nil) -> Message {
    var message = Message(
      msgID: "1", groupID: group, seq: 1, sender: ann, nameCard: "", timestamp: .unset, content: content, priority: .normal,
      clientMsgID: nil, platform: .web)
    message.extras = extras
    return message
  }

  @Test func nothingGivenIsNone() throws {
    #expect(MessageExtras() == nil)
    #expect(MessageExtras(extension: "") == nil)
    #expect(MessageExtras(isExcludedFromUnreadCount: true) != nil)
    let data = try #require(MessageExtras(extension: "data"))
    #expect(data.with(extension: nil) == nil && data.with(extension: "") == nil)
    let flagged = try #require(MessageExtras(extension: "data", isExcludedFromLastMessage: true))
    #expect(flagged.with(extension: nil) == MessageExtras(isExcludedFromLastMessage: true))
    #expect(flagged.with(extension: "other")?.extension == "other")
  }

  @Test func aReplacedExtensionLeavesTheRest() throws {
    let reply = ReplyReference(seq: 7, sender: bob)
    let extras = try #require(
      MessageExtras(
        extension: "a", replyTo: reply, isExcludedFromUnreadCount: true, isExcludedFromLastMessage: true, toUserIDList: [bob]))
    let replaced = try #require(extras.with(extension: "b"))
    #expect(replaced.extension == "b" && replaced.replyTo == reply && replaced.toUserIDList == [bob])
    #expect(replaced.isExcludedFromUnreadCount && replaced.isExcludedFromLastMessage)
    #expect(replaced != extras && replaced == extras.with(extension: "b"))
  }

  /// "é" in one character is another text than "e" with an accent.
  @Test func extensionsAreComparedByteForByte() {
    #expect(MessageExtras(extension: "\u{e9}") != MessageExtras(extension: "e\u{301}"))
    #expect(MessageExtras(extension: "\u{e9}") == MessageExtras(extension: "\u{e9}"))
  }

  @Test func countingAsUnreadAndBeingTheLastAreTwoThings() {
    #expect(message().countsAsUnread && message().movesLastMessage && !message().isTargeted)
    #expect(!message(.tips("{}")).countsAsUnread && message(.tips("{}")).movesLastMessage)
    let uncounted = message(.text("t"), MessageExtras(isExcludedFromUnreadCount: true))
    #expect(!uncounted.countsAsUnread && uncounted.movesLastMessage)
    let notLast = message(.text("t"), MessageExtras(isExcludedFromLastMessage: true))
    #expect(notLast.countsAsUnread && !notLast.movesLastMessage)
    let targeted = message(.text("t"), MessageExtras(toUserIDList: [bob]))
    #expect(targeted.isTargeted && !targeted.countsAsUnread && !targeted.movesLastMessage)
    let reply = message(.text("t"), MessageExtras(extension: "e", replyTo: ReplyReference(seq: 1, sender: ann)))
    #expect(reply.countsAsUnread && reply.movesLastMessage && !reply.isTargeted)
  }

  @Test func aGroupIsMarkedWithWhatItsMessagesHave() {
    #expect(MessageExtras(extension: "e")?.features == [])
    #expect(MessageExtras(replyTo: ReplyReference(seq: 1, sender: ann))?.features == .replies)
    #expect(MessageExtras(isExcludedFromUnreadCount: true)?.features == .excluded)
    #expect(MessageExtras(isExcludedFromLastMessage: true)?.features == .excluded)
    #expect(MessageExtras(isExcludedFromLastMessage: true, toUserIDList: [bob])?.features == .uncounted)
  }
}
