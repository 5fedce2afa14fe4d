import DequeModule
import GroupModel
import WireProtocol

/// Coming into memory and leaving it.
extension Group {
  func load() {
    phase = .loading
    Task {
      do throws(StoreError) {
        loaded(try await read())
      } catch {
        loadFailed(error)
      }
    }
  }

  /// The group as the store keeps it, and its members who are signed in. Off the executor, and page by page: however large the group is,
  /// its loading holds up nobody else.
  private nonisolated func read() async throws(StoreError) -> sending (live: Live, present: [UserID])? {
    let since = services.clock.now() - RecentlySent.memory
    // Not in the name of whoever asked first, who may leave while others wait.
    let stored = await Requester.$current.withValue(nil) { () async -> Result<StoredGroup?, StoreError> in
      do throws(StoreError) { return .success(try await services.groups.group(id, sentSince: since)) } catch {
        return .failure(error)
      }
    }
    guard let stored = try stored.get() else { return nil }
    let now = services.clock.now()
    var state = GroupState(stored, at: now, rules: services.rules)
    let isForEverybody = stored.record.type.everyoneIsMember
    // Sessions that come and go from here on are told to the group, and wait until it is loaded.
    let present = isForEverybody ? services.broker.signedInUsers() : services.broker.signedIn(among: stored.members.map(\.userID))
    state.noteAbsent(except: Set(present), at: now)
    return (Live(state), present)
  }

  func loaded(_ found: sending (live: Live, present: [UserID])?) {
    guard case .loading = phase else { return }
    if let found {
      phase = .live(found.live)
      tellAttributesAgain()
      if found.live.state.record.type.everyoneIsMember { registry?.noteEveryoneIsMember(of: self) }
      for user in found.present { refreshPresence(of: user) }
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
