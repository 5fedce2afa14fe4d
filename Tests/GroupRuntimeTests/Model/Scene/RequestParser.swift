import GroupModel
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// Makes of an operation what the gateway would ask a group for it.
struct RequestParser {
  struct NotARequest: Error { let text: String }

  private static let methods = MethodTable()
  private let parser = JSONParser()

  func request(_ operation: Operation, application: GroupApplication?, _ picture: StorePicture) throws -> GroupRequest {
    let facts = UserFacts(
      unknown: users(operation["$unknown"]), atGroupLimit: users(operation["$atLimit"]),
      isAtRoomLimit: operation["$roomLimit"] != .null)
    switch operation.verb {
    case .getGroupsInfo: return .info
    case .searchGroups: return .foundInfo
    case .getJoinedGroupList: return .joinedInfo(updatedSince: operation["updatedSince"].integer ?? 0)
    case .getGroupUnreadCount: return .unreadCount
    case .syncGroups:
      return .sync(epoch: operation["epoch"].string!, seq: operation["seq"].integer!, bytes: GroupLimits.standardPageBytes)
    case .acceptGroupApplication, .refuseGroupApplication:
      guard let application else { throw NotARequest(text: "\(operation)") }
      let agrees = operation.verb == .acceptGroupApplication
      return .decide(application, agrees: agrees, reason: operation["reason"].string ?? "", facts)
    default: return try groupRequest(try parsed(operation), by: operation.by, facts, picture)
    }
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
  ) throws -> GroupRequest {
    switch request {
    case .createGroup(let request):
      return .create(request, owner: who.name.flatMap { UserID($0) } ?? request.ownerUserID!, facts)
    case .importGroup(let request): return .importGroup(request, owner: request.group.ownerUserID!, facts)
    case .joinGroup(let request): return .join(request, facts)
    case .quitGroup: return .quit
    case .dismissGroup: return .dismiss
    case .recycleGroup: return .recycle
    case .setGroupInfo(let request): return .setInfo(request)
    case .muteGroup(let request): return .muteGroup(request)
    case .transferGroupOwner(let request): return .transfer(request)
    case .setGroupMemberRole(let request): return .setRole(request, facts)
    case .setGroupMemberInfo(let request): return .setMemberInfo(request, facts)
    case .muteGroupMember(let request): return .muteMember(request)
    case .inviteUserToGroup(let request): return .invite(request, facts)
    case .kickGroupMember(let request): return .kick(request)
    case .sendGroupTextMessage(let request): return .send(.text(request.text), request.options)
    case .sendGroupCustomMessage(let request): return .send(.custom(request.data), request.options)
    case .revokeGroupMessage(let request): return .revoke(seq: request.seq)
    case .markGroupMessageAsRead(let request): return .markRead(seq: request.seq)
    case .setGroupReceiveMessageOpt(let request): return .setReceiveOption(request.option)
    default: return try otherRequest(request, facts, picture)
    }
  }

  private func otherRequest(_ request: Request, _ facts: UserFacts, _ picture: StorePicture) throws -> GroupRequest {
    switch request {
    case .initGroupAttributes(let request): return .initAttributes(request.attributes)
    case .setGroupAttributes(let request): return .setAttributes(request.attributes)
    case .deleteGroupAttributes(let request): return .deleteAttributes(request.keys)
    case .getGroupAttributes(let request): return .attributes(request.keys)
    case .sendGroupSystemNotification(let request): return .customData(request)
    case .importGroupMembers(let request): return .importMembers(request, firstSeqs: firstSeqs(request, picture), facts)
    case .importGroupMessages(let request): return .importMessages(request)
    case .setUnreadCount(let request): return .setUnreadCount(request)
    case .getGroupMemberList(let request): return .memberList(request)
    case .getGroupMembersInfo(let request): return .membersInfo(request.userIDList)
    case .getGroupMutedMembers(let request): return .mutedMembers(request)
    case .getGroupMemberInviters(let request): return .inviters(request.userIDList)
    case .getGroupMemberRoles(let request): return .roles(request.userIDList)
    case .getGroupOnlineMemberCount: return .onlineMemberCount
    case .getGroupHistoryMessageList(let request): return .history(request)
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
