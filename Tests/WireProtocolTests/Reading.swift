import Testing
import WireProtocol

private let methods = MethodTable()

/// The envelope of a text: on a WebSocket, or on the interface of the application's backend.
func read(
  _ text: String, servesApplication: Bool = false, unknownParameters: UnknownParameterHandling = .ignored
) -> Envelope {
  read(Array(text.utf8), servesApplication: servesApplication, unknownParameters: unknownParameters)
}

func read(
  _ bytes: [UInt8], servesApplication: Bool = false, unknownParameters: UnknownParameterHandling = .ignored
) -> Envelope {
  let padded = bytes + [UInt8](repeating: 0, count: JSONParser.padding)
  return padded.withUnsafeBytes { text in
    Envelope(
      padded: UnsafeRawBufferPointer(rebasing: text.prefix(bytes.count)), parser: JSONParser(), methods: methods,
      servesApplication: servesApplication, unknownParameters: unknownParameters)
  }
}

/// A request as text.
func request(_ method: String, _ params: String) -> String {
  #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
}

/// A request read where its method can be called: on a WebSocket, and methods of the application on
/// its own interface.
func call(_ method: String, _ params: String) throws(WireError) -> Call {
  let envelope = read(request(method, params), servesApplication: methods[method]?.specification.callers == .application)
  guard case .single(let call) = envelope else { throw WireError(.parseError) }
  return call
}

/// The parameters that the server has read.
func decoded(_ method: String, _ params: String) throws(WireError) -> Request {
  switch try call(method, params).content {
  case .request(let request): return request
  case .badParameters(let error): throw error
  case .unknownMethod: throw WireError(.methodNotFound)
  case .invalid: throw WireError(.invalidRequest)
  }
}

/// An envelope in one line: `ping#17`, `joinGroup!-32602:groupID#-` (refused; field; no id), `?#1`
/// (no such method), `invalid#-`; a batch in brackets.
func outline(_ envelope: Envelope) -> String {
  switch envelope {
  case .single(let call): outline(call)
  case .batch(let calls): "[" + calls.map(outline).joined(separator: " ") + "]"
  case .badBatch: "badBatch"
  case .notJSON: "notJSON"
  }
}

func outline(_ text: String) -> String { outline(read(text)) }

private func outline(_ call: Call) -> String {
  let id =
    switch call.id {
    case .number(let number): String(number)
    case .text(let text): "\"\(text)\""
    case nil: "-"
    }
  let content =
    switch call.content {
    case .request: call.methodName
    case .badParameters(let error): "\(call.methodName)!\(error.code.rawValue):\(error.field ?? "")"
    case .unknownMethod: "?"
    case .invalid: "invalid"
    }
  return "\(content)#\(id)"
}

/// The error that a method's parameters are refused with; nil where they are taken.
func fault(_ method: String, _ params: String) -> WireError? {
  do throws(WireError) {
    _ = try decoded(method, params)
    return nil
  } catch {
    return error
  }
}

/// Fails a test that got something else than it needs to go on.
func fail(_ expected: Comment, at location: SourceLocation = #_sourceLocation) {
  Issue.record(expected, sourceLocation: location)
}

extension Request {
  /// The name of the case, which is the method's.
  var caseName: String {
    if case .group(_, let request) = self { return Mirror(reflecting: request).children.first?.label ?? "" }
    let name = Mirror(reflecting: self).children.first?.label ?? ""
    return name == "discover" ? "rpc.discover" : name
  }
}
