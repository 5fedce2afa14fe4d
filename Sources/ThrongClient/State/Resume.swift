/// The progress of a resume: finds the groups joined and left, then asks in all others for what was
/// missed.
struct Resume {
  static let groupsPerRequest = 50
  static let groupsPerPage = 200
  /// A resume looks back so much farther, in milliseconds: the server's clock may be off.
  static let lookBack = 60_000

  /// The subject of a request of a resume.
  enum Step {
    /// A page of the user's groups.
    case joined
    /// Live rooms, and groups whose position is not known.
    case live
    /// Missed messages and changes of stored groups.
    case history
  }

  /// One group of a sync.
  struct Row {
    var known: Place
    var ask: Methods.SyncGroups.GroupRow
  }

  let since: Int
  /// The groups that were tracked at the beginning.
  let known: [String]
  private(set) var infos: [String: GroupInfo] = [:]
  private var order: [String] = []
  private(set) var gone: Set<String> = []
  var left: Set<String> = []
  var recovered: Set<String> = []
  var notRecovered: Set<String> = []
  /// The groups that `live` and `history` still ask for.
  var live: [String] = []
  var stored: [String] = []
  /// The groups of the sync that is under way.
  var rows: [Row] = []

  init(since: Int, known: [String]) {
    self.since = since
    self.known = known
  }

  var isFirst: Bool { since == 0 }

  mutating func add(_ page: Methods.GetJoinedGroupList.Result) {
    for info in page.groupList {
      if infos.updateValue(info, forKey: info.groupID) == nil { order.append(info.groupID) }
    }
    gone.formUnion(page.leftGroupIDList)
  }

  /// The groups of the next request.
  static func takeBatch(of groupIDs: inout [String]) -> [String] {
    defer { groupIDs.removeFirst(min(groupsPerRequest, groupIDs.count)) }
    return Array(groupIDs.prefix(groupsPerRequest))
  }

  func ready(joined: Set<String>) -> Ready {
    Ready(
      isFirst: isFirst, groups: order.compactMap { infos[$0] }, joined: joined.sorted(), left: left.sorted(),
      recovered: recovered.sorted(), notRecovered: notRecovered.sorted())
  }
}
