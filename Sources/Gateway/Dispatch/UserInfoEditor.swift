import GroupModel
import GroupRuntime
import WireProtocol

/// Changes the texts of users. The changes of one user are made one after the other: each is decided
/// on the one before, and memory follows in the order of the store.
final class UserInfoEditor: Sendable {
  /// The sessions of a changed user that are told.
  enum Announcement {
    case none
    /// All but the one that has caused the change.
    case toSessions(except: SessionKey?)
  }

  private let users: any UserStore
  private let sessions: any UserDirectory
  private let clocks: any Clocks
  /// The requests of each user.
  private let turns = TurnQueue<UserID>()

  init(users: any UserStore, sessions: any UserDirectory, clocks: any Clocks) {
    self.users = users
    self.sessions = sessions
    self.clocks = clocks
  }

  /// How many users have a change under way.
  var turnCount: Int { turns.count }

  /// Changes texts, all of them or none, and makes the users known. Everything that is sent after
  /// the reply shows the new texts.
  /// - Parameters:
  ///   - given: the changes, in this order; a user may stand there twice.
  ///   - words: with which the names are compared; nil = with none.
  ///   - commit: makes changes durable.
  func change(
    _ given: [ImportUsers.ImportedUser], comparing words: CurrentWords? = nil, announcement: Announcement,
    _ commit: ([StoreChange]) async -> Reply
  ) async throws(StoreError) -> Reply {
    // In sorted order: two requests for the same users would deadlock otherwise.
    let names = Set(given.map(\.userID)).sorted()
    for user in names { await turns.acquire(user) }
    defer { for user in names { turns.release(user) } }

    var infos = Dictionary(uniqueKeysWithValues: try await users.infos(of: names).map { ($0.userID, $0) })
    let known = Set(infos.keys)
    var changed: [UserID: UserInfoFields] = [:]
    do throws(WireError) {
      for user in given {
        let fields = try infos[user.userID, default: UserInfo(userID: user.userID)].apply(user.fields, comparing: words)
        changed[user.userID, default: UserInfoFields()].merge(fields)
      }
    } catch {
      return .failure(error)
    }
    let changes = infos.values.filter { !known.contains($0.userID) || changed[$0.userID]?.isEmpty == false }
    let reply = await commit(changes.map { .putUserInfo($0) })
    guard reply.isSuccess else { return reply }
    for info in changes {
      guard let fields = changed[info.userID], !fields.isEmpty else { continue }
      await update(info, fields, announcement)
    }
    return reply
  }

  /// Changes a user's custom status, and makes the user known. What is read after the reply shows it.
  func setStatus(
    of user: UserID, to customStatus: String, _ commit: ([StoreChange]) async -> Reply
  ) async throws(StoreError) -> Reply {
    await turns.acquire(user)
    defer { turns.release(user) }
    let stored = try await users.statuses(of: [user]).first
    let isStored = stored?.customStatus.isSame(as: customStatus) == true
    let reply: Reply = if isStored { .empty } else { await commit([.putStatus(user, customStatus)]) }
    // Also where it is stored: the answer of an earlier commit may have been lost.
    if reply.isSuccess { sessions.showStatus(customStatus, of: user) }
    return reply
  }

  /// The checks of a user's own change; it is checked again with the application's answer.
  func check(
    _ fields: UserInfoFields, of user: UserID, comparing words: CurrentWords?
  ) async throws(StoreError) -> Reply {
    var info = try await users.infos(of: [user]).first ?? UserInfo(userID: user)
    do throws(WireError) {
      _ = try info.apply(fields, comparing: words)
      return .empty
    } catch {
      return .failure(error)
    }
  }

  private func update(_ info: UserInfo, _ fields: UserInfoFields, _ announcement: Announcement) async {
    switch announcement {
    case .none: await sessions.show(info.profile, of: info.userID, nil, except: nil)
    case .toSessions(let session):
      let frame = SessionEvent.onSelfInfoUpdated(fields, opTime: clocks.wall).frame
      await sessions.show(info.profile, of: info.userID, frame, except: session)
    }
  }
}

extension UserInfo {
  /// Changes the fields that are given, with the names as the words leave them.
  fileprivate mutating func apply(
    _ fields: UserInfoFields, comparing words: CurrentWords?
  ) throws(WireError) -> UserInfoFields {
    guard let words else { return try apply(fields) }
    // The info's own limits come first.
    var tried = self
    _ = try tried.apply(fields)
    return try apply(fields.filtered(by: words))
  }
}

extension UserInfoFields {
  /// Adds the result of a later change.
  fileprivate mutating func merge(_ later: UserInfoFields) {
    nickName = later.nickName ?? nickName
    faceURL = later.faceURL ?? faceURL
    customInfo = later.customInfo ?? customInfo
  }
}
