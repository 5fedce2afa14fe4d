import GroupModel
import WireProtocol

/// A question to the memory of a live room.
enum RecentQuestion: Sendable, Equatable {
  /// A page, as getGroupHistoryMessageList asks for it.
  /// - Parameter from: exclusive; 0 = the newest message, or the oldest.
  case history(GetGroupHistoryMessageList.Direction, from: Int64, count: Int)
  /// Messages by their places, in this order, as getGroupMessages asks for them.
  case messages([Int64])
  /// A row of syncGroups.
  /// - Parameters:
  ///   - changeSeq: nil = no recalls are wanted.
  ///   - bytes: the most that its messages may have; 0 = none are answered.
  case sync(epoch: String, seq: Int64, changeSeq: Int64?, bytes: Int)
}

/// What a live room remembers for a question. It is found under a lock; its bytes are made outside.
enum RecentAnswer: Sendable {
  case history(RecentPage)
  case messages([RecentMessage])
  case sync(RecentRow)

  /// The users whose profiles it shows; some more than once.
  var users: [UserID] {
    let messages =
      switch self {
      case .history(let page): page.messages
      case .messages(let messages): messages
      case .sync(let row): (row.found?.changes ?? []) + (row.found?.messages ?? [])
      }
    return messages.map(\.sender).filter { $0 != .administrator }
  }

  /// The reply.
  /// - Parameters:
  ///   - maxBytes: the most that its messages may have; one always fits.
  ///   - profiles: of its users, as they are now.
  func reply(of group: GroupID, maxBytes: Int, showing profiles: [UserID: UserProfile]) -> Reply {
    switch self {
    case .history(let found):
      let page = RecentBytes(found.messages, maxBytes: maxBytes, showing: profiles)
      return .success(
        .history(
          GetGroupHistoryMessageList.Result(messageList: page.messages, isFinished: found.isFinished && !page.isCut)))
    case .messages(let found):
      let page = RecentBytes(found, maxBytes: maxBytes, showing: profiles)
      return .success(.messages(GetGroupMessages.Result(messageList: page.messages)))
    case .sync(let row): return .success(.syncRow(row.encoded(of: group, maxBytes: maxBytes, showing: profiles)))
    }
  }
}

/// A row of syncGroups before its messages are encoded.
struct RecentRow: Sendable {
  /// Nil where the position is not of this memory, or something behind it is forgotten: recovered is
  /// false.
  let found: RecentSync?
  let epoch: String
  let lastSeq: Int64
  /// The room's last recall.
  let lastChangeSeq: Int64
  /// The last recall that the client has; nil = it wants none.
  let changeSeq: Int64?
  let bytes: Int

  /// "The first page holds changes before messages."
  fileprivate func encoded(of group: GroupID, maxBytes: Int, showing profiles: [UserID: UserProfile]) -> SyncGroups.Row {
    let maxBytes = min(bytes, maxBytes)
    let changes = RecentBytes(found?.changes ?? [], maxBytes: maxBytes, showing: profiles)
    let messages =
      changes.isCut
      ? RecentBytes() : RecentBytes(found?.messages ?? [], maxBytes: max(0, maxBytes - changes.count), showing: profiles)
    let isCut = changes.isCut || messages.isCut
    return SyncGroups.Row(
      groupID: group.rawValue, code: 0, epoch: epoch, lastSeq: lastSeq, recovered: found != nil,
      changeList: changeSeq == nil ? nil : changes.messages, changeSeq: changeSeq.map { reached(from: $0, with: changes) },
      messageList: messages.messages, more: found.map { $0.more || isCut } ?? false)
  }

  /// The recall to go on from.
  private func reached(from after: Int64, with changes: RecentBytes) -> Int64 {
    guard let found else { return lastChangeSeq }
    guard changes.isCut else { return found.changeSeq }
    return changes.messages.isEmpty ? after : found.changes[changes.messages.count - 1].changeSeq
  }
}

/// Messages of a reply, as many as fit.
private struct RecentBytes {
  var messages: [Encoded<MessageInfo>] = []
  /// The bytes of their texts, with a comma behind each.
  var count = 0
  /// There are more than fit.
  var isCut = false

  /// None.
  init() {}

  /// At least one message, if any bytes are allowed.
  init(_ remembered: [RecentMessage], maxBytes: Int, showing profiles: [UserID: UserProfile]) {
    guard maxBytes > 0 else {
      isCut = !remembered.isEmpty
      return
    }
    for message in remembered {
      let encoded = message.frame.message(showing: profiles[message.sender])
      guard messages.isEmpty || count + encoded.text.count <= maxBytes else {
        isCut = true
        return
      }
      messages.append(encoded)
      count += encoded.text.count + 1
    }
  }
}

extension MessageRing {
  /// What is remembered for a question.
  func answer(to question: RecentQuestion, since: MonotonicInstant) -> RecentAnswer {
    switch question {
    case .history(.older, let from, let count):
      return .history(older(than: from == 0 ? .max : from, count: count, since: since))
    case .history(.newer, let from, let count): return .history(newer(than: from, count: count, since: since))
    case .messages(let seqs): return .messages(messages(seqs, since: since))
    case .sync(let epoch, let seq, let changeSeq, let bytes):
      let found = sync(epoch: epoch, seq: seq, changeSeq: changeSeq, limit: StoredAnswerReader.syncPage, since: since)
      return .sync(
        RecentRow(
          found: found, epoch: self.epoch, lastSeq: lastSeq, lastChangeSeq: self.changeSeq, changeSeq: changeSeq, bytes: bytes))
    }
  }

  /// The message that a request names; nil = it is not remembered.
  func message(_ target: RevokeGroupMessage.Target, since: MonotonicInstant) -> RecentMessage? {
    switch target {
    case .seq(let seq): message(seq, since: since)
    case .msgID(let id): message(msgID: id, since: since)
    }
  }
}

/// A request that is decided over a message that a live room remembers.
public struct RecentLookUp: Sendable {
  /// What is decided over the message.
  enum Purpose: Sendable {
    case revoke
    /// A new message answers it.
    case reply(Message.Content, MessageOptions, MessageLookUp.Step)
    case report(ReportMessage, mayPass: Bool)
  }

  let target: RevokeGroupMessage.Target
  let purpose: Purpose
}
