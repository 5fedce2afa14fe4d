/// The methods that can be called, by name. Made once at the start; dispatch, `rpc.discover`, `/openrpc.json` and the reference page read it.
public struct MethodTable: Sendable {
  /// One method.
  public final class Entry: Sendable {
    /// The place in the table, from 0.
    public let number: Int
    public let specification: MethodSpecification
    public let parameters: [ParameterDescription]
    let decode: @Sendable (inout JSONParameterReader) throws(WireError) -> Request
    fileprivate let nameBytes: [CChar]

    /// The method's name.
    public var name: String { specification.name }

    init<M: Method>(_ number: Int, _ method: M.Type, _ wrap: @escaping @Sendable (consuming M) -> Request) {
      self.number = number
      specification = M.specification
      nameBytes = M.specification.name.utf8.map { CChar(bitPattern: $0) }
      parameters = MethodTable.describe(method)
      decode = { (reader) throws(WireError) in wrap(try M(from: &reader)) }
    }
  }

  /// In the order of Reference.md.
  public let entries: [Entry]
  /// By the length of their names, so that a request is found by its bytes.
  private let byLength: [[Entry]]

  /// All methods.
  public init() {
    let makers: [(Int) -> Entry] = [
      MethodTable.entry(Login.self, Request.login),
      MethodTable.entry(Logout.self, Request.logout),
      MethodTable.entry(Ping.self, Request.ping),
      MethodTable.entry(GetServerInfo.self, Request.getServerInfo),
      MethodTable.entry(Discover.self, Request.discover),
      MethodTable.entry(CreateGroup.self, Request.createGroup),
      MethodTable.entry(JoinGroup.self, Request.joinGroup),
      MethodTable.entry(QuitGroup.self, Request.quitGroup),
      MethodTable.entry(DismissGroup.self, Request.dismissGroup),
      MethodTable.entry(GetJoinedGroupList.self, Request.getJoinedGroupList),
      MethodTable.entry(GetGroupsInfo.self, Request.getGroupsInfo),
      MethodTable.entry(SetGroupInfo.self, Request.setGroupInfo),
      MethodTable.entry(SearchGroups.self, Request.searchGroups),
      MethodTable.entry(TransferGroupOwner.self, Request.transferGroupOwner),
      MethodTable.entry(MuteGroup.self, Request.muteGroup),
      MethodTable.entry(SetGroupReceiveMessageOpt.self, Request.setGroupReceiveMessageOpt),
      MethodTable.entry(InitGroupAttributes.self, Request.initGroupAttributes),
      MethodTable.entry(SetGroupAttributes.self, Request.setGroupAttributes),
      MethodTable.entry(DeleteGroupAttributes.self, Request.deleteGroupAttributes),
      MethodTable.entry(GetGroupAttributes.self, Request.getGroupAttributes),
      MethodTable.entry(GetGroupMemberList.self, Request.getGroupMemberList),
      MethodTable.entry(GetGroupMembersInfo.self, Request.getGroupMembersInfo),
      MethodTable.entry(GetGroupOnlineMemberCount.self, Request.getGroupOnlineMemberCount),
      MethodTable.entry(SetGroupMemberInfo.self, Request.setGroupMemberInfo),
      MethodTable.entry(MuteGroupMember.self, Request.muteGroupMember),
      MethodTable.entry(GetGroupMutedMembers.self, Request.getGroupMutedMembers),
      MethodTable.entry(InviteUserToGroup.self, Request.inviteUserToGroup),
      MethodTable.entry(KickGroupMember.self, Request.kickGroupMember),
      MethodTable.entry(SetGroupMemberRole.self, Request.setGroupMemberRole),
      MethodTable.entry(GetGroupMemberInviters.self, Request.getGroupMemberInviters),
      MethodTable.entry(GetGroupMemberRoles.self, Request.getGroupMemberRoles),
      MethodTable.entry(GetGroupApplicationList.self, Request.getGroupApplicationList),
      MethodTable.entry(AcceptGroupApplication.self, Request.acceptGroupApplication),
      MethodTable.entry(RefuseGroupApplication.self, Request.refuseGroupApplication),
      MethodTable.entry(SetGroupApplicationRead.self, Request.setGroupApplicationRead),
      MethodTable.entry(SendGroupTextMessage.self, Request.sendGroupTextMessage),
      MethodTable.entry(SendGroupCustomMessage.self, Request.sendGroupCustomMessage),
      MethodTable.entry(GetGroupHistoryMessageList.self, Request.getGroupHistoryMessageList),
      MethodTable.entry(SyncGroups.self, Request.syncGroups),
      MethodTable.entry(RevokeGroupMessage.self, Request.revokeGroupMessage),
      MethodTable.entry(MarkGroupMessageAsRead.self, Request.markGroupMessageAsRead),
      MethodTable.entry(GetGroupUnreadCount.self, Request.getGroupUnreadCount),
      MethodTable.entry(GetSystemNotificationList.self, Request.getSystemNotificationList),
      MethodTable.entry(SetSystemNotificationRead.self, Request.setSystemNotificationRead),
      MethodTable.entry(ListGroups.self, Request.listGroups),
      MethodTable.entry(SendGroupSystemNotification.self, Request.sendGroupSystemNotification),
      MethodTable.entry(RecycleGroup.self, Request.recycleGroup),
      MethodTable.entry(ListSessions.self, Request.listSessions),
      MethodTable.entry(KickUser.self, Request.kickUser),
      MethodTable.entry(ImportUsers.self, Request.importUsers),
      MethodTable.entry(ImportGroup.self, Request.importGroup),
      MethodTable.entry(ImportGroupMembers.self, Request.importGroupMembers),
      MethodTable.entry(ImportGroupMessages.self, Request.importGroupMessages),
      MethodTable.entry(SetUnreadCount.self, Request.setUnreadCount),
      MethodTable.entry(GetStats.self, Request.getStats),
    ]
    entries = makers.enumerated().map { number, make in make(number) }
    var byLength = [[Entry]](repeating: [], count: 1 + (entries.map(\.nameBytes.count).max() ?? 0))
    for entry in entries { byLength[entry.nameBytes.count].append(entry) }
    self.byLength = byLength
  }

  /// The method of that name.
  public subscript(name: String) -> Entry? { entries.first { $0.name == name } }

  /// The method that a request names.
  subscript(name: JSONValue) -> Entry? {
    let length = name.stringLength
    return length < byLength.count ? byLength[length].first { name.isString($0.nameBytes) } : nil
  }

  private static func entry<M: Method>(
    _ method: M.Type, _ wrap: @escaping @Sendable (consuming M) -> Request
  ) -> (Int) -> Entry {
    { number in Entry(number, method, wrap) }
  }

  /// Runs a method's reading over a recorder.
  fileprivate static func describe<M: Method>(_ method: M.Type) -> [ParameterDescription] {
    do throws(WireError) {
      return try ParameterRecorder.parameters { (recorder) throws(WireError) in try M(from: &recorder) }
    } catch {
      // A method must accept the examples the recorder gives it; MethodTableTests makes every table.
      preconditionFailure("\(M.specification.name) does not describe itself: \(error.message)")
    }
  }
}
