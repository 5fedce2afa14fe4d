/// The parameters of one method, its description, and what the server has to know of its requests.
/// The one declaration serves decoding and description.
public protocol Method: RequestParameters {
  /// Its name, its purpose, its result and its errors.
  static var specification: MethodSpecification { get }

  /// Everything else that is said of a method, apart from performing it.
  static var traits: MethodTraits<Self> { get }
}

/// A method that one group performs. `groupID` is the first parameter of each, and not among those
/// of the type.
public protocol GroupMethod: Method {}

/// A method of no group, or of several.
public protocol ServerMethod: Method {}

/// Parameters of a request.
public protocol RequestParameters: Sendable {
  /// Reads the parameters of a request, or names them to a recorder.
  init(from reader: inout some ParameterReader) throws(WireError)
}

/// The description of a method, besides its parameters.
public struct MethodSpecification: Sendable {
  /// The callers of a method (Protocol.md, "Application interface").
  public enum Callers: String, CaseIterable, Sendable {
    /// A connection, for itself: -32601 on the application's interface.
    case connection
    /// A user: without asUser the application's interface answers -32602.
    case user
    /// A user, or an application administrator.
    case anyone
    /// An application administrator: -32601 on a WebSocket, 10007 with asUser.
    case application
  }

  public let name: MethodName
  /// One sentence.
  public let summary: String
  public let callers: Callers
  /// The members of the result, as Reference.md writes them.
  public let result: [ResultField]
  /// Its errors besides those of envelope, sign-in, rate and wrong type.
  public let errors: [ErrorCode]

  /// A specification with everything given.
  public init(
    _ name: MethodName, _ summary: String, callers: Callers = .anyone, result: [ResultField] = [], errors: [ErrorCode] = []
  ) {
    self.name = name
    self.summary = summary
    self.callers = callers
    self.result = result
    self.errors = errors
  }
}

/// One member of a result, or of an event's params.
public struct ResultField: Sendable, Equatable {
  public let name: String
  /// In the notation of `TypeNotation`, such as "string" or "[MemberInfo]".
  public let type: String
  public let isOptional: Bool

  /// A member that is always there, or optional where the name ends in a question mark.
  public init(_ name: String, _ type: String) {
    self.isOptional = name.hasSuffix("?")
    self.name = isOptional ? String(name.dropLast()) : name
    self.type = type
  }
}
