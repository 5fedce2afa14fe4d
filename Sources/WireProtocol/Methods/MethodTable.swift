/// The methods that can be called, by name. Made once at the start; dispatch, `rpc.discover`, `/openrpc.json` and the reference page read it.
public struct MethodTable: Sendable {
  /// One method.
  public struct Entry: Sendable {
    public let specification: MethodSpecification
    public let parameters: [ParameterDescription]
    let decode: @Sendable (inout JSONParameterReader) throws(WireError) -> Request

    /// The method's name.
    public var name: String { specification.name }
  }

  /// In the order of the contract.
  public let entries: [Entry]
  private let byName: [String: Int]

  /// All methods.
  public init() {
    entries = [
      MethodTable.entry(Login.self, Request.login), MethodTable.entry(Logout.self, Request.logout),
      MethodTable.entry(Ping.self, Request.ping), MethodTable.entry(GetServerInfo.self, Request.getServerInfo),
      MethodTable.entry(Discover.self, Request.discover),
      MethodTable.entry(CreateGroup.self, Request.createGroup), MethodTable.entry(JoinGroup.self, Request.joinGroup),
      MethodTable.entry(QuitGroup.self, Request.quitGroup), MethodTable.entry(DismissGroup.self, Request.dismissGroup),
      MethodTable.entry(GetJoinedGroupList.self, Request.getJoinedGroupList),
      MethodTable.entry(GetGroupsInfo.self, Request.getGroupsInfo), MethodTable.entry(SetGroupInfo.self, Request.setGroupInfo),
      MethodTable.entry(GetGroupMemberList.self, Request.getGroupMemberList),
      MethodTable.entry(GetGroupMembersInfo.self, Request.getGroupMembersInfo),
      MethodTable.entry(GetGroupOnlineMemberCount.self, Request.getGroupOnlineMemberCount),
      MethodTable.entry(SendGroupTextMessage.self, Request.sendGroupTextMessage),
      MethodTable.entry(SendGroupCustomMessage.self, Request.sendGroupCustomMessage),
      MethodTable.entry(GetGroupHistoryMessageList.self, Request.getGroupHistoryMessageList),
      MethodTable.entry(SyncGroups.self, Request.syncGroups),
    ]
    byName = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($1.name, $0) })
  }

  /// The method of that name.
  public subscript(name: String) -> Entry? { byName[name].map { entries[$0] } }

  private static func entry<M: Method>(_ method: M.Type, _ wrap: @escaping @Sendable (M) -> Request) -> Entry {
    Entry(specification: M.specification, parameters: describe(method)) { (reader) throws(WireError) in
      wrap(try M(from: &reader))
    }
  }

  /// Runs a method's reading over a recorder.
  private static func describe<M: Method>(_ method: M.Type) -> [ParameterDescription] {
    do throws(WireError) {
      return try ParameterRecorder.parameters { (recorder) throws(WireError) in try M(from: &recorder) }
    } catch {
      // A method must accept the examples the recorder gives it; MethodTableTests makes every table.
      preconditionFailure("\(M.specification.name) does not describe itself: \(error.message)")
    }
  }
}
