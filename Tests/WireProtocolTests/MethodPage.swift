import Testing
import WireProtocol

/// The parameters, results and errors of each method (Reference.md, "Methods"), written by hand.
struct MethodPage: Sendable, CustomTestStringConvertible {
  let name: String
  let fields: [Field]
  /// The members of the result, with question marks.
  let result: [String]
  let callers: MethodSpecification.Callers

  /// - Parameter result: names with spaces between them.
  init(_ name: String, _ fields: [Field] = [], _ result: String = "", for callers: MethodSpecification.Callers = .anyone) {
    self.name = name
    self.fields = fields
    self.result = result.split(separator: " ").map(String.init)
    self.callers = callers
  }

  var testDescription: String { name }

  /// The params with one valid value for each required member, and some members otherwise (nil =
  /// left out).
  func params(_ changed: [String: String?] = [:]) -> String { fields.object(changed) }

  static let all = session + groups + members + users + applications + messages + backend

  private static let session: [MethodPage] = [
    MethodPage(
      "login", [.need("token", .any), .may("platform", .any), .may("deviceID", .any)],
      "userID sessionID serverTime tokenExpiresAt heartbeat", for: .connection),
    MethodPage("logout", for: .connection), MethodPage("ping", [], "serverTime"),
    MethodPage("getServerInfo", [], "name version protocol limits groupTypes"),
    MethodPage("rpc.discover", [], "openrpc info methods components"),
  ]
}

/// One member of params.
struct Field: Sendable {
  let name: String
  let isRequired: Bool
  let domain: Domain

  /// Another member may stand instead, so that descriptions call it optional.
  var hasAlternative = false

  static func need(_ name: String, _ domain: Domain) -> Field { Field(name: name, isRequired: true, domain: domain) }
  static func may(_ name: String, _ domain: Domain) -> Field { Field(name: name, isRequired: false, domain: domain) }

  static let groupID = need("groupID", .groupID)
  static let userID = need("userID", .userID)
  /// The alternative is `userIDList`.
  static let userOrUsers = Field(name: "userID", isRequired: true, domain: .userID, hasAlternative: true)
  static let nextSeq = may("nextSeq", .instant)

  static func count(_ bound: Int64) -> Field { may("count", .integer(1...bound)) }
  /// "An empty user list 8510".
  static func users(_ bound: Int) -> Field { need("userIDList", .list(.userID, 1...bound, empty: 8510)) }
}

extension [Field] {
  /// A JSON object with one valid value for each required member, and some members otherwise (nil =
  /// left out).
  func object(_ changed: [String: String?] = [:]) -> String {
    var members: [String] = []
    for field in self where field.isRequired || changed.keys.contains(field.name) {
      let value = changed.keys.contains(field.name) ? changed[field.name] ?? nil : field.domain.valid[0]
      if let value { members.append("\"\(field.name)\":\(value)") }
    }
    return "{" + members.joined(separator: ",") + "}"
  }
}
