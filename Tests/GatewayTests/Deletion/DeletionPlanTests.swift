import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// The order in which a user is deleted, as a pure value.
@Suite struct DeletionPlanTests {
  private typealias Plan = DeletionPlan
  private typealias Step = UserDeletion.Step

  private func deletion(_ step: UserDeletion.Step, _ messages: UserDeletion.MessageFate = .keep) -> UserDeletion {
    UserDeletion(userID: "mary", messages: messages, step: step, requestTime: 1)
  }

  /// Every order up to the end, where each is done at once.
  private func orders(_ messages: UserDeletion.MessageFate) -> [(step: UserDeletion.Step, order: DeletionPlan.Order)] {
    var (found, next): ([(step: UserDeletion.Step, order: DeletionPlan.Order)], UserDeletion) = (
      [], deletion(.sessions, messages)
    )
    while let order = Plan.order(of: next), found.count < 100 {
      found.append((next.step, order))
      next = Plan.next(next, after: .done, at: 9)
    }
    #expect(next.step == .done && next.endTime == 9 && next.pass == 0)
    return found
  }

  @Test func withKeepNothingIsRecalled() {
    let found = orders(.keep)
    #expect(
      found.map(\.step) == [
        .sessions, .profile, .profile, .groups, .applications, .reactions, .messages, .receipts, .receiptLists, .former,
        .notifications, .reports, .webhooks, .marks, .check, .file,
      ])
    #expect(found.prefix(3).map(\.order) == [.endSessions, .erase, .forget])
    #expect(found.suffix(2).map(\.order) == [.check, .reclaim])
  }

  @Test func withRevokeLiveRoomsComeFirst() {
    let recalls = orders(.revoke).filter { $0.step == .recalls }.map(\.order)
    #expect(recalls == [.recallRemembered, .erase])
  }

  /// The sessions end before anything is erased, the profile before what shows it is looked for, and
  /// the recalls before the groups are forgotten.
  @Test(arguments: UserDeletion.MessageFate.allCases) func theOrderIsWhatEachStepNeeds(messages: UserDeletion.MessageFate) throws
  {
    let steps = orders(messages).map(\.step)
    func place(_ step: UserDeletion.Step) throws -> Int { try #require(steps.firstIndex(of: step)) }
    #expect(try place(.sessions) == 0)
    #expect(try place(.profile) < place(.groups), "no event of the leaving shows a name")
    #expect(try place(.groups) < place(.messages))
    for step in [Step.reactions, .messages, .receipts, .receiptLists, .former] { #expect(try place(step) < place(.marks)) }
    #expect(try place(.marks) < place(.check))
  }

  @Test func aStepGoesOnWhereItWas() {
    let place = UserDeletion.Place(number: 7, seq: 5)
    let next = Plan.next(deletion(.messages), after: .more(at: place), at: 9)
    #expect(next.step == .messages && next.place == place && next.isRunning)
    #expect(Plan.next(next, after: .done, at: 9).place == .start)
  }

  @Test(arguments: UserDeletion.Step.allCases) func whatIsLeftBeginsANewPass(step: UserDeletion.Step) {
    let next = Plan.next(deletion(.check), after: .remains(step), at: 9)
    #expect(next.step == step && next.place == .start && next.pass == 1 && next.endTime == nil)
  }

  // MARK: Requests

  @Test func aRequestBeginsADeletion() throws {
    let made = try #require(Plan.request(.revoke, of: "mary", known: nil, at: 3))
    #expect(made == UserDeletion(userID: "mary", messages: .revoke, requestTime: 3))
    #expect(made.step == .sessions && made.place == .start && made.isRunning)
  }

  @Test func oneThatIsDoneBeginsAnew() {
    var done = deletion(.done, .revoke)
    done.endTime = 2
    #expect(Plan.request(.keep, of: "mary", known: done, at: 3) == UserDeletion(userID: "mary", messages: .keep, requestTime: 3))
  }

  @Test(arguments: UserDeletion.Step.allCases.filter { $0 != .done }) func revokeWinsOverKeep(step: UserDeletion.Step) throws {
    var running = deletion(step)
    running.place = UserDeletion.Place(number: 4)
    #expect(Plan.request(.keep, of: "mary", known: running, at: 3) == nil)
    let changed = try #require(Plan.request(.revoke, of: "mary", known: running, at: 3))
    #expect(changed.messages == .revoke && changed.requestTime == 1)
    let goesBack = Step.recalls.precedes(step)
    #expect(changed.step == (goesBack ? .recalls : step) && changed.place == (goesBack ? .start : running.place))
    #expect(Plan.request(.keep, of: "mary", known: changed, at: 3) == nil, "and stays")
    #expect(Plan.request(.revoke, of: "mary", known: changed, at: 3) == nil)
  }

  // MARK: Places of an export

  @Test func placesOfAnExportAreNumbersOfJavaScript() throws {
    let places = PersonalPlace.Stage.allCases.flatMap { stage in
      [0, 5, 1 << 40].map { PersonalPlace(stage, position: $0) }
    }
    for place in places {
      let number = ExportPlace.nextSeq(place)
      #expect((1..<1 << 53).contains(number))
      #expect(try #require(ExportPlace(number)).place == place)
    }
    #expect(ExportPlace.nextSeq(nil) == 0 && ExportPlace(0)?.place == .some(nil))
  }

  @Test func aMessageHasAPlaceInTheFirstGroups() {
    let last = PersonalPlace.messagePosition(group: 1 << 24 - 1, seq: .max)
    #expect(ExportPlace(ExportPlace.nextSeq(PersonalPlace(.message, position: last)))?.place?.position == last)
    #expect(PersonalPlace.messagePosition(group: 1 << 24, seq: 1) == 0)
  }

  @Test(arguments: [-1, 1 << 53, .max, -(1 << 52), .min] as [Int64]) func otherPlacesAreNone(number: Int64) {
    #expect(ExportPlace(number) == nil)
  }
}
