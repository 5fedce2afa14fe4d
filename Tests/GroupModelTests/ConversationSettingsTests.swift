import GroupModel
import Testing

@Suite struct ConversationSettingsTests {
  private func change(_ build: (inout ConversationChange) -> Void) -> ConversationChange {
    var change = ConversationChange()
    build(&change)
    return change
  }

  @Test func nothingIsChosenAtFirst() {
    let settings = ConversationSettings()
    #expect(settings.isEmpty && ConversationChange().isEmpty)
    #expect(!settings.isPinned && !settings.isHidden && !settings.isMarkedUnread && settings.marks == [])
  }

  @Test func whatIsGivenIsTakenAndTheRestStays() {
    var settings = ConversationSettings()
    let pinned = change { $0.isPinned = true }
    #expect(settings.apply(pinned) == pinned)
    let marked = change {
      $0.isMarkedUnread = true
      $0.marks = ["work", "later"]
    }
    #expect(settings.apply(marked) == marked)
    let hidden = change { $0.isHidden = true }
    #expect(settings.apply(hidden) == hidden)
    #expect(settings.isPinned && settings.isHidden && settings.isMarkedUnread && settings.marks == ["work", "later"])
    #expect(!settings.isEmpty)
  }

  @Test func onlyWhatDiffersHasChanged() {
    var settings = ConversationSettings()
    let wanted = change {
      $0.isPinned = true
      $0.isHidden = false
      $0.marks = ["a"]
    }
    let changed = change {
      $0.isPinned = true
      $0.marks = ["a"]
    }
    #expect(settings.apply(wanted) == changed)
    #expect(settings.apply(wanted) == nil)
    #expect(settings.apply(ConversationChange()) == nil)
    let unpinned = change { $0.isPinned = false }
    #expect(settings.apply(unpinned) == unpinned)
    #expect(settings.marks == ["a"] && !settings.isPinned)
  }

  @Test func marksAreReplacedAndRemoved() {
    var settings = ConversationSettings()
    for marks in [["a", "b"], ["b", "a"], ["a"], []] {
      let wanted = change { $0.marks = marks }
      #expect(settings.apply(wanted) == wanted)
      #expect(settings.marks == marks)
      #expect(settings.apply(wanted) == nil)
    }
    #expect(settings.isEmpty)
  }

  @Test func twoSpellingsAreTwoMarks() {
    var settings = ConversationSettings()
    let composed = change { $0.marks = ["\u{E9}"] }
    let decomposed = change { $0.marks = ["e\u{301}"] }
    #expect(composed != decomposed)
    #expect(settings.apply(composed) == composed)
    let before = settings
    #expect(settings.apply(decomposed) == decomposed)
    #expect(settings != before)
  }
}
