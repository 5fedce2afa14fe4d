import Cluster
import GroupModel
import Testing
import ThrongTestKit
import WebSocketTransport

@testable import Gateway

/// The stream is on one node, and a balancer brings its requests to any of them.
@Suite struct ClusterEventStreamTests {
  private let ping = #"{"jsonrpc":"2.0","id":"p","method":"ping"}"#

  @Test func everyNodeBringsRequestsToTheNodeOfTheirStream() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 2)
      let (alice, key) = try await cluster[0].live.openStream("alice")
      let number = try cluster[0].number
      #expect(key.hasPrefix("\(number)."))
      let made = try await cluster[1].live.call(
        "createGroup", #"{"groupType":"Public","groupName":"g","groupID":"\#(id)","joinMode":"Any"}"#, key: key)
      #expect(made["result"]["groupID"].string == id)
      for node in 0..<3 {
        let text = "from \(node)"
        let body = #"{"jsonrpc":"2.0","id":1,"method":"sendGroupTextMessage","params":{"groupID":"\#(id)","text":"\#(text)"}}"#
        let answer = try await cluster[node].live.post("[\(body),\(ping)]", key: key)
        #expect(try answer.status == 200 && answer.json.elements.count == 2)
        #expect(try answer.json[0]["result"]["seq"].integer != nil)
        #expect(try await cluster[node].live.post(#"{"jsonrpc":"2.0","method":"ping"}"#, key: key).status == 204)
      }
      let bob = try await cluster[1].signIn("bob")
      _ = try await bob.call("joinGroup", #"{"groupID":"\#(id)"}"#)
      _ = try await bob.call("sendGroupTextMessage", #"{"groupID":"\#(id)","text":"hers"}"#)
      _ = try await alice.reply { $0["params"]["message"]["text"] == "hers" }
    }
  }

  @Test func aStreamThatHasEndedIs401OnEveryNode() async throws {
    try await LiveCluster.with { cluster in
      let (alice, key) = try await cluster[0].live.openStream("alice")
      let forged = String(key.dropLast()) + (key.hasSuffix("0") ? "1" : "0")
      for node in 0..<3 { #expect(try await cluster[node].live.post(ping, key: forged).status == 401) }
      #expect(cluster[0].services.cluster?.network.requests.count == 0)
      _ = try await cluster[1].live.call("logout", key: key)
      #expect(try await alice.closed().code == 1000)
      for node in 0..<3 { #expect(try await cluster[node].live.post(ping, key: key).status == 401) }
    }
  }

  @Test func aRequestForTheStreamOfANodeThatHasGoneIs401() async throws {
    try await LiveCluster.with { cluster in
      let (_, key) = try await cluster[0].live.openStream("alice")
      #expect(try await cluster[1].live.post(ping, key: key).status == 200)
      try await cluster.kill(0)
      #expect(try await cluster[1].live.post(ping, key: key).status == 401)
    }
  }
}
