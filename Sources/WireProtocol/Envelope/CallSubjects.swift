/// What a request of the application's backend is about, as given, for the audit: texts may be of any
/// length. A class, so that a call of a client, which has none, does not grow by it.
public final class CallSubjects: Sendable {
  /// Of a longer `userIDList` the rest is only counted.
  public static let mostUserIDs = 100

  public let groupID: String?
  public let userID: String?
  public let applicationID: String?
  /// The first of `userIDList`; empty where the method changes nothing.
  public let userIDList: [String]
  /// How many `userIDList` has.
  public let userCount: Int
  /// Why it was done; nil where the method changes nothing.
  public let reason: String?

  /// - Parameter writes: whether the method changes something.
  init(in params: JSONValue?, writes: Bool) {
    groupID = params?["groupID"]?.string
    userID = params?["userID"]?.string
    applicationID = params?["applicationID"]?.string
    reason = writes ? params?["reason"]?.string : nil
    var users: [String] = []
    var count = 0
    if writes, let list = params?["userIDList"], list.kind == .array {
      list.forEachElement { element in
        guard let user = element.string else { return }
        count += 1
        if users.count < CallSubjects.mostUserIDs { users.append(user) }
      }
    }
    userIDList = users
    userCount = count
  }
}
