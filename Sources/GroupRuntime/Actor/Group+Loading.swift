import DequeModule
import GroupModel
import WireProtocol

/// Coming into memory and leaving it.
extension Group {
  /// - Parameter work: the first that asks for the group; nil = none does, after a failed commit.
  func load(for work: Work? = nil) {
    phase = .loading
    let requester = work.map { Requester($0.userID) }
    Task {
      do throws(StoreError) {
        loaded(try await read(for: requester))
      } catch {
        loadFailed(error)
      }
    }
  }

  /// The group as the store keeps it, and its members who are signed in. Off the executor, and page by page: however large the group is,
  /// its loading holds up nobody else.
  /// - Parameter requester: the user in whose turn the group is read. It never leaves, because
  ///   others may wait for the group when the session that asked has gone.
  private nonisolated func read(
    for requester: Requester?
  ) async throws(StoreError) -> sending (live: Live, present: [UserID])? {
    let begin = services.clock.now()
    let stored = await Requester.$current.withValue(requester) { () async -> Result<StoredGroup?, StoreError> in
      do throws(StoreError) {
        return .success(
          try await services.groups.group(
            id, sentSince: begin - RecentlySent.retention, at: begin, mostFormer: FormerMembers.maxCount))
      } catch {
        return .failure(error)
      }
    }
    guard let stored = try stored.get() else { return nil }
    let now = services.clock.now()
    var state = GroupState(stored, at: now, rules: services.rules)
    // Sessions that come and go from here on are told to the group, and wait until it is loaded; one that everyone is a member of looks
    // when it is in everybody's sight.
    let present = stored.record.type.everyoneIsMember ? [] : services.broker.signedIn(among: stored.members.map(\.userID))
    state.setAbsent(except: Set(present), at: now)
    return (Live(state), present)
  }

  func loaded(_ found: sending (live: Live, present: [UserID])?) {
    guard case .loading = phase else { return }
    if let found {
      phase = .live(found.live)
      tellAttributesAgain()
      let isForEverybody = found.live.state.record.type.everyoneIsMember
      if isForEverybody { registry?.noteEveryoneIsMember(of: self) }
      for user in isForEverybody ? services.broker.signedInUsers() : found.present { refreshPresence(of: user) }
      noteFootprint()
      isOnlyRead = true
      registry?.noteLoaded(self, bytes: found.live.state.estimatedBytes)
    } else {
      phase = .absent
    }
    // Whose grace ended while the group was not in memory is not attached, and leaves first; of very many, the rest leaves at once after.
    wakeState()
    workOff()
    commitCorrections()
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
    withState { $0.republishAttributes(at: now) }
  }

  /// Gives up the memory of a group that nobody used for a while. Members who are signed in are attached again when it is loaded; what
  /// becomes of a live room's members meanwhile, the broker sees to.
  func retire(unusedFor duration: Duration) {
    if services.uptime.now() - lastUse >= duration { retireUnlessBusy() } else { noteFootprint() }
  }

  /// The same for one that was only looked at.
  func retireIfOnlyRead() {
    guard isOnlyRead else { return }
    retireUnlessBusy()
    if case .live(let live) = phase { registry?.keepOnlyRead(self, bytes: live.state.estimatedBytes) }
  }

  private func retireUnlessBusy() {
    guard pipeline.isEmpty, backlog.isEmpty, lookUps == 0 else { return }
    switch phase {
    case .live(let live) where live.state.isBusy(at: services.clock.now()): return
    case .live, .absent, .unloaded: retire()
    case .loading, .retired: return
    }
  }

  func noteFootprint() {
    guard case .live(let live) = phase else { return footprint.note(0, owner: nil) }
    footprint.note(live.state.estimatedBytes, owner: live.state.record.owner)
  }

  /// An actor of a group that is not there is gone when it has nothing to do.
  func retireIfAbsent() {
    if case .absent = phase, pipeline.isEmpty, backlog.isEmpty { retire() }
  }

  private func retire() {
    if case .live(let live) = phase, live.state.record.type == .avChatRoom { topic?.suspend() } else { topic?.close() }
    topic = nil
    phase = .retired
    footprint.note(0, owner: nil)
    registry?.forget(self)
  }
}
