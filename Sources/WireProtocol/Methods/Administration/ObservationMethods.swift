import GroupModel

/// Begins a trace of a user or a group.
public struct BeginTrace: ServerMethod {
  /// The subject of a trace.
  public enum Subject: Sendable, Hashable {
    case user(UserID)
    case group(GroupID)
  }

  public let subject: Subject
  public let duration: Duration
  /// No trace lasts longer.
  public static let longest = Duration.seconds(600)

  public static let specification = MethodSpecification(
    .trace, "Begins to note what one user or one group does, for a limited time.", callers: .application,
    result: Result.fields, errors: [.badGroupID, .badValue])

  public static let traits: MethodTraits<Self> = .writes(.membership, at: .here, asks: .never, audit: .change)

  /// The trace.
  public struct Result: WireObject {
    public let traceID: String
    /// When nothing more is noted.
    public let endTime: WallInstant

    public static let example = Result(traceID: "", endTime: .unset)

    /// With everything given.
    public init(traceID: String, endTime: WallInstant) {
      self.traceID = traceID
      self.endTime = endTime
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("traceID", traceID)
      writer.member("endTime", endTime)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    try reader.requireOne("userID", or: "groupID")
    let user = try reader.optionalString("userID", .userID, "The user, in place of a group.").flatMap { UserID($0) }
    let group = try reader.optionalString("groupID", .groupID, "The group, in place of a user.")
    // Neither is given to a reader that describes the method.
    subject = user.map { .user($0) } ?? .group(GroupID(allowed: group ?? "none"))
    duration = .seconds(
      try reader.optionalInteger(
        "duration", in: 1...BeginTrace.longest.components.seconds, "How many seconds it lasts; absent = 300.") ?? 300)
  }
}

/// Reads what a trace has noted.
public struct GetTrace: ServerMethod {
  public let traceID: String
  public let nextSeq: Int64
  public let count: Int

  public static let specification = MethodSpecification(
    .getTrace, "Reads what a trace has noted, the oldest first; never contents or tokens.", callers: .application,
    result: Result.fields, errors: [.badValue])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// A page of entries.
  public struct Result: WireObject {
    public let entryList: [TraceEntry]
    /// Where later entries begin; 0 = the trace has ended, and there is no more.
    public let nextSeq: Int64
    /// When nothing more is noted.
    public let endTime: WallInstant
    /// Entries that were lost, because only the newest 1,000 are kept.
    public let lost: Int64

    public static let example = Result(entryList: [], nextSeq: 0, endTime: .unset, lost: 0)

    /// With everything given.
    public init(entryList: [TraceEntry], nextSeq: Int64, endTime: WallInstant, lost: Int64) {
      self.entryList = entryList
      self.nextSeq = nextSeq
      self.endTime = endTime
      self.lost = lost
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("entryList", entryList)
      writer.member("nextSeq", nextSeq)
      writer.member("endTime", endTime)
      writer.member("lost", lost)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    traceID = try reader.requiredString("traceID", TextDomain(1...64), "The trace, as its beginning was answered.")
    nextSeq = try reader.nextSeq()
    count = try reader.count(upTo: 200, otherwise: 100, "The most entries of the page; absent = 100.")
  }
}

/// One thing that a trace has noted.
public struct TraceEntry: WireObject {
  public static let notation = "TraceEntry"

  /// The kinds of entries.
  public enum Kind: String, CaseIterable, Sendable {
    /// A request was answered.
    case request
    /// An event was sent.
    case event
    /// A session has begun.
    case signIn
    /// A connection has ended.
    case close
  }

  public let time: WallInstant
  public let kind: Kind
  /// The method, or the event's name.
  public let name: String
  public let userID: UserID?
  public let groupID: GroupID?
  public let sessionID: String?
  /// The answer's, 0 = success, or that of the close.
  public let code: Int64?
  /// The size of the answer or the event.
  public let bytes: Int64?
  /// From a request's arrival to its answer, in microseconds.
  public let microseconds: Int64?
  /// The request's parameters that its method does not have, each with the nearest that it has.
  public let unknownParameters: String?

  public static let example = TraceEntry(.request, "", at: .unset)

  /// An entry; what is nil is left out.
  public init(
    _ kind: Kind, _ name: String, at time: WallInstant, userID: UserID? = nil, groupID: GroupID? = nil, sessionID: String? = nil,
    code: Int64? = nil, bytes: Int64? = nil, microseconds: Int64? = nil, unknownParameters: String? = nil
  ) {
    self.time = time
    self.kind = kind
    self.name = name
    self.userID = userID
    self.groupID = groupID
    self.sessionID = sessionID
    self.code = code
    self.bytes = bytes
    self.microseconds = microseconds
    self.unknownParameters = unknownParameters
  }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("time", time)
    writer.member("kind", word: kind)
    writer.member("name", name)
    writer.member("userID", ifPresent: userID?.rawValue)
    writer.member("groupID", ifPresent: groupID?.rawValue)
    writer.member("sessionID", ifPresent: sessionID)
    writer.member("code", ifPresent: code)
    writer.member("bytes", ifPresent: bytes)
    writer.member("microseconds", ifPresent: microseconds)
    writer.member("unknownParameters", ifPresent: unknownParameters)
  }
}

/// Ends a trace.
public struct EndTrace: ServerMethod {
  public let traceID: String

  public static let specification = MethodSpecification(
    .endTrace, "Ends a trace and forgets it.", callers: .application, errors: [.badValue])

  public static let traits: MethodTraits<Self> = .writes(.membership, at: .here, asks: .never, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    traceID = try reader.requiredString("traceID", TextDomain(1...64), "The trace, as its beginning was answered.")
  }
}

/// The groups in which most happens.
public struct ListActiveGroups: ServerMethod {
  public let count: Int

  public static let specification = MethodSpecification(
    .listActiveGroups, "Lists the groups with the most deliveries in the last second.", callers: .application,
    result: Result.fields, errors: [.badValue])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// The groups, the busiest first.
  public struct Result: WireObject {
    public let groupList: [ActiveGroup]

    public static let example = Result(groupList: [])

    /// With everything given.
    public init(groupList: [ActiveGroup]) { self.groupList = groupList }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("groupList", groupList)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    count = try reader.count(upTo: 100, otherwise: 20, "The most groups; absent = 20.")
  }
}

/// A group in which something happens.
public struct ActiveGroup: WireObject {
  public static let notation = "ActiveGroup"

  public let groupID: String
  /// In the last second.
  public let events: Int64
  /// Events times connections.
  public let deliveries: Int64
  /// The size of the events, together.
  public let bytes: Int64
  /// That get the group's events.
  public let connections: Int64

  public static let example = ActiveGroup(groupID: "", events: 0, deliveries: 0, bytes: 0, connections: 0)

  /// With everything given.
  public init(groupID: String, events: Int64, deliveries: Int64, bytes: Int64, connections: Int64) {
    self.groupID = groupID
    self.events = events
    self.deliveries = deliveries
    self.bytes = bytes
    self.connections = connections
  }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("groupID", groupID)
    writer.member("events", events)
    writer.member("deliveries", deliveries)
    writer.member("bytes", bytes)
    writer.member("connections", connections)
  }
}

/// The latest calls of administrators.
public struct ListAdministratorActions: ServerMethod {
  public let nextSeq: Int64
  public let count: Int

  public static let specification = MethodSpecification(
    .listAdministratorActions, "Lists the latest calls of administrators that could change something, the newest first.",
    callers: .application, result: Result.fields, errors: [.badValue])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// A page of actions.
  public struct Result: WireObject {
    public let actionList: [AdministratorAction]
    /// 0 = there is no more.
    public let nextSeq: Int64

    public static let example = Result(actionList: [], nextSeq: 0)

    /// With everything given.
    public init(actionList: [AdministratorAction], nextSeq: Int64) {
      self.actionList = actionList
      self.nextSeq = nextSeq
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("actionList", actionList)
      writer.member("nextSeq", nextSeq)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    nextSeq = try reader.nextSeq()
    count = try reader.count(upTo: 100, otherwise: 50, "The most actions of the page; absent = 50.")
  }
}

/// A call of an administrator that could change something.
public struct AdministratorAction: WireObject {
  public static let notation = "AdministratorAction"

  public let time: WallInstant
  public let method: String
  /// The name in the credential.
  public let by: String
  /// 0 = success.
  public let code: Int64
  public let groupID: String?
  public let userID: String?
  public let applicationID: String?
  public let asUser: String?
  /// The users of the call's `userIDList`, at most 100.
  public let userIDList: [String]?
  /// How many `userIDList` has; nil where there is none.
  public let userCount: Int64?
  public let reason: String?

  public static let example = AdministratorAction(time: .unset, method: "", by: "", code: 0)

  /// An action; what is nil is left out.
  public init(
    time: WallInstant, method: String, by: String, code: Int64, groupID: String? = nil, userID: String? = nil,
    applicationID: String? = nil, asUser: String? = nil, userIDList: [String]? = nil, userCount: Int64? = nil,
    reason: String? = nil
  ) {
    self.time = time
    self.method = method
    self.by = by
    self.code = code
    self.groupID = groupID
    self.userID = userID
    self.applicationID = applicationID
    self.asUser = asUser
    self.userIDList = userIDList
    self.userCount = userCount
    self.reason = reason
  }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("time", time)
    writer.member("method", method)
    writer.member("by", by)
    writer.member("code", code)
    writer.member("groupID", ifPresent: groupID)
    writer.member("userID", ifPresent: userID)
    writer.member("applicationID", ifPresent: applicationID)
    writer.member("asUser", ifPresent: asUser)
    writer.member("userIDList", ifPresent: userIDList)
    writer.member("userCount", ifPresent: userCount)
    writer.member("reason", ifPresent: reason)
  }
}
