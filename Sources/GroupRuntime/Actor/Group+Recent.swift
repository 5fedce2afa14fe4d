import GroupModel
import WireProtocol

/// The memory of a live room: opening and leaving it, noting what is fanned out, and answers.
extension Group {
  // MARK: The room

  /// Gives a group that was loaded the numbers of what it remembers.
  func openRecentRoom(for box: StateBox) {
    guard let recent = services.recent, box.type == .avChatRoom else { return }
    // After a failed commit the room is open; it has what was handed to the fan-out.
    if let history = recentRoom?.history { return box.state.live = history }
    let room = recent.open(id)
    recentRoom = room
    box.state.live = room.history ?? LiveHistory(epoch: room.epoch)
  }

  /// Gives a new group numbers of its own.
  func openRecentRoom(ofNew box: StateBox) {
    guard let recent = services.recent, box.type == .avChatRoom else { return }
    let epoch = RandomID.with64Bits()
    box.state.live = LiveHistory(epoch: epoch)
    // Messages of a former group of this ID may still be on their way to its room. Its end opens the
    // next one.
    guard recentRoom == nil else { return }
    recent.remove(id)
    recentRoom = recent.open(id, epoch: epoch)
  }

  /// Forgets the room, because the group has ended or is not there. A new group of the same ID may have
  /// been decided meanwhile.
  func forgetRecentRoom() {
    leaveRecentRoom()
    if let live = box?.state.live { recentRoom = services.recent?.open(id, epoch: live.epoch) }
  }

  /// Another node is to decide for the group: the room begins anew there, and here if it comes back.
  func leaveRecentRoom() {
    recentRoom = nil
    services.recent?.remove(id)
  }

  /// The group leaves memory, and what the room remembers stays.
  func closeRecentRoom() {
    recentRoom?.close()
    recentRoom = nil
  }

  // MARK: What is fanned out

  /// The frame of an event, which is kept where it is a message that the room remembers.
  func rememberedFrame(of event: GroupEvent, in room: RecentRoom) -> [UInt8] {
    guard let message = RecentMessage(event) else { return event.frame }
    let bytes = message.frame.bytes
    room.append(message, at: services.clocks.monotonic)
    return bytes
  }

  /// Takes the content of a message away, whose recall was decided.
  func forgetContent(seq: Int64, changeSeq: Int64) {
    guard let recentRoom else { return }
    recentRoom.recall(seq, changeSeq: changeSeq)
    if let box, box.state.live?.epoch == recentRoom.epoch { box.state.live?.didRecall(seq) }
  }

  // MARK: Answers

  /// Answers out of what is remembered. A profile that is not in memory is read; requests go on
  /// meanwhile.
  func answer(_ question: RecentQuestion, for requester: Requester?, _ completion: @escaping Completion) {
    guard let answer = recentRoom?.answer(to: question, at: services.clocks.monotonic) else {
      return completion(.error(.temporary))
    }
    let maxBytes = services.rules.limits.pageBytes
    let (found, missing) = services.profiles.lookUp(answer.users)
    if missing.isEmpty { return completion(answer.reply(of: id, maxBytes: maxBytes, showing: found)) }
    let reader = StoredAnswerReader(
      group: id, messages: services.messages, profiles: services.profiles, observer: services.observer, pageBytes: maxBytes,
      didCount: { _, _ in })
    Task { completion(await Requester.$current.withValue(requester) { await reader.reply(to: answer) }) }
  }

  /// Decides a request over what is remembered now, which nobody can change before the decision.
  func decide(_ lookUp: RecentLookUp, for caller: Caller, _ completion: @escaping Completion) {
    guard let box else { return completion(.error(.temporary)) }
    let now = services.clocks.now
    // The room may still be that of a former group of this ID.
    let room = recentRoom.flatMap { $0.epoch == box.state.live?.epoch ? $0 : nil }
    // Its sender may know a message that is not remembered yet: it was Queued.
    let found = room.flatMap { $0.message(for: lookUp, at: now.monotonic) ?? pipeline.leavingMessage(lookUp.target) }
    decide(.foundRecent(lookUp, found), by: caller, at: now, completion, in: box)
  }
}
