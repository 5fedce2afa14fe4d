import GroupModel

/// The `tips` of a stored message, in which the profiles of its users are shown when it is read
/// (Protocol.md, "Profiles"). `GroupTips` has encoded them: opUser first, a memberList right after.
public struct TipsProfiles {
  /// A user in the text, and the place behind the userID.
  private struct Mention {
    let user: UserID
    let end: Int
  }

  private let text: [UInt8]
  private var mentions: [Mention] = []

  /// - Parameter tips: as `Message.Content.tips` holds them. Nobody is found in another text.
  public init(_ tips: String) {
    text = Array(tips.utf8)
    var reader = TipsReader(text: text)
    guard reader.skip(#"{"type":"#), reader.string() != nil, reader.skip(#","opUser":"#), read(&reader),
      reader.skip(#","memberList":["#)
    else { return }
    repeat { guard read(&reader) else { return } } while reader.skip(",")
  }

  /// The users that the tips name as members; an application administrator has no profile.
  public var users: [UserID] { mentions.map(\.user) }

  /// Reads a MemberInfo.
  private mutating func read(_ reader: inout TipsReader) -> Bool {
    guard reader.skip(#"{"userID":"#), let name = reader.string() else { return false }
    if let user = UserID(name) { mentions.append(Mention(user: user, end: reader.place)) }
    return reader.skipMembers()
  }

  /// The text with a profile beside each userID that has one.
  public func text(showing profiles: [UserID: UserProfile]) -> String {
    var result: [UInt8] = []
    var place = 0
    for mention in mentions {
      guard let profile = profiles[mention.user] else { continue }
      result += text[place..<mention.end]
      let members = JSONWriter.text { $0.object { profile.encodeMembers(into: &$0) } }
      result.append(UInt8(ascii: ","))
      result += members.dropFirst().dropLast()
      place = mention.end
    }
    result += text[place...]
    return String(decoding: result, as: UTF8.self)
  }
}

/// Reads JSON that the server has written, so it holds no spaces and no errors.
private struct TipsReader {
  let text: [UInt8]
  private(set) var place = 0

  init(text: [UInt8]) { self.text = text }

  private var current: UInt8? { place < text.count ? text[place] : nil }

  mutating func skip(_ expected: StaticString) -> Bool {
    let expected = UnsafeBufferPointer(start: expected.utf8Start, count: expected.utf8CodeUnitCount)
    guard text[place...].starts(with: expected) else { return false }
    place += expected.count
    return true
  }

  /// The text of a string, in which a backslash escapes one character, as in every userID.
  mutating func string() -> String? {
    guard current == UInt8(ascii: "\"") else { return nil }
    place += 1
    var bytes: [UInt8] = []
    while let byte = current, byte != UInt8(ascii: "\"") {
      if byte == UInt8(ascii: "\\") { place += 1 }
      if let byte = current { bytes.append(byte) }
      place += 1
    }
    guard current != nil else { return nil }
    place += 1
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Skips the remaining members of an object that holds no other object.
  mutating func skipMembers() -> Bool {
    while let byte = current {
      if byte == UInt8(ascii: "}") {
        place += 1
        return true
      }
      if byte == UInt8(ascii: "\"") {
        guard string() != nil else { return false }
      } else {
        place += 1
      }
    }
    return false
  }
}

extension MessageInfo {
  /// The users whose profiles the message shows.
  public var users: [UserID] {
    let sender = message.sender == .administrator ? [] : [message.sender]
    guard case .tips(let tips) = message.content else { return sender }
    return sender + TipsProfiles(tips).users
  }

  /// Gives the users of the message their profiles.
  public mutating func show(_ profiles: [UserID: UserProfile]) {
    if profiles.isEmpty { return }
    senderProfile = profiles[message.sender]
    guard case .tips(let tips) = message.content else { return }
    message.content = .tips(TipsProfiles(tips).text(showing: profiles))
  }
}
