import GroupModel
import Testing

@Suite struct GroupTypeTests {
  @Test(arguments: [
    ("Work", GroupType.work), ("Public", .public), ("Meeting", .meeting), ("AVChatRoom", .avChatRoom), ("BChatRoom", .bChatRoom),
  ])
  func currentNamesAreReadAndAnswered(name: String, type: GroupType) {
    #expect(GroupType(wireName: name) == type)
    #expect(type.rawValue == name)
  }

  @Test func legacyNamesAreReadAndAnsweredAsTheCurrentOnes() {
    #expect(GroupType(wireName: "Private")?.rawValue == "Work")
    #expect(GroupType(wireName: "ChatRoom")?.rawValue == "Meeting")
  }

  @Test(arguments: ["", "work", "PRIVATE", "chatRoom", "Community", "Work ", "BroadcastGroup"])
  func othersAreRefused(name: String) {
    #expect(GroupType(wireName: name) == nil)
  }

  @Test func onlyWorkGroupsAreHiddenFromNonMembers() {
    #expect(GroupType.allCases.filter { !$0.isVisibleToNonMembers } == [.work])
  }

  @Test func thereAreFive() {
    #expect(GroupType.allCases.count == 5)
  }
}

@Suite struct PlatformTests {
  @Test(arguments: ["iOS", "Android", "Windows", "Mac", "Web", "Unknown"])
  func clientsNameTheirs(name: String) {
    #expect(Platform(signIn: name)?.rawValue == name)
  }

  @Test(arguments: ["", "ios", "Linux", "RESTful API"])
  func othersAreRefused(name: String) {
    #expect(Platform(signIn: name) == nil)
  }
}

@Suite struct MessageTests {
  @Test func prioritiesRank() {
    #expect(Priority.allCases.sorted() == [.lowest, .low, .normal, .high])
    #expect(Priority.allCases.map(\.rawValue) == ["High", "Normal", "Low", "Lowest"])
  }

  @Test func tipsAreNoChat() throws {
    let groupID = try #require(GroupID("g"))
    func message(_ content: Message.Content) -> Message {
      Message(
        msgID: "1", groupID: groupID, seq: 1, sender: .administrator, nameCard: "", timestamp: .unset, content: content,
        priority: .normal, clientMsgID: nil, platform: .restAPI)
    }
    #expect(message(.text("a")).isChat)
    #expect(message(.custom("a")).isChat)
    #expect(!message(.tips("{}")).isChat)
  }
}
