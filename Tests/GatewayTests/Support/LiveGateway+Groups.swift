import GroupModel
import Testing
import ThrongTestKit

@testable import Gateway

/// Helpers of tests of groups with real sessions.
extension LiveGateway {
  /// Says something in a group by way of `asUser`, or as the application; returns when it has been
  /// handed to the fan-out.
  func say(_ text: String, in group: String, as user: String? = nil) async throws {
    let said = try await backend.result("sendGroupTextMessage", as: user, #""groupID":"\#(group)","text":"\#(text)""#)
    try #require(said["msgID"].string != nil)
  }

  /// Returns when these clients have heard everything that the group has told them up to now: it is
  /// among their events.
  func heard(of group: String, by clients: Client...) async throws { try await heard(of: group, by: clients) }

  /// The same for any number.
  func heard(of group: String, by clients: [Client]) async throws {
    let mark = "mark \(UInt64.random(in: .min ... .max))"
    _ = try await backend.result("setGroupInfo", #""groupID":"\#(group)","introduction":"\#(mark)""#)
    for client in clients { _ = try await client.reply { $0["params"]["changeInfoList"][0]["value"].string == mark } }
  }

  /// Returns when the user has no session any more.
  func gone(_ user: UserID) async throws {
    try await waitUntil("\(user) has no session") { services.directory.sessions(of: user).isEmpty }
  }
}

extension Client {
  /// The params of the events of that name that have been heard and not yet asked for; they are
  /// forgotten with this.
  func heard(_ name: String) -> [JSON] {
    let found = events.filter { $0["method"].string == name }.map { $0["params"] }
    forget(name)
    return found
  }

  /// The texts of the messages that have been heard and not yet asked for.
  func texts() -> [String] { heard("onRecvNewMessage").compactMap { $0["message"]["text"].string } }
}
