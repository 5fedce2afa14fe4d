import ThrongTestKit

/// Random operations, weighed so that groups live for a while and something happens in them. What
/// is done does not depend on what has come of it so far: who and what is meant is pointed at (see
/// `Operation`), so a sequence stays what it is when operations are left out.
struct SequenceRandom {
  let type: String
  private var random: SeededGenerator

  init(type: String, seed: UInt64) {
    self.type = type
    random = SeededGenerator(seed: seed)
  }

  /// Work, Public, Meeting.
  var keepsHistory: Bool { type != "AVChatRoom" && type != "BChatRoom" }

  // MARK: Small choices

  mutating func chance(_ percent: Int) -> Bool { number(0...99) < percent }
  mutating func one<T>(_ values: [T]) -> T { values.randomElement(using: &random)! }
  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  /// Milliseconds at and beside the lengths that rules name.
  mutating func time() -> Int64 {
    one([0, 1, 20, 49, 50, 999, 1000, 4999, 5000, 60_000, 119_999, 120_000, 120_001, 150_000, 299_999, 300_000, 300_001])
  }
  mutating func seconds() -> JSON { one([0, 0, 1, 5, 60, 300, 4_294_967_295]) }
  mutating func role() -> JSON { one(["Admin", "Admin", "Member", "200", "300"]) }
  mutating func seq() -> JSON { .string("$last-\(one([0, 0, 1, 2, 3, 5, 8, 30]))") }

  /// A place in the history, which 0 is too.
  mutating func place() -> JSON { .string("$place-\(one([0, 0, 1, 2, 3, 5, 8, 30]))") }
  mutating func texts(_ most: Int, values: [JSON] = ["x", "y", "", "é"]) -> JSON {
    var texts: [String: JSON] = [:]
    for _ in 0..<number(1...most) { texts["k\(number(1...6))"] = one(values) }
    return .object(texts)
  }

  mutating func profile() -> [String: JSON] {
    let texts = [("nickName", one(["", "Ann", "é\"\\", "x"])), ("faceURL", one(["", "https://f/1"]))] as [(String, JSON)]
    return Dictionary(uniqueKeysWithValues: texts.filter { _ in chance(70) })
  }

  // MARK: Who does it, and to whom

  mutating func user(_ kinds: [String]) -> String { "$\(one(kinds))-\(number(0...5))" }
  mutating func target() -> String { user(["lesser", "lesser", "lesser", "lesser", "admin", "owner", "outsider"]) }
  mutating func targets(_ kinds: [String], _ most: Int) -> [String] { (1...number(1...most)).map { _ in user(kinds) } }
  mutating func by(_ kinds: [String]) -> Operator { .user(user(kinds), session: one([1, 1, 1, 2, nil])) }
  mutating func outsider() -> Operator { by(["outsider", "outsider", "outsider", "user"]) }
  mutating func member() -> Operator { by(["member", "member", "member", "member", "admin", "user"]) }
  /// Mostly a manager.
  mutating func manager() -> Operator {
    chance(12) ? .administrator : by(["owner", "owner", "owner", "owner", "admin", "admin", "lesser", "user"])
  }
  mutating func reader() -> Operator { chance(12) ? .administrator : member() }

  /// Now and then the store knows something against a user.
  mutating func facts(_ params: [String: JSON]) -> [String: JSON] {
    var params = params
    if chance(type == "BChatRoom" ? 25 : 6) { params["$unknown"] = .strings(targets(["user", "outsider"], 3)) }
    if chance(6) { params["$atLimit"] = .strings(targets(["user", "outsider"], 3)) }
    return params
  }

  // MARK: Sequences

  /// A sequence that begins with sessions and a group.
  mutating func sequence(length: Int) -> [Operation] {
    var operations = ModelWorld.users.map { Operation(.user($0, session: 1), .signIn) }
    operations += ["ann", "bob", "cat"].map { Operation(.user($0, session: 2), .signIn) }
    operations += chance(25) && keepsHistory ? moveIn() : [create()]
    while operations.count < length { operations += chance(8) ? episode() : [operation()] }
    return operations
  }

  /// A group that comes from another system, with members and messages in any order.
  private mutating func moveIn() -> [Operation] {
    [importGroup()] + (0..<number(1...6)).map { _ in chance(45) ? importMembers() : chance(80) ? importMessages() : coming() }
  }

  private mutating func operation() -> Operation {
    switch number(0...99) {
    case 0..<4: whenGone()
    case 4..<20: happening()
    case 20..<44: coming()
    case 44..<62: managing()
    case 62..<82: talking()
    case 82..<88: chance(40) ? counters() : typed()
    case 88..<92: backend()
    default: reading()
    }
  }

  private mutating func whenGone() -> Operation {
    var create = create()
    create.params["$whenGone"] = true
    return create
  }

  /// Operations that only groups of that type have.
  private mutating func typed() -> Operation {
    switch type {
    case "AVChatRoom": chance(40) ? happening() : attributes()
    case "BChatRoom": managing()
    default: chance(30) ? attributes() : talking()
    }
  }

  private mutating func happening() -> Operation {
    let session = Operator.user(user(["member", "user"]), session: one([1, 1, 2]))
    switch number(0...99) {
    case 0..<35: return Operation(.world, .wait, ["ms": .int(time())])
    case 35..<45: return Operation(.user(user(["member", "user"]), session: 1), .setSelfInfo, profile())
    case 45..<68: return Operation(session, .signIn)
    case 68..<88: return Operation(session, .signOut)
    case 88..<92: return Operation(.world, .reload, chance(40) ? ["$failed": true] : [:])
    case 92..<96: return Operation(.world, .retain, ["seq": place()])
    case 96..<98: return Operation(.world, .restart, ["ms": .int(time())])
    default:
      let deleted = user(["lesser", "member", "owner", "user"])
      return Operation(.administrator, .deleteUser, ["userID": .string(deleted), "messages": one(["Keep", "Revoke"])])
    }
  }
}
