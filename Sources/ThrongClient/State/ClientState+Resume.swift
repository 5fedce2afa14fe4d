/// Resuming after each sign-in (Protocol.md, "Reconnecting").
extension ClientState {
  mutating func startResume() {
    // A try before this one may have told the events of some groups.
    tracker.hold()
    resume = Resume(since: tracker.toldUntil, known: tracker.groups.keys.sorted())
    readJoined(from: 0)
  }

  private mutating func readJoined(from nextSeq: Int) {
    guard let resume else { return }
    let since = resume.isFirst ? nil : max(0, resume.since - Resume.lookBack)
    request(
      Methods.GetJoinedGroupList(updatedSince: since, count: Resume.groupsPerPage, nextSeq: nextSeq), .resume(.joined))
  }

  mutating func didReadJoined(_ page: Methods.GetJoinedGroupList.Result) {
    guard resume != nil else { return }
    resume?.add(page)
    if page.nextSeq != 0 { return readJoined(from: page.nextSeq) }
    plan()
    continueResume()
  }

  /// Sorts the groups by what has to be asked about them.
  private mutating func plan() {
    guard var resume else { return }
    let known = Set(resume.known).intersection(tracker.groups.keys)
    resume.left = resume.gone.intersection(known)
    if resume.isFirst {
      resume.left.formUnion(known.filter { resume.infos[$0] == nil && tracker.groups[$0]?.isLive == false })
    }
    for (groupID, info) in resume.infos where !tracker.isTracked(groupID) {
      tracker.track(info)
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
      request(Methods.GetGroupsInfo(groupIDList: Resume.takeBatch(of: &resume.live)), .resume(.live))
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

  /// Live rooms keep nothing, and forget members who stay away too long.
  mutating func didCheckLive(_ result: Methods.GetGroupsInfo.Result) {
    guard resume != nil else { return }
    for row in result.resultList {
      tracker.didEnter(row.groupID)
      guard row.code == 0, let info = row.info, info.selfInfo != nil else {
        resume?.left.insert(row.groupID)
        continue
      }
      if !tracker.isTracked(row.groupID) { tracker.track(info) }
      resume?.notRecovered.insert(row.groupID)
      tell(.sync(GroupSync(groupID: row.groupID, recovered: false, info: info)))
    }
    continueResume()
  }

  mutating func didSync(_ result: Methods.SyncGroups.Result) {
    guard let rows = resume?.rows else { return }
    let answers = Dictionary(result.groups.map { ($0.groupID, $0) }, uniquingKeysWith: { first, _ in first })
    var behind: [Resume.Row] = []
    for row in rows {
      guard let answer = answers[row.ask.groupID] else { continue }
      if let next = take(answer, for: row) { behind.append(next) }
    }
    resume?.rows = behind
    continueResume()
  }

  /// Takes one row of a sync; answers what is still to be asked.
  private mutating func take(_ answer: Methods.SyncGroups.Result.GroupRow, for row: Resume.Row) -> Resume.Row? {
    let groupID = answer.groupID
    guard answer.code == 0, tracker.isTracked(groupID) else {
      resume?.left.insert(groupID)
      return nil
    }
    guard answer.recovered == true else {
      tracker.restart(groupID, epoch: answer.epoch ?? "", at: Place(seq: answer.lastSeq ?? 0, changeSeq: answer.changeSeq ?? 0))
      resume?.notRecovered.insert(groupID)
      resume?.recovered.remove(groupID)
      tell(.sync(GroupSync(groupID: groupID, recovered: false, info: resume?.infos[groupID])))
      return releaseOrRepeat(groupID)
    }
    let more = answer.more ?? false
    let (messages, changes) = sorted(answer, known: row.known)
    let last = answer.messageList?.last?.seq ?? row.ask.seq
    // Before the group's own position a page tells of changes that its changeSeq does not cover.
    let changeSeq = !more || last >= row.known.seq ? answer.changeSeq ?? 0 : row.known.changeSeq
    tracker.reach(Place(seq: more ? last : answer.lastSeq ?? last, changeSeq: changeSeq), in: groupID)
    tell(
      .sync(
        GroupSync(
          groupID: groupID, recovered: true, messageList: messages, changeList: changes, more: more, info: resume?.infos[groupID])
      ))
    guard !more else {
      var next = row
      next.ask.seq = last
      next.ask.changeSeq = answer.changeSeq
      return next
    }
    if resume?.notRecovered.contains(groupID) == false { resume?.recovered.insert(groupID) }
    outbox.proveAbsent(in: groupID)
    return releaseOrRepeat(groupID)
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
  private mutating func releaseOrRepeat(_ groupID: String) -> Resume.Row? {
    if tracker.retryAfterOverflow(groupID) { return row(of: groupID) }
    release(groupID)
    return nil
  }

  private mutating func release(_ groupID: String) {
    for event in tracker.release(groupID) where tracker.isNews(event) { tell(event) }
  }

  private mutating func finish(_ resume: Resume) {
    self.resume = nil
    for groupID in resume.left {
      release(groupID)
      tracker.remove(groupID)
    }
    let ready = resume.ready(joined: tracker.joined)
    tracker.didResume()
    outbox.failUncertain(at: now)
    performOutbox()
    tell(.ready(ready))
    outbox.open()
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
