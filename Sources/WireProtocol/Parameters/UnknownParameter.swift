import GroupModel

/// What becomes of members of params that a method does not have, and of members of the request that
/// none has (Protocol.md, "Unknown parameters").
public enum UnknownParameterHandling: Sendable {
  /// Nobody looks for them.
  case ignored
  /// The call names them, for the log and for traces.
  case noted
  /// The same, and the request is -32602.
  case refused
}

/// A member of params, or of an object in a list of params, that the method does not have; or a member
/// of the request itself that none has, such as a mistyped `params`.
public struct UnknownParameter: Sendable, Equatable, CustomStringConvertible {
  /// The member's own name: its first 64 characters, those that cannot be shown as `?`.
  public let name: String
  /// The name with the list that it is in: `memberList[2].rol`.
  public let path: String
  /// The member that is most likely meant; nil where none is near.
  public let nearest: String?
  /// Whether it stands beside `params`.
  public let isOfRequest: Bool

  init(_ name: String, in list: String, nearest: String?, isOfRequest: Bool = false) {
    self.name = UnknownParameter.shown(name)
    path = list + self.name
    self.nearest = nearest
    self.isOfRequest = isOfRequest
  }

  public var description: String {
    let place = isOfRequest ? "\(path) of the request" : path
    return nearest.map { "\(place) (the nearest is \($0))" } ?? place
  }

  /// -32602 for it, where such members are refused. It is not -32600: that has no id, so a client could
  /// not tell which of its requests is meant.
  func error(in method: String) -> WireError {
    let hint = nearest.map { "; the nearest is \($0)" } ?? ""
    let owner = isOfRequest ? "member of a request" : "parameter of \(method)"
    return WireError(.invalidParams, "\(path) is no \(owner)\(hint)", field: name)
  }

  private static let membersOfRequest = ["jsonrpc", "id", "method", "params"]

  /// The members of a request, beside its params, that none has, the first of many; nil where there is
  /// none.
  static func ofRequest(_ request: JSONValue) -> [UnknownParameter]? {
    var found: [UnknownParameter] = []
    request.forEachMember { name, _ in
      guard found.count < KnownMembers.maxNamed, !membersOfRequest.contains(name) else { return }
      let nearest = NearestName.near(name, among: membersOfRequest)
      found.append(UnknownParameter(name, in: "", nearest: nearest, isOfRequest: true))
    }
    return found.isEmpty ? nil : found
  }

  private static func shown(_ name: String) -> String {
    let scalars = name.unicodeScalars.prefix(64).map { (scalar) -> Unicode.Scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: "?"
      default: scalar
      }
    }
    return String(String.UnicodeScalarView(scalars))
  }
}

/// The members that params of a method may have, and the objects in its lists.
struct KnownMembers: Sendable {
  /// The most unknown members that are named.
  static let maxNamed = 8

  private let names: [String]
  /// Of lists of objects, by the name of the list. Maps such as customInfo have any keys.
  private let elements: [String: KnownMembers]

  init(_ parameters: [ParameterDescription], servesApplication: Bool) {
    let members = parameters.map { TypeNotation.Member(name: $0.name, isOptional: !$0.isRequired, type: $0.type) }
    let asUser = TypeNotation.Member(name: "asUser", isOptional: true, type: nil)
    self.init(servesApplication ? members + [asUser] : members)
  }

  private init(_ members: [TypeNotation.Member]) {
    names = members.map(\.name)
    elements = members.reduce(into: [:]) { elements, member in
      if case .array(.object(let members))? = member.type { elements[member.name] = KnownMembers(members) }
    }
  }

  /// The unknown members of an object behind others, the first of many; nil where there is none.
  func unknown(in object: JSONValue, after others: [UnknownParameter]?) -> [UnknownParameter]? {
    var found = others ?? []
    find(in: object, list: "", into: &found)
    return found.isEmpty ? nil : found
  }

  private func find(in object: JSONValue, list: String, into found: inout [UnknownParameter]) {
    object.forEachMember { key, value in
      guard found.count < KnownMembers.maxNamed else { return }
      guard names.contains(key) else {
        found.append(UnknownParameter(key, in: list, nearest: NearestName.near(key, among: names)))
        return
      }
      guard let members = elements[key] else { return }
      var index = 0
      value.forEachElement { element in
        members.find(in: element, list: "\(list)\(key)[\(index)].", into: &found)
        index += 1
      }
    }
  }
}
