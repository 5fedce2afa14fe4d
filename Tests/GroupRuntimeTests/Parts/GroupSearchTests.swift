import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WireProtocol

/// The matches of searchGroups: "any of them, substring".
@Suite struct GroupSearchTests {
  private func matches(_ text: String, _ keywords: [String], ignoresCase: Bool = true) -> Bool {
    GroupSearch(keywords, in: [.groupName], ignoresCase: ignoresCase, by: "mary").matches(text)
  }

  @Test(arguments: [
    ("swift lovers", ["lov"], true), ("swift lovers", ["lovers"], true), ("swift lovers", ["swift lovers"], true),
    ("swift lovers", ["x", "ift"], true), ("swift lovers", ["x", "y"], false), ("swift lovers", ["swift lovers!"], false),
    ("aab", ["ab"], true), ("aaab", ["aab"], true), ("ababac", ["abac"], true), ("", ["a"], false),
    ("grüße", ["ÜSS"], false), ("grüße", ["RÜ"], true), ("ΣΟΦΟΣ", ["σοφ"], true), ("日本語", ["本"], true),
    ("e\u{301}", ["é"], false), ("é", ["e\u{301}"], false), ("cafe\u{301}", ["e"], true),
  ])
  func anyKeywordAnywhereByteForByte(text: String, keywords: [String], expected: Bool) {
    #expect(matches(text, keywords) == expected)
  }

  @Test func caseCountsWhereItIsNotIgnored() {
    #expect(matches("Swift", ["sWIFT"]) && !matches("Swift", ["sWIFT"], ignoresCase: false))
    #expect(matches("Swift", ["wif"], ignoresCase: false))
  }

  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func itFindsWhatATrialAtEveryPlaceFinds(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let letters = ["a", "b", "é", "語"]
    for _ in 0..<60 {
      let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in letters.randomElement(using: &random) ?? "a" }.joined()
      let keyword = (0..<Int.random(in: 1...4, using: &random)).map { _ in letters.randomElement(using: &random) ?? "a" }.joined()
      let (bytes, wanted) = (Array(text.utf8), Array(keyword.utf8))
      let expected = bytes.indices.contains { bytes[$0...].starts(with: wanted) }
      #expect(matches(text, [keyword]) == expected, "seed \(seed): \(keyword) in \(text)")
    }
  }

  @Test func whichFieldsAreMembersTexts() {
    let ofMembers = SearchGroups.Field.allCases.filter(\.isOfMembers)
    #expect(ofMembers == [.memberUserID, .memberNameCard, .memberNickName])
  }
}
