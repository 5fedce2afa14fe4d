/// The parameters of one method, and what else there is to say of it. The one declaration serves decoding, dispatch and description.
public protocol Method: Sendable {
  /// What descriptions and metrics call it, what it does, and what it answers.
  static var specification: MethodSpecification { get }

  /// Takes the parameters from a request, or tells a recorder which there are.
  init(from reader: inout some ParameterReader) throws(WireError)
}

/// What there is to say of a method besides its parameters.
public struct MethodSpecification: Sendable {
  public let name: String
  /// One sentence.
  public let summary: String
  /// The members of the result, as the contract writes them.
  public let result: [ResultField]
  /// The errors it can give besides those of envelope, sign-in, rate and wrong type.
  public let errors: [ErrorCode]

  /// A specification with everything given.
  public init(_ name: String, _ summary: String, result: [ResultField] = [], errors: [ErrorCode] = []) {
    self.name = name
    self.summary = summary
    self.result = result
    self.errors = errors
  }
}

/// One member of a result, or of an event's params.
public struct ResultField: Sendable, Equatable {
  public let name: String
  /// In words, such as "string" or "[MemberInfo]".
  public let type: String
  public let isOptional: Bool

  /// A member that is always there, or optional where the name ends in a question mark.
  public init(_ name: String, _ type: String) {
    self.isOptional = name.hasSuffix("?")
    self.name = isOptional ? String(name.dropLast()) : name
    self.type = type
  }
}
