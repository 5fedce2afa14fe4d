import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WireProtocol

extension UserID: ExpressibleByStringLiteral {
  public init(stringLiteral name: String) {
    guard let user = UserID(stored: name) else { preconditionFailure("no userID: \(name)") }
    self = user
  }
}

extension GroupID: ExpressibleByStringLiteral {
  public init(stringLiteral name: String) {
    guard let group = GroupID(name) else { preconditionFailure("no groupID: \(name)") }
    self = group
  }
}

private let allMethods = MethodTable()

extension MethodTable.Entry {
  /// Whether one group performs the method: it names the group. The owner of the reporter's shard
  /// performs reportMessage, which names one, too.
  var isOfGroup: Bool { name != "reportMessage" && parameters.contains { $0.name == "groupID" && $0.isRequired } }
}

/// The request that a client's params make; a groupID is added where the params name none.
func request(_ method: String, _ params: String = "{}", of group: GroupID = "g") throws -> Request {
  let members = params.dropFirst().dropLast()
  let whole =
    params.contains("\"groupID\"") || method == "syncGroups"
    ? String(members) : "\"groupID\":\"\(group)\"" + (members.isEmpty ? "" : ",") + members
  let text = Array(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{\#(whole)}}"#.utf8)
  let padded = text + [UInt8](repeating: 0, count: JSONParser.padding)
  let envelope = padded.withUnsafeBytes {
    Envelope(
      padded: UnsafeRawBufferPointer(rebasing: $0.dropLast(JSONParser.padding)), parser: JSONParser(), methods: allMethods,
      servesApplication: true)
  }
  guard case .single(let call) = envelope else { throw WireError(.parseError) }
  switch call.content {
  case .request(let request): return request
  case .badParameters(let error): throw error
  case .unknownMethod, .invalid: throw WireError(.invalidRequest)
  }
}

/// The request to the group for a client's method.
func groupRequest(
  _ method: String, _ params: String = "{}", of group: GroupID = "g", by caller: Caller, _ facts: UserFacts = .none
) throws -> GroupOperation {
  switch method {
  case "info": return .info
  case "unreadCount": return .unreadCount
  case "joinedInfo": return .joinedInfo(updatedSince: try JSON(params)["updatedSince"].instant ?? .unset)
  case "sync":
    let position = try JSON(params)
    return .sync(
      epoch: position["epoch"].string ?? "", seq: position["seq"].integer ?? 0, changeSeq: position["changeSeq"].integer,
      bytes: 1 << 19)
  default: break
  }
  switch try request(method, params, of: group) {
  case .group(_, let request): return .request(request, facts)
  case .createGroup(let request): return .create(request, owner: caller.userID ?? request.ownerUserID ?? "nobody", facts)
  case .reportMessage(let request): return .report(request, mayPass: true)
  case .importGroup(let request): return .importGroup(request, owner: request.group.ownerUserID ?? "nobody", facts)
  default: throw WireError(.methodNotFound)
  }
}
