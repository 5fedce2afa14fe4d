import GroupModel
import GroupPermissions
import WireProtocol

/// A group type as JSON: `{groupType, legacyName?, rights, policy, …}` (Protocol.md, "Server
/// information").
struct GroupTypeEncoding: WireEncodable {
  let described: GroupTypeDescription

  init(_ described: GroupTypeDescription) { self.described = described }

  func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("groupType", described.type.rawValue)
      writer.member("legacyName", ifPresent: described.legacyName)
      writer.key("rights")
      writer.object { encodeRights(into: &$0) }
      writer.key("policy")
      writer.object { encodePolicy(into: &$0) }
      encodeFacts(into: &writer)
    }
  }

  /// `{action: requirement}`, in the words of the table: a role, a policy field, `anyone`, `admin`
  /// or `×`.
  private func encodeRights(into writer: inout JSONWriter) {
    for right in described.rights {
      writer.key(named: right.action.rawValue)
      writer.value(right.requirement.word)
    }
  }

  /// `{field: {default, settable, values}}`, with `{min, max}` in place of the values of a field of
  /// numbers; empty where the type has no policy.
  private func encodePolicy(into writer: inout JSONWriter) {
    for setting in described.settings {
      writer.key(named: setting.field.rawValue)
      writer.object { writer in
        writer.member("default", setting.defaultValue)
        writer.member("settable", setting.isSettable)
        if let range = setting.range {
          writer.member("min", range.lowerBound)
          writer.member("max", range.upperBound)
        } else {
          writer.member("values", setting.values)
        }
      }
    }
  }

  /// The facts besides rights and policy (Protocol.md, "Group types").
  private func encodeFacts(into writer: inout JSONWriter) {
    writer.member("takesInitialMembers", described.takesInitialMembers)
    writer.member("takesInitialAdmins", described.takesInitialAdmins)
    writer.member("limitsMembers", described.limitsMembers)
    writer.member("everyoneIsMember", described.everyoneIsMember)
    writer.member("storesMessages", described.storesMessages)
    writer.member("showsHistoryFromBeforeJoining", described.showsHistoryFromBeforeJoining)
    writer.member("countsUnread", described.countsUnread)
    writer.member("isListed", described.isListed)
    writer.member("defaultReceiveOption", described.defaultReceiveOption.rawValue)
    writer.member("memberList", described.memberList.rawValue)
    writer.member("allowsRecall", described.allowsRecall)
  }
}
