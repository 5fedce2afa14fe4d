import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// Reported messages, on every store.
@Suite struct ReportStoreTests {
  private func ids(_ store: any AnyStore, _ state: MessageReport.State, in group: GroupID? = nil) async throws -> [String] {
    try await store.reports(state: state, in: group, before: 0, limit: 99).map(\.report.id)
  }

  @Test(arguments: Backing.allCases)
  func aReportComesBackByteForByte(_ backing: Backing) async throws {
    try await backing.withStore { store in
      for isPlain in [false, true] {
        let report = MessageReport.sample(by: isPlain ? bob : alice, isPlain: isPlain)
        try await store.put([.putReport(report)]).get()
        let found = try #require(try await store.report(report.id)?.report)
        #expect(found == report)
        #expect(found.text?.bytes == report.text?.bytes && found.category?.bytes == report.category?.bytes)
        #expect(found.message == report.message)
      }
      #expect(try await store.report("alice/other") == nil)
      #expect(try await store.report("") == nil)
    }
  }

  @Test(arguments: Backing.allCases)
  func oneThatIsMadeAgainReplacesTheFirstIsTheNewestAndIsOpenAgainWithoutItsNote(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let first = MessageReport.sample(by: alice)
      try await store.put([.putReport(first), .putReport(.sample(by: bob))]).get()
      #expect(try await ids(store, .open) == ["bob/club-1", "alice/club-1"])
      try await store.put([.closeReport(first.id, note: "no\0thing", at: 20)]).get()
      let closed = try #require(try await store.report(first.id))
      #expect(closed.report.state == .closed && closed.report.note?.bytes == "no\0thing".bytes && closed.report.time == 10)
      #expect(try await ids(store, .open) == ["bob/club-1"])
      #expect(try await ids(store, .closed) == [first.id])
      #expect(try await store.openReports() == 1)

      try await store.put([.putReport(.sample(by: alice, at: 30, isPlain: true))]).get()
      let again = try #require(try await store.report(first.id))
      #expect(again.report == .sample(by: alice, at: 30, isPlain: true) && again.number > closed.number)
      #expect(try await ids(store, .open) == [first.id, "bob/club-1"])
      #expect(try await ids(store, .closed) == [])
      #expect(try await store.openReports() == 2)
    }
  }

  @Test(arguments: Backing.allCases)
  func oneIsClosedAgainWithAnotherNoteAndAnUnknownOneIsNothing(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let report = MessageReport.sample(by: alice)
      try await store.put([.putReport(report), .closeReport(report.id, note: "a", at: 20)]).get()
      let number = try await store.report(report.id)?.number
      try await store.put([.closeReport(report.id, note: nil, at: 21), .closeReport("bob/x", note: "b", at: 21)]).get()
      let found = try #require(try await store.report(report.id))
      #expect(found.report.state == .closed && found.report.note == nil && found.number == number)
      #expect(try await store.report("bob/x") == nil)
    }
  }

  @Test(arguments: Backing.allCases)
  func theyComeByStateAndGroupInPagesTheNewestFirst(_ backing: Backing) async throws {
    try await backing.withStore { store in
      var expected: [MessageReport.State: [String]] = [:]
      var ofClub: [String] = []
      for index in 1...20 {
        let group = index % 3 == 0 ? team : club
        let report = MessageReport(
          id: MessageReport.id(of: "m\(index)", by: alice), groupID: group, epoch: "e", seq: nil, msgID: "m\(index)",
          reporter: alice, time: 10, message: [0x7b, 0x7d])
        try await store.put([.putReport(report)]).get()
        if index % 4 == 0 { try await store.put([.closeReport(report.id, note: nil, at: 11)]).get() }
        expected[index % 4 == 0 ? .closed : .open, default: []].insert(report.id, at: 0)
        if index % 4 != 0, group == club { ofClub.insert(report.id, at: 0) }
      }
      let lists: [(MessageReport.State, GroupID?, [String])] = [
        (.open, nil, expected[.open] ?? []), (.closed, nil, expected[.closed] ?? []), (.open, club, ofClub),
      ]
      for (state, group, wanted) in lists {
        for limit in [1, 3, 99] {
          var (found, place): ([String], Int64) = ([], 0)
          while true {
            let page = try await store.reports(state: state, in: group, before: place, limit: limit)
            found += page.map(\.report.id)
            guard page.count == limit, let last = page.last else { break }
            place = last.number
          }
          #expect(found == wanted, "\(state) \(group as GroupID?) \(limit)")
        }
      }
      #expect(try await store.reports(state: .open, in: GroupID("nowhere")!, before: 0, limit: 9).isEmpty)
    }
  }

  /// "A report in a group that is disbanded stays."
  @Test(arguments: Backing.allCases)
  func itOutlivesItsGroup(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .putReport(.sample(by: alice))]).get()
      try await store.put([.dismiss(club, at: 20)]).get()
      #expect(try await ids(store, .open, in: club) == ["alice/club-1"])
    }
  }
}
