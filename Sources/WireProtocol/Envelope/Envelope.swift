import GroupModel

/// The requests of one text message (Protocol.md, "Requests and replies" and "Batches").
public enum Envelope: Sendable {
  /// One request.
  case single(Call)
  /// 1 to 20 requests, answered by one array.
  case batch([Call])
  /// A batch of none or too many; one -32600 answers it.
  case badBatch
  /// No JSON; -32700 answers it.
  case notJSON(WireError)

  /// The most requests a batch may have.
  public static let maxBatch = 20

  /// Reads a text. Nothing of the result points into it.
  /// - Parameters:
  ///   - text: the message; `JSONParser.padding` more bytes must be readable behind it.
  ///   - servesApplication: whether members for the backend, such as `params.asUser`, are read
  ///     (Protocol.md, "Application interface").
  ///   - unknownParameters: what becomes of members of params that a method does not have, and of those
  ///     of a request that none has.
  public init(
    padded text: UnsafeRawBufferPointer, parser: borrowing JSONParser, methods: borrowing MethodTable,
    servesApplication: Bool = false, unknownParameters: UnknownParameterHandling = .ignored
  ) {
    guard let root = parser.parse(padded: text) else {
      self = .notJSON(WireError(notJSON: text))
      return
    }
    guard root.kind == .array else {
      self = .single(
        Call(root, methods: methods, servesApplication: servesApplication, unknownParameters: unknownParameters))
      return
    }
    guard (1...Envelope.maxBatch).contains(root.count) else {
      self = .badBatch
      return
    }
    var calls: [Call] = []
    calls.reserveCapacity(root.count)
    root.forEachElement { element in
      calls.append(
        Call(element, methods: methods, servesApplication: servesApplication, unknownParameters: unknownParameters))
    }
    self = .batch(calls)
  }
}

extension Call {
  init(
    _ value: JSONValue, methods: borrowing MethodTable, servesApplication: Bool,
    unknownParameters handling: UnknownParameterHandling
  ) {
    let idValue = value["id"]
    let id = idValue.flatMap { RequestID($0) }
    var unknown = handling == .ignored ? nil : UnknownParameter.ofRequest(value)
    guard value.kind == .object, value["jsonrpc"]?.isString(Call.version) == true, let method = value["method"],
      method.kind == .string,
      idValue == nil || id != nil
    else {
      self.init(id: nil, content: .invalid, unknown)
      return
    }
    // Over WebSocket they are -32601 (Protocol.md, "Application interface").
    guard let entry = methods[method], servesApplication || entry.specification.callers != .application else {
      let error = methods.fault(of: method, servesApplication: servesApplication)
      self.init(id: id, content: .unknownMethod(error, sent: SentMethodName(method.string ?? "")), unknown)
      return
    }
    var asUser: UserID?
    do throws(WireError) {
      let params = try Call.object(value["params"])
      if handling != .ignored, let params {
        unknown = entry.unknownParameters(in: params, servesApplication: servesApplication, after: unknown)
      }
      var reader = JSONParameterReader(params, servesApplication: servesApplication, textLimits: entry.textLimits)
      if servesApplication {
        asUser = try reader.optionalString("asUser", .userID, "The user as whom the method runs.").flatMap { UserID($0) }
      }
      if handling == .refused, let first = unknown?.first { throw first.error(in: entry.name) }
      let subjects = servesApplication ? CallSubjects(in: params, writes: entry.writes) : nil
      self.init(
        id: id, content: .request(try entry.decode(&reader)), method: entry, asUser: asUser, subjects: subjects,
        unknownParameters: unknown)
    } catch {
      self.init(
        id: id, content: .badParameters(error), method: entry, asUser: asUser, subjects: nil, unknownParameters: unknown)
    }
  }

  private init(id: RequestID?, content: Content, _ unknown: [UnknownParameter]?) {
    self.init(id: id, content: content, method: nil, asUser: nil, subjects: nil, unknownParameters: unknown)
  }

  private static let version = "2.0".utf8.map { CChar($0) }

  /// "`params` is an object (absent = `{}`; anything else is -32602)", null too: only the members of
  /// params may be null.
  private static func object(_ params: JSONValue?) throws(WireError) -> JSONValue? {
    guard let params, params.kind != .object else { return params }
    throw WireError(.invalidParams, "params is an object", field: "params")
  }
}
