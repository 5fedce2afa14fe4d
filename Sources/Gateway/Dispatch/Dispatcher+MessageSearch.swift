import GroupModel
import GroupRuntime
import WireProtocol

/// searchGroupMessages (Protocol.md, "Search of messages").
extension Dispatcher {
  func searchMessages(_ request: SearchGroupMessages, for caller: Caller) async throws(StoreError) -> Reply {
    guard searchesMessages else { return .failure(WireError(.noRight, "search.messages is off")) }
    let search = MessageSearch(
      request.keywords, in: request.groupIDList, by: caller.userID, senders: Set(request.senders), from: request.from,
      to: request.to)
    let page: MessageSearch.Page
    do throws(StoreError) {
      page = try await stores.messages.messages(matching: search, after: request.nextSeq, limit: request.count)
    } catch let error where error.kind == .unavailable {
      // The store refuses searches that come too fast, and logs its own faults.
      return .error(.temporary)
    }
    let profiles = try await profiles.profiles(of: page.found.map(\.message.sender))
    var (messages, bytes, last): ([Encoded<MessageInfo>], Int, Int64) = ([], 0, request.nextSeq)
    for found in page.found {
      var info = MessageInfo(found.message)
      info.replyCount = found.replyCount
      info.show(profiles)
      let encoded = Encoded(info, capacity: 384)
      bytes += encoded.text.count + 1
      if bytes > pageBytes, !messages.isEmpty {
        return .success(.foundMessages(SearchGroupMessages.Result(messageList: messages, nextSeq: last)))
      }
      messages.append(encoded)
      last = found.place
    }
    return .success(.foundMessages(SearchGroupMessages.Result(messageList: messages, nextSeq: page.next)))
  }
}
