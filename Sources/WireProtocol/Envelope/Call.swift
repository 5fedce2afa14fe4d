import GroupModel

/// The `id` of a request; it comes back as it was sent (Protocol.md, "Requests and replies").
public enum RequestID: Hashable, Sendable, WireEncodable {
  case number(Int64)
  case text(String)

  /// The whole numbers an id may be: those a double holds exactly.
  static let range: ClosedRange<Int64> = -(1 << 53)...(1 << 53)

  init?(_ value: JSONValue) {
    if let number = value.integer, RequestID.range.contains(number) {
      self = .number(number)
    } else if let text = value.string {
      self = .text(text)
    } else {
      return nil
    }
  }

  public func encode(into writer: inout JSONWriter) {
    switch self {
    case .number(let number): writer.value(number)
    case .text(let text): writer.value(text)
    }
  }
}

/// One request of a text: whom to answer and what it asks.
public struct Call: Sendable {
  /// The result of reading the request.
  public enum Content: Sendable {
    /// A known method whose parameters are well-formed.
    case request(Request)
    /// A known method with bad parameters; answered after the checks of sign-in and rate
    /// (Protocol.md, "Order of errors").
    case badParameters(WireError)
    /// A method that does not exist, or that only the application's backend may call and this is
    /// a client.
    case unknownMethod(WireError, sent: SentMethodName)
    /// No JSON-RPC 2.0 request at all; answered with `id:null`.
    case invalid
  }

  /// Nil where no answer is wanted.
  public let id: RequestID?
  public private(set) var content: Content
  /// The method; nil where there is no such method, or no request at all.
  public let method: MethodTable.Entry?
  /// The user as whom the application's backend acts; nil on the public listener, and for the
  /// application itself.
  public let asUser: UserID?
  /// What a well-formed request of the application's backend is about; nil for all others.
  public let subjects: CallSubjects?
  /// The members of the request that none has, and those of params that the method does not have, the
  /// first of many; nil where there is none, or nobody looked.
  public let unknownParameters: [UnknownParameter]?

  /// The request, or the error of a call that has none. It is moved out of the call: a copy takes 300
  /// instructions.
  public consuming func request() throws(WireError) -> Request {
    switch exchange(&content, with: .invalid) {
    case .request(let request): return request
    case .badParameters(let error), .unknownMethod(let error, sent: _): throw error
    case .invalid: throw WireError(.invalidRequest)
    }
  }

  /// The method's name as logs have it: "unknown" where there is no such method.
  public var methodName: String { method?.name ?? "unknown" }

  /// The name that was sent, for the log; nil where it is that of a method, or none at all.
  public var sentMethodName: SentMethodName? {
    // Known methods first: to look into the content of a call copies it.
    guard method == nil, case .unknownMethod(_, let sent) = content else { return nil }
    return sent
  }
}

/// The name of an unknown method as it was sent, at most 64 bytes of it: it may be anything.
public struct SentMethodName: Sendable, Equatable {
  private static let maxBytes = 64

  public let text: String

  init(_ name: String) {
    // By scalars: a character can have any length.
    var (scalars, bytes) = (String.UnicodeScalarView(), 0)
    for scalar in name.unicodeScalars {
      bytes += UTF8.width(scalar)
      guard bytes <= SentMethodName.maxBytes else { break }
      scalars.append(scalar)
    }
    text = String(scalars)
  }
}
