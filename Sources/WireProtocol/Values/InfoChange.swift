import GroupModel

/// An entry of `changeInfoList` in onGroupInfoChanged (Protocol.md, "Group info").
public struct InfoChange: Equatable, FieldValue {
  public static let notation = "{type, key?, value}"

  /// The new value.
  public enum Value: Sendable, Equatable {
    case text(String)
    case number(Int)
    case flag(Bool)
    case mute(GroupMute)
    case policy(PolicyValue)
  }

  public let type: String
  public let key: String?
  public let value: Value

  /// The group's name, a text, the URL, the owner.
  public static func text(_ type: String, _ value: String) -> InfoChange { InfoChange(type: type, key: nil, value: .text(value)) }

  /// One key of customInfo; "" where it was removed.
  public static func customInfo(_ key: String, _ value: String) -> InfoChange {
    InfoChange(type: "CustomInfo", key: key, value: .text(value))
  }

  /// Another bound of the members.
  public static func maxMemberNum(_ value: Int) -> InfoChange {
    InfoChange(type: "MaxMemberNum", key: nil, value: .number(value))
  }

  /// A field of the policy, by its name.
  public static func policy(_ field: PolicyField, _ value: PolicyValue) -> InfoChange {
    InfoChange(type: field.rawValue, key: nil, value: .policy(value))
  }

  /// What is true of the group from now on, or not.
  public static func flag(_ type: String, _ value: Bool) -> InfoChange { InfoChange(type: type, key: nil, value: .flag(value)) }

  /// The two entries that a change of the group's mute makes.
  public static func mute(_ mute: GroupMute) -> [InfoChange] {
    [.flag("AllMuted", mute.isAllMuted), InfoChange(type: "Mute", key: nil, value: .mute(mute))]
  }

  /// About how long the entry is.
  var byteCount: Int {
    if case .text(let text) = value { 48 + (key?.utf8.count ?? 0) + text.utf8.count } else { 96 }
  }

  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("type", type)
      writer.member("key", ifPresent: key)
      writer.key("value")
      switch value {
      case .text(let text): writer.value(text)
      case .number(let number): writer.value(number)
      case .flag(let flag): writer.value(flag)
      case .mute(let mute): writer.value(mute)
      case .policy(let value): writer.value(value)
      }
    }
  }
}
