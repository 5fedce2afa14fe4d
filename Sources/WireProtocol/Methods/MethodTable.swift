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
    /// The bounds of texts, for reading and descriptions.
    let textLimits: TextLimits
    let decode: @Sendable (inout JSONParameterReader) throws(WireError) -> Request
    fileprivate let nameBytes: [CChar]
    /// For one of the interfaces: the application's, or a WebSocket.
    private let describe: @Sendable (Bool) -> [ParameterDescription]
    /// The members of params by the same, once somebody has asked for them.
    private let knownMembers = Mutex<[Bool: KnownMembers]>([:])

    /// The method's name.
    public var name: String { specification.name }
    /// The parameters, described anew each time.
    public var parameters: [ParameterDescription] { describe(true) }

    fileprivate init<M: Method>(
      _ number: Int, textLimits: TextLimits, _ request: @escaping @Sendable (consuming M) -> Request
    ) {
      self.number = number
      specification = M.specification
      self.textLimits = textLimits
      nameBytes = M.specification.name.utf8.map { CChar(bitPattern: $0) }
      describe = { Entry.parameters(of: M.self, servesApplication: $0, textLimits: textLimits) }
      decode = { (reader) throws(WireError) in request(try M(from: &reader)) }
    }

    /// The members of params that the method does not have on an interface, the first of many; nil
    /// where there is none.
    func unknownParameters(in params: JSONValue, servesApplication: Bool) -> [UnknownParameter]? {
      let members: KnownMembers = knownMembers.withLock { cache in
        if let known = cache[servesApplication] { return known }
        let known = KnownMembers(describe(servesApplication), servesApplication: servesApplication)
        cache[servesApplication] = known
        return known
      }
      return members.unknown(in: params)
    }

    /// Runs a method's reading over a recorder.
    private static func parameters<M: Method>(
      of method: M.Type, servesApplication: Bool, textLimits: TextLimits
    ) -> [ParameterDescription] {
      do throws(WireError) {
        return try ParameterRecorder.parameters(
          servesApplication: servesApplication, textLimits: textLimits
        ) { (recorder) throws(WireError) in try M(from: &recorder) }
      } catch {
        // A method accepts the examples of the recorder; TableTests describes all.
        preconditionFailure("\(M.specification.name) does not describe itself: \(error.message)")
      }
    }
  }

  /// In the order of Reference.md.
  public let entries: [Entry]
  /// By the length of their names, so that a request's is found by its bytes.
  private let byLength: [[Entry]]

  /// All methods.
  public init(textLimits: TextLimits = .standard) {
    var list = MethodList(textLimits: textLimits)
    list.addMethods()
    entries = list.entries
    let longest = list.entries.map(\.nameBytes.count).max() ?? 0
    byLength = (0...longest).map { length in list.entries.filter { $0.nameBytes.count == length } }
  }

  /// The method of that name.
  public subscript(name: String) -> Entry? { entries.first { $0.name == name } }

  /// The method that a request names.
  subscript(name: JSONValue) -> Entry? {
    let length = name.stringLength
    return length < byLength.count ? byLength[length].first { name.isString($0.nameBytes) } : nil
  }

  /// The error of a name that is none of the methods of an interface, with the nearest of these.
  func fault(of name: JSONValue, servesApplication: Bool) -> WireError {
    if self[name] != nil { return WireError(.methodNotFound, "This method is for the application's backend, at POST /rpc") }
    let others = servesApplication ? MethodSpecification.Callers.connection : .application
    let known = entries.lazy.filter { $0.specification.callers != others }.map(\.name)
    let nearest = name.string.flatMap { NearestName.near($0, among: known) }
    return WireError(.methodNotFound, nearest.map { "\(ErrorCode.methodNotFound.title); the nearest is \($0)" })
  }
}

/// The methods while the table is made.
struct MethodList {
  private let textLimits: TextLimits
  fileprivate var entries: [MethodTable.Entry] = []

  fileprivate init(textLimits: TextLimits) { self.textLimits = textLimits }

  /// Adds a method by the case of its requests.
  mutating func add<M: Method>(_ request: @escaping @Sendable (consuming M) -> Request) {
    let entry = MethodTable.Entry(entries.count, textLimits: textLimits, request)
    precondition(!entries.contains { $0.name == entry.name }, "\(entry.name) is declared twice")
    entries.append(entry)
  }

  /// Adds a method of one group.
  mutating func add<M: Method>(_ request: @escaping @Sendable (consuming M) -> GroupRequest) {
    add { (method: MethodOfGroup<M>) in .group(method.groupID, request(method.parameters)) }
  }
}

/// The parameters of a method of one group: `groupID`, and those of its own.
private struct MethodOfGroup<Parameters: Method>: Method {
  let groupID: GroupID
  let parameters: Parameters

  static var specification: MethodSpecification { Parameters.specification }

  init(from reader: inout some ParameterReader) throws(WireError) {
    groupID = try reader.requiredGroupID()
    parameters = try Parameters(from: &reader)
  }
}
