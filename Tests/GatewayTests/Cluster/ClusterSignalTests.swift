import Testing
import ThrongTestKit

@testable import Gateway

/// Signals and slow mode over three nodes.
@Suite struct ClusterSignalTests {
  private func typing(_ group: String) -> String { #"{"groupID":"\#(group)","name":"typing"}"# }

  @Test func aSignalReachesMembersOnAllNodesOnceAndTheSendingSessionNot() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 1)
      try await cluster[0].backend.create(id, "Public", memberList("mary", "rita", "nora"))
      let clients = [
        try await cluster[0].signIn("olga"), try await cluster[0].signIn("mary"), try await cluster[1].signIn("rita"),
        try await cluster[2].signIn("mary"),
      ]
      let silent = try await cluster[2].signIn("nora")
      _ = try await cluster[0].backend.result("setGroupReceiveMessageOpt", as: "nora", #""groupID":"\#(id)","opt":"NotReceive""#)
      for client in clients { #expect(try await client.call("sendGroupSignal", typing(id))["result"] == [:]) }
      _ = try await cluster[2].backend.result("sendGroupSignal", #""groupID":"\#(id)","name":"end""#)
      _ = try await cluster[2].backend.result("setGroupInfo", #""groupID":"\#(id)","introduction":"end""#)
      for client in clients + [silent] {
        _ = try await client.reply { $0["params"]["changeInfoList"][0]["value"] == "end" }
      }
      for (index, client) in clients.enumerated() {
        let senders = ["olga", "mary", "rita", "mary"].enumerated().filter { $0.offset != index }.map(\.element)
        let heard = await client.heard("onGroupSignal").map { $0["sender"].string ?? "" }
        #expect(heard == senders + ["administrator"], "client \(index)")
      }
      #expect(await silent.heard("onGroupSignal").isEmpty)
    }
  }

  @Test func ratesAndSlowModeAreOneForAllNodes() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 1)
      try await cluster[0].backend.create(id, "Public", #""slowMode":3600,\#(memberList("mary"))"#)
      var (signals, messages): ([Int64], [Int64]) = ([], [])
      for number in 0..<12 {
        let backend = cluster[number % 3].backend
        signals.append(try await backend.code("sendGroupSignal", as: "mary", #""groupID":"\#(id)","name":"n""#))
        messages.append(try await backend.code("sendGroupTextMessage", as: "mary", #""groupID":"\#(id)","text":"x""#))
      }
      #expect(signals == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10023, 10023])
      #expect(messages.first == 0 && messages.dropFirst().allSatisfy { $0 == 10023 })
    }
  }
}
