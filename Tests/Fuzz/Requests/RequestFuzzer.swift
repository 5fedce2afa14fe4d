import GroupModel

@testable import WireProtocol

/// Reads any bytes as a message, on both interfaces. The result must not depend on the bytes behind
/// the message, and each reply must be a JSON-RPC response with the request's id.
struct RequestFuzzer {
  private static let methods = MethodTable()
  private let parser = JSONParser()

  func run(_ message: UnsafeRawBufferPointer) {
    for servesApplication in [false, true] {
      let calls = calls(message, padding: 0, servesApplication)
      precondition(calls.map(summary) == self.calls(message, padding: 0x22, servesApplication).map(summary))
      for call in calls { check(call) }
    }
  }

  private func calls(_ message: UnsafeRawBufferPointer, padding: UInt8, _ servesApplication: Bool) -> [Call] {
    let padded = Array(message) + [UInt8](repeating: padding, count: JSONParser.padding)
    let envelope = padded.withUnsafeBytes {
      Envelope(
        padded: UnsafeRawBufferPointer(rebasing: $0.dropLast(JSONParser.padding)), parser: parser,
        methods: RequestFuzzer.methods, servesApplication: servesApplication, unknownParameters: .noted)
    }
    switch envelope {
    case .single(let call): return [call]
    case .batch(let calls):
      precondition((1...Envelope.maxBatch).contains(calls.count))
      return calls
    case .badBatch, .notJSON: return []
    }
  }

  private func summary(_ call: Call) -> String {
    switch call.content {
    case .request: "\(call.methodName) \(call.id as Any) \(call.asUser as Any)"
    case .badParameters(let error): "\(call.methodName) \(call.id as Any) \(error)"
    case .unknownMethod: "unknown \(call.id as Any)"
    case .invalid: "invalid"
    }
  }

  private func check(_ call: Call) {
    var reply = Reply.empty
    if case .badParameters(let error) = call.content { reply = .failure(error) }
    guard let root = parser.parse(reply.text(id: call.id)), root.kind == .object else { fatalError("a reply is no object") }
    precondition(root["jsonrpc"]?.string == "2.0")
    precondition(root["id"].flatMap { RequestID($0) } == call.id, "a reply has another id")
    if case .failure = reply { precondition(root["error"]?["code"]?.integer != nil) }
  }
}

// libFuzzer calls this on one thread, one input after the other.
nonisolated(unsafe) private let fuzzer = RequestFuzzer()

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzzer.run(UnsafeRawBufferPointer(start: data, count: count))
  return 0
}
