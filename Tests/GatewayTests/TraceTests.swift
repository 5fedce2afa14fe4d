import Cluster
import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// Traces and actions as values, and the entries that a user or a group causes.
@Suite struct TraceTests {
  private static let alice: UserID = "alice"
  private static let bob: UserID = "bob"
  private static let club: GroupID = "club"

  private func instant(_ seconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }

  private func entry(_ name: String) -> TraceEntry { TraceEntry(.request, name, at: 1) }

  private func names(_ table: TraceTable, _ id: String, from position: Int64 = 0, count: Int = 200, at seconds: Int64 = 0)
    -> [String]?
  {
    table.page(of: id, from: position, count: count, at: instant(seconds))?.entryList.map(\.name)
  }

  @Test func aTraceHasTheEntriesOfItsSubjectOnly() {
    var table = TraceTable()
    table.begin(.user(Self.alice), id: "a", until: instant(10), endTime: 10)
    table.begin(.group(Self.club), id: "c", until: instant(10), endTime: 10)
    table.note(entry("hers"), about: [.user(Self.alice)], at: instant(1))
    table.note(entry("both"), about: [.user(Self.alice), .group(Self.club)], at: instant(2))
    table.note(entry("his"), about: [.user(Self.bob)], at: instant(3))
    #expect(names(table, "a") == ["hers", "both"] && names(table, "c") == ["both"] && names(table, "x") == nil)
  }

  @Test func nothingIsNotedAfterTheEnd() {
    var table = TraceTable()
    table.begin(.user(Self.alice), id: "a", until: instant(10), endTime: 10)
    table.note(entry("in time"), about: [.user(Self.alice)], at: instant(9))
    table.note(entry("late"), about: [.user(Self.alice)], at: instant(10))
    #expect(names(table, "a", at: 11) == ["in time"])
    #expect(table.isNoting(at: instant(9)) && !table.isNoting(at: instant(10)))
    #expect(table.subjects(at: instant(9)) == [.user(Self.alice)] && table.subjects(at: instant(10)).isEmpty)
  }

  @Test func pagesFollowEachOtherUntilTheEnd() {
    var table = TraceTable()
    table.begin(.user(Self.alice), id: "a", until: instant(10), endTime: 10)
    func page(_ position: Int64, at seconds: Int64) -> GetTrace.Result? {
      table.page(of: "a", from: position, count: 2, at: instant(seconds))
    }
    #expect(page(0, at: 1)?.nextSeq == 1 && page(0, at: 1)?.entryList.isEmpty == true)
    for name in ["1", "2", "3"] { table.note(entry(name), about: [.user(Self.alice)], at: instant(1)) }
    #expect(page(1, at: 1)?.entryList.map(\.name) == ["1", "2"] && page(1, at: 1)?.nextSeq == 3)
    #expect(page(3, at: 1)?.entryList.map(\.name) == ["3"] && page(3, at: 1)?.nextSeq == 4)
    #expect(page(4, at: 1)?.nextSeq == 4 && page(4, at: 10)?.nextSeq == 0)
    #expect(page(1, at: 10)?.nextSeq == 3, "there is more")
    #expect(page(1 << 53, at: 1)?.entryList.isEmpty == true)
  }

  @Test func theNewestEntriesAndTracesAreKept() {
    var table = TraceTable()
    table.begin(.user(Self.alice), id: "a", until: instant(10), endTime: 10)
    for number in 1...2500 { table.note(entry("\(number)"), about: [.user(Self.alice)], at: instant(1)) }
    let page = table.page(of: "a", from: 0, count: 200, at: instant(1))
    #expect(page?.entryList.count == 200 && page?.lost ?? 0 >= 1500 && page?.lost ?? 0 < 1700)
    #expect(page?.entryList.first?.name == "\((page?.lost ?? 0) + 1)")
    for number in 1...TraceTable.maxTraces { table.begin(.group(Self.club), id: "\(number)", until: instant(10), endTime: 10) }
    #expect(names(table, "a") == nil && names(table, "1") == [])
    #expect(table.end("1") && !table.end("1") && names(table, "1") == nil)
  }

  @Test func theNameOfAnEventIsReadFromItsFrame() {
    #expect(Tracer.name(of: Array(#"{"jsonrpc":"2.0","method":"onMemberEnter","params":{}}"#.utf8)) == "onMemberEnter")
    #expect(Tracer.name(of: []) == "" && Tracer.name(of: Array("{}".utf8)) == "")
  }

  @Test func actionsComeInPagesTheNewestFirst() {
    let actions = AdministratorActions()
    func page(_ nextSeq: Int64) -> (names: [String], next: Int64) {
      let place = ActionPlace(nextSeq: nextSeq)
      let page = place.page(3, of: [actions.newest(place.needed(for: 3), through: place.time)])
      return (page.actionList.map(\.method), page.nextSeq)
    }
    #expect(page(0) == ([], 0))
    for number in 1...5 { actions.add(AdministratorAction(time: 1, method: "\(number)", by: "olga", code: 0)) }
    let first = page(0)
    #expect(first.names == ["5", "4", "3"] && first.next != 0)
    #expect(page(first.next) == (["2", "1"], 0))
    for number in 6...2000 { actions.add(AdministratorAction(time: 1, method: "\(number)", by: "olga", code: 0)) }
    #expect(page(0).names == ["2000", "1999", "1998"])
    var (next, count) = (page(0).next, 3)
    while next != 0 {
      let later = page(next)
      count += later.names.count
      next = later.next
    }
    #expect(count <= AdministratorActions.maxCount && count > AdministratorActions.maxCount * 8 / 10)
  }

  // MARK: Several nodes

  private func action(_ name: String, at time: WallInstant) -> AdministratorAction {
    AdministratorAction(time: time, method: name, by: "olga", code: 0)
  }

  /// All pages over the actions of nodes, each in the order in which they came.
  private func pages(_ nodes: [[AdministratorAction]], of count: Int) -> [[String]] {
    let nodes = nodes.map { given in
      let actions = AdministratorActions()
      for action in given { actions.add(action) }
      return actions
    }
    var pages: [[String]] = []
    var place = ActionPlace(nextSeq: 0)
    repeat {
      let lists = nodes.map { $0.newest(place.needed(for: count), through: place.time) }
      let page = place.page(count, of: lists)
      pages.append(page.actionList.map(\.method))
      place = ActionPlace(nextSeq: page.nextSeq)
    } while place != ActionPlace(nextSeq: 0) && pages.count < 100
    return pages
  }

  @Test func actionsOfSeveralNodesAreOneList() {
    let nodes = [
      [action("a1", at: 1), action("a5", at: 5), action("a5b", at: 5)], [action("b2", at: 2), action("b5", at: 5)], [],
      // Its clock was set back.
      [action("d9", at: 9), action("d4", at: 4)],
    ]
    let all = ["d9", "a5b", "a5", "b5", "d4", "b2", "a1"]
    for count in 1...8 {
      let pages = pages(nodes, of: count)
      #expect(pages.flatMap(\.self) == all, "\(count)")
      #expect(pages.dropLast().allSatisfy { $0.count == count } && pages.count == (all.count + count - 1) / count)
    }
    #expect(pages([[], []], of: 3) == [[]])
  }

  @Test(arguments: 0..<200) func pagesOfActionsHaveEachOnce(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var number = 0
    let nodes = (0..<Int.random(in: 1...4, using: &random)).map { _ in
      (0..<Int.random(in: 0...20, using: &random)).map { _ in
        number += 1
        return action("\(number)", at: WallInstant(milliseconds: .random(in: 1...5, using: &random)))
      }
    }
    let found = pages(nodes, of: .random(in: 1...7, using: &random)).flatMap(\.self)
    let times = Dictionary(uniqueKeysWithValues: nodes.joined().map { ($0.method, $0.time) })
    #expect(found.count == number && Set(found).count == number)
    #expect(zip(found, found.dropFirst()).allSatisfy { times[$0] ?? 0 >= times[$1] ?? 0 })
  }

  @Test func anActionLaterThanAPageShiftsNothing() {
    let actions = AdministratorActions()
    for name in ["1", "2", "3"] { actions.add(action(name, at: 5)) }
    let first = ActionPlace(nextSeq: 0)
    let page = first.page(2, of: [actions.newest(first.needed(for: 2), through: first.time)])
    #expect(page.actionList.map(\.method) == ["3", "2"])
    actions.add(action("4", at: 6))
    let second = ActionPlace(nextSeq: page.nextSeq)
    #expect(second.page(2, of: [actions.newest(second.needed(for: 2), through: second.time)]).actionList.map(\.method) == ["1"])
  }

  @Test func aPlaceIsANumberThatJSONCanHold() {
    for place in [ActionPlace(5, given: 3), ActionPlace(1_700_000_000_000, given: 1023)] {
      #expect(ActionPlace(nextSeq: place.nextSeq) == place)
    }
    #expect(ActionPlace(5, given: 1024) != ActionPlace(5, given: 0))
    #expect(ActionPlace(nextSeq: ActionPlace(5, given: 1024).nextSeq) == ActionPlace(4, given: 0))
    for time in [WallInstant.distantPast, .unset, .distantFuture] {
      #expect(0..<(1 << 53) ~= ActionPlace(time, given: 7).nextSeq)
    }
  }

  private func batch(_ entries: [(String, WallInstant)], next: Int64, lost: Int64 = 0) -> TraceBatch {
    TraceBatch(entries: entries.map { TraceEntry(.request, $0.0, at: $0.1) }, next: next, lost: lost, isOver: false)
  }

  @Test func entriesOfAllNodesAreOneTrace() {
    var trace = MergedTrace()
    trace.add([
      (NodeNumber(1), batch([("a1", 1), ("a3", 3), ("a3b", 3)], next: 4)),
      (NodeNumber(2), batch([("b2", 2), ("b3", 3)], next: 3)),
    ])
    #expect(trace.position(of: NodeNumber(1)) == 4 && trace.position(of: NodeNumber(2)) == 3)
    #expect(trace.position(of: NodeNumber(3)) == 1)
    let first = trace.page(from: 0, count: 3, endTime: 10, isOver: true)
    #expect(first.entryList.map(\.name) == ["a1", "b2", "a3"] && first.nextSeq == 4 && first.lost == 0)
    // What comes late stands behind what was read.
    trace.add([(NodeNumber(2), batch([("b1", 1)], next: 4, lost: 2))])
    let second = trace.page(from: first.nextSeq, count: 100, endTime: 10, isOver: false)
    #expect(second.entryList.map(\.name) == ["a3b", "b3", "b1"] && second.nextSeq == 7 && second.lost == 2)
    #expect(trace.page(from: 7, count: 100, endTime: 10, isOver: true).nextSeq == 0)
    #expect(trace.page(from: 1 << 53, count: 100, endTime: 10, isOver: false).entryList.isEmpty)
  }

  @Test func aTraceOfAllNodesKeepsItsNewestEntries() {
    var trace = MergedTrace()
    let entries = (1...800).map { ("\($0)", WallInstant(milliseconds: $0)) }
    for node in 1...2 { trace.add([(NodeNumber(Int64(node)), batch(entries, next: 801))]) }
    let page = trace.page(from: 0, count: 200, endTime: 10, isOver: false)
    #expect(page.lost == 600 && page.entryList.first?.name == "601" && page.nextSeq == 801)
  }

  @Test func aBatchHasWhatIsNewAndTellsWhatIsLost() {
    var table = TraceTable()
    table.begin(.user(Self.alice), id: "a", until: instant(10), endTime: 10)
    table.begin(.group(Self.club), id: "a", until: instant(99), endTime: 99)
    #expect(table.endTime(of: "a") == 10, "it has begun")
    for number in 1...1001 { table.note(entry("\(number)"), about: [.user(Self.alice)], at: instant(1)) }
    func batch(_ position: Int64, at seconds: Int64 = 1) -> TraceBatch? {
      table.batch(of: "a", from: position, at: instant(seconds))
    }
    #expect(batch(1)?.entries.first?.name == "101" && batch(1)?.lost == 100 && batch(1)?.next == 1002)
    #expect(batch(1000)?.entries.map(\.name) == ["1000", "1001"] && batch(1000)?.lost == 0 && batch(1000)?.isOver == false)
    #expect(batch(1002)?.entries.isEmpty == true && batch(1002, at: 10)?.isOver == true)
    #expect(
      batch(5000)?.entries.isEmpty == true && batch(-5)?.entries.count == 901
        && table.batch(of: "b", from: 1, at: instant(1)) == nil)
    #expect(table.running(at: instant(4)).map(\.left) == [.seconds(6)] && table.running(at: instant(10)).isEmpty)
    table.forget { $0 == "a" }
    #expect(!table.knows("a"))
  }

  @Test func theNameOfATraceTellsItsNode() {
    #expect(TraceID.node(of: TraceID.make(on: NodeNumber(12))) == NodeNumber(12))
    #expect(TraceID.node(of: TraceID.make(on: nil)) == nil)
    for name in ["", "-", "-5-a", "0-a", "x-a", "99999999999999999999-a", "12"] {
      #expect(TraceID.node(of: name) == nil, "\(name)")
    }
    #expect(TraceID.make(on: NodeNumber(1 << 46)).utf8.count <= 64)
  }
}
