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
      padded: UnsafeRawBufferPointer(rebasing: $0.dropLast(JSONParser.padding)), parser: JSONParser(), methods: MethodTable(),
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
) throws -> GroupRequest {
  switch method {
  case "info": return .info
  case "unreadCount": return .unreadCount
  case "joinedInfo": return .joinedInfo(updatedSince: try JSON(params)["updatedSince"].integer ?? 0)
  case "sync":
    let position = try JSON(params)
    return .sync(epoch: position["epoch"].string ?? "", seq: position["seq"].integer ?? 0, bytes: 1 << 19)
  default: break
  }
  switch try request(method, params, of: group) {
  case .createGroup(let request): return .create(request, owner: caller.userID ?? request.ownerUserID ?? "nobody", facts)
  case .importGroup(let request): return .importGroup(request, owner: request.group.ownerUserID ?? "nobody", facts)
  case .joinGroup(let request): return .join(request, facts)
  case .quitGroup: return .quit
  case .dismissGroup: return .dismiss
  case .recycleGroup: return .recycle
  case .setGroupInfo(let request): return .setInfo(request)
  case .muteGroup(let request): return .muteGroup(request)
  case .transferGroupOwner(let request): return .transfer(request)
  case .setGroupReceiveMessageOpt(let request): return .setReceiveOption(request.option)
  case .initGroupAttributes(let request): return .initAttributes(request.attributes)
  case .setGroupAttributes(let request): return .setAttributes(request.attributes)
  case .deleteGroupAttributes(let request): return .deleteAttributes(request.keys)
  case .getGroupAttributes(let request): return .attributes(request.keys)
  case .getGroupMemberList(let request): return .memberList(request)
  case .getGroupMembersInfo(let request): return .membersInfo(request.userIDList)
  case .getGroupMutedMembers(let request): return .mutedMembers(request)
  case .getGroupMemberInviters(let request): return .inviters(request.userIDList)
  case .getGroupMemberRoles(let request): return .roles(request.userIDList)
  case .getGroupOnlineMemberCount: return .onlineMemberCount
  case .inviteUserToGroup(let request): return .invite(request, facts)
  case .kickGroupMember(let request): return .kick(request)
  case .setGroupMemberRole(let request): return .setRole(request, facts)
  case .setGroupMemberInfo(let request): return .setMemberInfo(request, facts)
  case .muteGroupMember(let request): return .muteMember(request)
  case .sendGroupTextMessage(let request): return .send(.text(request.text), request.options)
  case .sendGroupCustomMessage(let request): return .send(.custom(request.data), request.options)
  case .getGroupHistoryMessageList(let request): return .history(request)
  case .revokeGroupMessage(let request): return .revoke(seq: request.seq)
  case .markGroupMessageAsRead(let request): return .markRead(seq: request.seq)
  case .sendGroupSystemNotification(let request): return .customData(request)
  case .importGroupMembers(let request): return .importMembers(request, firstSeqs: [:], facts)
  case .importGroupMessages(let request): return .importMessages(request)
  case .setUnreadCount(let request): return .setUnreadCount(request)
  case .login, .logout, .ping, .getServerInfo, .discover, .getJoinedGroupList, .getGroupsInfo, .syncGroups, .searchGroups,
    .getGroupApplicationList, .acceptGroupApplication, .refuseGroupApplication, .setGroupApplicationRead,
    .getGroupUnreadCount, .getSystemNotificationList, .setSystemNotificationRead, .listGroups, .listSessions, .kickUser,
    .importUsers, .getStats:
    throw WireError(.methodNotFound)
  }
}
