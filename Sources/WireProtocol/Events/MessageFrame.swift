import GroupModel

/// A new message as its group fans it out, and where the parts of it stand that change later. Who
/// keeps these bytes answers the message out of them, and encodes nothing a second time.
public struct MessageFrame: Sendable {
  /// The place of the message in the history of its group.
  public let seq: Int64
  /// The message's ID.
  public let msgID: String
  /// The message's sender.
  public let sender: UserID
  /// When the message was accepted.
  public let timestamp: WallInstant
  /// The notification; of a recalled message, the message alone.
  public let bytes: [UInt8]
  /// Where the message stands; the other two are within.
  private let place: Range<Int32>
  private let profile: Range<Int32>
  private let content: Range<Int32>

  fileprivate init(_ origin: MessageOrigin, _ bytes: [UInt8], _ parts: MessageParts) {
    seq = origin.seq
    msgID = origin.msgID
    sender = origin.sender
    timestamp = origin.timestamp
    self.bytes = bytes
    place = Range(narrowing: parts.message)
    profile = Range(narrowing: parts.profile)
    content = Range(narrowing: parts.content)
  }

  /// The message as it was sent, with the profile of then.
  public var sent: Encoded<MessageInfo> { Encoded(text: Array(bytes[Int(place.lowerBound)..<Int(place.upperBound)])) }

  /// The message for a reader.
  /// - Parameter shown: the sender's profile of now; nil = empty.
  public func message(showing shown: UserProfile?) -> Encoded<MessageInfo> {
    var text: [UInt8] = []
    text.reserveCapacity(place.count + 128)
    text += bytes[place.upTo(profile)]
    if let shown {
      text.append(UInt8(ascii: ","))
      text += JSONWriter.text { $0.object { shown.encodeMembers(into: &$0) } }.dropFirst().dropLast()
    }
    text += bytes[place.behind(profile)]
    return Encoded(text: text)
  }

  /// The same message without its content, because it is recalled.
  /// - Parameter changeSeq: the number of the recall among the changes of its group.
  public func recalled(changeSeq: Int64) -> MessageFrame {
    var text = Array(bytes[place.upTo(content)])
    text += bytes[place.behind(content)].dropLast()
    text += Array(#","isRevoked":true,"changeSeq":\#(changeSeq)}"#.utf8)
    let (start, end) = (Int(place.lowerBound), Int(content.lowerBound))
    return MessageFrame(
      MessageOrigin(seq: seq, msgID: msgID, sender: sender, timestamp: timestamp), text,
      MessageParts(
        message: 0..<text.count, profile: Int(profile.lowerBound) - start..<Int(profile.upperBound) - start,
        content: end - start..<end - start))
  }
}

/// What is asked of a message without its text.
private struct MessageOrigin {
  let seq: Int64
  let msgID: String
  let sender: UserID
  let timestamp: WallInstant
}

extension Message {
  /// Nil = it has no place. Never inlined, like `encode`.
  @inline(never)
  fileprivate var origin: MessageOrigin? {
    seq.map { MessageOrigin(seq: $0, msgID: msgID, sender: sender, timestamp: timestamp) }
  }
}

extension GroupEvent {
  /// The frame of a new message with its parts; nil = it is another event, or the message has no place.
  public var messageFrame: MessageFrame? {
    guard let origin else { return nil }
    var parts = MessageParts()
    let bytes = JSONWriter.text(of: self, capacity: GroupEvent.capacityOfMessage) { parts = $1.encodeMessage(into: &$0) }
    return MessageFrame(origin, bytes, parts)
  }

  // The message is an argument of one call, and not copied: see `encodeFields`.

  private var origin: MessageOrigin? {
    switch content {
    case .onRecvNewMessage(let message): message.origin
    default: nil
    }
  }

  /// Writes what `frame` has.
  private func encodeMessage(into writer: inout JSONWriter) -> MessageParts {
    writer.beginNotification(EventName.onRecvNewMessage.rawValue)
    writer.member("groupID", groupID.rawValue)
    writer.member("opTime", opTime)
    writer.key("message")
    var parts = MessageParts()
    switch content {
    case .onRecvNewMessage(let message): parts = message.encode(senderProfile, into: &writer)
    default: break
    }
    writer.endNotification()
    return parts
  }
}

extension Range<Int32> {
  /// - Parameter range: of places in a frame, which is far below 2 GB.
  fileprivate init(narrowing range: Range<Int>) {
    self = Range(uncheckedBounds: (Int32(truncatingIfNeeded: range.lowerBound), Int32(truncatingIfNeeded: range.upperBound)))
  }

  /// The places before those of a part.
  fileprivate func upTo(_ part: Range<Int32>) -> Range<Int> { Int(lowerBound)..<Int(part.lowerBound) }

  /// The places behind those of a part.
  fileprivate func behind(_ part: Range<Int32>) -> Range<Int> { Int(part.upperBound)..<Int(upperBound) }
}
