import GroupModel
import WireProtocol

/// What a request may write at the most, known before it runs: about as many bytes as its rows take in the database for good.
struct WriteCost: Sendable, Equatable {
  /// A row of the store: what it holds, its places in the indexes, and its share of the pages.
  private static let row = 256
  /// From how many users named on, a request is carried out alone among those of its user.
  private static let heavyTargets = 10

  let bytes: Int
  /// How many users it names, each of whom costs rows.
  let targets: Int

  /// Whether it takes the writer long enough that others would notice several of them in one transaction.
  var isHeavy: Bool { targets >= WriteCost.heavyTargets }

  /// Nothing is written.
  static let none = WriteCost(bytes: 0, targets: 0)

  /// So many rows.
  fileprivate static func rows(_ count: Int, textBytes: Int = 0) -> WriteCost {
    WriteCost(bytes: count * row + textBytes, targets: 0)
  }

  /// So many rows for each user named.
  fileprivate static func targets(_ count: Int, rows: Int, textBytes: Int = 0) -> WriteCost {
    WriteCost(bytes: row + count * (rows * row + textBytes), targets: count)
  }
}

extension Request {
  var writeCost: WriteCost {
    switch self {
    case .sendGroupTextMessage(let request): .rows(1, textBytes: request.text.utf8.count)
    case .sendGroupCustomMessage(let request): .rows(1, textBytes: request.data.utf8.count)
    // A member, a place in the index by user, a known user and a notification each; with consent an application and a notification.
    case .inviteUserToGroup(let request):
      .targets(
        request.userIDList.count, rows: 4, textBytes: 2 * ((request.message ?? "").utf8.count + (request.attach ?? "").utf8.count)
      )
    case .createGroup(let request): .targets(request.memberList.count + 1, rows: 3)
    case .kickGroupMember(let request): .targets(request.userIDList.count, rows: 3, textBytes: (request.reason ?? "").utf8.count)
    case .joinGroup(let request): .rows(3, textBytes: 2 * (request.message ?? "").utf8.count)
    case .initGroupAttributes(let request): .rows(1, textBytes: request.attributes.byteCount)
    case .setGroupAttributes(let request): .rows(1, textBytes: request.attributes.byteCount)
    default: specification.writes ? .rows(3) : .none
    }
  }
}

extension [GroupAttributes.Entry] {
  fileprivate var byteCount: Int { reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } }
}

extension Call {
  /// Of a request that is none, nothing.
  var writeCost: WriteCost {
    if case .request(let request) = content { request.writeCost } else { .none }
  }
}

/// How many bytes one user may have written, over time: so many a second, and a stock for a burst. Who writes more waits. A pure value
/// over an injected clock.
struct WriteAllowance: Sendable {
  /// 640 KB a second: a user who sends the longest messages as fast as requests are taken (50 a second) does not wait.
  static let bytesPerMillisecond: Int64 = 640
  static let stock: Int64 = 1 << 20

  /// Below zero while more was written than there was room for.
  private var level = WriteAllowance.stock
  private var updated: Instant

  init(now: Instant) { updated = now }

  /// Takes what a request writes.
  /// - Returns: how many milliseconds the request has to wait; 0 = it runs at once.
  mutating func take(_ bytes: Int, at now: Instant) -> Instant {
    fill(to: now)
    level -= Int64(bytes)
    return level >= 0 ? 0 : (-level + WriteAllowance.bytesPerMillisecond - 1) / WriteAllowance.bytesPerMillisecond
  }

  /// Whether nothing of it is missing.
  mutating func isFull(at now: Instant) -> Bool {
    fill(to: now)
    return level == WriteAllowance.stock
  }

  private mutating func fill(to now: Instant) {
    guard now > updated else { return }
    level = min(WriteAllowance.stock, level + (now - updated) * WriteAllowance.bytesPerMillisecond)
    updated = now
  }
}
