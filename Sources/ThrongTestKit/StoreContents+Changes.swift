import GroupModel
import GroupRuntime

/// Changes of stored messages: numbers, pins and reactions.
extension StoreContents {
  mutating func noteChange(_ message: Message) throws(StoreError) -> Undo {
    let id = message.groupID
    if let seq = message.seq, let group = groups[id], seq < group.firstSeq { return { _ in } }
    let index = try index(of: message)
    let before = groups[id]
    let isTaken = before?.messages.contains { $0.changeSeq == message.changeSeq && $0.seq != message.seq } ?? false
    try expect(!isTaken, "change \(message.changeSeq) of \(id) is of another message")
    groups[id]?.messages[index].changeSeq = message.changeSeq
    groups[id]?.messages[index].editTime = message.editTime
    groups[id]?.messages[index].isPinned = message.isPinned
    let seq = message.seq ?? 0
    groups[id]?.pins[seq] = message.isPinned ? before?.pins[seq] ?? message.changeSeq : nil
    return { $0.groups[id] = before }
  }

  mutating func put(_ changeSeq: Int64, _ time: WallInstant, _ group: GroupID) throws(StoreError) -> Undo {
    guard let before = groups[group]?.record else { throw StoreError(.inconsistent, "no group \(group) to change") }
    groups[group]?.record.changeSeq = changeSeq
    groups[group]?.record.changeTime = time
    return { $0.groups[group]?.record = before }
  }

  mutating func put(_ revision: Int64, _ board: Int64, _ group: GroupID) -> Undo {
    guard let before = groups[group]?.record else { return { _ in } }
    groups[group]?.record.revision = max(before.revision, revision)
    groups[group]?.record.board = max(before.board, board)
    return { $0.groups[group]?.record = before }
  }

  mutating func put(
    _ origin: ChangeOrigin, _ seq: Int64, _ changeSeq: Int64, _ group: GroupID
  ) throws(StoreError) -> Undo {
    guard let before = groups[group] else { throw StoreError(.inconsistent, "no group \(group) with a change") }
    if seq < before.firstSeq { return { _ in } }
    try expect(
      before.messages(in: seq...seq).first?.changeSeq == changeSeq, "no change \(changeSeq) of message \(seq) of \(group)")
    let known = before.origins[seq]
    let otherSeq = known.map { $0.origin.kind == origin.kind ? $0.otherSeq : $0.changeSeq } ?? 0
    groups[group]?.origins[seq] = StoredChangeOrigin(origin, changeSeq: changeSeq, otherSeq: otherSeq)
    return { $0.groups[group] = before }
  }

  mutating func update(_ update: ReactionUpdate) throws(StoreError) -> Undo {
    let (group, seq) = (update.group, update.seq)
    guard let before = groups[group] else { throw StoreError(.inconsistent, "no group \(group) to react in") }
    if seq < before.firstSeq { return { _ in } }
    var reactions = before.reactions[seq] ?? []
    let index = reactions.firstIndex { $0.number == update.number }
    if update.isAdded {
      let others = before.reactions.filter { $0.key != seq }.values.flatMap { $0 }
      let isTaken = (reactions + others).contains { $0.number == update.number && $0.users.contains(update.user) }
      try expect(!isTaken, "\(update.user) has given reaction \(update.number)")
      if update.number == update.changeSeq {
        try expect(index == nil, "reaction \(update.number) is there")
        reactions.append(StoredReaction(number: update.number, reaction: update.reaction, count: 0))
      }
      guard let index = reactions.firstIndex(where: { $0.number == update.number }) else {
        throw StoreError(.inconsistent, "no reaction \(update.number) of message \(seq)")
      }
      reactions[index].count += 1
      reactions[index].users.append(update.user)
    } else {
      guard let index, let user = reactions[index].users.firstIndex(of: update.user) else {
        throw StoreError(.inconsistent, "no reaction \(update.number) of \(update.user) to remove")
      }
      reactions[index].count -= 1
      reactions[index].users.remove(at: user)
      if reactions[index].count == 0 { reactions.remove(at: index) }
    }
    groups[group]?.reactions[seq] = reactions.isEmpty ? nil : reactions.sorted { $0.number < $1.number }
    return { $0.groups[group] = before }
  }

  mutating func removeReactions(_ seq: Int64, _ group: GroupID) throws(StoreError) -> Undo {
    guard let before = groups[group] else { throw StoreError(.inconsistent, "no group \(group) with reactions") }
    groups[group]?.reactions[seq] = nil
    return { $0.groups[group] = before }
  }
}

extension StoreContents.Group {
  /// The pinned messages, the last pinned first.
  var pinned: [Int64] { pins.sorted { $0.value > $1.value }.map(\.key) }
}
