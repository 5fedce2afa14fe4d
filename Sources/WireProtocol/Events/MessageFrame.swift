import GroupModel

/// A new message as its group fans it out, and where the parts of it stand that change later. Who
/// keeps these bytes answers the message out of them, and encodes nothing a second time.
public struct MessageFrame: Sendable {
  /// The notification; of a recalled message, the message alone.
  public let bytes: [UInt8]
  /// Where the message stands; the other two are within.
  private let place: Range<Int32>
  private let profile: Range<Int32>
  private let content: Range<Int32>

  fileprivate init(_ bytes: [UInt8], message: Range<Int>, _ parts: MessageParts) {
    self.bytes = bytes
    place = Range(narrowing: message)
    profile = Range(narrowing: parts.profile)
    content = Range(narrowing: parts.content)
  }

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
      text, message: 0..<text.count,
      MessageParts(
        profile: Int(profile.lowerBound) - start..<Int(profile.upperBound) - start, content: end - start..<end - start))
  }
}

extension GroupEvent {
  /// The frame of a new message with its parts; nil = it is another event.
  public var messageFrame: MessageFrame? {
    guard case .onRecvNewMessage = content else { return nil }
    var place = 0..<0
    var parts = MessageParts()
    let bytes = JSONWriter.text(of: self, capacity: capacity) { writer, event in
      writer.notification(EventName.onRecvNewMessage.rawValue) { writer in
        writer.member("groupID", event.groupID.rawValue)
        writer.member("opTime", event.opTime)
        guard case .onRecvNewMessage(let message) = event.content else { return }
        writer.key("message")
        let start = writer.byteCount
        parts = message.encode(event.senderProfile, into: &writer)
        place = start..<writer.byteCount
      }
    }
    return MessageFrame(bytes, message: place, parts)
  }
}

extension Range<Int32> {
  /// - Parameter range: of places in a frame, which is far below 2 GB.
  fileprivate init(narrowing range: Range<Int>) {
    self = Int32(range.lowerBound)..<Int32(range.upperBound)
  }

  /// The places before those of a part.
  fileprivate func upTo(_ part: Range<Int32>) -> Range<Int> { Int(lowerBound)..<Int(part.lowerBound) }

  /// The places behind those of a part.
  fileprivate func behind(_ part: Range<Int32>) -> Range<Int> { Int(part.upperBound)..<Int(upperBound) }
}
