import DequeModule
import GroupModel
import WireProtocol

/// Coming into memory and leaving it.
extension Group {
  func load(for work: [Work]) {
    phase = .loading(Deque(work))
    Task {
      do throws(StoreError) {
        let since = services.clock.now() - RecentlySent.memory
        loaded(try await services.groups.group(id, sentSince: since))
      } catch {
        loadFailed(error)
      }
    }
  }

  func loaded(_ stored: StoredGroup?) {
    guard case .loading(let waiting) = phase else { return }
    if let stored {
      phase = .live(Live(GroupState(stored, rules: services.rules)))
      tellAttributesAgain()
      attachEverybody(of: stored)
    } else {
      phase = .absent
    }
    // Whose grace ended while the group was not in memory is not attached, and leaves first; of very many, the rest leaves at once after.
    wakeState()
    for work in waiting { take(work) }
    if case .absent = phase, pipeline.isEmpty { retire() }
  }

  /// A new group that everyone is a member of: those who are signed in already get its events.
  func welcomeEveryone() {
    registry?.noteEveryoneIsMember(of: self)
    for user in services.broker.signedInUsers() { refreshPresence(of: user) }
  }

  func attachEverybody(of stored: StoredGroup) {
    guard !stored.record.type.everyoneIsMember else { return welcomeEveryone() }
    for member in stored.members { refreshPresence(of: member.userID) }
  }

  func loadFailed(_ error: StoreError) {
    guard case .loading(let waiting) = phase else { return }
    services.observer.storeFailed(error, group: id)
    phase = .unloaded
    for work in waiting { refuse(work) }
  }

  /// A commit failed while the members were still to be told of earlier attributes: "the last state always arrives".
  private func tellAttributesAgain() {
    guard attributesUntold else { return }
    attributesUntold = false
    let now = services.clock.now()
    withState { $0.attributes.tellAgain(at: now) }
  }

  /// Gives up the memory of a group that nobody used since an instant. Members who are signed in are attached again when it is loaded; a
  /// live room with members signed in stays, because their going is to be noticed.
  func retire(unusedSince limit: Instant) {
    guard lastUse < limit, pipeline.isEmpty, lookUps == 0 else { return }
    switch phase {
    case .live(let live) where live.state.nextWake != nil || live.state.watchesSessions: return
    case .live, .absent, .unloaded: retire()
    case .loading, .retired: return
    }
  }

  func retire() {
    phase = .retired
    registry?.forget(self)
    topic?.close()
    topic = nil
  }
}
