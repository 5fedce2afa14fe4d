import Cluster
import GroupModel
import GroupRuntime
import WireProtocol

/// A message from one node to another, by their link (Cluster.md, "Links").
///
/// The keys of sessions are those of the node that reads or writes: their own sessions have no node.
enum ClusterEntry: Sendable {
  // The sender's sessions.

  /// All sessions of the sender follow, up to `snapshotEnded`: others have ended.
  case snapshotBegan
  case snapshotEnded
  case sessionBegan(UserID, ClusterSession)
  /// It is signed in.
  case sessionCompleted(UserID, SessionKey)
  case sessionEnded(UserID, SessionKey)
  /// Later sessions have taken this one's place, which is the receiver's.
  case replace(UserID, SessionKey)
  /// The sender has heard that a session of the receiver begins. Its groups may have looked for the user
  /// before, though the receiver takes others for their owners: it is to be told of all groups of the user.
  case wantsGroups(UserID)

  // Groups of the sender, for sessions of the receiver.

  /// All that a decision says to sessions of the receiver.
  case unit(GroupID, TopicUnit)
  /// Members whom the last owner of their groups may have told to nobody. Those that it had not attached at the
  /// receiver may have missed events, if they signed in before an instant.
  case expectFollow([ExpectedFollow], before: WallInstant)
  /// These users may have missed something.
  case missed([UserID])

  // Limits that hold over all nodes.

  /// So many requests of a user, signed in or not, have passed at the sender.
  case charged(UserID, requests: Int)
  /// A bad token has come from a client's address.
  case badToken(address: String)

  /// A user has another custom status.
  case statusChanged(UserID, String)

  /// After-events of the receiver's groups and users may wait in the store.
  case webhooksWait

  // Requests.

  case request(number: UInt64, RemoteRequest)
  case reply(number: UInt64, RemoteReply)
}

/// A session as all nodes know it.
struct ClusterSession: Sendable, Equatable {
  let key: SessionKey
  let platform: Platform
  let deviceID: String?
  /// The session comes after those of its user with a smaller one. Two that began at once on two
  /// nodes may have the same: then the nodes' numbers decide.
  let order: UInt64
  /// Its sign-in has been answered.
  var isCompleted = false
}

// MARK: Bytes

extension ClusterEntry {
  /// What stands before the bytes of an entry.
  enum Tag: UInt8, CaseIterable {
    case snapshotBegan = 1
    case snapshotEnded, sessionBegan, sessionCompleted, sessionEnded, replace, wantsGroups
    case unit = 16
    case missed, webhooksWait, expectFollow
    case request = 32
    case reply
    case charged = 48
    case badToken, statusChanged
  }

  /// The bytes of the entry.
  /// - Parameter own: this node, whose sessions have no node in their keys.
  func bytes(from own: NodeNumber) -> [UInt8] {
    var writer = EntryWriter(own: own)
    switch self {
    case .snapshotBegan: writer.bytes.byte(Tag.snapshotBegan.rawValue)
    case .snapshotEnded: writer.bytes.byte(Tag.snapshotEnded.rawValue)
    case .sessionBegan(let user, let session):
      writer.bytes.byte(Tag.sessionBegan.rawValue)
      writer.user(user)
      writer.session(session)
    case .sessionCompleted(let user, let key):
      writer.bytes.byte(Tag.sessionCompleted.rawValue)
      writer.user(user)
      writer.key(key)
    case .sessionEnded(let user, let key):
      writer.bytes.byte(Tag.sessionEnded.rawValue)
      writer.user(user)
      writer.key(key)
    case .replace(let user, let key):
      writer.bytes.byte(Tag.replace.rawValue)
      writer.user(user)
      writer.key(key)
    case .wantsGroups(let user):
      writer.bytes.byte(Tag.wantsGroups.rawValue)
      writer.user(user)
    case .unit(let group, let unit):
      writer.bytes.byte(Tag.unit.rawValue)
      writer.group(group)
      writer.unit(unit)
    case .expectFollow(let expected, let instant):
      writer.bytes.byte(Tag.expectFollow.rawValue)
      writer.instant(instant)
      writer.bytes.list(expected) { writer, expected in
        writer.text(expected.group.rawValue)
        writer.text(expected.user.rawValue)
        writer.signed(expected.term)
        writer.signed(expected.lastOwner.rawValue)
      }
    case .missed(let users):
      writer.bytes.byte(Tag.missed.rawValue)
      writer.bytes.list(users) { $0.text($1.rawValue) }
    case .webhooksWait: writer.bytes.byte(Tag.webhooksWait.rawValue)
    case .charged(let user, let requests):
      writer.bytes.byte(Tag.charged.rawValue)
      writer.user(user)
      writer.bytes.count(requests)
    case .badToken(let address):
      writer.bytes.byte(Tag.badToken.rawValue)
      writer.bytes.text(address)
    case .statusChanged(let user, let customStatus):
      writer.bytes.byte(Tag.statusChanged.rawValue)
      writer.user(user)
      writer.bytes.text(customStatus)
    case .request(let number, let request):
      writer.bytes.byte(Tag.request.rawValue)
      writer.bytes.number(number)
      request.write(to: &writer)
    case .reply(let number, let reply):
      writer.bytes.byte(Tag.reply.rawValue)
      writer.bytes.number(number)
      reply.write(to: &writer)
    }
    return writer.bytes.bytes
  }

  init(from reader: inout EntryReader) throws(MalformedMessage) {
    let number = try reader.bytes.byte()
    guard let tag = Tag(rawValue: number) else { throw MalformedMessage("an unknown entry: \(number)") }
    switch tag {
    case .snapshotBegan: self = .snapshotBegan
    case .snapshotEnded: self = .snapshotEnded
    case .sessionBegan: self = .sessionBegan(try reader.user(), try reader.session())
    case .sessionCompleted: self = .sessionCompleted(try reader.user(), try reader.key())
    case .sessionEnded: self = .sessionEnded(try reader.user(), try reader.key())
    case .replace: self = .replace(try reader.user(), try reader.key())
    case .wantsGroups: self = .wantsGroups(try reader.user())
    case .unit: self = .unit(try reader.group(), try reader.unit())
    case .expectFollow:
      let instant = try reader.instant()
      let expected = try reader.bytes.list { (reader) throws(MalformedMessage) in
        guard let group = GroupID(try reader.text()), let user = UserID(stored: try reader.text()) else {
          throw MalformedMessage("no member")
        }
        return ExpectedFollow(
          group: group, user: user, term: try reader.signed(), lastOwner: NodeNumber(try reader.signed()))
      }
      self = .expectFollow(expected, before: instant)
    case .missed: self = .missed(try reader.users())
    case .webhooksWait: self = .webhooksWait
    case .charged: self = .charged(try reader.user(), requests: try reader.bytes.count())
    case .badToken: self = .badToken(address: try reader.address())
    case .statusChanged: self = .statusChanged(try reader.user(), try reader.customStatus())
    case .request: self = .request(number: try reader.bytes.number(), try RemoteRequest(from: &reader))
    case .reply: self = .reply(number: try reader.bytes.number(), try RemoteReply(from: &reader))
    }
  }

  /// The entries of a frame, in their order.
  static func all(in bytes: [UInt8], readBy own: NodeNumber) throws(MalformedMessage) -> [ClusterEntry] {
    var reader = EntryReader(bytes, own: own)
    var entries: [ClusterEntry] = []
    while !reader.bytes.isAtEnd { entries.append(try ClusterEntry(from: &reader)) }
    return entries
  }
}
