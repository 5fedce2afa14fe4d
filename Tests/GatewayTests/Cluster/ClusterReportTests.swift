import Cluster
import GroupModel
import Testing
import ThrongTestKit

@testable import Gateway

/// Reports on several nodes: the owner of the reporter's shard counts, and the group's decides.
@Suite struct ClusterReportTests {
  @Test func tenReportsSucceedWhereverTheyComeIn() async throws {
    try await LiveCluster.with { cluster in
      for owner in 0..<3 {
        let user = cluster.userID(on: owner, "u\(owner)-").rawValue
        let ids = (0..<3).map { cluster.groupID(on: $0, "r\(owner)\($0)-") }
        for id in ids {
          try await cluster[0].backend.create(id, "Public", memberList(user))
          _ = try await cluster[1].backend.result("sendGroupTextMessage", as: "olga", #""groupID":"\#(id)","text":"t""#)
        }
        var codes: [Int64] = []
        for number in 0..<13 {
          let node = cluster[number % 3].backend
          // Refused by the group, before the rate.
          #expect(try await node.code("reportMessage", as: user, #""groupID":"\#(ids[number % 3])","seq":9"#) == 10030)
          codes.append(try await node.code("reportMessage", as: user, #""groupID":"\#(ids[(number + 1) % 3])","seq":1"#))
        }
        #expect(codes == Array(repeating: 0, count: 10) + [8511, 8511, 8511], "on node \(owner)")
      }
      for node in 0..<3 {
        let listed = try await cluster[node].backend.result("listReports")["reportList"]
        #expect(listed.elements.count == 9, "each user and group once")
        #expect(Set(listed.column("reportID")).count == 9)
      }
      let newest = try await cluster[2].backend.result("listReports")["reportList"][0]
      let id = try #require(newest["reportID"].string)
      _ = try await cluster[1].backend.result("closeReport", #""reportID":"\#(id)""#)
      #expect(try await cluster[0].backend.result("listReports")["reportList"].elements.count == 8)
    }
  }
}
