import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// recycleGroup: "as disbanding, with onGroupRecycled".
@Suite struct RecycleGroupTests {
  @Test(arguments: GroupType.allCases, [true, false])
  func everyMemberGetsTheEventAndTheGroupEnds(type: GroupType, notification: Bool) throws {
    let scene = try Scene(type) { $0.memberChangeNotification = notification }
    let recycled = try scene.ask("recycleGroup", by: "administrator")
    #expect(recycled.result == [:] as JSON)
    #expect(recycled.heard == ["onGroupRecycled": ["adam", "carl", "mary", "olga"] + (type == .bChatRoom ? ["oscar"] : [])])
    let event = try recycled.params("onGroupRecycled", to: "mary")
    #expect(event.names == ["groupID", "opTime", "opUser", "platform"])
    #expect(event["opUser"] == Person.administrator && event["platform"] == "RESTful API")
    #expect(recycled.notifications == (type.storesMessages ? [.groupRecycled: ["adam", "carl", "mary", "olga"]] : [:]))
    #expect(recycled.decision.disbands && scene.state == nil && scene.messages.isEmpty)
    #expect(try scene.ask("recycleGroup", by: "administrator").code == 10010)
  }
}
