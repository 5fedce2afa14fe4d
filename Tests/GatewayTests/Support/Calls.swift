import Testing
import ThrongTestKit

/// Calls with a user's rights by way of `asUser`, the shortest way to the dispatcher. Params are
/// given as the text of their members, without braces.
extension Backend {
  /// The whole answer.
  func rpc(_ method: String, as user: String, _ members: String = "") async throws -> JSON {
    try await rpc(method, #"{"asUser":"\#(user)"\#(members.isEmpty ? "" : ",")\#(members)}"#)
  }

  /// The result of a call that must succeed; without a user, the application's own.
  func result(
    _ method: String, as user: String? = nil, _ members: String = "", sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> JSON {
    let reply = if let user { try await rpc(method, as: user, members) } else { try await rpc(method, "{\(members)}") }
    try #require(reply["error"] == .null, "\(method): \(reply)", sourceLocation: sourceLocation)
    return reply["result"]
  }

  /// The code of the error; 0 where there is none.
  func code(_ method: String, as user: String? = nil, _ members: String = "") async throws -> Int64 {
    let reply = if let user { try await rpc(method, as: user, members) } else { try await rpc(method, "{\(members)}") }
    return reply["error"]["code"].integer ?? 0
  }

  /// Makes a group whose name is its groupID.
  /// - Parameter more: further members of the params.
  func create(
    _ id: String, _ type: String = "Public", by user: String = "olga", _ more: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let rest = more.isEmpty ? "" : "," + more
    let made = try await result(
      "createGroup", as: user, #""groupType":"\#(type)","groupName":"\#(id)","groupID":"\#(id)"\#(rest)"#,
      sourceLocation: sourceLocation)
    try #require(made["groupID"].string == id, sourceLocation: sourceLocation)
  }

  /// Makes the group "g" of olga with some members, as its type wants it: live rooms are joined,
  /// and a BChatRoom takes none.
  func found(_ type: String, with members: String...) async throws {
    let list = ["AVChatRoom", "BChatRoom"].contains(type) ? [] : members.map { #"{"userID":"\#($0)"}"# }
    _ = try await result(
      "createGroup",
      #""groupType":"\#(type)","groupName":"g","groupID":"g","ownerUserID":"olga","memberList":[\#(list.joined(separator: ","))]"#
    )
    if type == "AVChatRoom" { for user in members { _ = try await result("joinGroup", as: user, #""groupID":"g""#) } }
  }

  /// Asks to be let into a group whose joinMode is Auth.
  func apply(_ user: String, to group: String, _ message: String = "please") async throws {
    let answer = try await result("joinGroup", as: user, #""groupID":"\#(group)","message":"\#(message)""#)
    try #require(answer["status"] == "Pending")
  }

  /// The application's own way of bringing somebody in.
  func bring(_ user: String, into group: String) async throws {
    let rows = try await result("inviteUserToGroup", #""groupID":"\#(group)","userIDList":["\#(user)"]"#)["memberList"]
    try #require(rows[0]["result"] == "Success")
  }
}

/// The `memberList` of params, of users by name.
func memberList(_ users: String...) -> String {
  #""memberList":["# + users.map { #"{"userID":"\#($0)"}"# }.joined(separator: ",") + "]"
}

extension JSON {
  /// One member of each element.
  func column(_ name: String) -> [JSON] { elements.map { $0[name] } }
}
