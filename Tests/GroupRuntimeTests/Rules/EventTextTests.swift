import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WireProtocol

/// One example of each event, byte for byte.
@Suite struct EventTextTests {
  /// The texts that a session got of one request.
  private func texts(_ scene: Scene, to session: String, _ method: String, _ params: String = "{}", by user: String) throws
    -> [String]
  {
    let decision = try scene.ask(method, params, by: user).decision
    return decision.effects.compactMap { effect in
      switch effect {
      case .publish(let event, _, _): String(decoding: event.frame, as: UTF8.self)
      case .send(let event, let users, _):
        users.contains { $0.rawValue == session } ? String(decoding: event.frame, as: UTF8.self) : nil
      case .sendToSession, .attach, .setReceiveOption, .attachSignedInUsers, .detach, .forgetContent, .disband, .post,
        .noteReceipts:
        nil
      }
    }
  }

  @Test func onMemberEnterAndOnMemberLeave() throws {
    let scene = try Scene(.public) { $0.joinMode = .any }
    #expect(
      try texts(scene, to: "mary", "joinGroup", by: "oscar") == [
        #"{"jsonrpc":"2.0","method":"onMemberEnter","params":{"groupID":"g","opTime":1700000010000,"platform":"Web","memberList":[{"userID":"oscar","nameCard":"","role":"Member"}],"memberCount":5,"seq":1,"msgID":"e-1"}}"#
      ])
    #expect(
      try texts(scene, to: "mary", "quitGroup", by: "oscar") == [
        #"{"jsonrpc":"2.0","method":"onMemberLeave","params":{"groupID":"g","opTime":1700000010000,"platform":"Web","memberList":[{"userID":"oscar","nameCard":"","role":"Member"}],"memberCount":4,"seq":2,"msgID":"e-2"}}"#
      ])
  }

  @Test func onConversationChanged() throws {
    let scene = try Scene(.public)
    #expect(
      try texts(scene, to: "mary", "setConversation", #"{"marks":["a"],"isHidden":true,"isPinned":false}"#, by: "mary") == [
        #"{"jsonrpc":"2.0","method":"onConversationChanged","params":{"groupID":"g","opTime":1700000010000,"isHidden":true,"marks":["a"]}}"#
      ])
    #expect(
      try texts(scene, to: "mary", "sendGroupTextMessage", #"{"text":"x"}"#, by: "olga").suffix(1) == [
        #"{"jsonrpc":"2.0","method":"onConversationChanged","params":{"groupID":"g","opTime":1700000010000,"isHidden":false}}"#
      ])
    #expect(
      try texts(scene, to: "mary", "clearGroupHistory", by: "mary") == [
        #"{"jsonrpc":"2.0","method":"onConversationChanged","params":{"groupID":"g","opTime":1700000010000,"clearedSeq":1}}"#
      ])
  }

  @Test func onGroupCreatedAndOnQuitFromGroup() throws {
    let scene = Scene()
    #expect(
      try texts(scene, to: "olga", "createGroup", #"{"groupType":"AVChatRoom","groupName":"n"}"#, by: "olga") == [
        #"{"jsonrpc":"2.0","method":"onGroupCreated","params":{"groupID":"g","opTime":1700000000000,"platform":"Web"}}"#
      ])
    let quit = try texts(try Scene(.meeting), to: "mary", "quitGroup", by: "mary")
    #expect(
      quit == [#"{"jsonrpc":"2.0","method":"onQuitFromGroup","params":{"groupID":"g","opTime":1700000010000,"platform":"Web"}}"#])
  }

  @Test func onGroupDismissed() throws {
    #expect(
      try texts(try Scene(.public), to: "mary", "dismissGroup", by: "olga") == [
        #"{"jsonrpc":"2.0","method":"onGroupDismissed","params":{"groupID":"g","opTime":1700000010000,"opUser":{"userID":"olga","nameCard":"","role":"Owner"},"platform":"Web"}}"#
      ])
    #expect(
      try texts(try Scene(.work), to: "mary", "dismissGroup", by: "administrator") == [
        #"{"jsonrpc":"2.0","method":"onGroupDismissed","params":{"groupID":"g","opTime":1700000010000,"opUser":{"userID":"administrator"},"platform":"RESTful API"}}"#
      ])
  }

  @Test func onGroupInfoChanged() throws {
    #expect(
      try texts(
        try Scene(.public), to: "mary", "setGroupInfo", #"{"customInfo":{"k":"\"\u0000é"},"isSearchable":false}"#, by: "adam")
        == [
          #"{"jsonrpc":"2.0","method":"onGroupInfoChanged","params":{"groupID":"g","opTime":1700000010000,"opUser":{"userID":"adam","nameCard":"","role":"Admin"},"platform":"Web","changeInfoList":[{"type":"CustomInfo","key":"k","value":"\"\u0000é"},{"type":"isSearchable","value":false}],"seq":1,"msgID":"e-1"}}"#
        ])
  }

  @Test func onGroupSignal() throws {
    let scene = try Scene(.public)
    #expect(
      try texts(scene, to: "mary", "sendGroupSignal", #"{"name":"typing","data":"\u0000é"}"#, by: "carl") == [
        #"{"jsonrpc":"2.0","method":"onGroupSignal","params":{"groupID":"g","opTime":1700000010000,"name":"typing","data":"\u0000é","sender":"carl"}}"#
      ])
    try scene.ask("setGroupMemberInfo", #"{"userID":"mary","nameCard":"M"}"#, by: "mary")
    #expect(
      try texts(scene, to: "olga", "sendGroupSignal", #"{"name":"a.b-c_9"}"#, by: "mary") == [
        #"{"jsonrpc":"2.0","method":"onGroupSignal","params":{"groupID":"g","opTime":1700000010000,"name":"a.b-c_9","sender":"mary","nameCard":"M"}}"#
      ])
  }

  @Test func onRecvNewMessage() throws {
    let params = #"{"text":"hi \u0000😀","priority":"High","clientMsgID":"c","atUserIDList":["mary"]}"#
    #expect(
      try texts(try Scene(.public), to: "mary", "sendGroupTextMessage", params, by: "carl") == [
        #"{"jsonrpc":"2.0","method":"onRecvNewMessage","params":{"groupID":"g","opTime":1700000010000,"message":{"msgID":"e-1","groupID":"g","seq":1,"sender":"carl","timestamp":1700000010000,"type":"Text","text":"hi \u0000😀","priority":"High","clientMsgID":"c","atUserIDList":["mary"],"platform":"Web"}}}"#
      ])
  }
}
