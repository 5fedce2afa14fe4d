import GroupModel

/// Blanks what JSON that the server has written shows of a user who is deleted: tips, the data of
/// after-events, and the messages of reports (Protocol.md, "Deleting a user"). What stands beside the
/// user's ID goes; everything else stays byte for byte.
public enum PersonalTexts {
  /// The text without what is the user's; nil = nothing of it is, or it is no JSON.
  /// - Parameter messages: with `revoke`, what the user has said goes, too.
  public static func erase(_ user: UserID, in json: [UInt8], messages: UserDeletion.MessageFate) -> [UInt8]? {
    let name = JSONWriter.text(capacity: 40) { $0.value(user.rawValue) }
    // Most texts do not name the user at all.
    guard json.contains(run: name) else { return nil }
    var eraser = TextEraser(text: json, name: name, messages: messages)
    guard let erased = eraser.document(), eraser.hasErased else { return nil }
    return erased
  }

  /// Whether an object is the member info of a user.
  public static func isInfo(of user: UserID, _ json: [UInt8]) -> Bool {
    let name = JSONWriter.text(capacity: 40) { $0.value(user.rawValue) }
    return json.starts(with: Array(#"{"userID":"#.utf8) + name)
  }
}

/// Copies JSON while it leaves members out. It reads what the server has written: no spaces, and each
/// string escaped in one way, so that a name has one text.
private struct TextEraser {
  /// A member of an object: its key and its value as they are written.
  fileprivate struct Member {
    let key: ArraySlice<UInt8>
    var value: [UInt8]
  }

  /// Nothing that the server writes is nested as deep.
  private static let maxDepth = 32

  private let text: [UInt8]
  /// The user's name, as a JSON string.
  private let name: [UInt8]
  private let messages: UserDeletion.MessageFate
  private var place = 0
  private(set) var hasErased = false

  init(text: [UInt8], name: [UInt8], messages: UserDeletion.MessageFate) {
    self.text = text
    self.name = name
    self.messages = messages
  }

  /// The whole text; nil = it is no JSON.
  mutating func document() -> [UInt8]? {
    guard let value = value(depth: 0), place == text.count else { return nil }
    return value
  }

  private var current: UInt8? { place < text.count ? text[place] : nil }

  private mutating func skip(_ byte: UInt8) -> Bool {
    guard current == byte else { return false }
    place += 1
    return true
  }

  private mutating func value(depth: Int) -> [UInt8]? {
    guard depth < TextEraser.maxDepth, let first = current else { return nil }
    switch first {
    case UInt8(ascii: "{"): return object(depth: depth)
    case UInt8(ascii: "["): return array(depth: depth)
    case UInt8(ascii: "\""): return string().map { Array($0) }
    default: return word().map { Array($0) }
    }
  }

  private mutating func array(depth: Int) -> [UInt8]? {
    place += 1
    var result = [UInt8(ascii: "[")]
    if skip(UInt8(ascii: "]")) { return result + [UInt8(ascii: "]")] }
    while true {
      guard let item = value(depth: depth + 1) else { return nil }
      result += item
      if skip(UInt8(ascii: "]")) { return result + [UInt8(ascii: "]")] }
      guard skip(UInt8(ascii: ",")) else { return nil }
      result.append(UInt8(ascii: ","))
    }
  }

  private mutating func object(depth: Int) -> [UInt8]? {
    place += 1
    var members: [Member] = []
    if !skip(UInt8(ascii: "}")) {
      while true {
        guard let key = string(), skip(UInt8(ascii: ":")), let value = value(depth: depth + 1) else { return nil }
        members.append(Member(key: key, value: value))
        if skip(UInt8(ascii: "}")) { break }
        guard skip(UInt8(ascii: ",")) else { return nil }
      }
    }
    erase(&members)
    var result = [UInt8(ascii: "{")]
    for (index, member) in members.enumerated() {
      if index > 0 { result.append(UInt8(ascii: ",")) }
      result += member.key
      result.append(UInt8(ascii: ":"))
      result += member.value
    }
    result.append(UInt8(ascii: "}"))
    return result
  }

  /// A string with its quotation marks.
  private mutating func string() -> ArraySlice<UInt8>? {
    let start = place
    guard skip(UInt8(ascii: "\"")) else { return nil }
    while let byte = current, byte != UInt8(ascii: "\"") { place += byte == UInt8(ascii: "\\") ? 2 : 1 }
    guard skip(UInt8(ascii: "\"")) else { return nil }
    return text[start..<place]
  }

  /// A number, true, false or null.
  private mutating func word() -> ArraySlice<UInt8>? {
    let start = place
    while let byte = current, isPartOfWord(byte) { place += 1 }
    return place > start ? text[start..<place] : nil
  }

  private func isPartOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"), UInt8(ascii: "+"),
      UInt8(ascii: "-"), UInt8(ascii: "."):
      true
    default: false
    }
  }

  // MARK: What goes

  private mutating func erase(_ members: inout [Member]) {
    if names(members, "userID") || names(members, "sender") {
      remove(["nickName", "faceURL", "customInfo"], from: &members)
      blank(["nameCard"], in: &members)
    }
    if messages == .revoke, names(members, "sender") { blank(["text", "data", "extension"], in: &members) }
    if names(members, "fromUser") || names(members, "toUser") { blank(["requestMsg", "handledMsg", "attach"], in: &members) }
    if names(members, "handledBy") { blank(["handledMsg"], in: &members) }
    if names(members, "reporter") { blank(["category", "text"], in: &members) }
    if isOperator(of: members) { blank(["reason"], in: &members) }
  }

  /// Whether the user has done what an object tells of.
  private func isOperator(of members: [Member]) -> Bool {
    members.contains { $0.hasKey("opUser") && $0.value.starts(with: Array(#"{"userID":"#.utf8) + name) }
  }

  private func names(_ members: [Member], _ key: StaticString) -> Bool {
    members.contains { $0.value == name && $0.hasKey(key) }
  }

  private mutating func remove(_ keys: [StaticString], from members: inout [Member]) {
    let count = members.count
    members.removeAll { member in keys.contains { member.hasKey($0) } }
    if members.count < count { hasErased = true }
  }

  /// Empties texts. What is no text stays: it is not what the name means here.
  private mutating func blank(_ keys: [StaticString], in members: inout [Member]) {
    let empty = Array(#""""#.utf8)
    for index in members.indices where keys.contains(where: { members[index].hasKey($0) }) {
      guard members[index].value.first == UInt8(ascii: "\""), members[index].value != empty else { continue }
      members[index].value = empty
      hasErased = true
    }
  }
}

extension TextEraser.Member {
  /// Whether the key is that word, which needs no escape.
  fileprivate func hasKey(_ word: StaticString) -> Bool {
    let bytes = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
    return key.count == bytes.count + 2 && key.dropFirst().dropLast().elementsEqual(bytes)
  }
}

extension [UInt8] {
  /// Whether the bytes hold others.
  fileprivate func contains(run: [UInt8]) -> Bool {
    guard let first = run.first else { return true }
    var remainder = self[...]
    while let start = remainder.firstIndex(of: first) {
      if remainder[start...].starts(with: run) { return true }
      remainder = remainder[start...].dropFirst()
    }
    return false
  }
}
