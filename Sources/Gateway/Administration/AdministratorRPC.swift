import GroupModel
import GroupRuntime
import Synchronization
import WireProtocol

/// The application's own interface: `POST /rpc` (contract section 8). Who calls has shown a credential already.
public final class AdministratorRPC: Sendable {
  private let methods: MethodTable
  private let dispatcher: Dispatcher
  private let users: any UserStore
  private let metrics: RequestMetrics

  /// An interface to the groups of a dispatcher.
  init(methods: MethodTable, dispatcher: Dispatcher, users: any UserStore, metrics: RequestMetrics) {
    self.methods = methods
    self.dispatcher = dispatcher
    self.users = users
    self.metrics = metrics
  }

  /// Answers a body.
  /// - Returns: the whole response; nil where nothing in the body wants an answer.
  public func answer(_ body: [UInt8]) async -> [UInt8]? {
    switch read(body) {
    case .notJSON: return Reply.error(.parseError).text(id: nil)
    case .badBatch: return Reply.error(.invalidRequest, "A batch has 1 to 20 requests").text(id: nil)
    case .single(let call): return await answer(call)
    case .batch(let calls):
      var texts: [[UInt8]] = []
      for call in calls {
        if let text = await answer(call) { texts.append(text) }
      }
      return texts.isEmpty ? nil : JSONWriter.text { $0.array(texts) { $0.raw($1) } }
    }
  }

  private func read(_ body: [UInt8]) -> Envelope {
    let padded = body + [UInt8](repeating: 0, count: JSONParser.padding)
    return padded.withUnsafeBytes { bytes in
      let text = UnsafeRawBufferPointer(rebasing: bytes.dropLast(JSONParser.padding))
      return Envelope(padded: text, parser: JSONParser(), methods: methods, servesApplication: true)
    }
  }

  private func answer(_ call: Call) async -> [UInt8]? {
    let start = MonotonicClock.nanoseconds()
    let reply = await reply(to: call)
    metrics.didAnswer(call.methodName, reply, since: start)
    return call.id != nil || call.isInvalid ? reply.text(id: call.id) : nil
  }

  private func reply(to call: Call) async -> Reply {
    switch call.content {
    case .invalid: return .error(.invalidRequest)
    case .unknownMethod: return .error(.methodNotFound)
    case .badParameters(let error, let method):
      return AdministratorRPC.sessionMethods.contains(method) ? .error(.methodNotFound) : .failure(error)
    case .request(let request):
      if AdministratorRPC.sessionMethods.contains(request.methodName) { return .error(.methodNotFound) }
      guard let user = call.asUser else {
        return request.needsUser
          ? .error(.invalidParams, "asUser is missing", field: "asUser") : await run(request, by: .administrator)
      }
      users.remember([user])
      return await run(request, by: .user(user, platform: .restAPI, session: nil))
    }
  }

  /// Methods that mean nothing without a session.
  private static let sessionMethods: Set<String> = [Login.specification.name, Logout.specification.name]

  private func run(_ request: Request, by caller: Caller) async -> Reply {
    await withCheckedContinuation { continuation in
      dispatcher.dispatch(request, by: caller) { continuation.resume(returning: $0) }
    }
  }
}

extension Request {
  /// Whether the method means nothing without a user (contract section 8).
  fileprivate var needsUser: Bool {
    switch self {
    case .joinGroup, .quitGroup, .getJoinedGroupList, .syncGroups: true
    case .login, .logout, .ping, .getServerInfo, .discover, .createGroup, .dismissGroup, .getGroupsInfo, .setGroupInfo,
      .getGroupMemberList, .getGroupMembersInfo, .getGroupOnlineMemberCount, .sendGroupTextMessage, .sendGroupCustomMessage,
      .getGroupHistoryMessageList:
      false
    }
  }
}
