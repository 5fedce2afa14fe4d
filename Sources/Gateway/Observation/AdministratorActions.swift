import GroupModel
import Synchronization
import WireProtocol

/// The latest calls of administrators to this node that could change something, for the console. The
/// log has all of them.
package final class AdministratorActions: Sendable {
  /// How many are kept.
  static let maxCount = 500

  private let actions = Mutex<[AdministratorAction]>([])

  /// None yet.
  package init() {}

  func add(_ action: AdministratorAction) {
    actions.withLock { actions in
      actions.append(action)
      // By a tenth at a time, because removing from the front moves all others.
      if actions.count > AdministratorActions.maxCount { actions.removeFirst(AdministratorActions.maxCount / 10) }
    }
  }

  /// The newest ones up to an instant, the newest first.
  func newest(_ count: Int, through instant: WallInstant) -> [AdministratorAction] {
    let found = actions.withLock { $0.enumerated().filter { $0.element.time <= instant } }
    return found.sorted { ($0.element.time, $0.offset) > ($1.element.time, $1.offset) }.prefix(count).map(\.element)
  }
}

/// The place of a page of actions: behind some of one instant. It means the same on every node.
struct ActionPlace: Sendable, Equatable {
  /// So many of one instant can be told apart.
  private static let perInstant: Int64 = 1024
  /// The last instant in the year 2248, so that a place is a number that JSON can hold.
  private static let lastTime: Int64 = 1 << 43 - 1

  let time: WallInstant
  /// How many actions of that instant came before.
  let given: Int

  init(_ time: WallInstant, given: Int) {
    self.time = time
    self.given = given
  }

  /// - Parameter nextSeq: as a reply has told it; 0 = before the newest.
  init(nextSeq: Int64) {
    time = nextSeq == 0 ? .distantFuture : WallInstant(milliseconds: nextSeq / ActionPlace.perInstant)
    given = Int(nextSeq % ActionPlace.perInstant)
  }

  var nextSeq: Int64 {
    let time = min(max(time.milliseconds, 1), ActionPlace.lastTime)
    let given = Int64(given)
    // No server has so many in a millisecond; a list without an end would be worse than a lost row.
    return given < ActionPlace.perInstant ? time * ActionPlace.perInstant + given : (time - 1) * ActionPlace.perInstant
  }

  /// The most actions of each node that a page needs.
  func needed(for count: Int) -> Int { given + count + 1 }

  /// A page of the newest actions of all nodes.
  /// - Parameter lists: of each node, the newest first, in the order of the nodes' numbers.
  func page(_ count: Int, of lists: [[AdministratorAction]]) -> ListAdministratorActions.Result {
    let all = lists.joined().enumerated()
      .sorted { ($1.element.time, $0.offset) < ($0.element.time, $1.offset) }.map(\.element)
    let skipped = all.prefix(given).prefix { $0.time == time }.count
    let later = all.dropFirst(skipped)
    let page = later.prefix(count)
    guard let last = page.last, later.count > page.count else {
      return ListAdministratorActions.Result(actionList: Array(page), nextSeq: 0)
    }
    let sameInstant = page.count { $0.time == last.time } + (last.time == time ? given : 0)
    return ListAdministratorActions.Result(
      actionList: Array(page), nextSeq: ActionPlace(last.time, given: sameInstant).nextSeq)
  }
}
