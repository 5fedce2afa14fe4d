import Foundation
import Synchronization
import ThrongClient

/// The lines that a driver writes.
enum Output {
  /// Held while a line is written: a pipe takes a long one in parts, and another's would come between them.
  private static let lock = Mutex(())

  static func tell(event: String, _ params: JSONValue) { tell(["event": .string(event), "params": params]) }

  static func tell(_ line: [String: JSONValue]) {
    do {
      var text = try JSONEncoder().encode(JSONValue.object(line))
      text.append(UInt8(ascii: "\n"))
      try lock.withLock { _ in try FileHandle.standardOutput.write(contentsOf: text) }
    } catch {
      // Without its output a driver is of no use: the test sees its end.
      fatalError("\(error)")
    }
  }
}

extension JSONValue {
  init(encoding value: some Encodable) throws {
    self = try JSONDecoder().decode(JSONValue.self, from: try JSONEncoder().encode(value))
  }

  init(error: any Error) {
    switch error {
    case let error as ThrongError:
      self = .object([
        "code": .integer(error.code.rawValue), "message": .string(error.message), "temporary": .boolean(error.isTemporary),
        "field": error.field.map(JSONValue.string) ?? .null, "retryAfterMs": .integer(Int(error.retryAfter.milliseconds)),
      ])
    case let error as ClientError: self = .object(["reason": .string(error.reason.rawValue)])
    default: self = .object(["reason": .string("\(error)")])
    }
  }
}

extension Duration {
  /// Milliseconds, rounded up.
  var milliseconds: Int64 { Int64((self / .milliseconds(1)).rounded(.up)) }
}

extension ServerEvent {
  /// The parameters as the server sent them.
  var params: JSONValue {
    get throws {
      if case .other(_, let params) = self { return params }
      guard let payload = Mirror(reflecting: self).children.first?.value as? any Encodable else { return .null }
      return try JSONValue(encoding: payload)
    }
  }
}

extension ConnectionState {
  var members: [String: JSONValue] {
    switch self {
    case .idle: ["state": "idle"]
    case .connecting: ["state": "connecting"]
    case .online: ["state": "online"]
    case .waiting(let loss, let delay):
      loss.members.merging(["state": "waiting", "retryInMs": .integer(Int(delay.milliseconds))]) { _, own in own }
    case .closed(let loss): loss.members.merging(["state": "closed"]) { _, own in own }
    }
  }
}

extension ConnectionLoss {
  var members: [String: JSONValue] {
    [
      "code": .integer(code.rawValue), "reason": .string(reason), "isOpen": .boolean(didOpen),
      "error": error.map(JSONValue.init(error:)) ?? .null,
    ]
  }
}

extension GroupSync {
  var json: JSONValue {
    get throws {
      .object([
        "groupID": .string(groupID), "recovered": .boolean(recovered), "more": .boolean(more),
        "messageList": try JSONValue(encoding: messageList), "changeList": try JSONValue(encoding: changeList),
        "info": try info.map { try JSONValue(encoding: $0) } ?? .null,
      ])
    }
  }
}

extension Ready {
  var json: JSONValue {
    get throws {
      .object([
        "isFirst": .boolean(isFirst), "groups": try JSONValue(encoding: groups), "joined": try JSONValue(encoding: joined),
        "left": try JSONValue(encoding: left), "recovered": try JSONValue(encoding: recovered),
        "notRecovered": try JSONValue(encoding: notRecovered), "source": "server",
      ])
    }
  }
}

extension Conversation {
  var json: JSONValue {
    get throws {
      var members: [String: JSONValue] = [
        "groupID": .string(groupID), "info": try JSONValue(encoding: info), "status": .string(status.rawValue),
        "canSend": .boolean(canSend), "source": .string(source.rawValue),
      ]
      members["endedAt"] = endedAt.map(JSONValue.integer)
      return .object(members)
    }
  }
}

extension StoredMessages {
  var json: JSONValue {
    get throws {
      .object([
        "messageList": try JSONValue(encoding: messageList), "source": .string(source.rawValue),
        "isFinished": .boolean(isFinished),
      ])
    }
  }
}
