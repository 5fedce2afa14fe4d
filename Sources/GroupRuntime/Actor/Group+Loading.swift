import DequeModule
import GroupModel
import WireProtocol

/// Coming into memory and leaving it.
extension Group {
  func load() {
    phase = .loading
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
    guard case .loading = phase else { return }
    if let stored {
      phase = .live(Live(GroupState(stored, at: services.clock.now(), rules: services.rules)))
      tellAttributesAgain()
      attachEverybody(of: stored)
    } else {
      phase = .absent
    }
    // Whose grace ended while the group was not in memory is not attached, and leaves first; of very many, the rest leaves at once after.
    wakeState()
    workOff()
    retireIfAbsent()
  }

  /// Takes what has waited, unless the group has to be loaded once more.
  private func workOff() {
    while let work = backlog.first {
      if case .loading = phase { return }
      takeNow(work)
      backlog.removeFirst()
    }
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
    guard case .loading = phase else { return }
    services.observer.storeFailed(error, group: id)
    phase = .unloaded
    let waiting = backlog
    backlog = []
    for work in waiting { refuse(work) }
  }

  /// A commit failed while the members were still to be told of earlier attributes: "the last state always arrives".
  private func tellAttributesAgain() {
    guard attributesUntold else { return }
    attributesUntold = false
    let now = services.clock.now()
    withState { $0.tellAttributesAgain(at: now) }
  }

  /// Gives up the memory of a group that nobody used for a while. Members who are signed in are attached again when it is loaded; a
  /// live room with members signed in stays, because their going is to be noticed.
  func retire(unusedFor duration: Duration) {
    guard services.uptime.now() - lastUse >= duration, pipeline.isEmpty, backlog.isEmpty, lookUps == 0 else { return }
    switch phase {
    case .live(let live) where live.state.nextWake != nil || live.state.watchesSessions: return
    case .live, .absent, .unloaded: retire()
    case .loading, .retired: return
    }
  }

  /// An actor of a group that is not there is gone when it has nothing to do.
  func retireIfAbsent() {
    if case .absent = phase, pipeline.isEmpty, backlog.isEmpty { retire() }
  }

  private func retire() {
    phase = .retired
    registry?.forget(self)
    topic?.close()
    topic = nil
  }
}
