import GroupModel
import ThrongTestKit

/// Something that a user does in the model test.
enum Operation: Sendable, CustomStringConvertible {
  case create(String, members: [(name: String, role: Role)])
  case join(String)
  case quit(String)
  case dismiss(String)
  case send(String, clientMsgID: String?, onlineUserOnly: Bool)
  case set(String, field: String, value: String)
  case wait(milliseconds: Int64)

  static let users = ["ann", "bob", "cat", "dan", "eve"]

  /// A random one, weighed so that groups live for a while.
  static func random(_ type: GroupType, using random: inout SeededGenerator) -> Operation {
    let user = users.randomElement(using: &random) ?? "ann"
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<12: return .create(user, members: type.takesInitialMembers ? initialMembers(type, using: &random) : [])
    case 12..<34: return .join(user)
    case 34..<50: return .quit(user)
    case 50..<52: return .dismiss(user)
    case 52..<76:
      let mark = Bool.random(using: &random) ? "c\(Int.random(in: 0..<3, using: &random))" : nil
      return .send(user, clientMsgID: mark, onlineUserOnly: Int.random(in: 0..<4, using: &random) == 0)
    case 76..<94:
      let (field, values) = settings.randomElement(using: &random) ?? settings[0]
      return .set(user, field: field, value: values.randomElement(using: &random) ?? values[0])
    default: return .wait(milliseconds: [1, 1000, 150_000, 299_999, 300_000].randomElement(using: &random) ?? 1)
    }
  }

  private static let settings: [(String, [String])] = [
    ("groupName", [#""n""#, #""m""#]), ("joinMode", [#""Any""#, #""Auth""#, #""Forbid""#]),
    ("ownerQuitMode", [#""Transfer""#, #""Forbid""#]),
    ("memberChangeNotification", ["true", "false"]), ("maxMemberNum", ["1", "2", "3", "4", "6000"]),
    ("allMuted", ["true", "false"]),
  ]

  private static func initialMembers(_ type: GroupType, using random: inout SeededGenerator) -> [(String, Role)] {
    users.shuffled(using: &random).prefix(Int.random(in: 0...4, using: &random)).map { name in
      (name, type != .work && Int.random(in: 0..<3, using: &random) == 0 ? .admin : .member)
    }
  }

  var description: String {
    switch self {
    case .create(let user, let members): "\(user) creates with \(members.map { "\($0.name):\($0.role.wireName)" })"
    case .join(let user): "\(user) joins"
    case .quit(let user): "\(user) quits"
    case .dismiss(let user): "\(user) disbands"
    case .send(let user, let mark, let onlineUserOnly): "\(user) sends \(mark ?? "-")\(onlineUserOnly ? " onlineUserOnly" : "")"
    case .set(let user, let field, let value): "\(user) sets \(field) to \(value)"
    case .wait(let milliseconds): "\(milliseconds) ms pass"
    }
  }
}
