import Testing
import WireProtocol

/// Members of params that a method does not have: ignored, noted or refused (Protocol.md, "Unknown
/// parameters").
@Suite struct UnknownParameterTests {
  private func call(
    _ method: String, _ params: String, _ handling: UnknownParameterHandling, servesApplication: Bool = false
  ) throws -> Call {
    let envelope = read(request(method, params), servesApplication: servesApplication, unknownParameters: handling)
    guard case .single(let call) = envelope else { throw WireError(.parseError) }
    return call
  }

  private func noted(_ method: String, _ params: String, servesApplication: Bool = false) throws -> [String]? {
    try call(method, params, .noted, servesApplication: servesApplication).unknownParameters?.map(\.description)
  }

  private func refusal(_ method: String, _ params: String, servesApplication: Bool = false) throws -> WireError? {
    let call = try call(method, params, .refused, servesApplication: servesApplication)
    if case .badParameters(let error) = call.content { return error }
    return nil
  }

  @Test func nobodyLooksForThemByDefault() throws {
    let call = try call("setGroupInfo", #"{"groupID":"g","name":"n"}"#, .ignored)
    #expect(call.unknownParameters == nil)
    guard case .request = call.content else { return fail("a request") }
  }

  @Test func theyAreNotedWithTheNearestAndTheRequestGoesOn() throws {
    let call = try call("setGroupInfo", #"{"groupID":"g","name":"n","colour":1,"groupname":null}"#, .noted)
    guard case .request = call.content else { return fail("a request") }
    #expect(
      call.unknownParameters?.map(\.description) == [
        "name (the nearest is groupName)", "colour", "groupname (the nearest is groupName)",
      ])
    #expect(try noted("setGroupInfo", #"{"groupID":"g","groupName":"n"}"#) == nil)
    #expect(try noted("ping", #"{"x":{"y":1}}"#) == ["x"])
    #expect(try noted("ping", "{}") == nil)
  }

  @Test func badParametersAreNotedToo() throws {
    let call = try call("joinGroup", #"{"groupId":"g"}"#, .noted)
    guard case .badParameters(let error) = call.content else { return fail("a refusal") }
    #expect(error.field == "groupID" && call.unknownParameters?.map(\.nearest) == ["groupID"])
  }

  @Test func membersOfObjectsInListsAreKnownToo() throws {
    let members = #"{"groupType":"Public","groupName":"n","memberList":[{"userID":"u"},{"userID":"v","rol":"Admin"}]}"#
    #expect(try noted("createGroup", members) == ["memberList[1].rol (the nearest is role)"])
    #expect(
      try noted("syncGroups", #"{"groups":[{"groupID":"g","epoch":"e","seq":0,"change":1}]}"#)
        == ["groups[0].change (the nearest is changeSeq)"])
    #expect(
      try noted("createGroup", #"{"groupType":"Public","groupName":"n","members":[]}"#)
        == ["members (the nearest is memberList)"])
  }

  @Test func mapsHaveAnyKeys() throws {
    #expect(try noted("setGroupInfo", #"{"groupID":"g","customInfo":{"anything":"v"}}"#) == nil)
    #expect(try noted("setGroupAttributes", #"{"groupID":"g","attributes":{"k":"v"}}"#) == nil)
    #expect(try noted("setGroupCounters", #"{"groupID":"g","counters":{"k":1}}"#) == nil)
  }

  @Test func eachInterfaceHasItsOwn() throws {
    let params = #"{"groupType":"Public","groupName":"n","ownerUserID":"o","asUser":"a"}"#
    #expect(try noted("createGroup", params, servesApplication: true) == nil)
    let onConnections = try call("createGroup", params, .noted).unknownParameters?.map(\.name)
    #expect(onConnections == ["ownerUserID", "asUser"])
  }

  @Test func aStrictServerRefusesTheFirst() throws {
    let error = try #require(try refusal("setGroupInfo", #"{"groupID":"g","name":"n","colour":1}"#))
    #expect(error.code == .invalidParams && error.field == "name" && !error.isTemporary)
    #expect(error.message == "name is no parameter of setGroupInfo; the nearest is groupName")
    let nested = try #require(
      try refusal("createGroup", #"{"groupType":"Public","groupName":"n","memberList":[{"userID":"u","rol":"Admin"}]}"#))
    #expect(nested.field == "rol" && nested.message.hasPrefix("memberList[0].rol is no parameter of createGroup;"))
    #expect(try refusal("joinGroup", #"{"groupId":"g"}"#)?.field == "groupId", "before what is missing")
    #expect(try refusal("ping", #"{"x":1,"asUser":"@"}"#, servesApplication: true)?.field == "asUser", "asUser comes first")
  }

  @Test(arguments: MethodPage.all, [UnknownParameterHandling.noted, .refused])
  func everyParameterOfAMethodIsKnown(method: MethodPage, handling: UnknownParameterHandling) throws {
    let servesApplication = method.callers != .connection
    for field in method.fields {
      for value in field.domain.valid {
        let call = try call(
          method.name, method.params([field.name: value]), handling, servesApplication: servesApplication)
        #expect(call.unknownParameters == nil, "\(field.name): \(value.prefix(60))")
      }
    }
  }

  @Test func whatANameShowsHasABound() throws {
    let long = String(repeating: "n", count: 1000)
    let found = try #require(try call("ping", #"{"\#(long)":1}"#, .noted).unknownParameters)
    #expect(found.map(\.name) == [String(repeating: "n", count: 64)] && found[0].nearest == nil)
    let many = (0..<100).map { #""p\#($0)":1"# }.joined(separator: ",")
    #expect(try call("ping", "{\(many)}", .noted).unknownParameters?.count == 8)
    let hidden = try #require(try call("ping", #"{"a\u0000\u202eb":1}"#, .noted).unknownParameters)
    #expect(hidden.map(\.name) == ["a??b"])
  }

  private func call(request text: String, _ handling: UnknownParameterHandling, servesApplication: Bool = false) throws -> Call {
    let envelope = read(text, servesApplication: servesApplication, unknownParameters: handling)
    guard case .single(let call) = envelope else { throw WireError(.parseError) }
    return call
  }

  @Test func membersOfTheRequestAreKnownToo() throws {
    let text = #"{"jsonrpc":"2.0","id":1,"methods":1,"method":"ping","parms":{"x":1},"groupID":"g","params":{"y":1}}"#
    #expect(try call(request: text, .ignored).unknownParameters == nil)
    let noted = try call(request: text, .noted)
    guard case .request = noted.content else { return fail("a request") }
    #expect(
      noted.unknownParameters?.map(\.description) == [
        "methods of the request (the nearest is method)", "parms of the request (the nearest is params)",
        "groupID of the request", "y",
      ])
    #expect(noted.unknownParameters?.map(\.isOfRequest) == [true, true, true, false])
  }

  @Test(arguments: [false, true]) func aStrictServerRefusesMembersOfTheRequestWithItsID(servesApplication: Bool) throws {
    let text = #"{"jsonrpc":"2.0","id":7,"method":"joinGroup","parms":{"groupID":"g"}}"#
    let refused = try call(request: text, .refused, servesApplication: servesApplication)
    guard case .badParameters(let error) = refused.content else { return fail("a refusal") }
    #expect(refused.id == .number(7) && error.code == .invalidParams && error.field == "parms" && !error.isTemporary)
    #expect(error.message == "parms is no member of a request; the nearest is params")
    let both = #"{"jsonrpc":"2.0","id":7,"method":"ping","x":1,"params":{"y":1}}"#
    guard case .badParameters(let first) = try call(request: both, .refused).content else { return fail("a refusal") }
    #expect(first.field == "x")
  }

  @Test(arguments: [UnknownParameterHandling.noted, .refused])
  func whatIsNoRequestOrNoMethodStaysSoAndIsNamed(handling: UnknownParameterHandling) throws {
    let invalid = try call(request: #"{"jsonrpc":"2.0","id":1,"methd":"ping"}"#, handling)
    guard case .invalid = invalid.content else { return fail("no request") }
    #expect(invalid.unknownParameters?.map(\.description) == ["methd of the request (the nearest is method)"])
    let unknown = try call(request: #"{"jsonrpc":"2.0","id":1,"method":"pong","x":1}"#, handling)
    guard case .unknownMethod = unknown.content else { return fail("no method") }
    #expect(unknown.unknownParameters?.map(\.name) == ["x"])
    #expect(try call(request: "17", handling).unknownParameters == nil)
  }

  @Test func theMembersOfARequestCountForTheBound() throws {
    let many = (0..<100).map { #","p\#($0)":1"# }.joined()
    let text = #"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1}\#(many)}"#
    #expect(try call(request: text, .noted).unknownParameters?.map(\.name) == (0..<8).map { "p\($0)" })
  }

  @Test func aBatchNamesThoseOfEachRequest() {
    let text = "[\(request("ping", #"{"x":1}"#)),\(request("ping", "{}"))]"
    guard case .batch(let calls) = read(text, unknownParameters: .noted) else { return fail("a batch") }
    #expect(calls.map { $0.unknownParameters?.map(\.name) } == [["x"], nil])
  }
}
