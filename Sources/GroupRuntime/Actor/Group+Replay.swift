import GroupModel
import WireProtocol

/// Telling again what another node has missed (Cluster.md, "Replay"). It is read off the executor; later
/// decisions go on meanwhile, and the node holds them back.
extension Group {
  @inline(never)
  func replay(
    from: GroupStamp?, through: GroupStamp, in box: StateBox, _ completion: @escaping @Sendable (GroupReplay) -> Void
  ) {
    let plan: ReplayPlan
    do throws(GroupReplay.Reason) {
      plan = try ReplayPlan(from: from, through: through, in: box.state.replayHistory())
    } catch {
      return completion(.impossible(error))
    }
    if plan.isEmpty { return completion(.events([])) }
    guard plan.tellsBoard else { return read(plan, nil, completion) }
    // The state may be ahead of the store.
    let board = ReplayedBoard(attributes: box.state.attributes.values, counters: box.state.counters.values)
    whenDurable(in: box) { isDurable in
      guard isDurable else { return completion(.impossible(.storeFailed)) }
      self.assumeIsolated { $0.read(plan, board, completion) }
    }
  }

  /// Calls back on the executor when all that was decided is durable; with false where it is void.
  private func whenDurable(in box: StateBox, _ body: @escaping @Sendable (Bool) -> Void) {
    let decided: Completion = { reply in
      guard case .success = reply else { return body(false) }
      self.assumeIsolated { $0.whenCountersAreDurable(body) }
    }
    if pipeline.isEmpty { decided(.success(.empty)) } else { pipeline.append(Decision(), from: box, decided) }
  }

  private func whenCountersAreDurable(_ body: @escaping @Sendable (Bool) -> Void) {
    guard let box else { return body(false) }
    guard box.state.counters.isWriting else { return body(true) }
    replyWhenCountersAreDurable(.success(.empty)) { reply in
      if case .success = reply { body(true) } else { body(false) }
    }
  }

  private func read(
    _ plan: ReplayPlan, _ board: ReplayedBoard?, _ completion: @escaping @Sendable (GroupReplay) -> Void
  ) {
    // It keeps the group in memory.
    let reading = readings.begin(for: nil)
    let (reader, profiles) = (ReplayReader(group: id, store: services.messages), services.profiles)
    Task {
      var replay = GroupReplay.impossible(.storeFailed)
      do throws(StoreError) {
        switch try await reader.read(plan) {
        case .failure(let reason): replay = .impossible(reason)
        case .success(let found):
          if let contents = contents(again: found, board, of: plan.epoch) {
            replay = contents.replay(showing: try await profiles.profiles(of: contents.flatMap(\.shownUsers)))
          } else {
            replay = .impossible(.noGroup)
          }
        }
      } catch {
        services.observer.storeFailed(error, group: id)
      }
      _ = readings.end(reading, nil)
      forgetChanges()
      completion(replay)
    }
  }

  /// Nil where the group is not in memory any more.
  private func contents(again found: ReplayFound, _ board: ReplayedBoard?, of epoch: String) -> [ReplayedContent]? {
    guard let box, box.state.record.epoch == epoch else { return nil }
    return box.state.events(again: found, board, at: services.clocks.wall)
  }
}

extension ReplayedContent {
  /// The users whose profiles it shows.
  fileprivate var shownUsers: [UserID] {
    guard case .onRecvNewMessage(let message) = event.content else { return event.users }
    return message.sender == .administrator ? [] : [message.sender]
  }

  fileprivate func event(showing profiles: [UserID: UserProfile]) -> ReplayedEvent {
    var shown = event
    if case .onRecvNewMessage(let message) = event.content {
      shown = GroupEvent(
        groupID: event.groupID, opTime: event.opTime, event.content, senderProfile: profiles[message.sender])
    } else {
      shown.show(profiles)
    }
    return ReplayedEvent(frame: shown.frame, kind: kind, users: users, sent: sent)
  }
}

extension [ReplayedContent] {
  fileprivate func replay(showing profiles: [UserID: UserProfile]) -> GroupReplay {
    let events = map { $0.event(showing: profiles) }
    let bytes = events.reduce(0) { $0 + $1.frame.count }
    return bytes <= ReplayPlan.maxBytes ? .events(events) : .impossible(.tooMuch)
  }
}
