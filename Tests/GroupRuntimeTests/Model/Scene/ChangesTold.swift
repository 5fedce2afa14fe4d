import ThrongTestKit

/// The rules of the events of changed messages: each shows the message as its change has left it,
/// they leave in the order of `changeSeq`, at most 20 edits and reactions a second, and the last
/// state always arrives (Protocol.md, "Events of changes").
struct ChangesTold {
  static let names: Set<String> = [
    "onRecvMessageRevoked", "onRecvMessageModified", "onRecvMessageReactionsChanged", "onGroupMessagePinned",
  ]

  private var epoch: JSON?
  /// All changes up to this one are told, or replaced by later ones.
  private var through = 0
  /// Changes that nobody was there to be told of.
  private var unheard: Set<Int> = []
  private var times: [Int64] = []

  /// Up to this change events may come again: a commit has failed, and those that waited were made
  /// anew from the store.
  private var againThrough = 0

  /// A process has died: events that waited are lost.
  mutating func forget(_ world: ModelWorld) { (through, againThrough) = (world.group?.changeSeq ?? 0, 0) }

  /// Events that wait are made again.
  mutating func expectAgain(_ world: ModelWorld) {
    forget(world)
    againThrough = through
    times = []
  }

  /// - Returns: what is wrong with the events of one operation, or nil.
  mutating func fault(_ events: [GroupScene.Outcome.Event], _ world: ModelWorld, nextWake: Int64?) -> String? {
    guard let group = world.group else { return nil }
    if group.epoch != epoch { self = ChangesTold(epoch: group.epoch) }
    for event in events where ChangesTold.names.contains(event.name) {
      let number = event.params["changeSeq"].int ?? 0
      if number <= againThrough {
        if let fault = faultAgain(event, number, group, world) { return fault }
        continue
      }
      guard number > through, let change = group.changes.first(where: { $0.number == number }) else {
        return "\(event.name) \(event.params.text) after \(through)"
      }
      if let missing = untold(group, world, through: number - 1) { return "\(missing.name) \(missing.number) is not told" }
      through = number
      var params = event.params.members
      let time = params.removeValue(forKey: "opTime")?.integer ?? 0
      if event.name != change.name { return "\(event.name) is told, not \(change.name)" }
      if JSON.object(params) != world.shown(.object(change.params)) {
        return "\(event.name) is told with\n    \(JSON.object(params).text), not\n    \(world.shown(.object(change.params)).text)"
      }
      if event.receivers != world.sessions(of: world.audience(of: change.index)) {
        return "\(event.name) is told to \(event.receivers.sorted())"
      }
      if change.isLimited { times = times.filter { $0 > time - 1000 } + [time] }
      if times.count > 20 { return "\(times.count) events of changes in a second" }
    }
    for change in group.changes where change.number > through && world.sessions(of: world.audience(of: change.index)).isEmpty {
      unheard.insert(change.number)
    }
    guard let waiting = untold(group, world, through: group.changeSeq) else { return nil }
    guard let nextWake, nextWake <= world.now + 1000 else { return "\(waiting.name) \(waiting.number) is not told" }
    return nil
  }

  /// An event that was made again shows the message as it is.
  private func faultAgain(
    _ event: GroupScene.Outcome.Event, _ number: Int, _ group: ModelGroup, _ world: ModelWorld
  ) -> String? {
    let seq = event.params["seq"].int ?? event.params["message"]["seq"].int
    guard let index = group.messages.firstIndex(where: { $0.seq == seq }) else {
      return "\(event.name) of no message comes again"
    }
    let message = group.messages[index]
    let counts = message.reactions.map { JSON.object(["reaction": .string($0.reaction), "count": .int($0.users.count)]) }
    let isRight =
      switch event.name {
      case "onRecvMessageModified": event.params["message"] == world.shown(message.json)
      case "onRecvMessageReactionsChanged": event.params["reactions"].elements == counts
      case "onGroupMessagePinned": event.params["isPinned"] == .bool(message.isPinned)
      default: message.isRevoked
      }
    guard isRight, number == message.changeSeq, event.receivers == world.sessions(of: world.audience(of: index)) else {
      return "\(event.name) \(event.params.text) comes again to \(event.receivers.sorted())"
    }
    return nil
  }

  /// A change that somebody misses.
  private func untold(_ group: ModelGroup, _ world: ModelWorld, through last: Int) -> ModelChange? {
    group.changes.first { change in
      // Retention takes the messages of events that wait.
      guard change.number > through, change.number <= last, change.index >= group.firstSeq - 1 else { return false }
      let isReplaced = group.changes.contains { later in
        later.number > change.number && later.index == change.index
          && (later.name == "onRecvMessageRevoked" || (change.isLimited && later.name == change.name))
      }
      return !isReplaced && !unheard.contains(change.number)
    }
  }

  init() {}

  private init(epoch: JSON) { self.epoch = epoch }
}
