import Dispatch
import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// Commits, on every store.
@Suite struct CommitTests {
  /// Changes that contradict an empty store, or one that has `club` with alice and one message.
  static let contradictions: [[StoreChange]] = [
    [.create()],
    [.putGroup(.sample(team), isNew: false)],
    [.join(bob, team)],
    [.removeMember(bob, from: club, at: 1)],
    [.removeMember(alice, from: team, at: 1)],
    [.append(.sample(1))],
    [.append(.sample(3))],
    [.append(.sample(0))],
    [.append(.sample(nil))],
    [.append(.sample(1, in: team))],
    [.revise(.sample(2))],
    [.revise(.sample(nil))],
    [.revise(.sample(1, in: team))],
    [.dismiss(team, at: 1)],
    [.putFormer(FormerMember(userID: bob), in: team)],
    [.forgetFormer(bob, in: team)],
    [.putAttributes(GroupAttributes([.init(key: "k", value: "v")]), in: team)],
    [.putAttributes(GroupAttributes(), in: team)],
    [.putCounters([.init(key: "k", value: 1)], in: team)],
    [.putCounters([.init(key: "k", value: nil)], in: team)],
    [.putCounters([.init(key: "k", value: 9), .init(key: "old", value: nil)], in: club), .append(.sample(9))],
    [.apply(.sample("new", to: team))],
    [.apply(.sample("new", epoch: "e0"))],
    [.putApplication(.sample("new"), asNewest: false)],
    [.putApplication(.sample("known", to: team), asNewest: false)],
    // The id of an application belongs to one group for good.
    [.create(team), .apply(.sample("known", to: team))],
    [.dismiss(club, at: 1), .create(), .apply(.sample("known"))],
    [.dismiss(club, at: 1), .create(), .putApplication(.sample("known"), asNewest: false)],
    // Good ones before a bad one must leave no trace.
    [.create(team), .join(bob), .append(.sample(2)), .removeMember(alice, from: club, at: 1), .append(.sample(4))],
    [.dismiss(club, at: 1), .create(epoch: "e9"), .join(bob), .append(.sample(2))],
    [
      .putAttributes(GroupAttributes(), in: club), .apply(.sample("new")),
      .putApplication(.sample("known").handled(), asNewest: false), .notify(.sample(), .users([alice, bob])),
      .markApplicationsRead(alice, through: 99), .markNotificationsRead(alice, through: 99), .append(.sample(9)),
    ],
  ]

  @Test(arguments: Backing.allCases, contradictions)
  func aContradictionIsRefusedAndChangesNothing(_ backing: Backing, _ changes: [StoreChange]) async throws {
    try await backing.withStore { store in
      try await store.put([
        .create(), .join(alice), .append(.sample(1)), .putAttributes(GroupAttributes([.init(key: "k", value: "v")]), in: club),
        .putCounters([.init(key: "k", value: 1), .init(key: "old", value: 2)], in: club),
        .apply(.sample("known")), .notify(.sample(), .users([alice])),
      ]).get()
      let before = try await store.group(club, sentSince: 0)
      #expect(await store.put(changes).failure == .inconsistent)
      #expect(try await store.group(club, sentSince: 0) == before)
      #expect(try await store.group(team, sentSince: 0) == nil)
      #expect(try await store.departures(of: alice, from: nil, since: 0).isEmpty)
      #expect(try await store.application("new") == nil)
      #expect(try await store.application("known") == StoredApplication(application: .sample("known"), isGroupGone: false))
      #expect(try await store.notifications(of: alice, since: 0, before: 0, limit: 9).count == 1)
      #expect(try await store.notifications(of: bob, since: 0, before: 0, limit: 9).isEmpty)
      #expect(try await store.applicationsReadThrough(by: alice) == 0)
      #expect(try await store.notificationsReadThrough(by: alice) == 0)
      #expect(store.canPersist)
      // The next seq is unchanged.
      try await store.put([.append(.sample(2)), .create(team)]).get()
    }
  }

  @Test(arguments: Backing.allCases)
  func aFailedCommitBreaksItsGenerationAndNobodyElses(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .create(team)]).get()
      let broken = CommitGeneration()
      let sound = CommitGeneration()
      let answers = await store.putTogether([
        ([.append(.sample(1))], broken),
        ([.append(.sample(1, in: team))], sound),
        ([.append(.sample(7))], broken),
        ([.append(.sample(2, in: team))], sound),
        ([.append(.sample(2))], broken),
        ([.append(.sample(3, in: team))], sound),
      ])
      #expect(answers.map(\.failure) == [nil, nil, .inconsistent, nil, .abandoned, nil])
      #expect(broken.isBroken && !sound.isBroken)
      #expect(try await store.group(club, sentSince: 0)?.lastMessage?.seq == 1)
      #expect(try await store.group(team, sentSince: 0)?.lastMessage?.seq == 3)
      #expect(await store.put([.append(.sample(2))], broken).failure == .abandoned)
      try await store.put([.append(.sample(2))], CommitGeneration()).get()
    }
  }

  @Test(arguments: Backing.allCases)
  func onePoisonCommitAmongHundredsFailsAlone(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let ids = (0..<300).map { GroupID("g\($0)")! }
      let commits = ids.enumerated().map { index, id -> ([StoreChange], CommitGeneration) in
        ([.create(id), .append(.sample(index % 100 == 50 ? 2 : 1, in: id))], CommitGeneration())
      }
      let answers = await store.putTogether(commits)
      for (index, answer) in answers.enumerated() {
        #expect(answer.failure == (index % 100 == 50 ? .inconsistent : nil))
      }
      let groups = try await store.groups(ofType: nil, after: 0, limit: 1000)
      #expect(groups.count == 297)
    }
  }

  @Test(arguments: Backing.allCases)
  func manyThreadsCommitAndEachGenerationIsAnsweredInOrder(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let (threads, each) = (8, 150)
      let answers = Answers(expected: threads * (each + 1))
      DispatchQueue.concurrentPerform(iterations: threads) { thread in
        let group = GroupID("thread\(thread)")!
        let generation = CommitGeneration()
        for step in 0...each {
          let change = step == 0 ? StoreChange.create(group) : .append(.sample(Int64(step), in: group))
          let index = thread * (each + 1) + step
          store.commit(Commit(changes: [change], generation: generation) { answers.came($0, index) })
        }
      }
      #expect(await answers.all().allSatisfy { $0.failure == nil })
      for thread in 0..<threads {
        let own = answers.order.filter { $0 / (each + 1) == thread }
        #expect(own == own.sorted())
        let group = try await store.group(GroupID("thread\(thread)")!, sentSince: 0)
        #expect(group?.lastMessage?.seq == Int64(each))
      }
    }
  }

  @Test(arguments: Backing.allCases)
  func aCompletionMayCommitAgain(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let second: Commit.Answer = await withCheckedContinuation { continuation in
        store.commit(
          Commit(changes: [.create()], generation: CommitGeneration()) { _ in
            store.commit(
              Commit(changes: [.append(.sample(1))], generation: CommitGeneration()) { continuation.resume(returning: $0) })
          })
      }
      #expect(second.failure == nil)
    }
  }
}
