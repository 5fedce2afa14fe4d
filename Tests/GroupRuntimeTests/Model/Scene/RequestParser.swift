import GroupModel
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// Makes of an operation what the gateway would ask a group for it.
struct RequestParser {
  struct NotARequest: Error { let text: String }

  private static let methods = MethodTable()
  private let parser = JSONParser()

  func request(_ operation: Operation, application: GroupApplication?, _ picture: StorePicture) throws -> GroupOperation {
    let facts = UserFacts(
      unknown: users(operation["$unknown"]), atGroupLimit: users(operation["$atLimit"]),
      isAtRoomLimit: operation["$roomLimit"] != .null, readMarks: readMarks(operation["$read"], application))
    switch operation.verb {
    case .getGroupsInfo: return .info
    case .searchGroups: return .foundInfo(joinedOnly: operation["joinedOnly"] == true)
    case .getJoinedGroupList: return .joinedInfo(updatedSince: operation["updatedSince"].instant ?? .unset)
    case .getGroupUnreadCount: return .unreadCount
    case .syncGroups:
      return .sync(
        epoch: operation["epoch"].string!, seq: operation["seq"].integer!, changeSeq: operation["changeSeq"].integer,
        bytes: GroupLimits.standardPageBytes)
    case .acceptGroupApplication, .refuseGroupApplication:
      guard let application else { throw NotARequest(text: "\(operation)") }
      let agrees = operation.verb == .acceptGroupApplication
      return .decide(application, agrees: agrees, reason: operation["reason"].string ?? "", facts)
    case .reportMessage:
      guard case .reportMessage(let report) = try parsed(operation) else { throw NotARequest(text: "\(operation)") }
      return .report(report, mayPass: operation["$full"] == .null)
    default: return try groupRequest(try parsed(operation), by: operation.by, facts, picture)
    }
  }

  /// These users have read the application.
  private func readMarks(_ names: JSON, _ application: GroupApplication?) -> [UserID: WallInstant] {
    guard let application else { return [:] }
    return Dictionary(uniqueKeysWithValues: users(names).map { ($0, application.addTime) })
  }

  private func users(_ names: JSON) -> Set<UserID> { Set(names.strings.compactMap { UserID($0) }) }

  private func parsed(_ operation: Operation) throws -> Request {
    var params = operation.params
    params["groupID"] = "g"
    let request: JSON = ["jsonrpc": "2.0", "id": 1, "method": .string(operation.verb.rawValue), "params": .object(params)]
    let padded = Array(request.text.utf8) + [UInt8](repeating: 0, count: JSONParser.padding)
    let envelope = padded.withUnsafeBytes {
      Envelope(
        padded: UnsafeRawBufferPointer(rebasing: $0.dropLast(JSONParser.padding)), parser: parser, methods: RequestParser.methods,
        servesApplication: true)
    }
    guard case .single(let call) = envelope, case .request(let request) = call.content else {
      throw NotARequest(text: "\(operation)")
    }
    return request
  }

  private func groupRequest(
    _ request: Request, by who: Operator, _ facts: UserFacts, _ picture: StorePicture
  ) throws -> GroupOperation {
    switch request {
    case .group(_, .importGroupMembers(let members)):
      let facts = UserFacts(
        unknown: facts.unknown, atGroupLimit: facts.atGroupLimit, firstSeqs: firstSeqs(members, picture))
      return .request(.importGroupMembers(members), facts)
    case .group(_, let request): return .request(request, facts)
    case .createGroup(let request):
      return .create(request, owner: who.name.flatMap { UserID($0) } ?? request.ownerUserID!, facts)
    case .importGroup(let request): return .importGroup(request, owner: request.group.ownerUserID!, facts)
    default: throw NotARequest(text: "\(request)")
    }
  }

  private func firstSeqs(_ request: ImportGroupMembers, _ picture: StorePicture) -> [UserID: Int64] {
    var seqs: [UserID: Int64] = [:]
    // The first entry of a user who is listed twice counts.
    for member in request.memberList.reversed() {
      seqs[member.userID] = member.joinTime.flatMap { picture.firstSeq(of: GroupScene.group, notBefore: $0) }
    }
    return seqs
  }
}
