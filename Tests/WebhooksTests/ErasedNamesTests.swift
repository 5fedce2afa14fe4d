import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Webhooks

/// No entry that was in memory brings the name of a deleted user back into the store.
@Suite struct ErasedNamesTests {
  private let mary = UserID("mary")
  private let group = GroupID("g")!

  private func entry(_ data: String) -> WebhookEntry {
    WebhookEntry(id: "w", .memberJoined, data: Array(data.utf8), in: .group(group), at: 1, since: 1, number: 7)
  }

  private func data(of change: StoreChange) -> String? {
    switch change {
    case .giveUpWebhook(let entry, attempts: _, lastError: _), .appendWebhook(let entry):
      String(decoding: entry.data, as: UTF8.self)
    default: nil
    }
  }

  @Test func whatIsGivenUpShowsNobodyWhoWasDeleted() {
    let names = [ErasedNames.Name(user: mary, messages: .keep)]
    let known = entry(#"{"memberList":[{"userID":"mary","nickName":"M"},{"userID":"adam","nickName":"A"}]}"#)
    let erased = #"{"memberList":[{"userID":"mary"},{"userID":"adam","nickName":"A"}]}"#
    let givenUp = StoreChange.giveUpWebhook(known, attempts: 3, lastError: "e").erasing(names)
    #expect(data(of: givenUp) == erased)
    if case .giveUpWebhook(let entry, attempts: let attempts, lastError: let error) = givenUp {
      #expect(entry.storedNumber == 7 && entry.id == "w" && attempts == 3 && error == "e")
    }
    #expect(data(of: StoreChange.appendWebhook(known).erasing(names)) == erased)
    #expect(StoreChange.removeWebhooks([7]).erasing(names) == .removeWebhooks([7]))
  }

  @Test func textsGoWithRevokeAlone() {
    let known = entry(#"{"message":{"sender":"mary","text":"hello"}}"#)
    for (messages, text) in [(UserDeletion.MessageFate.keep, "hello"), (.revoke, "")] {
      let change = StoreChange.appendWebhook(known).erasing([ErasedNames.Name(user: mary, messages: messages)])
      #expect(data(of: change) == #"{"message":{"sender":"mary","text":"\#(text)"}}"#)
    }
  }

  @Test func namesAreKeptAsLongAsEntriesMayBe() {
    var names = ErasedNames(lifetime: .seconds(10))
    names.add(mary, .keep, at: 0)
    names.add(mary, .revoke, at: MonotonicInstant(nanoseconds: 1_000_000_000))
    #expect(names.current(at: MonotonicInstant(nanoseconds: 11_000_000_000)) == [ErasedNames.Name(user: mary, messages: .revoke)])
    #expect(names.current(at: MonotonicInstant(nanoseconds: 11_000_000_001)) == [])
  }

  @Test func theirNumberIsBounded() throws {
    var names = ErasedNames(lifetime: .seconds(10))
    for number in 0...ErasedNames.maxCount { names.add(try #require(UserID("u\(number)")), .keep, at: 0) }
    let kept = names.current(at: 0)
    #expect(kept.count == ErasedNames.maxCount && kept.first?.user == UserID("u1"))
  }
}
