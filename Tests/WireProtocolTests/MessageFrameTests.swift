import Foundation
import GroupModel
import Testing
import ThrongTestKit

@testable import WireProtocol

/// The message that is read out of a frame, against one that is encoded for its reader.
@Suite struct MessageFrameTests {
  private let group: GroupID

  init() throws { group = try #require(GroupID(#"g","message":{"#)) }

  private func message(_ samples: inout Samples) -> Message {
    let (text, isText) = (samples.text() + #","message":{"text":"x"}"#, samples.flag())
    var message = Message(
      msgID: samples.text(), groupID: group, seq: samples.number(), sender: samples.user(), nameCard: samples.text(),
      timestamp: samples.instant(), content: isText ? .text(text) : .custom(text), priority: samples.one(),
      clientMsgID: samples.optional { $0.text() }, atUserIDList: samples.flag() ? ["@all"] : [], platform: samples.one(),
      needReadReceipt: samples.flag())
    if samples.flag() { message.content = .text(String(repeating: "long ", count: 300)) }
    if samples.flag() {
      let targets = samples.flag() ? [samples.user()] : []
      message.extras = MessageExtras(
        extension: samples.text(), replyTo: samples.optional { ReplyReference(seq: $0.number(), sender: $0.user()) },
        isExcludedFromUnreadCount: samples.flag(), isExcludedFromLastMessage: samples.flag(), toUserIDList: targets)
    }
    return message
  }

  private func profile(_ samples: inout Samples) -> UserProfile? {
    .make(nickName: samples.flag() ? samples.text() : "", faceURL: samples.flag() ? samples.text() : "")
  }

  @Test(arguments: 1...100 as ClosedRange<UInt64>)
  func aReaderGetsTheMessageWithTheProfileOfNow(seed: UInt64) throws {
    var samples = Samples(seed: seed)
    let message = message(&samples)
    let (sent, now) = (profile(&samples), profile(&samples))
    let event = GroupEvent(groupID: group, opTime: samples.instant(), .onRecvNewMessage(message), senderProfile: sent)
    let frame = try #require(event.messageFrame)
    #expect(frame.bytes == event.frame)
    #expect(frame.seq == message.seq && frame.msgID.isSame(as: message.msgID))
    #expect(frame.sender == message.sender && frame.timestamp == message.timestamp)
    for profile in [sent, now, nil] {
      #expect(frame.message(showing: profile).text == Encoded(MessageInfo(message, senderProfile: profile)).text)
    }
  }

  @Test(arguments: 1...100 as ClosedRange<UInt64>)
  func aRecalledMessageKeepsAllButItsContent(seed: UInt64) throws {
    var samples = Samples(seed: seed)
    var message = message(&samples)
    let (sent, now) = (profile(&samples), profile(&samples))
    let event = GroupEvent(groupID: group, opTime: 1, .onRecvNewMessage(message), senderProfile: sent)
    let frame = try #require(event.messageFrame).recalled(changeSeq: 12)
    message.isRevoked = true
    message.changeSeq = 12
    for profile in [sent, now, nil] {
      let expected = Encoded(MessageInfo(message, senderProfile: profile)).text
      #expect(try JSON(frame.message(showing: profile).text) == JSON(expected))
    }
    // The content is not kept either.
    #expect(frame.bytes.count < event.frame.count)
    let kept = try JSON(frame.bytes)
    #expect(kept["text"] == .null && kept["data"] == .null && kept["isRevoked"] == true)
    #expect(kept["extension"] == .null)
  }

  @Test func partsThatMostMessagesHaveNotStandBehindTheContent() throws {
    let (ann, bob) = (try #require(UserID("ann")), try #require(UserID("bob")))
    var message = Message(
      msgID: "1", groupID: try #require(GroupID("g")), seq: 5, sender: ann, nameCard: "", timestamp: WallInstant(milliseconds: 2),
      content: .text("t"), priority: .normal, clientMsgID: nil, platform: .web)
    message.extras = MessageExtras(
      extension: "e", replyTo: ReplyReference(seq: 3, sender: bob), isExcludedFromUnreadCount: true,
      isExcludedFromLastMessage: true, toUserIDList: [bob])
    let expected =
      #"{"msgID":"1","groupID":"g","seq":5,"sender":"ann","timestamp":2,"type":"Text","text":"t","extension":"e","#
      + #""priority":"Normal","replyTo":{"seq":3,"sender":"bob"},"toUserIDList":["bob"],"#
      + #""isExcludedFromUnreadCount":true,"isExcludedFromLastMessage":true,"platform":"Web"}"#
    #expect(String(decoding: Encoded(MessageInfo(message)).text, as: UTF8.self) == expected)
  }

  /// Nor has the example of a new message, which has no place.
  @Test(arguments: EventName.allCases) func otherEventsHaveNoFrameOfAMessage(name: EventName) {
    guard let event = name.example as? GroupEvent else { return }
    #expect(event.messageFrame == nil)
  }
}
