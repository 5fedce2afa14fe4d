import GroupModel
import WireProtocol

/// The wire contract of Throng: sign in by `?token=`, create or join a group, send texts.
final class ThrongDialect: Dialect {
  /// What a session does after it has signed in.
  enum Entry {
    case onlySignsIn
    case creates(group: Int)
    case joins(group: Int)
  }

  let answersMessages = true
  let opcode = Frame.Opcode.text
  /// What distinguishes this run's users and groups from those of others.
  let run: String
  /// What each session does, by its number.
  var entry: (Int) -> Entry = { _ in .onlySignsIn }
  /// The groups that are there or may be, by the session that created each: its createGroup was sent and not refused.
  private(set) var groupMade: [Int: Int] = [:]
  /// The sessions whose createGroup is not answered yet.
  private(set) var creating: Set<Int> = []
  private let address: Address
  private let groupType: GroupType
  private let tokens: [String]
  private let parser = JSONParser()

  /// The steps of entering, in this order.
  enum Entering {
    static let signIn = 0
    static let membership = 1
  }

  /// - Parameter token: makes the token of a user; one is made for each of `sessions`.
  init(
    address: Address, groupType: GroupType, sessions: Int, token: (String) throws -> String
  ) throws {
    self.address = address
    self.groupType = groupType
    let run = String(UInt32.random(in: 0...UInt32.max), radix: 36)
    self.run = run
    tokens = try (0..<sessions).map { try token("bench-\(run)-\($0)") }
  }

  /// The userID of a session.
  func user(_ number: Int) -> String { "bench-\(run)-\(number)" }

  /// The groupID of a group.
  func groupID(_ group: Int) -> String { "bench-\(run)-\(group)" }

  func upgrade(of number: Int) -> [UInt8] {
    let separator = address.target.contains("?") ? "&" : "?"
    return Handshake.request(
      target: address.target + separator + "token=" + tokens[number], host: address.authority, subprotocol: "throng.v1.json")
  }

  func step(_ step: Int, of number: Int) -> Step? {
    switch step {
    case Entering.signIn: return Step(text: nil, waits: true)
    case Entering.membership:
      switch entry(number) {
      case .onlySignsIn: return nil
      case .creates(let group):
        groupMade[number] = group
        creating.insert(number)
        return Step(text: createGroup(group, id: 0), waits: true)
      case .joins(let group): return Step(text: request("joinGroup", id: 0) { $0.member("groupID", groupID(group)) }, waits: true)
      }
    default: return nil
    }
  }

  // MARK: - Requests

  /// Everyone may join, and nobody is told who did: else N members would be told N times.
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

  /// The messages to a group. The text has `size` bytes.
  func message(to group: Int, size: Int, priority: Priority? = nil) -> Template {
    let padding = String(repeating: "x", count: size - Stamp.length)
    let priority = priority.map { #","priority":"\#($0.rawValue)""# } ?? ""
    return Template(
      #"{"jsonrpc":"2.0","id":%i,"method":"sendGroupTextMessage","params":{"groupID":"\#(groupID(group))""#
        + #","text":"%t\#(padding)"\#(priority)}}"#)
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

  func read(_ text: UnsafeRawBufferPointer, on number: Int, step: Int?) -> Reading {
    guard let value = parser.parse(padded: text) else { return .nothing }
    if let id = value["id"]?.integer.map(Int.init) {
      let outcome = ThrongDialect.outcome(value)
      // Requests of a step have the id 0.
      guard id == 0, step == Entering.membership else { return .reply(id: id, outcome) }
      if creating.remove(number) != nil, case .failed = outcome { groupMade[number] = nil }
      return ThrongDialect.answer(outcome)
    }
    switch value["method"]?.string {
    case "onConnectSuccess" where step == Entering.signIn: return .stepDone
    case "onMessageDropped": return .dropped(messageID: value["params"]?["msgID"]?.string ?? "")
    default: return .nothing
    }
  }

  /// A member who comes back within the grace is one still (contract section 3).
  private static func answer(_ outcome: Outcome) -> Reading {
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

  /// The first row of a bulk answer that is no success.
  private static func refusedMember(_ result: JSONValue) -> String? {
    var refused: String?
    result["memberList"]?.forEachElement { row in
      guard let outcome = row["result"]?.string, outcome != "Success" else { return }
      refused = refused ?? "\(row["userID"]?.string ?? "?"): \(outcome)"
    }
    return refused
  }
}
