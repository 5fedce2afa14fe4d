import GroupModel
import Testing
import ThrongTestKit

/// "Attribute writes (init, set, delete together) 10 in any 5 s per user and group → 8511; by
/// application administrators 5 in any 1 s per group → 10049; attribute reads 20 in any 5 s per
/// user and group → 8511. Only calls that would otherwise succeed count."
@Suite struct AttributeRateTests {
  private static let writes = [
    ("initGroupAttributes", #"{"attributes":{"a":"1"}}"#), ("setGroupAttributes", #"{"attributes":{"a":"2"}}"#),
    ("deleteGroupAttributes", "{}"),
  ]

  /// Writes of all kinds, one after the other.
  private func write(_ scene: Scene, _ times: Int, by name: String) throws -> [Int] {
    try (0..<times).map { round in
      let (method, params) = AttributeRateTests.writes[round % AttributeRateTests.writes.count]
      return try scene.ask(method, params, by: name).code
    }
  }

  private func retryAfter(_ scene: Scene, _ method: String, by name: String) throws -> Int64? {
    try scene.ask(method, method == "setGroupAttributes" ? #"{"attributes":{"z":"1"}}"# : "{}", by: name).retryAfterMs
  }

  @Test func aUserWritesTenTimesInFiveSecondsWithAllMethods() throws {
    let scene = try Scene(.avChatRoom)
    #expect(try write(scene, 10, by: "mary") == Array(repeating: 0, count: 10))
    for (method, params) in AttributeRateTests.writes { try scene.expectRefused(8511, method, params, by: "mary") }
    scene.clocks.advance(by: 1200)
    #expect(try retryAfter(scene, "setGroupAttributes", by: "mary") == 3800)
    #expect(try write(scene, 10, by: "carl") == Array(repeating: 0, count: 10), "each user for oneself")
    scene.clocks.advance(by: 3799)
    try scene.expectRefused(8511, "setGroupAttributes", #"{"attributes":{"a":"x"}}"#, by: "mary")
    scene.clocks.advance(by: 1)
    #expect(try write(scene, 11, by: "mary") == Array(repeating: 0, count: 10) + [8511])
  }

  @Test func theSessionsOfAUserCountTogether() throws {
    let scene = try Scene(.avChatRoom)
    scene.signIn("mary", as: "mary/2")
    _ = try write(scene, 6, by: "mary")
    #expect(try write(scene, 5, by: "mary/2") == [0, 0, 0, 0, 8511])
  }

  @Test func onlyCallsThatWouldSucceedCount() throws {
    let scene = try Scene(.avChatRoom)
    for _ in 0..<20 {
      try scene.expectRefused(10050, "deleteGroupAttributes", #"{"keys":["none"]}"#, by: "mary")
      try scene.expectRefused(10007, "setGroupAttributes", #"{"attributes":{"a":"1"}}"#, by: "oscar")
    }
    #expect(try write(scene, 10, by: "mary") == Array(repeating: 0, count: 10))
    try scene.expectRefused(10050, "deleteGroupAttributes", #"{"keys":["none"]}"#, by: "mary")
  }

  @Test func aWriteThatChangesNothingCounts() throws {
    let scene = try Scene(.avChatRoom)
    for _ in 0..<10 { #expect(try scene.ask("setGroupAttributes", #"{"attributes":{}}"#, by: "mary").code == 0) }
    try scene.expectRefused(8511, "setGroupAttributes", #"{"attributes":{}}"#, by: "mary")
  }

  @Test func applicationAdministratorsWriteFiveTimesASecondTogether() throws {
    let scene = try Scene(.avChatRoom)
    #expect(try write(scene, 5, by: "administrator") == [0, 0, 0, 0, 0])
    for (method, params) in AttributeRateTests.writes { try scene.expectRefused(10049, method, params, by: "administrator") }
    scene.clocks.advance(by: 400)
    #expect(try retryAfter(scene, "setGroupAttributes", by: "administrator") == 600)
    #expect(try write(scene, 10, by: "mary") == Array(repeating: 0, count: 10))
    scene.clocks.advance(by: 600)
    #expect(try write(scene, 6, by: "administrator") == [0, 0, 0, 0, 0, 10049])
  }

  @Test func aUserReadsTwentyTimesInFiveSeconds() throws {
    let scene = try Scene(.avChatRoom)
    for _ in 0..<20 { #expect(try scene.ask("getGroupAttributes", by: "mary").code == 0) }
    #expect(try scene.ask("getGroupAttributes", by: "mary").code == 8511)
    #expect(try retryAfter(scene, "getGroupAttributes", by: "mary") == 5000)
    #expect(try scene.ask("getGroupAttributes", by: "carl").code == 0)
    #expect(try scene.ask("setGroupAttributes", #"{"attributes":{"a":"1"}}"#, by: "mary").code == 0, "writes count apart")
    scene.clocks.advance(by: 5000)
    #expect(try scene.ask("getGroupAttributes", by: "mary").code == 0)
  }

  @Test func anApplicationAdministratorReadsWithoutLimit() throws {
    let scene = try Scene(.avChatRoom)
    for _ in 0..<30 { #expect(try scene.ask("getGroupAttributes", by: "administrator").code == 0) }
  }
}
