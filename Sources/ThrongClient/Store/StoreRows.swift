#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Under `meta`: whose store it is, and how it is written.
struct MetaRow: Codable, Hashable, Sendable {
  var version = StoreKeys.version
  var name: String
}

/// Under `s`.
struct SummaryRow: Codable, Hashable, Sendable {
  /// The server's instant up to which resumes are done.
  var toldUntil = 0
  /// The bytes of all other rows, their keys included.
  var bytes = 0
  /// The last order of the outbox.
  var order = 0
}

/// Under `g/`: a group that the user is in, or was.
struct ConversationRow: Codable, Hashable, Sendable {
  var info: GroupInfo
  var status: Conversation.Status
  /// When it ended, by the server's clock.
  var endedAt: Int?
  /// The messages from here up to the position are all stored, but for those that are for others.
  var firstStored: Int
  /// When something was said last, or the user came.
  var activeAt: Int
}

/// Under `p/`: up to where the application was told of a group.
struct PositionRow: Codable, Hashable, Sendable {
  var epoch: String
  var seq: Int
  var changeSeq: Int
  /// Own messages beyond `seq`, ascending.
  var own: [Int]
}

/// Under `o/`: an own message that is not at its end, or has failed.
struct OutboxRow: Codable, Hashable, Sendable {
  /// Where it stands.
  enum State: String, Codable, Sendable {
    case sending, failed
  }

  /// A ThrongError, or a ClientError.
  struct Failure: Codable, Hashable, Sendable {
    var code: Int?
    var reason: String?
    var message: String
  }

  var clientMsgID: String
  var method: String
  var params: SendParams
  /// For display alone: by the device's clock.
  var createdAt: Int
  var order: Int
  /// The client that has written it.
  var owner: String
  /// When it was sent first, by the server's clock; nil = it never was.
  var firstSentAt: Int?
  /// The group's place at that time: a sync from there holds the message.
  var after: Int?
  var state: State
  /// Nil in a failed one = it was dropped.
  var error: Failure?
}

/// The parameters of a message's request: the server's, and as the outbox keeps them.
struct SendParams: Codable, Hashable, Sendable {
  var groupID: String
  var text: String?
  var data: String?
  var priority: MessagePriority?
  var clientMsgID: String
  var atUserIDList: [String]?
  var onlineUserOnly: Bool?
  var needReadReceipt: Bool?
  var `extension`: String?
  var replyTo: Int?
  var isExcludedFromUnreadCount: Bool?
  var isExcludedFromLastMessage: Bool?
  var toUserIDList: [String]?
  /// Of a repeat alone.
  var firstSentAt: Int?
}

/// Values of rows as JSON.
enum StoreText {
  /// - Throws: where a value has no form in JSON, which none of a server has.
  static func encode(_ row: some Encodable) throws(StorageError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    do {
      return String(decoding: try encoder.encode(row), as: UTF8.self)
    } catch {
      throw StorageError(.failed, "\(error)")
    }
  }

  /// - Throws: where it is no JSON of that type.
  static func decode<Row: Decodable>(_ type: Row.Type, _ row: StorageRow) throws(StorageError) -> Row {
    do {
      return try JSONDecoder().decode(type, from: Data(row.value.utf8))
    } catch {
      throw StorageError(.corrupt, "\(row.key): \(error)")
    }
  }
}
