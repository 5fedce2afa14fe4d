import ThrongTestKit

/// The join or the leave notices of a live room as one.
struct ModelNotice {
  private var users: [(person: JSON, platform: String?)] = []
  private var last: Int64?
  private(set) var due: Int64?

  /// "The first after a quiet second leaves at once, later ones wait for the second to end."
  mutating func add(_ person: JSON, on platform: String?, at now: Int64, notBefore earliest: Int64 = 0) {
    users.append((person, platform))
    let next = last.map { max(now, $0 + 1000) } ?? now
    due = max(due ?? next, earliest)
  }

  func names(_ name: String) -> Bool { users.contains { $0.person["userID"].string == name } }

  mutating func remove(_ name: String) {
    users.removeAll { $0.person["userID"].string == name }
    if users.isEmpty { due = nil }
  }

  /// Forgets whom it names, but not when the last one left.
  mutating func clear() {
    users = []
    due = nil
  }

  /// The list, and the platform where all are on the same one, if it is due.
  mutating func take(at now: Int64) -> (list: JSON, platform: String?)? {
    guard let due, due <= now else { return nil }
    defer { clear() }
    last = now
    let platforms = Set(users.map(\.platform))
    return (.array(users.map(\.person)), platforms.count == 1 ? platforms.first! : nil)
  }
}

/// The mutes and roles of a live room that its members are not told of yet.
struct ModelMemberNotices {
  private struct Change {
    let user: String
    var isMute = false
    var role: JSON?
    var opUser: JSON = .null
    var platform = ""
    var number = 0
  }

  /// In the order of their first changes.
  private var changes: [Change] = []
  private var last: Int64?
  private var count = 0

  /// "At most 5 a second and group."
  var due: Int64? { changes.isEmpty ? nil : last.map { $0 + 220 } ?? 0 }

  mutating func add(_ user: String, isMute: Bool, role: JSON?, by opUser: JSON, on platform: String) {
    count += 1
    let index = changes.firstIndex { $0.user == user } ?? changes.endIndex
    if index == changes.endIndex { changes.append(Change(user: user)) }
    if isMute { changes[index].isMute = true }
    if let role { changes[index].role = role }
    (changes[index].opUser, changes[index].platform, changes[index].number) = (opUser, platform, count)
  }

  mutating func remove(_ user: String) { changes.removeAll { $0.user == user } }

  mutating func removeRole(of user: String) {
    for index in changes.indices where changes[index].user == user { changes[index].role = nil }
    changes.removeAll { !$0.isMute && $0.role == nil }
  }

  mutating func removeAll(except users: Set<String> = []) { changes.removeAll { !users.contains($0.user) } }

  /// Whom an event is about that is due: "each names up to 50 users", and who has made the last change.
  mutating func take(at now: Int64) -> (about: [(user: String, isMute: Bool, role: JSON?)], opUser: JSON, platform: String)? {
    guard let due, due <= now else { return nil }
    let told = changes.prefix(50)
    changes.removeFirst(told.count)
    last = now
    let newest = told.max { $0.number < $1.number }!
    return (told.map { ($0.user, $0.isMute, $0.role) }, newest.opUser, newest.platform)
  }
}

/// "Join and leave notices of a live room are merged", also where messages have no limit.
extension ModelWorld {
  mutating func noticeJoin(of user: String, by who: Operator) {
    publishNotices()
    if g.notifies {
      g.leaves.remove(user)
      g.joins.remove(user)
      g.joins.add(person(user), on: who.platform, at: now)
      publishNotices()
      if g.joins.due == nil { return }
    }
    // "A joiner always gets an onMemberEnter that names itself."
    tell("onMemberEnter", [user], on: who, ["memberList": [person(user)], "memberCount": .int(g.members.count)])
  }

  /// - Parameter who: nil = nobody has done it.
  mutating func noticeLeave(of list: [JSON], by who: Operator?) {
    guard g.notifies else { return }
    publishNotices()
    // "A user is not announced as having left before having been announced as having come."
    let waits = list.contains { g.joins.names($0["userID"].string!) }
    let earliest = waits ? g.joins.due ?? 0 : 0
    for info in list { g.leaves.add(info, on: who?.platform, at: now, notBefore: earliest) }
    publishNotices()
  }

  mutating func publishNotices() {
    if let (list, platform) = g.joins.take(at: now) { tellNotice("onMemberEnter", list, platform) }
    if let (list, platform) = g.leaves.take(at: now) { tellNotice("onMemberLeave", list, platform) }
  }

  /// "Several merge into one, and the last state always arrives."
  mutating func publishMemberNotices() {
    guard let notice = g.memberNotices.take(at: now) else { return }
    let entries = notice.about.map { about -> JSON in
      var entry: [String: JSON] = ["userID": .string(about.user)]
      let until = muteUntil(about.user)
      if about.isMute { entry["muteTime"] = .int(until == 0 ? 0 : (until - now + 999) / 1000) }
      if let role = about.role { entry["role"] = role }
      return .object(entry)
    }
    tell(
      "onGroupMemberInfoChanged", everybody,
      ["changeInfoList": .array(entries), "opUser": notice.opUser, "platform": .string(notice.platform)])
  }

  private mutating func tellNotice(_ name: String, _ list: JSON, _ platform: String?) {
    var params: [String: JSON] = ["memberList": list, "memberCount": .int(g.members.count)]
    if let platform { params["platform"] = .string(platform) }
    tell(name, everybody, params)
  }
}
