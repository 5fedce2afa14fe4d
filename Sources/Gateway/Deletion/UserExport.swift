import GroupModel
import GroupRuntime
import WireProtocol

/// A place in an export, as `nextSeq` tells it: 0 = the beginning, up to 2⁵² a message, above it anything
/// else, by its kind and 50 bits of its position.
struct ExportPlace: Equatable, Sendable {
  /// Nil = the beginning.
  let place: PersonalPlace?

  private static let positionBits: Int64 = 50
  private static let maxPosition: Int64 = 1 << positionBits - 1
  private static let other: Int64 = 1 << 52
  private static let others: [PersonalPlace.Stage] = [.membership, .settings, .application, .notification]
  /// Before all messages: no group has the number 0.
  private static let firstMessage: Int64 = 1

  /// - Returns: nil = there is no such place.
  init?(_ nextSeq: Int64) {
    if nextSeq == 0 {
      place = nil
    } else if (1..<ExportPlace.other).contains(nextSeq) {
      place = PersonalPlace(.message, position: nextSeq == ExportPlace.firstMessage ? 0 : nextSeq)
    } else {
      guard (ExportPlace.other..<2 * ExportPlace.other).contains(nextSeq) else { return nil }
      let rest = nextSeq - ExportPlace.other
      place = PersonalPlace(
        ExportPlace.others[Int(rest >> ExportPlace.positionBits)], position: rest & ExportPlace.maxPosition)
    }
  }

  /// The number of a place; 0 = there is no more.
  static func nextSeq(_ place: PersonalPlace?) -> Int64 {
    guard let place else { return 0 }
    guard let stage = others.firstIndex(of: place.stage) else { return max(firstMessage, place.position) }
    return other + (Int64(stage) << positionBits | min(place.position, maxPosition))
  }
}

/// Pages of everything that is kept of a user.
struct UserExport: Sendable {
  let stores: GatewayStores
  /// The most bytes of a page; one row always fits.
  let pageBytes: Int

  /// The page from a place on.
  func page(of user: UserID, from start: ExportPlace) async throws(StoreError) -> ExportUser.Result {
    var page = Page(pageBytes: pageBytes)
    if start.place == nil {
      if let profile = try await profile(of: user) { _ = page.add(profile) }
      if let block = try await block(of: user) { _ = page.add(block) }
    }
    let first = start.place ?? .start
    let found = try await stores.erasure.personalRows(of: user, after: first, limit: ExportUser.maxRows - page.rows.count)
    var last = first
    for row in found.rows {
      guard page.add(row.encoded) else {
        return ExportUser.Result(rows: page.rows, nextSeq: ExportPlace.nextSeq(last))
      }
      last = row.place
    }
    return ExportUser.Result(rows: page.rows, nextSeq: ExportPlace.nextSeq(found.next))
  }

  /// Nil = the user is unknown.
  private func profile(of user: UserID) async throws(StoreError) -> EncodedObject? {
    guard let info = try await stores.users.infos(of: [user]).first else { return nil }
    let status = try await stores.users.statuses(of: [user]).first
    return EncodedObject(kind: "profile") { writer in
      writer.member("userID", user.rawValue)
      writer.member("nickName", info.nickName)
      writer.member("faceURL", info.faceURL)
      writer.member("customInfo", info.customInfo)
      writer.member("customStatus", status?.customStatus ?? "")
      writer.member("lastOnlineTime", status?.offlineSince ?? .unset)
    }
  }

  /// Nil = the application has decided nothing about the user's sign-ins.
  private func block(of user: UserID) async throws(StoreError) -> EncodedObject? {
    let access = try await stores.access.access(of: user)
    guard access.block != nil || access.tokensBefore.isSet else { return nil }
    return EncodedObject(kind: "block") { writer in
      if let block = access.block {
        writer.member("blockedUntil", block.until ?? .unset)
        writer.member("reason", block.reason)
      }
      if access.tokensBefore.isSet { writer.member("tokensBefore", access.tokensBefore) }
    }
  }

  private struct Page {
    let pageBytes: Int
    private(set) var rows: [EncodedObject] = []
    private var bytes = 0

    init(pageBytes: Int) { self.pageBytes = pageBytes }

    /// - Returns: false where it does not fit any more.
    mutating func add(_ row: EncodedObject) -> Bool {
      guard rows.isEmpty || bytes + row.byteCount < pageBytes else { return false }
      rows.append(row)
      bytes += row.byteCount + 1
      return true
    }
  }
}

extension EncodedObject {
  /// An object that begins with its kind.
  fileprivate init(kind: String, _ body: (inout JSONWriter) -> Void) {
    self.init(
      text: JSONWriter.text(capacity: 512) { writer in
        writer.object { writer in
          writer.member("kind", kind)
          body(&writer)
        }
      })
  }
}

extension PersonalRow {
  fileprivate var encoded: EncodedObject {
    switch content {
    case .membership(let membership, let member):
      EncodedObject(kind: "membership") { writer in
        writer.member("groupID", membership.groupID.rawValue)
        writer.member("groupType", membership.type.rawValue)
        writer.member("role", member.role.wireName)
        writer.member("joinTime", member.joinTime)
        writer.member("nameCard", member.nameCard)
        writer.member("customInfo", member.customInfo)
        writer.member("muteUntil", member.muteUntil)
        writer.member("inviter", ifPresent: member.inviter?.rawValue)
      }
    case .settings(let membership, let member):
      EncodedObject(kind: "settings") { writer in
        writer.member("groupID", membership.groupID.rawValue)
        writer.member("receiveMessageOpt", member.receiveOption.rawValue)
        writer.member("readSeq", member.readSeq)
        writer.member("isPinned", member.conversation.isPinned)
        writer.member("isHidden", member.conversation.isHidden)
        writer.member("isMarkedUnread", member.conversation.isMarkedUnread)
        writer.key("marks")
        writer.array(member.conversation.marks) { $0.value($1) }
        writer.member("clearedSeq", member.clearedSeq)
      }
    case .application(let application):
      EncodedObject(kind: "application") { writer in
        writer.member("applicationID", application.id)
        writer.member("groupID", application.groupID.rawValue)
        writer.member("type", application.kind.rawValue)
        writer.member("fromUser", application.fromUser.rawValue)
        writer.member("toUser", ifPresent: application.toUser?.rawValue)
        writer.member("addTime", application.addTime)
        writer.member("requestMsg", application.requestMsg)
        writer.member("attach", ifPresent: application.attach)
        if let handling = application.handling {
          writer.member("handleResult", handling.isAgreed ? "Agree" : "Refuse")
          writer.member("handledMsg", handling.message)
          writer.member("handledBy", handling.by.rawValue)
          writer.member("handledTime", handling.time)
        }
      }
    case .notification(let notification):
      EncodedObject(kind: "notification") { writer in
        writer.member("type", notification.kind.rawValue)
        writer.member("groupID", notification.groupID.rawValue)
        writer.member("groupName", ifPresent: notification.groupName)
        writer.member("timestamp", notification.timestamp)
        writer.member("applicationID", ifPresent: notification.applicationID)
        writer.member("reason", ifPresent: notification.reason)
        writer.member("data", ifPresent: notification.data)
      }
    case .message(let message): EncodedObject(message: message)
    }
  }
}

extension EncodedObject {
  /// A message as its sender sees it.
  fileprivate init(message: Message) {
    let text = JSONWriter.text(capacity: 512 + message.byteCount) { $0.value(MessageInfo(message)) }
    self.init(text: Array(#"{"kind":"message","#.utf8) + text.dropFirst())
  }
}
