import GroupModel
import GroupRuntime
import Logging
import WireProtocol

/// The application interface `POST /rpc` (Protocol.md, "Application interface"). The caller's
/// credential has been checked already.
public final class AdministratorRPC: Sendable {
  private let methods: MethodTable
  private let dispatcher: Dispatcher
  private let users: any UserStore
  private let sessions: any UserDirectory
  private let profiles: ProfileCache
  private let clocks: any Clocks
  private let telemetry: RequestTelemetry
  private let observer: StoreObserver
  private let audit: AuditLog

  /// - Parameters:
  ///   - actions: get the calls that could change something, for the console.
  ///   - logger: gets them, too.
  package init(
    methods: MethodTable, dispatcher: Dispatcher, users: any UserStore, sessions: any UserDirectory, profiles: ProfileCache,
    clocks: any Clocks, telemetry: RequestTelemetry, observer: StoreObserver, actions: AdministratorActions, logger: Logger
  ) {
    self.methods = methods
    self.dispatcher = dispatcher
    self.users = users
    self.sessions = sessions
    self.profiles = profiles
    self.clocks = clocks
    self.telemetry = telemetry
    self.observer = observer
    audit = AuditLog(logger: logger, clocks: clocks, actions: actions)
  }

  /// Answers a body.
  /// - Parameters:
  ///   - administrator: the name of the sender in the log.
  ///   - parent: the trace that the HTTP request tells of; nil = none.
  /// - Returns: the whole response; nil where no call in the body has an id.
  public func answer(_ body: [UInt8], from administrator: String, in parent: TraceContext? = nil) async -> [UInt8]? {
    switch parse(body) {
    case .notJSON(let error): return Reply.failure(error).text(id: nil)
    case .badBatch: return Reply.error(.invalidRequest, "A batch has 1 to 20 requests").text(id: nil)
    case .single(let call): return await answer(call, text(of: body, 0), from: administrator, in: parent)
    case .batch(let calls):
      var texts: [[UInt8]] = []
      for (index, call) in calls.enumerated() {
        if let text = await answer(call, text(of: body, index), from: administrator, in: parent) { texts.append(text) }
      }
      return texts.isEmpty ? nil : JSONWriter.text { $0.array(texts) { $0.raw($1) } }
    }
  }

  private func parse(_ body: [UInt8]) -> Envelope {
    let padded = body + [UInt8](repeating: 0, count: JSONParser.padding)
    return padded.withUnsafeBytes { bytes in
      let text = UnsafeRawBufferPointer(rebasing: bytes.dropLast(JSONParser.padding))
      return Envelope(
        padded: text, parser: JSONParser(), methods: methods, servesApplication: true,
        unknownParameters: telemetry.unknownParameters.current)
    }
  }

  /// The text of a request that may have to travel; nil on one node.
  private func text(of body: [UInt8], _ index: Int) -> RequestText? {
    dispatcher.isAlone ? nil : RequestText(text: body, index: index, servesApplication: true)
  }

  private func answer(
    _ call: Call, _ text: RequestText?, from administrator: String, in parent: TraceContext?
  ) async -> [UInt8]? {
    let start = clocks.monotonic
    let span =
      parent != nil || telemetry.tracing.beginsTraces
      ? telemetry.tracing.begin(parent, group: call.subjects?.groupID.flatMap { GroupID($0) }) : nil
    let trace = span?.context
    var reply = await reply(to: call, text, in: trace)
    // A request that only reads has changed nothing, whatever became of it.
    if case .failure(.outcomeUnknown) = reply, call.method?.writes == false { reply = .error(.temporary) }
    let end = clocks.monotonic
    telemetry.metrics.didAnswer(call.method, reply, after: end.nanoseconds(since: start))
    if let span { telemetry.tracing.end(span, of: call.method?.name ?? "unknown", reply, over: .http, from: start, to: end) }
    audit.note(call, reply, by: administrator, in: trace)
    if telemetry.tracer.isActive { self.trace(call, reply, since: start) }
    if telemetry.unknownParameters.isLogged, let unknown = call.unknownParameters {
      telemetry.refusals.unknownParameters(unknown, of: call.methodName, user: call.asUser, in: trace)
    }
    if let method = call.method, case .request(let request) = call.content, let field = request.importedFieldInSeconds {
      telemetry.refusals.instantsInSeconds(field, of: method.name, group: call.subjects?.groupID, in: trace)
    }
    // The audit log holds the calls that could have changed something.
    if case .failure(let error) = reply, call.method?.writes != true {
      telemetry.refusals.request(error, call.method?.name, sent: call.sentMethodName, user: call.asUser, in: trace)
    }
    return call.id != nil || call.isInvalid ? reply.text(id: call.id) : nil
  }

  private func trace(_ call: Call, _ reply: Reply, since start: MonotonicInstant) {
    telemetry.tracer.note(
      TraceEntry(
        .request, call.methodName, at: clocks.wall, userID: call.asUser ?? call.subjects?.userID.flatMap { UserID($0) },
        groupID: call.subjects?.groupID.flatMap { GroupID($0) }, code: Int64(reply.code),
        microseconds: clocks.monotonic.nanoseconds(since: start) / 1000, unknownParameters: call.unknownParameters?.text))
  }

  private func reply(to call: Call, _ text: RequestText?, in trace: TraceContext?) async -> Reply {
    switch call.content {
    case .invalid: return .error(.invalidRequest)
    case .unknownMethod(let error, sent: _): return .failure(error)
    case .badParameters(let error):
      switch call.method?.specification.callers {
      case .connection: return AdministratorRPC.forConnections
      // A method that only users have asks for the user first.
      case .user where call.asUser == nil && error.field != "asUser": return .missingUser
      case .user, .anyone, .application, nil: return .failure(error)
      }
    case .request(let request):
      return await authorize(request, call.method?.specification.callers, asUser: call.asUser, text, in: trace)
    }
  }

  private static let forConnections = Reply.error(.methodNotFound, "This method is for clients, on a WebSocket")

  private func authorize(
    _ request: Request, _ callers: MethodSpecification.Callers?, asUser: UserID?, _ text: RequestText?, in trace: TraceContext?
  ) async -> Reply {
    switch (callers, asUser) {
    case (.connection, _), (nil, _): return AdministratorRPC.forConnections
    case (.application, .some): return .error(.noRight, "Only for the application itself", field: "asUser")
    case (.user, nil): return .missingUser
    case (.application, nil), (.anyone, nil): return await run(request, by: .administrator.with(trace: trace), text)
    case (.anyone, let user?), (.user, let user?):
      users.remember([user])
      return await run(request, asUser: user, text, in: trace)
    }
  }

  private func run(_ request: Request, asUser user: UserID, _ text: RequestText?, in trace: TraceContext?) async -> Reply {
    do throws(StoreError) {
      try await sessions.makeKnown(user, isNew: false)
      let profile = try await profiles.profiles(of: [user])[user]
      let caller = Caller.user(user, platform: .restAPI, session: nil, profile: profile)
      return await run(request, by: caller.with(trace: trace), text)
    } catch {
      observer.storeFailed(error, in: trace)
      return .error(.temporary)
    }
  }

  private func run(_ request: Request, by caller: Caller, _ text: RequestText?) async -> Reply {
    await withCheckedContinuation { continuation in
      dispatcher.dispatch(request, by: caller, text: text) { continuation.resume(returning: $0) }
    }
  }
}
