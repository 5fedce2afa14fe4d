/// Resuming after each sign-in (Protocol.md, "Reconnecting").
extension ClientState {
  mutating func startResume() {
    // A try before this one may have told the events of some groups.
    tracker.hold()
    resume = Resume(
      since: tracker.toldUntil, isFirst: !wasInStep, listedAt: serverTime, known: tracker.groups.keys.sorted())
    readJoined(from: 0)
  }

  private mutating func readJoined(from nextSeq: Int) {
    guard let resume else { return }
    let since = resume.listsAll ? nil : max(0, resume.since - Resume.lookBack)
    request(
      Methods.GetJoinedGroupList(updatedSince: since, count: Resume.groupsPerPage, nextSeq: nextSeq), .resume(.joined))
  }

  mutating func didReadJoined(_ page: Methods.GetJoinedGroupList.Result, bytes: Int) throws(ClientError) {
    guard resume != nil else { return }
    try resume?.add(page, bytes: bytes)
    if page.nextSeq != 0 { return readJoined(from: page.nextSeq) }
    plan()
    continueResume()
  }

  /// Sorts the groups by what has to be asked about them.
  private mutating func plan() {
    guard var resume else { return }
    let known = Set(resume.known).intersection(tracker.groups.keys)
    resume.left = resume.gone.intersection(known)
    if resume.listsAll {
      resume.left.formUnion(known.filter { resume.infos[$0] == nil && tracker.groups[$0]?.isLive == false })
    }
    for (groupID, info) in resume.infos where !tracker.isTracked(groupID) && track(info) {
      tracker.didJoin(groupID)
    }
    let kept = known.subtracting(resume.left).sorted()
    let entered = tracker.enteredBefore.filter { !tracker.isTracked($0) }.sorted()
    resume.live = kept.filter { tracker.groups[$0]?.isLive == true } + entered
    resume.stored = kept.filter { tracker.groups[$0]?.isLive == false }
    self.resume = resume
  }

  private mutating func continueResume() {
    guard var resume else { return }
    if !resume.live.isEmpty {
      resume.asked = Resume.takeBatch(of: &resume.live)
      request(Methods.GetGroupsInfo(groupIDList: resume.asked), .resume(.live))
    } else {
      // A group that has ended meanwhile has no row.
      while resume.rows.isEmpty, !resume.stored.isEmpty {
        resume.rows = Resume.takeBatch(of: &resume.stored).compactMap(row)
      }
      guard !resume.rows.isEmpty else { return finish(resume) }
      request(Methods.SyncGroups(groups: resume.rows.map(\.ask)), .resume(.history))
    }
    self.resume = resume
  }

  private func row(of groupID: String) -> Resume.Row? {
    guard let group = tracker.groups[groupID] else { return nil }
    let start = outbox.startOfSync(of: groupID, at: group.place.seq)
    return Resume.Row(
      known: group.place,
      ask: Methods.SyncGroups.GroupRow(groupID: groupID, epoch: group.epoch, seq: start, changeSeq: group.place.changeSeq))
  }

  /// Live rooms forget members who stay away too long. Those that remember their last messages are
  /// left to a sync.
  mutating func didCheckLive(_ result: Methods.GetGroupsInfo.Result) {
    guard let asked = resume?.asked else { return }
    for row in result.resultList where asked.contains(row.groupID) {
      tracker.didEnter(row.groupID)
      guard row.code == 0, let info = row.info, info.selfInfo != nil else {
        resume?.left.insert(row.groupID)
        continue
      }
      if !tracker.isTracked(row.groupID) {
        track(info)
      } else if tracker.check(row.groupID, info) {
        resume?.rooms[row.groupID] = info
        resume?.stored.append(row.groupID)
        continue
      }
      resume?.notRecovered.insert(row.groupID)
      store(.info(info))
      tell(.sync(GroupSync(groupID: row.groupID, recovered: false, info: info)), bytes: frameBytes / result.resultList.count)
      release(row.groupID)
    }
    continueResume()
  }

  /// - Throws: where a row is missing, or nothing has advanced. A row alone may stay where it is: all
  ///   rows share the bytes of an answer.
  mutating func didSync(_ result: Methods.SyncGroups.Result) throws(ClientError) {
    guard let rows = resume?.rows else { return }
    let answers = Dictionary(result.groups.map { ($0.groupID, $0) }, uniquingKeysWith: { first, _ in first })
    var behind: [Resume.Row] = []
    var hasAdvanced = rows.isEmpty
    for row in rows {
      guard let answer = answers[row.ask.groupID] else { throw ClientError(.badAnswer, detail: "a row is missing") }
      let next = try take(answer, for: row, bytes: frameBytes / answers.count)
      if let next { behind.append(next) }
      if next.map(row.isStill) != true { hasAdvanced = true }
    }
    guard hasAdvanced else { throw ClientError(.badAnswer, detail: "pages of a history that do not advance") }
    resume?.rows = behind
    continueResume()
  }

  /// Takes one row of a sync; answers what is still to be asked.
  private mutating func take(
    _ answer: Methods.SyncGroups.Result.GroupRow, for row: Resume.Row, bytes: Int
  ) throws(ClientError) -> Resume.Row? {
    let groupID = answer.groupID
    guard answer.code == 0, tracker.isTracked(groupID) else {
      resume?.left.insert(groupID)
      return nil
    }
    guard answer.recovered == true else {
      guard ClientLimits.isIdentifier(answer.epoch ?? "") else {
        throw ClientError(.badAnswer, detail: "an epoch that is too long")
      }
      tracker.restart(groupID, epoch: answer.epoch ?? "", at: Place(seq: answer.lastSeq, changeSeq: answer.changeSeq))
      resume?.notRecovered.insert(groupID)
      resume?.recovered.remove(groupID)
      outbox.losePlaces(in: groupID)
      store(answer, from: row.ask.seq, recovered: false)
      tell(.sync(GroupSync(groupID: groupID, recovered: false, info: resume?.info(of: groupID))), bytes: bytes)
      return try releaseOrRepeat(groupID)
    }
    let page = try answer.page(after: row.ask)
    let (more, last) = (page.more, page.place.seq)
    let (messages, changes) = sorted(answer, known: row.known)
    // Before the group's own position a page tells of changes that its changeSeq does not cover.
    let changeSeq = !more || last >= row.known.seq ? page.place.changeSeq : row.known.changeSeq
    tracker.reach(Place(seq: more ? last : answer.lastSeq ?? last, changeSeq: changeSeq), in: groupID)
    store(answer, from: row.ask.seq, recovered: true)
    tell(
      .sync(
        GroupSync(
          groupID: groupID, recovered: true, messageList: messages, changeList: changes, more: more,
          info: resume?.info(of: groupID))
      ),
      bytes: bytes)
    guard !more else {
      var next = row
      next.ask.seq = last
      next.ask.changeSeq = answer.changeSeq.map { _ in page.place.changeSeq }
      next.pages += 1
      guard next.pages < ClientLimits.historyPages else {
        throw ClientError(.badAnswer, detail: "a history without an end")
      }
      return next
    }
    if resume?.notRecovered.contains(groupID) == false { resume?.recovered.insert(groupID) }
    // In a live room it may still wait for its place; there the server is asked by sending it again.
    if tracker.groups[groupID]?.isLive == false { outbox.proveAbsent(in: groupID) }
    return try releaseOrRepeat(groupID)
  }

  /// Keeps a page as the server has answered it; the tracker has its place already.
  private mutating func store(_ answer: Methods.SyncGroups.Result.GroupRow, from seq: Int, recovered: Bool) {
    let groupID = answer.groupID
    guard let group = tracker.groups[groupID] else { return }
    let place = GroupPosition(groupID: groupID, epoch: group.epoch, seq: group.place.seq, changeSeq: group.place.changeSeq)
    store(
      .sync(
        StoredSync(
          recovered: recovered, messageList: answer.messageList ?? [], changeList: answer.changeList ?? [],
          info: resume?.info(of: groupID), from: seq, position: place)))
  }

  /// A page without what the application has: own messages, and those before its position that did
  /// not change.
  private mutating func sorted(
    _ answer: Methods.SyncGroups.Result.GroupRow, known: Place
  ) -> (messages: [GroupMessage], changes: [GroupMessage]) {
    var messages: [GroupMessage] = []
    var changes = answer.changeList ?? []
    for message in answer.messageList ?? [] {
      if !findOwn(message), message.seq ?? 0 > known.seq {
        messages.append(message)
      } else if message.changeSeq ?? 0 > known.changeSeq {
        changes.append(message)
      }
    }
    return (messages, changes)
  }

  /// The group is in step, unless more events came than could wait: then it is asked for once more.
  private mutating func releaseOrRepeat(_ groupID: String) throws(ClientError) -> Resume.Row? {
    if tracker.retryAfterOverflow(groupID) {
      try resume?.addRepeat(of: groupID)
      return row(of: groupID)
    }
    release(groupID)
    return nil
  }

  /// - Parameter all: also events of places that the application has been told of.
  mutating func release(_ groupID: String, all: Bool = false) {
    for held in tracker.release(groupID) where all || tracker.isNews(held.event) { tell(held.event, bytes: held.bytes) }
  }

  private mutating func finish(_ resume: Resume) {
    self.resume = nil
    for groupID in resume.left.sorted() {
      release(groupID)
      let isLive = tracker.groups[groupID]?.isLive == true
      tracker.remove(groupID)
      store(.ended(groupID: groupID, .left, at: resume.listedAt))
      end(groupID)
      if !isLive { unexplained.insert(groupID) }
    }
    let ready = resume.ready(joined: tracker.joined)
    tracker.didResume()
    wasInStep = true
    store(.ready(toldUntil: resume.listedAt))
    tell(.ready(ready), bytes: resume.bytes)
    outbox.open()
    explainEnds()
    readDoubtful()
  }

  /// Asks whether groups that were left are gone altogether.
  private mutating func explainEnds() {
    var groupIDs = unexplained.sorted()
    unexplained = []
    while !groupIDs.isEmpty {
      let asked = Resume.takeBatch(of: &groupIDs)
      request(Methods.GetGroupsInfo(groupIDList: asked), .ends(groupIDs: asked))
    }
  }

  /// Asks for what the store cannot tell, one request at a time, and between resumes: these read it anyway.
  mutating func readDoubtful() {
    guard isOnline, resume == nil, !isAskingInfos else { return }
    var groupIDs = doubtful.intersection(tracker.groups.keys).sorted()
    let asked = Resume.takeBatch(of: &groupIDs)
    doubtful = Set(groupIDs)
    guard !asked.isEmpty else { return }
    isAskingInfos = true
    request(Methods.GetGroupsInfo(groupIDList: asked), .infos(groupIDs: asked))
  }

  mutating func didReadDoubtful(_ result: Methods.GetGroupsInfo.Result) {
    isAskingInfos = false
    for case let info? in result.resultList.map(\.info) { store(.info(info)) }
    readDoubtful()
  }

  mutating func didExplain(_ result: Methods.GetGroupsInfo.Result, of groupIDs: [String]) {
    for row in result.resultList where row.code == ErrorCode.noSuchGroup.rawValue && groupIDs.contains(row.groupID) {
      store(.ended(groupID: row.groupID, .dismissed, at: serverTime))
    }
  }

  mutating func didFailToResume(_ error: ThrongError) {
    guard resume != nil else { return }
    resume = nil
    if error.isTemporary {
      return start(.resume, resumeBackoff.next(random: random(), least: error.retryAfter))
    }
    // Nothing that a later try could mend: everything is told, and the application reads its groups
    // anew.
    tell(.resumeFailed(error))
    for groupID in tracker.groups.keys.sorted() { release(groupID) }
    outbox.open()
  }
}
