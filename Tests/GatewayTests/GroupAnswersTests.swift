import Testing
import ThrongTestKit

@testable import Gateway

/// getGroupsInfo and syncGroups: 10010, 10015 and 10007 are codes of rows (Protocol.md,
/// "Reconnecting").
@Suite struct GroupAnswersTests {
  private let backend = Backend()

  @Test func rowsOfGroupsInfoCarryTheirCodes() async throws {
    try await backend.create("g")
    try await backend.create("w", "Work")
    let rows = try await backend.result("getGroupsInfo", as: "mary", #""groupIDList":["g","w","none","é"]"#)["resultList"]
    #expect(rows.column("code") == [0, 10007, 10010, 10015])
    #expect(rows.column("groupID") == ["g", "w", "none", "é"])
    #expect(rows[0]["info"]["owner"] == "olga" && rows[1]["info"] == nil)
    #expect(rows[1]["message"].string?.isEmpty == false)
  }

  @Test func syncGroupsAnswersARowForEachPosition() async throws {
    try await backend.create("g", "Meeting")
    _ = try await backend.result("sendGroupTextMessage", as: "olga", #""groupID":"g","text":"one""#)
    let info = try await backend.result("getGroupsInfo", as: "olga", #""groupIDList":["g"]"#)["resultList"][0]["info"]
    let epoch = try #require(info["epoch"].string)
    let positions = [("g", epoch), ("none", "x"), ("g", "other"), ("é", "x")].map { id, epoch in
      #"{"groupID":"\#(id)","epoch":"\#(epoch)","seq":0}"#
    }
    let rows = try await backend.result("syncGroups", as: "olga", #""groups":[\#(positions.joined(separator: ","))]"#)["groups"]
    #expect(rows.column("code") == [0, 10010, 0, 10015])
    #expect(rows.column("recovered") == [true, nil, false, nil])
    #expect(rows[0]["messageList"][0]["text"] == "one")
  }

  @Test func aSyncsOverflowComesWithTheNext() async throws {
    let small = Backend(rules: .pages(of: 600))
    for group in ["a", "b"] {
      try await small.create(group, "Meeting")
      for number in 0..<3 {
        _ = try await small.result(
          "sendGroupTextMessage", as: "olga", #""groupID":"\#(group)","text":"\#(number)\#(String(repeating: "x", count: 150))""#)
      }
    }
    let infos = try await small.result("getGroupsInfo", as: "olga", #""groupIDList":["a","b"]"#)["resultList"]
    var seqs: [String: Int64] = ["a": 0, "b": 0]
    for _ in 0..<20 where seqs != ["a": 3, "b": 3] {
      let positions = zip(["a", "b"], infos.elements).map { id, row in
        #"{"groupID":"\#(id)","epoch":"\#(row["info"]["epoch"].string ?? "")","seq":\#(seqs[id] ?? 0)}"#
      }
      let rows = try await small.result("syncGroups", as: "olga", #""groups":[\#(positions.joined(separator: ","))]"#)["groups"]
      for (id, row) in zip(["a", "b"], rows.elements) {
        for message in row["messageList"].elements {
          #expect(message["seq"].integer == (seqs[id] ?? 0) + 1, "none missing, none twice")
          seqs[id] = message["seq"].integer
        }
        #expect(row["more"].bool == (seqs[id] != 3), "\(id)")
      }
    }
    #expect(seqs == ["a": 3, "b": 3])
  }
}
