import GroupModel
import Synchronization

/// The methods that can be called, by name. Made once at the start; dispatch, `rpc.discover`,
/// `/openrpc.json` and the reference page read it.
public final class MethodTable: Sendable {
  /// One method.
  public final class Entry: Sendable {
    /// The place in the table, from 0.
    public let number: Int
    public let specification: MethodSpecification
    /// The method's name.
    public let name: String
    /// Whether it can change something that outlives the request.
    public let writes: Bool
    /// Nil = it only reads, and is not noted.
    public let auditLevel: AuditLevel?
    /// The bounds of texts, for reading and descriptions.
    let textLimits: TextLimits
    let decode: @Sendable (inout JSONParameterReader) throws(WireError) -> Request
    fileprivate let nameBytes: [CChar]
    /// For one of the interfaces: the application's, or a WebSocket.
    private let describe: @Sendable (Bool) -> [ParameterDescription]
    /// The members of params by the same, once somebody has asked for them.
    private let knownMembers = Mutex<[Bool: KnownMembers]>([:])

    /// The parameters, described anew each time.
    public var parameters: [ParameterDescription] { describe(true) }

    /// A method of no group by the case of its requests.
    convenience init<M: ServerMethod>(
      _ request: @escaping @Sendable (consuming M) -> Request, _ number: Int, _ textLimits: TextLimits
    ) {
      self.init(M.self, number, textLimits, request)
    }

    /// A method of one group.
    convenience init<M: GroupMethod>(
      _ request: @escaping @Sendable (consuming M) -> GroupRequest, _ number: Int, _ textLimits: TextLimits
    ) {
      self.init(M.self, number, textLimits) { (given: WithGroupID<M>) in .group(given.groupID, request(given.parameters)) }
    }

    private init<M: Method, Parameters: RequestParameters>(
      _ method: M.Type, _ number: Int, _ textLimits: TextLimits, _ request: @escaping @Sendable (consuming Parameters) -> Request
    ) {
      self.number = number
      self.textLimits = textLimits
      specification = M.specification
      name = M.specification.name.rawValue
      writes = M.traits.writes
      auditLevel = M.traits.audit
      nameBytes = name.utf8.map { CChar(bitPattern: $0) }
      describe = { [name] in Entry.parameters(of: Parameters.self, name, servesApplication: $0, textLimits: textLimits) }
      decode = { (reader) throws(WireError) in request(try Parameters(from: &reader)) }
    }

    /// The members of params that the method does not have on an interface, behind those of the
    /// request, the first of many; nil where there is none.
    func unknownParameters(
      in params: JSONValue, servesApplication: Bool, after others: [UnknownParameter]?
    ) -> [UnknownParameter]? {
      let members: KnownMembers = knownMembers.withLock { cache in
        if let known = cache[servesApplication] { return known }
        let known = KnownMembers(describe(servesApplication), servesApplication: servesApplication)
        cache[servesApplication] = known
        return known
      }
      return members.unknown(in: params, after: others)
    }

    /// Runs a method's reading over a recorder.
    private static func parameters<Parameters: RequestParameters>(
      of _: Parameters.Type, _ name: String, servesApplication: Bool, textLimits: TextLimits
    ) -> [ParameterDescription] {
      do throws(WireError) {
        return try ParameterRecorder.parameters(
          servesApplication: servesApplication, textLimits: textLimits
        ) { (recorder) throws(WireError) in try Parameters(from: &recorder) }
      } catch {
        // A method accepts the examples of the recorder; TableTests describes all.
        preconditionFailure("\(name) does not describe itself: \(error.message)")
      }
    }
  }

  /// In the order of Reference.md.
  public let entries: [Entry]
  /// By the length of their names, so that a request's is found by its bytes.
  private let byLength: [[Entry]]

  /// All methods.
  public init(textLimits: TextLimits = .standard) {
    entries = MethodName.allCases.enumerated().map { number, name in
      let entry = name.entry(number, textLimits)
      precondition(entry.specification.name == name, "\(name) has the entry of \(entry.name)")
      return entry
    }
    let longest = entries.map(\.nameBytes.count).max() ?? 0
    byLength = (0...longest).map { [entries] length in entries.filter { $0.nameBytes.count == length } }
  }

  /// The method of that name.
  public subscript(name: String) -> Entry? { entries.first { $0.name == name } }

  /// The method that a request names.
  subscript(name: JSONValue) -> Entry? {
    let length = name.stringLength
    return length < byLength.count ? byLength[length].first { name.isString($0.nameBytes) } : nil
  }

  /// The words that say little of what a method does. Without another word a name is another method's:
  /// `deleteGroup` does not mean `deleteGroupAttributes`.
  private static let fillers = Set(
    ["group", "groups", "history", "info", "joined", "list", "message", "text", "to", "user"].map { Array($0.utf8) })

  /// The error of a name that is none of the methods of an interface, with the nearest of these.
  func fault(of name: JSONValue, servesApplication: Bool) -> WireError {
    if self[name] != nil { return WireError(.methodNotFound, "This method is for the application's backend, at POST /rpc") }
    let others = servesApplication ? MethodSpecification.Callers.connection : .application
    let known = entries.lazy.filter { $0.specification.callers != others }.map(\.name)
    let nearest = name.string.flatMap { NearestName.near($0, among: known, fillers: MethodTable.fillers) }
    return WireError(.methodNotFound, nearest.map { "\(ErrorCode.methodNotFound.title); the nearest is \($0)" })
  }
}

/// The parameters of a method of one group: `groupID`, and those of its own.
private struct WithGroupID<Parameters: GroupMethod>: RequestParameters {
  let groupID: GroupID
  let parameters: Parameters

  init(from reader: inout some ParameterReader) throws(WireError) {
    groupID = try reader.requiredGroupID()
    parameters = try Parameters(from: &reader)
  }
}
