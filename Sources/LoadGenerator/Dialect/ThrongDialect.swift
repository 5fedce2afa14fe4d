import GroupModel
import WireProtocol

/// Throng's protocol: sign in by `?token=`, create or join a group, send texts.
final class ThrongDialect: Dialect {
  /// The step of a session after its sign-in.
  enum SetupAction {
    case signIn
    case createGroup(Int)
    case joinGroup(Int)
  }

  let answersMessages = true
  let opcode = Frame.Opcode.text
  /// A part of the IDs of this run's users and groups that no other run has.
  let runID: String
  /// The step after sign-in by session.
  var setupAction: (Int) -> SetupAction = { _ in .signIn }
  /// The groups that exist or may exist, by creator: createGroup was sent and not refused.
  private(set) var createdGroups: [Int: Int] = [:]
  /// The sessions whose createGroup is not answered yet.
  private(set) var creating: Set<Int> = []
  /// Whether events of statuses count now.
  var countsStatuses: () -> Bool = { false }
  /// Events of statuses that were counted.
  private(set) var statusEvents = 0
  /// The statuses in them.
  private(set) var statusRows = 0
  private let address: Address
  private let groupType: GroupType
  private let tokens: [String]
  private let parser = JSONParser()

  /// The setup steps in their order.
  enum StepNumber {
    static let signIn = 0
    static let membership = 1
  }

  /// - Parameter token: makes the token of a user; one is made for each of `sessions`.
  init(
    address: Address, groupType: GroupType, sessions: Int, token: (String) throws -> String
  ) throws {
    self.address = address
    self.groupType = groupType
    let runID = String(UInt32.random(in: 0...UInt32.max), radix: 36)
    self.runID = runID
    tokens = try (0..<sessions).map { try token("bench-\(runID)-\($0)") }
  }

  /// The userID of a session.
  func user(_ number: Int) -> String { "bench-\(runID)-\(number)" }

  /// The groupID of a group.
  func groupID(_ group: Int) -> String { "bench-\(runID)-\(group)" }

  func upgrade(of number: Int, offersDeflate: Bool) -> [UInt8] {
    let separator = address.target.contains("?") ? "&" : "?"
    return Handshake.request(
      target: address.target + separator + "token=" + tokens[number], host: address.authority, subprotocol: "throng.v1.json",
      offersDeflate: offersDeflate)
  }

  func step(_ step: Int, of number: Int) -> SetupStep? {
    switch step {
    case StepNumber.signIn: return SetupStep(text: nil, waits: true)
    case StepNumber.membership:
      switch setupAction(number) {
      case .signIn: return nil
      case .createGroup(let group):
        createdGroups[number] = group
        creating.insert(number)
        return SetupStep(text: createGroup(group, id: 0), waits: true)
      case .joinGroup(let group):
        return SetupStep(text: request("joinGroup", id: 0) { $0.member("groupID", groupID(group)) }, waits: true)
      }
    default: return nil
    }
  }

  // MARK: - Requests

  /// Joining needs no approval and is not announced: N joins would be N² events.
  func createGroup(_ group: Int, id: Int) -> [UInt8] {
    request("createGroup", id: id) { writer in
      writer.member("groupType", groupType.rawValue)
      writer.member("groupName", "throng bench")
      writer.member("groupID", groupID(group))
      if groupType != .work { writer.member("joinMode", "Any") }
      writer.member("memberChangeNotification", false)
    }
  }

  func dismissGroup(_ group: Int, id: Int) -> [UInt8] {
    request("dismissGroup", id: id) { $0.member("groupID", groupID(group)) }
  }

  func quitGroup(_ group: Int, id: Int) -> [UInt8] { request("quitGroup", id: id) { $0.member("groupID", groupID(group)) } }

  func inviteUserToGroup(_ group: Int, _ numbers: some Sequence<Int>, id: Int) -> [UInt8] {
    request("inviteUserToGroup", id: id) { writer in
      writer.member("groupID", groupID(group))
      writer.member("userIDList", numbers.map { user($0) })
    }
  }

  /// The messages to a group. The text has `size` bytes, or is a line of `texts` behind the stamp.
  func message(to group: Int, size: Int, priority: Priority? = nil, texts: MessageTexts? = nil) -> MessageTemplate {
    let padding = texts == nil ? String(repeating: "x", count: size - Stamp.length) : " %l"
    let priority = priority.map { #","priority":"\#($0.rawValue)""# } ?? ""
    return MessageTemplate(
      #"{"jsonrpc":"2.0","id":%i,"method":"sendGroupTextMessage","params":{"groupID":"\#(groupID(group))""#
        + #","text":"%t\#(padding)"\#(priority)}}"#, texts: texts)
  }

  /// The increments of a counter of a group.
  func increment(in group: Int) -> MessageTemplate {
    MessageTemplate(
      #"{"jsonrpc":"2.0","id":%i,"method":"increaseGroupCounter","params":{"groupID":"\#(groupID(group))""#
        + #","key":"likes","value":1}}"#)
  }

  /// Watches the statuses of sessions.
  func subscribe(to numbers: [Int], id: Int) -> [UInt8] {
    request("subscribeUsersStatus", id: id) { $0.member("userIDList", numbers.map { user($0) }) }
  }

  /// The changes of a session's own status: each is another one.
  var statusChange: MessageTemplate {
    MessageTemplate(#"{"jsonrpc":"2.0","id":%i,"method":"setSelfStatus","params":{"customStatus":"%i"}}"#)
  }

  private func request(_ method: String, id: Int, _ params: (inout JSONWriter) -> Void) -> [UInt8] {
    JSONWriter.text { writer in
      writer.object { writer in
        writer.member("jsonrpc", "2.0")
        writer.member("id", id)
        writer.member("method", method)
        writer.key("params")
        writer.object(params)
      }
    }
  }

  // MARK: - Replies and events

  func parse(_ text: UnsafeRawBufferPointer, on number: Int, step: Int?) -> ServerMessage {
    guard let value = parser.parse(padded: text) else { return .nothing }
    if let id = value["id"]?.integer.map(Int.init) {
      let outcome = ThrongDialect.outcome(value)
      // Requests of a step have the id 0.
      guard id == 0, step == StepNumber.membership else { return .reply(id: id, outcome) }
      if creating.remove(number) != nil, case .failed = outcome { createdGroups[number] = nil }
      return ThrongDialect.setupResult(outcome)
    }
    switch value["method"]?.string {
    case "onConnectSuccess" where step == StepNumber.signIn: return .stepDone
    case "onUsersStatusChanged":
      countStatuses(value)
      return .nothing
    case "onMessageDropped": return .dropped(messageID: value["params"]?["msgID"]?.string ?? "")
    default: return .nothing
    }
  }

  private func countStatuses(_ event: JSONValue) {
    guard countsStatuses() else { return }
    statusEvents += 1
    statusRows += event["params"]?["userList"]?.count ?? 0
  }

  /// A member who reconnects within the grace is still a member (Protocol.md, "AVChatRoom").
  private static func setupResult(_ outcome: Outcome) -> ServerMessage {
    switch outcome {
    case .failed(ErrorCode.alreadyMember.rawValue, _): .stepDone
    case .failed(0, let message): .stepFailed(message)
    case .failed(let code, let message): .stepFailed("\(code) \(message)")
    default: .stepDone
    }
  }

  private static func outcome(_ value: JSONValue) -> Outcome {
    if let error = value["error"] {
      return .failed(code: Int(error["code"]?.integer ?? 0), error["message"]?.string ?? "")
    }
    guard let result = value["result"] else { return .failed(code: 0, "a reply without result and error") }
    switch result["status"]?.string {
    case "Delivered": return .delivered
    case "Stored": return .stored
    case "Dropped": return .dropped
    case "Queued": return .queued(messageID: result["msgID"]?.string ?? "")
    case "Pending": return .failed(code: 0, "the group asks its managers first")
    default: return refusedMember(result).map { .failed(code: 0, $0) } ?? .done
    }
  }

  /// The first row of a bulk result that is no success (Protocol.md, "Bulk results").
  private static func refusedMember(_ result: JSONValue) -> String? {
    var refused: String?
    result["memberList"]?.forEachElement { row in
      guard let outcome = row["result"]?.string, outcome != "Success" else { return }
      refused = refused ?? "\(row["userID"]?.string ?? "?"): \(outcome)"
    }
    return refused
  }
}
