import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// Reports of messages by way of the dispatcher: their rate, their list and their end (Protocol.md,
/// "Reports").
@Suite struct ReportTests {
  private let backend = Backend()

  /// The group "g", where olga has said some things; the first stands at seq 1.
  private func talk(_ count: Int = 1, _ backend: Backend? = nil) async throws {
    let backend = backend ?? self.backend
    try await backend.found("Public", with: "mary", "carl")
    for number in 1...count {
      _ = try await backend.result("sendGroupTextMessage", as: "olga", #""groupID":"g","text":"t\#(number)""#)
    }
  }

  private func report(_ seq: Int, by user: String = "mary", _ more: String = "") async throws -> JSON {
    try await backend.rpc("reportMessage", as: user, #""groupID":"g","seq":\#(seq)\#(more)"#)
  }

  private func list(_ members: String = "", _ backend: Backend? = nil) async throws -> JSON {
    try await (backend ?? self.backend).result("listReports", members)
  }

  private func seqs(_ page: JSON) -> [Int64?] { page["reportList"].elements.map { $0["message"]["seq"].integer } }

  // MARK: The rate

  /// "10 in any 60 s by a user, then 8511; only successful calls, renewals too, count."
  @Test func tenReportsSucceedInAMinute() async throws {
    try await talk(9)
    // None of these counts.
    for _ in 0..<3 {
      #expect(try await report(99)["error"]["code"] == 10030)
      #expect(try await report(1, by: "oscar")["error"]["code"] == 10007)
      #expect(try await backend.code("reportMessage", as: "mary", #""groupID":"none","seq":1"#) == 10010)
    }
    for seq in 1...9 { #expect(try await report(seq)["error"] == .null) }
    backend.clocks.advance(by: 20_000)
    #expect(try await report(1)["error"] == .null, "renewed: the tenth")
    let refused = try await report(2)["error"]
    #expect(refused["code"] == 8511 && refused["data"]["retryAfterMs"] == 40_000 && refused["data"]["temporary"] == true)
    #expect(try await report(99)["error"]["code"] == 10030, "8511 comes last")
    #expect(try await report(1, by: "carl")["error"] == .null, "each user for oneself")
    backend.clocks.advance(by: 39_999)
    #expect(try await report(2)["error"]["code"] == 8511)
    backend.clocks.advance(by: 1)
    for seq in 1...9 { #expect(try await report(seq)["error"] == .null, "the first nine are a minute old") }
    #expect(try await report(1)["error"]["code"] == 8511)
  }

  @Test func manyAtOnceAreNotMore() async throws {
    try await talk(15)
    let backend = backend
    let codes = try await withThrowingTaskGroup { tasks in
      for seq in 1...15 {
        tasks.addTask { try await backend.code("reportMessage", as: "mary", #""groupID":"g","seq":\#(seq)"#) }
      }
      return try await tasks.reduce(into: [Int64]()) { $0.append($1) }
    }
    #expect(codes.sorted() == Array(repeating: 0, count: 10) + Array(repeating: 8511, count: 5))
    #expect(try await list()["reportList"].elements.count == 10)
  }

  // MARK: listReports and closeReport

  @Test func reportsAreListedNewestFirstWithTheMessageAsItWas() async throws {
    try await talk(2)
    let made = try await report(1, by: "mary", #","category":"spam","text":"why""#)["result"]
    #expect(made["reportID"].string?.hasPrefix("mary/") == true)
    backend.clocks.advance(by: 5000)
    _ = try await report(2, by: "carl")
    _ = try await backend.result("revokeGroupMessage", as: "olga", #""groupID":"g","seq":1"#)
    let page = try await list()
    #expect(seqs(page) == [2, 1] && page["nextSeq"] == 0)
    let (bare, full) = (page["reportList"][0], page["reportList"][1])
    for row in [bare, full] {
      #expect(row.names == ["category", "groupID", "message", "reportID", "reporter", "state", "text", "time"])
    }
    #expect(bare["category"] == "" && bare["text"] == "", "empty where they were not given")
    #expect(full["reporter"] == "mary" && full["category"] == "spam" && full["text"] == "why" && full["state"] == "Open")
    #expect(full["message"]["text"] == "t1" && full["message"]["isRevoked"] == .null, "as it was when reported")
    #expect(bare["time"] == .instant(backend.clocks.wall) && bare["groupID"] == "g")
  }

  @Test func aClosedReportIsInItsListAndOpensAgainWhenRenewed() async throws {
    try await talk(2)
    let id = try #require(try await report(1)["result"]["reportID"].string)
    _ = try await report(2)
    #expect(try await backend.result("closeReport", #""reportID":"\#(id)","note":"deleted""#) == [:] as JSON)
    #expect(try await seqs(list()) == [2])
    #expect(try await seqs(list(#""state":"Closed""#)) == [1])
    #expect(try await list(#""state":"Closed""#)["reportList"][0]["note"] == "deleted")
    // Closed again: its note is the new one.
    _ = try await backend.result("closeReport", #""reportID":"\#(id)","note":"banned""#)
    #expect(try await list(#""state":"Closed""#)["reportList"][0]["note"] == "banned")
    #expect(try await report(1)["result"]["reportID"].string == id, "the same report")
    let open = try await list()
    #expect(seqs(open) == [1, 2] && open["reportList"][0]["state"] == "Open" && !open["reportList"][0].names.contains("note"))
    #expect(try await list(#""state":"Closed""#)["reportList"] == [] as JSON)
    for unknown in ["mary/none", "x"] {
      let error = try await backend.rpc("closeReport", #"{"reportID":"\#(unknown)"}"#)["error"]
      #expect(error["code"] == 10004 && error["data"]["field"] == "reportID")
    }
  }

  @Test func pagesHoldEachReportOnce() async throws {
    try await talk(7)
    for seq in 1...7 { _ = try await report(seq) }
    var (found, next, pages): ([Int64?], Int64, Int) = ([], 0, 0)
    repeat {
      let page = try await list(#""count":3,"nextSeq":\#(next)"#)
      found += seqs(page)
      next = try #require(page["nextSeq"].integer)
      pages += 1
    } while next != 0 && pages < 10
    #expect(found == [7, 6, 5, 4, 3, 2, 1] && pages == 3)
    #expect(try await seqs(list(#""count":7"#)).count == 7)
    #expect(try await list(#""count":7"#)["nextSeq"] == 0, "a list ends where the reports do")
  }

  @Test func aPageEndsBeforeItIsTooLarge() async throws {
    let small = Backend(rules: .pages(of: 10))
    try await talk(2, small)
    for seq in 1...2 { _ = try await small.result("reportMessage", as: "mary", #""groupID":"g","seq":\#(seq)"#) }
    let first = try await list("", small)
    #expect(seqs(first) == [2])
    let next = try #require(first["nextSeq"].integer)
    let second = try await list(#""nextSeq":\#(next)"#, small)
    #expect(next > 0 && seqs(second) == [1] && second["nextSeq"] == 0)
  }

  @Test func aGroupsReportsAreListedAlone() async throws {
    try await talk()
    try await backend.create("other", "Public", by: "olga", memberList("mary"))
    _ = try await backend.result("sendGroupTextMessage", as: "olga", #""groupID":"other","text":"t""#)
    _ = try await report(1)
    _ = try await backend.result("reportMessage", as: "mary", #""groupID":"other","seq":1"#)
    #expect(try await list(#""groupID":"g""#)["reportList"].column("groupID") == ["g"])
    #expect(try await list()["reportList"].column("groupID") == ["other", "g"])
    #expect(try await list(#""groupID":"none""#)["reportList"] == [] as JSON)
    #expect(try await backend.code("listReports", #""groupID":"a b""#) == 10015)
    // A report outlives its group.
    _ = try await backend.result("dismissGroup", as: "olga", #""groupID":"other""#)
    #expect(try await list(#""groupID":"other""#)["reportList"].column("groupID") == ["other"])
  }

  @Test func whereTheStoreFailsNothingIsCounted() async throws {
    try await talk(10)
    backend.store.inner.fail(with: StoreError(.unavailable, "disk full"))
    for _ in 0..<12 { #expect(try await report(1)["error"]["code"] == 10002) }
    backend.store.inner.fail(with: nil)
    for seq in 1...10 { #expect(try await report(seq)["error"] == .null) }
    #expect(try await report(1)["error"]["code"] == 8511)
  }
}
