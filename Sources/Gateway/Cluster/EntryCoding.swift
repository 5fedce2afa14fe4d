import Cluster
import GroupModel
import GroupRuntime

/// Writes the values of entries.
struct EntryWriter {
  var bytes = ByteWriter(capacity: 128)
  let own: NodeNumber

  init(own: NodeNumber) { self.own = own }

  mutating func user(_ user: UserID) { bytes.text(user.rawValue) }

  mutating func group(_ group: GroupID) { bytes.text(group.rawValue) }

  mutating func key(_ key: SessionKey) {
    bytes.signed((key.node ?? own).rawValue)
    bytes.count(key.loopOnNode)
    bytes.number(key.connection)
  }

  mutating func optionalKey(_ key: SessionKey?) {
    bytes.flag(key != nil)
    if let key { self.key(key) }
  }

  mutating func instant(_ instant: WallInstant) { bytes.signed(instant.milliseconds) }

  mutating func platform(_ platform: Platform) { bytes.text(platform.rawValue) }

  mutating func option(_ option: ReceiveOption) { bytes.text(option.rawValue) }

  mutating func profile(_ profile: UserProfile?) {
    bytes.text(profile?.nickName ?? "")
    bytes.text(profile?.faceURL ?? "")
  }

  mutating func session(_ session: ClusterSession) {
    key(session.key)
    platform(session.platform)
    bytes.optional(session.deviceID) { $0.text($1) }
    bytes.number(session.order)
    bytes.flag(session.isCompleted)
  }

  mutating func caller(_ caller: Caller) {
    bytes.byte(caller.userID == nil ? CallerKind.administrator : caller.isRepeated ? CallerKind.repeating : CallerKind.user)
    if let user = caller.userID { self.user(user) }
    platform(caller.platform)
    optionalKey(caller.session)
    profile(caller.profile)
    trace(caller.trace)
  }

  mutating func trace(_ trace: TraceContext?) { bytes.optional(trace) { $0.text($1.traceparent) } }
}

/// The first byte of a caller.
private enum CallerKind {
  static let administrator: UInt8 = 0
  static let user: UInt8 = 1
  /// Of a user whose request may have been performed already.
  static let repeating: UInt8 = 2
}

/// Reads the values of entries.
struct EntryReader {
  /// The longest are those of IPv6 with a zone.
  private static let maxAddressBytes = 128
  /// As setSelfStatus allows.
  private static let maxStatusBytes = 100

  var bytes: ByteReader
  let own: NodeNumber

  init(_ bytes: [UInt8], own: NodeNumber) {
    self.bytes = ByteReader(bytes)
    self.own = own
  }

  mutating func user() throws(MalformedMessage) -> UserID {
    guard let user = UserID(stored: try bytes.text()) else { throw MalformedMessage("no userID") }
    return user
  }

  mutating func users() throws(MalformedMessage) -> [UserID] {
    try bytes.list { (reader) throws(MalformedMessage) in
      guard let user = UserID(stored: try reader.text()) else { throw MalformedMessage("no userID") }
      return user
    }
  }

  mutating func group() throws(MalformedMessage) -> GroupID {
    guard let group = GroupID(try bytes.text()) else { throw MalformedMessage("no groupID") }
    return group
  }

  /// The address of a client. It is kept for a while, so it has a bound.
  mutating func address() throws(MalformedMessage) -> String {
    let address = try bytes.text()
    guard address.utf8.count <= EntryReader.maxAddressBytes else { throw MalformedMessage("no address of a client") }
    return address
  }

  /// A user's own words. They are kept as long as somebody watches the user.
  mutating func customStatus() throws(MalformedMessage) -> String {
    let text = try bytes.text()
    guard text.utf8.count <= EntryReader.maxStatusBytes else { throw MalformedMessage("no custom status") }
    return text
  }

  mutating func key() throws(MalformedMessage) -> SessionKey {
    let node = NodeNumber(try bytes.signed())
    let loop = try bytes.count()
    guard loop < 1 << 16, 0..<(1 << 47) ~= node.rawValue else { throw MalformedMessage("no session's key") }
    return SessionKey(on: node == own ? nil : node, loop: loop, connection: try bytes.number())
  }

  mutating func optionalKey() throws(MalformedMessage) -> SessionKey? { try bytes.flag() ? try key() : nil }

  mutating func instant() throws(MalformedMessage) -> WallInstant { WallInstant(milliseconds: try bytes.signed()) }

  mutating func platform() throws(MalformedMessage) -> Platform {
    guard let platform = Platform(rawValue: try bytes.text()) else { throw MalformedMessage("no platform") }
    return platform
  }

  mutating func option() throws(MalformedMessage) -> ReceiveOption {
    guard let option = ReceiveOption(rawValue: try bytes.text()) else { throw MalformedMessage("no receive option") }
    return option
  }

  mutating func eventClass() throws(MalformedMessage) -> EventClass {
    guard let kind = EventClass(byte: try bytes.byte()) else { throw MalformedMessage("no class of events") }
    return kind
  }

  mutating func profile() throws(MalformedMessage) -> UserProfile? {
    .make(nickName: try bytes.text(), faceURL: try bytes.text())
  }

  mutating func session() throws(MalformedMessage) -> ClusterSession {
    ClusterSession(
      key: try key(), platform: try platform(),
      deviceID: try bytes.optional { (reader) throws(MalformedMessage) in try reader.text() }, order: try bytes.number(),
      isCompleted: try bytes.flag())
  }

  mutating func caller() throws(MalformedMessage) -> Caller {
    let kind = try bytes.byte()
    guard kind <= CallerKind.repeating else { throw MalformedMessage("an unknown caller: \(kind)") }
    let user = try kind == CallerKind.administrator ? nil : self.user()
    let (platform, session, profile) = (try platform(), try optionalKey(), try profile())
    let trace = try trace()
    guard let user else { return .administrator.with(trace: trace) }
    // Its own requester: whether the client still waits is known on its node alone.
    let caller = Caller.user(user, platform: platform, session: session, requester: nil, profile: profile).with(trace: trace)
    return kind == CallerKind.repeating ? caller.repeating() : caller
  }

  mutating func trace() throws(MalformedMessage) -> TraceContext? {
    let traceparent = try bytes.optional { (reader) throws(MalformedMessage) in try reader.text() }
    return traceparent.flatMap { TraceContext(traceparent: $0) }
  }
}

extension EventClass {
  fileprivate init?(byte: UInt8) {
    switch byte {
    case 0: self = .control
    case 1: self = .notice
    case 2: self = .storedChat(fromManager: false)
    case 3: self = .storedChat(fromManager: true)
    case 4: self = .liveChat(fromManager: false)
    case 5: self = .liveChat(fromManager: true)
    case 6: self = .signal
    default: return nil
    }
  }

  /// The class as a byte of an entry.
  var byte: UInt8 {
    switch self {
    case .control: 0
    case .notice: 1
    case .storedChat(let fromManager): fromManager ? 3 : 2
    case .liveChat(let fromManager): fromManager ? 5 : 4
    case .signal: 6
    }
  }
}
