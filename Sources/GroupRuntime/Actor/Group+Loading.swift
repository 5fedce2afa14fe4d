import DequeModule
import GroupModel
import WireProtocol

/// Loading the group, and removing it from memory.
extension Group {
  /// A group as the store keeps it, and its members who are signed in.
  typealias LoadedGroup = (box: StateBox, present: [UserID])

  /// - Parameter requester: the user in whose turn the store reads; nil = the server itself.
  func load(for requester: Requester?) {
    leaveState(for: .loading)
    Task {
      do throws(StoreError) {
        finishLoading(try await read(for: requester))
      } catch {
        failLoading(error)
      }
    }
  }

  /// Reads the group off the executor, in pages, so that a large group delays no other.
  /// - Parameter requester: made for this read alone, because others may wait for the group when
  ///   the session that asked first has ended.
  private nonisolated func read(for requester: Requester?) async throws(StoreError) -> sending LoadedGroup? {
    let start = services.clocks.wall
    let sentSince = start.advanced(byMilliseconds: -RecentlySent.retentionMilliseconds)
    let result = await Requester.$current.withValue(requester) { () async -> Result<StoredGroup?, StoreError> in
      do throws(StoreError) {
        return .success(
          try await services.groups.group(id, sentSince: sentSince, at: start, mostFormer: FormerMembers.maxCount))
      } catch {
        return .failure(error)
      }
    }
    guard var stored = try result.get() else { return nil }
    stored.sentSince = sentSince
    let now = services.clocks.now
    var state = GroupState(stored, at: now, rules: services.rules)
    // Later changes of presence wait in the backlog. A group of everybody looks when the registry
    // can tell it of later ones.
    let present = stored.record.type.everyoneIsMember ? [] : services.broker.signedIn(among: stored.members.map(\.userID))
    state.setAbsent(except: Set(present), at: now.monotonic)
    return (StateBox(state), present)
  }

  private func finishLoading(_ loaded: sending LoadedGroup?) {
    guard case .loading = phase else { return }
    if let loaded {
      openRecentRoom(for: loaded.box)
      phase = .attaching(loaded.box)
      resumeSlowMode()
      republishAttributes()
      resumeCounters()
      resumeMemberNotices()
      beginStamps(in: loaded.box)
      announceLostChanges()
      let isOfEverybody = loaded.box.type.everyoneIsMember
      if isOfEverybody { registry?.noteEveryoneIsMember(of: self) }
      isOnlyRead = true
      registry?.noteLoaded(self, bytes: loaded.box.state.estimatedBytes())
      // All who are attached are told together.
      beginTelling()
      attach(isOfEverybody ? services.broker.signedInUsers() : loaded.present)
    } else {
      phase = .absent
      told.end()
      forgetRecentRoom()
      _ = registry?.slowModes.pop(id)
      processBacklog()
    }
  }

  /// Performs what has waited for loading and attaching.
  func processBacklog() {
    noteFootprint()
    // Members whose grace has ended leave before the backlog.
    runDueWork()
    drainBacklog()
    commitCorrections()
    retireIfAbsent()
  }

  /// Processes the inputs that waited, unless the group has to be loaded or attached once more.
  private func drainBacklog() {
    while let input = backlog.first {
      switch phase {
      case .loading, .attaching: return
      case .unloaded, .absent, .loaded, .retired: process(input)
      }
      backlog.removeFirst()
    }
  }

  private func failLoading(_ error: StoreError) {
    guard case .loading = phase else { return }
    services.observer.storeFailed(error, group: id)
    phase = .unloaded
    let failed = backlog
    backlog = []
    for input in failed { input.fail() }
  }

  /// Publishes the attributes that a failed commit has kept from the members: "the last state
  /// always arrives".
  private func republishAttributes() {
    guard mustRepublishAttributes else { return }
    mustRepublishAttributes = false
    let now = services.clocks.monotonic
    box?.state.republishAttributes(at: now)
  }

  /// Makes the events of changes again that a failed commit has kept from the members.
  private func announceLostChanges() {
    let beginning = told.beginnings
    for lost in lostAnnouncements {
      look(up: .message(MessageLookUp(seq: lost.seq, purpose: .announce(lost))), for: .administrator) { _ in
        self.assumeIsolated { $0.didAnnounceLostChange(of: beginning) }
      }
    }
    lostAnnouncements = []
  }

  /// Tells the members of mutes and roles that a failed commit has kept from them.
  private func resumeMemberNotices() {
    guard let interrupted = interruptedMemberNotices else { return }
    interruptedMemberNotices = nil
    box?.state.resume(interrupted)
  }

  /// Lets members wait who have written before the group left memory, or its state was lost.
  private func resumeSlowMode() {
    let known = registry?.slowModes.pop(id)
    if let box, box.state.record.policy.slowMode > 0 { box.state.slow = known }
  }

  /// Keeps what is known of slow mode, because the state goes.
  /// - Parameter users: their last message was never sent.
  func keepSlowMode(without users: Set<UserID> = []) {
    guard let box, var slow = exchange(&box.state.slow, with: nil) else { return }
    slow.remove(users)
    registry?.slowModes.keep(slow, of: id, seconds: box.state.record.policy.slowMode, at: services.clocks.monotonic)
  }

  // MARK: Retiring

  /// Removes the group from memory if it was unused for so long. Loading attaches its members
  /// again; the broker takes care of a live room's members meanwhile.
  func retire(unusedFor duration: Duration) {
    if services.clocks.monotonic - lastUse >= duration { retireUnlessBusy() } else { noteFootprint() }
  }

  /// Removes the group from memory if it was only read.
  func retireIfOnlyRead() {
    guard isOnlyRead else { return }
    retireUnlessBusy()
    if let box { registry?.keepOnlyRead(self, bytes: box.state.estimatedBytes()) }
  }

  private func retireUnlessBusy() {
    guard pipeline.isEmpty, counterCommits.isEmpty, backlog.isEmpty, readings.isEmpty, receiptNotices.isIdle, crowd.isEmpty else {
      return
    }
    switch phase {
    case .loaded(let box) where box.state.isBusy(at: services.clocks.monotonic): return
    case .loaded, .absent, .unloaded: retire()
    case .loading, .attaching, .retired: return
    }
  }

  func noteFootprint() {
    guard let box else { return footprint.note(0, owner: nil) }
    footprint.note(box.state.estimatedBytes(), owner: box.state.record.owner)
  }

  /// Removes the actor of a groupID without a group as soon as it has nothing to do.
  func retireIfAbsent() {
    if case .absent = phase, pipeline.isEmpty, counterCommits.isEmpty, backlog.isEmpty, crowd.isEmpty { retire() }
  }

  func retire() {
    if box?.type == .avChatRoom { topic?.suspend() } else { topic?.close() }
    stopAttaching()
    topic = nil
    closeRecentRoom()
    keepSlowMode()
    leaveState(for: .retired)
    footprint.note(0, owner: nil)
    registry?.forget(self)
  }
}
