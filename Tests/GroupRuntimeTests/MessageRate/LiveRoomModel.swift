import GroupModel
import ThrongTestKit

/// A second implementation of the message rate (Protocol.md, "Message rate of live types"), as
/// plain as its text: it looks at every millisecond while a message waits, and logs each event as a
/// line.
struct LiveRoomModel {
  private struct Message {
    let number: Int
    let priority: Priority
    let time: WallInstant
  }

  private struct Notice {
    let word: String
    var users: [String] = []
    var due: WallInstant?
    var last: WallInstant = 0
  }

  let limit: Int
  private(set) var now: WallInstant
  private(set) var log: [String] = []
  private(set) var memberCount: Int
  /// The instants of the last deliveries, the oldest first, at most `limit`.
  private var deliveries: [WallInstant] = []
  /// The most important first, the oldest first inside one priority.
  private var waiting: [Message] = []
  private var notices = [Notice(word: "enter"), Notice(word: "leave")]

  init(limit: Int, memberCount: Int, at now: WallInstant) {
    (self.limit, self.memberCount, self.now) = (limit, memberCount, now)
  }

  /// Whether a message or notice waits.
  var isWaiting: Bool { !waiting.isEmpty || notices.contains { $0.due != nil } }

  /// Removes and returns the lines since the last call.
  mutating func takeLog() -> [String] {
    defer { log = [] }
    return log
  }

  mutating func pass(until end: WallInstant) {
    while now < end {
      now = isWaiting ? now + 1 : end
      deliverWaiting()
    }
  }

  mutating func send(_ number: Int, _ priority: Priority) {
    let message = Message(number: number, priority: priority, time: now)
    if waiting.isEmpty, isFree {
      deliver(message)
      return write("\(number) Delivered")
    }
    if waiting.count == limit {
      // "The newest of the lowest priority first."
      guard waiting[limit - 1].priority < priority else { return write("\(number) Dropped") }
      write("drop \(waiting.removeLast().number)")
    }
    waiting.insert(message, at: waiting.firstIndex { $0.priority < priority } ?? waiting.count)
    write("\(number) Queued")
  }

  mutating func join(_ user: String) {
    memberCount += 1
    tell(0, of: user)
    // "The joiner always gets an onMemberEnter naming itself."
    if notices[0].due != nil { write("own \(user) of \(memberCount)") }
  }

  mutating func leave(_ user: String) {
    memberCount -= 1
    tell(1, of: user)
  }

  // MARK: The rules

  /// "At most `limit` in any sliding one-second window."
  private var isFree: Bool { deliveries.count < limit || now >= deliveries[0] + 1000 }

  private mutating func deliverWaiting() {
    // "Highest priority first, first come first served inside one priority, at most 1 s."
    var kept: [Message] = []
    for message in waiting {
      if now > message.time + 1000 {
        write("drop \(message.number)")
      } else if isFree {
        deliver(message)
      } else {
        kept.append(message)
      }
    }
    waiting = kept
    sendNotices()
  }

  /// "After Lowest", "each kind for itself", "each notice names the 50 newest users and counts the
  /// rest".
  private mutating func sendNotices() {
    for index in notices.indices {
      guard let due = notices[index].due else { continue }
      if now > due + 1000 {
        (notices[index].users, notices[index].due) = ([], nil)
      } else if waiting.isEmpty, now >= due, isFree {
        occupySlot()
        write("\(notices[index].word) \(notices[index].users.suffix(50).joined(separator: ",")) of \(memberCount)")
        (notices[index].users, notices[index].due, notices[index].last) = ([], nil, now)
      }
    }
  }

  /// "The first after a quiet second goes out at once, later ones wait for the second to end."
  private mutating func tell(_ index: Int, of user: String) {
    notices[index].users.append(user)
    if notices[index].due == nil { notices[index].due = max(now, notices[index].last + 1000) }
    sendNotices()
  }

  private mutating func deliver(_ message: Message) {
    occupySlot()
    write("deliver \(message.number)")
  }

  private mutating func occupySlot() {
    deliveries = deliveries.suffix(limit - 1) + [now]
  }

  private mutating func write(_ line: String) { log.append("\(now) \(line)") }
}
