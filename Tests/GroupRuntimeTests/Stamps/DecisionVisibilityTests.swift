import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// What each change and each effect raises; `GroupScene` asks it of every decision of the model.
@Suite struct DecisionVisibilityTests {
  private static let user: UserID = "mary"

  private func message(_ content: Message.Content = .text("x"), seq: Int64? = 1) -> Message {
    Message(
      msgID: "e-1", groupID: "g", seq: seq, sender: Self.user, nameCard: "", timestamp: 1, content: content, priority: .normal,
      clientMsgID: nil, platform: .web)
  }

  private func event(_ content: GroupEvent.Content) -> GroupEvent { GroupEvent(groupID: "g", opTime: 1, content) }

  private func visibility(
    _ changes: [StoreChange], _ effects: [Effect] = [], disbands: Bool = false, hears: Bool = true
  ) -> DecisionVisibility {
    var decision = Decision()
    (decision.changes, decision.effects, decision.disbands) = (changes, effects, disbands)
    return decision.visibility { _, _ in hears }
  }

  private let known = StoreChange.forgetFormer("carl", in: "g")

  @Test func aMessageRaisesItsNumberAlone() {
    let sent = Effect.publish(event(.onRecvNewMessage(message())), .storedChat(fromManager: false), except: nil)
    #expect(visibility([.append(message())], [sent]) == .message)
    #expect(visibility([.append(message())], [.send(event(.onRecvNewMessage(message())), to: [Self.user])]) == .message)
  }

  @Test func tipsRaiseTheRevisionToo() {
    #expect(visibility([.append(message(.tips("{}")))]) == [.message, .revision])
  }

  @Test func aChangeOfAMessageRaisesItsNumberAlone() {
    let by = EventOperator(.outsider(Self.user), on: .web)
    let contents: [GroupEvent.Content] = [
      .onRecvMessageRevoked(msgID: "e-1", seq: 1, changeSeq: 1, by: by), .onRecvMessageModified(MessageInfo(message())),
      .onGroupMessagePinned(seq: 1, changeSeq: 1, nil, by: by),
      .onRecvMessageReactionsChanged(
        ReactionsChange(seq: 1, changeSeq: 1, reactions: [], reaction: "a", isAdded: true), by: by),
    ]
    for content in contents {
      let changes: [StoreChange] = [.putChangeSeq(1, at: 1, in: "g"), .noteChange(message())]
      #expect(visibility(changes, [.publish(event(content), .control, except: nil)]) == .change, "\(content)")
      #expect(visibility(changes, [.send(event(content), to: [Self.user])]) == .change, "\(content)")
    }
  }

  @Test func whatIsToldByItsLastStateRaisesTheBoard() {
    #expect(visibility([.putAttributes(GroupAttributes(), in: "g")]) == .board)
    #expect(visibility([.putCounters([.init(key: "k", value: 1)], in: "g")]) == .board)
    #expect(visibility([.addReadReceipts([1], of: Self.user, in: "g")], [.noteReceipts([1])]) == .board)
    let told = Effect.publish(
      event(.onGroupAttributeChanged(TextMap([]), holders: nil)), .control, except: nil)
    #expect(visibility([.putAttributes(GroupAttributes(), in: "g")], [told]) == .board)
  }

  @Test func aCounterThatIsRemovedIsNotToldByTheLastState() {
    let entries: [GroupCounters.Entry] = [.init(key: "k", value: 1), .init(key: "l", value: nil)]
    #expect(visibility([.putCounters(entries, in: "g")]) == [.board, .removal])
  }

  @Test func membersOptionsAndAllOtherEventsRaiseTheRevision() {
    let effects: [Effect] = [
      .attach(Self.user, receiving: .receive), .detach(Self.user), .setReceiveOption(Self.user, .notReceive),
      .publish(event(.onGroupDismissed(by: EventOperator(.outsider(Self.user), on: .web))), .control, except: nil),
      .publish(event(.onMemberEnter([], memberCount: 1, on: nil, nil)), .control, except: nil),
    ]
    for effect in effects { #expect(visibility([known], [effect]) == .revision, "\(effect)") }
  }

  @Test func anEventToSomeCountsWhereAnotherSessionHearsIt() {
    let read = Effect.send(event(.onConversationRead(readSeq: 1)), to: [Self.user])
    #expect(visibility([known], [read]) == .revision)
    #expect(visibility([known], [read], hears: false) == [])
  }

  @Test func nothingIsRaisedWhereNothingIsStored() {
    let effects: [Effect] = [
      .attach(Self.user, receiving: .receive), .noteReceipts([1]),
      .publish(event(.onMemberEnter([], memberCount: 1, on: nil, nil)), .control, except: nil),
    ]
    for effect in effects { #expect(visibility([], [effect]) == []) }
  }

  @Test func theEpochTellsOfTheBeginningAndTheEnd() {
    let record = GroupRecord(
      id: "g", type: .public, epoch: "e", createTime: 1, owner: Self.user, name: "n", maxMemberNum: 9,
      policy: GroupPolicy.defaults(for: .public))
    let attach = Effect.attach(Self.user, receiving: .receive)
    #expect(visibility([.putGroup(record, isNew: true), .append(message(.tips("{}")))], [attach]) == [])
    #expect(visibility([.dismiss("g", at: 1, notifying: nil)], [.disband], disbands: true) == [])
    #expect(visibility([.putGroup(record, isNew: false)], [attach]) == .revision)
  }

  @Test func whatNobodySeesRaisesNothing() {
    #expect(visibility([known]) == [])
    #expect(visibility([known], [.post(WebhookEntry(.groupFull, .groupFull("g", memberCount: 1), in: .group("g"), at: 1))]) == [])
    let lost = Effect.publish(event(.onRecvNewMessage(message(seq: nil))), .storedChat(fromManager: false), except: nil)
    #expect(visibility([known], [lost]) == [], "a message for those who are online is told once")
  }
}
