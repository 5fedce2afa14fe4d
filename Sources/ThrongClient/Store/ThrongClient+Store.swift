#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What the client knows without asking (Clients.md, "Memory"): the store shows it at once, and what comes from the
/// server changes it.
extension ThrongClient {
  // MARK: Reading

  /// The user's groups, the ones that have ended included: pinned ones first, then those where something was said
  /// last.
  /// - Parameter hidden: also those that the user has hidden.
  public func conversations(hidden: Bool = false) async -> [Conversation] {
    await settleStore()
    return await store.conversations(hidden: hidden)
  }

  /// One of them; nil = the user was never in the group, as far as is known.
  public func conversation(_ groupID: String) async -> Conversation? {
    await settleStore()
    return await store.conversation(groupID)
  }

  /// Messages of a group, ascending. What the store does not hold is read from the server, with a connection and
  /// while the user is in the group.
  /// - Parameters:
  ///   - seq: only those before this one; nil = the newest.
  ///   - count: the most messages.
  public func messages(in groupID: String, before seq: Int? = nil, count: Int = 50) async -> StoredMessages {
    await settleStore()
    let most = max(1, count)
    // The user may have entered a group that is not known yet.
    let page = await store.page(of: groupID, before: seq, count: most) ?? LocalStore.Page(isMember: true)
    await takeUpReadFailure()
    guard isOnline, page.isMember else { return page.messages }
    // What did not come as an event is not in the store.
    var messages = page.isHeardInPart ? StoredMessages() : page.messages
    let stored = messages.messageList.count
    while messages.messageList.count < most, !messages.isFinished {
      let missing = min(ThrongClient.longestPage, most - messages.messageList.count)
      let from = messages.messageList.first?.seq ?? seq
      let older: Methods.GetGroupHistoryMessageList.Result
      do {
        older = try await call(
          Methods.GetGroupHistoryMessageList(groupID: groupID, count: missing, fromSeq: from), waits: false)
      } catch {
        // Without a connection, or a right to read, the store is all there is.
        return messages.source == .stored ? page.messages : messages
      }
      messages.messageList = older.messageList.reversed() + messages.messageList
      messages.isFinished = older.isFinished
      messages.source = stored > 0 ? .both : .server
      // A page without a message would be asked for again and again.
      if older.messageList.isEmpty { break }
    }
    return messages
  }

  /// The most messages that the server answers at once.
  private static let longestPage = 100

  /// The members of a group whom the client has seen, as they were then: the server's list is complete.
  public func storedMembers(of groupID: String) async -> [MemberInfo] {
    await settleStore()
    let members = await store.members(of: groupID)
    await takeUpReadFailure()
    return members
  }

  /// One of them; nil = not seen yet.
  public func storedMember(_ userID: String, of groupID: String) async -> MemberInfo? {
    await settleStore()
    let member = await store.member(userID, of: groupID)
    await takeUpReadFailure()
    return member
  }

  /// The texts of a user whom the client has seen, as they were then; nil = not seen yet.
  public func storedProfile(of userID: String) async -> StoredProfile? {
    await settleStore()
    let profile = await store.profile(of: userID)
    await takeUpReadFailure()
    return profile
  }

  /// Waits until the store has everything that was told by now: whoever reads it after an event finds what that
  /// event has changed.
  private func settleStore() async {
    await openStore()
    guard isStoreOpen, writer != nil else { return }
    let count = inbox.count
    await withCheckedContinuation { storeReaders.append((count, $0)) }
  }

  /// A storage that could not be read is left with the next change.
  private func takeUpReadFailure() async {
    let failure = await store.readFailure
    if failure != nil { write([], bytes: 0) }
  }

  // MARK: Opening

  /// Opens the store, once, and tells what it holds.
  func openStore() async {
    guard storeEnd == nil else { return }
    if storeStart == nil { storeStart = Task { await readStore() } }
    await storeStart?.value
  }

  private func readStore() async {
    let start = await store.open()
    for failure in start.failures { tell(failure) }
    if hasStorage { apply(.restored(start)) }
    isStoreOpen = true
    startWriting()
  }

  private func tell(_ failure: StorageFailure) {
    if let log { log(failure.line) }
    tell(.storageFailed(failure), bytes: 0)
  }

  /// The store of a user at a server: whatever in the address may be secret is no part of its name.
  static func storeName(_ url: URL, userID: String?) -> String {
    guard let userID else { return "memory" }
    let host = url.host()?.lowercased() ?? ""
    let port = url.port.map { ":\($0)" } ?? ""
    let address = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    return "\(url.scheme?.lowercased() ?? "")://\(address)\(port)\(url.path())|\(userID)"
  }

  // MARK: Writing

  /// Has the store take changes that belong together.
  func write(_ events: [StoreEvent], bytes: Int) {
    // The client has ended, or forgets its user.
    guard storeEnd == nil else { return }
    inbox.append(events, bytes: bytes)
    startWriting()
  }

  private func startWriting() {
    guard isStoreOpen, writer == nil, !inbox.isEmpty else { return }
    writer = Task { await writeAll() }
  }

  private func writeAll() async {
    while !inbox.isEmpty {
      let events = inbox.take()
      let count = inbox.takenCount
      didWrite(events, await store.write(events))
      resumeReaders(of: count)
    }
    writer = nil
  }

  private func didWrite(_ events: [StoreEvent], _ written: LocalStore.Written) {
    for failure in written.failures { tell(failure) }
    if !written.isDurable, hasStorage { apply(.storeLost) }
    if written.hasBegunAnew { apply(.storeRestarted) }
    // The last ticket stands for those before.
    for case .outbox(_, let ticket) in events.reversed() {
      apply(.outboxWritten(ticket: ticket))
      break
    }
    if !written.doubtful.isEmpty { apply(.doubt(written.doubtful)) }
    if !isClosed { for change in written.changes { tell(.conversation(change.conversation), bytes: change.bytes) } }
    if !inbox.isFull { resumeReading() }
  }

  /// Waits until the store has room for more.
  func waitForStore() async {
    guard inbox.isFull else { return }
    await withCheckedContinuation { roomWaiters.append($0) }
  }

  private func resumeReading() {
    for waiter in roomWaiters { waiter.resume() }
    roomWaiters = []
  }

  /// - Parameter count: how many changes are stored.
  private func resumeReaders(of count: Int) {
    for waiting in storeReaders where waiting.count <= count { waiting.reader.resume() }
    storeReaders.removeAll { $0.count <= count }
  }

  /// Returns when everything that was told is stored.
  package func flush() async {
    await storeStart?.value
    while let writer { await writer.value }
  }

  // MARK: The end

  /// The client is closed: what it knows is stored, and another one may open the store.
  func endStore() async {
    if storeEnd == nil { storeEnd = Task { await closeStore() } }
    await storeEnd?.value
  }

  private func closeStore() async {
    // It may be on its way to be opened.
    guard storeStart != nil else { return }
    await flush()
    isStoreOpen = false
    resumeReading()
    await store.close()
  }

  /// Removes everything that was stored of the user. Nothing is stored any more.
  func forgetStore() async {
    await openStore()
    let end = storeEnd
    storeEnd = Task {
      // One that is being closed is removed behind that.
      await end?.value
      await removeStore()
    }
    await storeEnd?.value
  }

  private func removeStore() async {
    isStoreOpen = false
    inbox = StoreInbox()
    resumeReading()
    resumeReaders(of: .max)
    await flush()
    apply(.storeLost)
    if let failure = await store.forget() { tell(failure) }
  }
}
