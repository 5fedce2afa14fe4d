import Foundation
import Testing

@testable import ThrongClient

/// The rules of the store, by the vectors that all clients share (Tests/Clients).
@Suite struct StoreVectorTests {
  /// What an event changes in a store.
  struct Vector: Decodable, CustomTestStringConvertible {
    let name: String
    let userID: String
    let limits: [String: Int]
    let before: [String: JSONValue]
    let event: [JSONValue]
    let after: [String: JSONValue]

    var testDescription: String { name }

    static let all: [Vector] = {
      let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      do {
        let text = try Data(contentsOf: tests.appending(path: "Clients/store-vectors.json"))
        return try JSONDecoder().decode([Vector].self, from: text)
      } catch {
        preconditionFailure("no vectors: \(error)")
      }
    }()
  }

  @Test func thereAreVectors() { #expect(Vector.all.count > 30) }

  @Test(arguments: Vector.all) func anEventChangesTheStore(vector: Vector) throws {
    var expected = vector.before
    for (key, value) in vector.after { expected[key] = value == .null ? nil : value }
    let store = try draft(of: vector)
    var rows = vector.before.mapValues(\.filled)
    for change in try store.changes() {
      switch change {
      case .put(let key, let value): rows[key] = try JSONDecoder().decode(JSONValue.self, from: Data(value.utf8))
      case .delete(let key): rows[key] = nil
      case .deleteRange: Issue.record("the rules know what they delete")
      }
    }
    #expect(rows.keys.sorted() == expected.keys.sorted())
    for (key, value) in expected where value != "ANY" { #expect(rows[key] == value.filled, "\(key)") }
  }

  /// The store behind the event.
  private func draft(of vector: Vector) throws -> StoreDraft {
    var limits = StorageLimits()
    limits.messagesPerGroup = vector.limits["messagesPerGroup"] ?? limits.messagesPerGroup
    var state = StoreState(userID: vector.userID, limits: limits)
    var rows: [String: String] = [:]
    for (key, value) in vector.before {
      let text = try JSONEncoder().encode(value.filled)
      rows[key] = String(decoding: text, as: UTF8.self)
      if key.hasPrefix("g/") {
        let row = try JSONDecoder().decode(ConversationRow.self, from: text)
        state.conversations[row.info.groupID] = row
      } else if key.hasPrefix("p/") {
        state.positions[String(key.dropFirst(2))] = try JSONDecoder().decode(PositionRow.self, from: text)
      }
    }
    for groupID in state.conversations.keys {
      let range = StoreKeys.messages(of: groupID)
      state.windows[groupID] = rows.keys.filter { $0 >= range.from && $0 < range.to }.sorted().compactMap(StoreKeys.seq)
    }
    var draft = StoreDraft(state)
    let event = try vector.storeEvent
    for key in draft.keysToRead(for: event) { try draft.load(key, rows[key]) }
    draft.apply(event)
    return draft
  }
}

extension StoreVectorTests.Vector {
  private struct Sync: Decodable {
    struct Position: Decodable {
      let epoch: String
      let seq: Int
      let changeSeq: Int
    }
    let groupID: String
    let recovered: Bool
    let messageList: [GroupMessage]
    let changeList: [GroupMessage]
    let info: GroupInfo?
    let position: Position
  }

  private struct NoSuchEvent: Error {}

  /// Parameters of an event as a frame has them.
  private struct Reader: ParameterDecoder {
    let text: Data
    func decode<Params: Decodable>(_ type: Params.Type) throws -> Params { try JSONDecoder().decode(type, from: text) }
  }

  fileprivate var storeEvent: StoreEvent {
    get throws {
      guard event.count == 2, case .string(let name) = event[0] else { throw NoSuchEvent() }
      let text = try JSONEncoder().encode(event[1].filled)
      guard name == "sync" else {
        guard let event = try ServerEvent(name: name, from: Reader(text: text)) else { throw NoSuchEvent() }
        return .server(event, bytes: text.count)
      }
      let sync = try JSONDecoder().decode(Sync.self, from: text)
      let position = GroupPosition(
        groupID: sync.groupID, epoch: sync.position.epoch, seq: sync.position.seq, changeSeq: sync.position.changeSeq)
      return .sync(
        StoredSync(
          recovered: sync.recovered, messageList: sync.messageList, changeList: sync.changeList, info: sync.info,
          from: 0, position: position))
    }
  }
}

extension JSONValue {
  /// With the members that a server always sends and the vectors leave out.
  fileprivate var filled: JSONValue {
    switch self {
    case .array(let values): return .array(values.map(\.filled))
    case .object(let members):
      let filled = members.mapValues(\.filled)
      return .object(filled.merging(JSONValue.missing(in: filled)) { there, _ in there })
    case .null, .boolean, .integer, .number, .string: return self
    }
  }

  private static func missing(in members: [String: JSONValue]) -> [String: JSONValue] {
    if members["groupType"] != nil {
      return [
        "introduction": "", "faceURL": "", "owner": "", "createTime": 0, "onlineCount": 0, "maxMemberNum": 0, "customInfo": [:],
      ]
    }
    if members["receiveMessageOpt"] != nil { return ["joinTime": 0, "nameCard": "", "muteUntil": 0, "customInfo": [:]] }
    // A row of reactions; in an event it tells of nobody.
    return members["reaction"] != nil && members["count"] != nil ? ["byMe": false] : [:]
  }
}
