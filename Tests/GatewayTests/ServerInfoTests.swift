import Foundation
import GroupModel
import GroupPermissions
import Testing
import WireProtocol

@testable import Gateway

/// getServerInfo as another JSON library reads it, against the tables and, in short cases,
/// literals.
@Suite struct ServerInfoTests {
  private static let types = GroupTypeDescription.all(by: GroupPermissions(attributeTypes: [.avChatRoom, .meeting]))

  private func text(
    limits: [(key: String, value: Int64)] = [], groupTypes: [GroupTypeDescription] = types
  ) throws -> [UInt8] {
    let info = ServerInfo(Product(name: "Throng \"x\"", version: "1.2.3", limits: limits), groupTypes: groupTypes)
    guard case .success(let value) = info.reply() else { throw Failure() }
    return Encoded(value).text
  }

  private struct Failure: Error {}

  private func object(_ text: [UInt8]) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any])
  }

  private func groupTypes() throws -> [[String: Any]] { try #require(try object(text())["groupTypes"] as? [[String: Any]]) }

  @Test func theServerIsNamed() throws {
    let info = try object(text())
    #expect(info["name"] as? String == "Throng \"x\"")
    #expect(info["version"] as? String == "1.2.3")
    #expect(info["protocol"] as? String == "throng.v1")
    #expect(Set(info.keys) == ["name", "version", "protocol", "limits", "groupTypes"])
  }

  @Test func limitsAreFlatAndSorted() throws {
    let text = try text(limits: [
      ("limits.work.maxMemberNum", 6000), ("limits.avChatRoom.messagesPerSecond", 40), ("limits.sendQueueBytes", 1 << 40),
    ])
    #expect(
      try object(text)["limits"] as? [String: Int64] == [
        "limits.work.maxMemberNum": 6000, "limits.avChatRoom.messagesPerSecond": 40, "limits.sendQueueBytes": 1 << 40,
      ])
    let written = String(decoding: text, as: UTF8.self)
    #expect(
      written.contains(
        #""limits":{"limits.avChatRoom.messagesPerSecond":40,"limits.sendQueueBytes":1099511627776,"limits.work.maxMemberNum":6000}"#
      ))
  }

  @Test func typesComeInOrderWithTheirLegacyNames() throws {
    let types = try groupTypes()
    #expect(types.map { $0["groupType"] as? String } == ["Work", "Public", "Meeting", "AVChatRoom", "BChatRoom"])
    #expect(types.map { $0["legacyName"] as? String } == ["Private", nil, "ChatRoom", nil, nil])
  }

  @Test func everyRightIsToldInTheTablesWord() throws {
    for (type, described) in zip(try groupTypes(), ServerInfoTests.types) {
      let rights = try #require(type["rights"] as? [String: String])
      #expect(Set(rights.keys) == Set(GroupAction.allCases.map(\.rawValue)).subtracting(["editMember", "editServerCustomInfo"]))
      for right in described.rights { #expect(rights[right.action.rawValue] == right.requirement.word, "\(described.type)") }
    }
    let meeting = try #require(try groupTypes()[2]["rights"] as? [String: String])
    #expect(meeting["invite"] == "inviteMode" && meeting["create"] == "anyone" && meeting["changeRole"] == "Owner")
    #expect(meeting["useAttributes"] == "Member", "the configuration's types, not the default ones")
    #expect((try groupTypes()[0]["rights"] as? [String: String])?["disband"] == "admin")
    #expect((try groupTypes()[4]["rights"] as? [String: String])?["join"] == "×")
  }

  @Test func everyPolicyFieldIsToldWithDefaultAndValues() throws {
    let types = try groupTypes()
    for (type, described) in zip(types, ServerInfoTests.types) {
      let policy = try #require(type["policy"] as? [String: [String: Any]])
      #expect(Set(policy.keys) == Set(described.settings.map(\.field.rawValue)))
      for setting in described.settings {
        let told = try #require(policy[setting.field.rawValue])
        let values: Set = setting.field == .slowMode ? ["min", "max"] : ["values"]
        #expect(Set(told.keys) == values.union(["default", "settable"]))
        #expect(told["settable"] as? Bool == setting.isSettable)
      }
    }
    let work = try #require(types[0]["policy"] as? [String: [String: Any]])
    #expect(work["joinMode"]?["default"] as? String == "Forbid")
    #expect(work["joinMode"]?["settable"] as? Bool == false)
    #expect(work["joinMode"]?["values"] as? [String] == ["Any", "Auth", "Forbid"])
    #expect(work["isSearchable"]?["default"] as? Bool == false)
    #expect(work["isSearchable"]?["values"] as? [Bool] == [true, false])
    #expect(work["slowMode"]?["default"] as? Int == 0 && work["slowMode"]?["settable"] as? Bool == true)
    #expect(work["slowMode"]?["min"] as? Int == 0 && work["slowMode"]?["max"] as? Int == 86_400)
    #expect(work["attributeMode"]?["settable"] as? Bool == false)
    let meeting = try #require(types[2]["policy"] as? [String: [String: Any]])
    #expect(meeting["attributeMode"]?["settable"] as? Bool == true, "the configuration's types")
    #expect(meeting["attributeMode"]?["values"] as? [String] == ["Any", "Holder"])
    #expect((types[4]["policy"] as? [String: Any])?.isEmpty == true)
  }

  @Test func theFactsAreTold() throws {
    let types = try groupTypes()
    func flags(_ name: String) -> [Bool?] { types.map { $0[name] as? Bool } }
    #expect(flags("takesInitialMembers") == [true, true, true, false, false])
    #expect(flags("takesInitialAdmins") == [false, true, true, false, false])
    #expect(flags("limitsMembers") == [true, true, true, false, false])
    #expect(flags("everyoneIsMember") == [false, false, false, false, true])
    #expect(flags("storesMessages") == [true, true, true, false, false])
    #expect(flags("showsHistoryFromBeforeJoining") == [false, false, true, false, false])
    #expect(flags("countsUnread") == [true, true, false, false, false])
    #expect(flags("isListed") == [true, true, true, false, false])
    #expect(flags("allowsRecall") == [true, true, true, false, false])
    #expect(
      types.map { $0["defaultReceiveOption"] as? String } == [
        "Receive", "Receive", "ReceiveNotNotify", "ReceiveNotNotify", "ReceiveNotNotify",
      ])
    #expect(types.map { $0["memberList"] as? String } == ["whole", "whole", "whole", "ownerAndNewest", "none"])
  }
}
