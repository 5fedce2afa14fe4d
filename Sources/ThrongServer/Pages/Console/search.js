// The search of messages, where the server has it (`search.messages`).

/** Whether it has; undefined = not known yet. */
let searchesMessages;

/** Learns whether the server searches messages: it refuses a search in no group alike where it does not. */
async function learnWhetherMessagesAreSearched() {
  try {
    await rpc("searchGroupMessages", { keywordList: ["-"], groupIDList: ["-"], count: 1 });
    searchesMessages = true;
  } catch (error) {
    // 10007: search.messages is off.
    if (error.code === 10007) searchesMessages = false;
    else if (credential) note("searchGroupMessages", error.message, true);
  }
  byID("search-link").hidden = searchesMessages === false;
}

/** Fills in the group that the address has, and searches again what was searched before. */
async function showSearch(groupID) {
  if (groupID) byID("search-group").value = groupID;
  byID("search-form").hidden = searchesMessages === false;
  byID("search-off").hidden = searchesMessages !== false;
  if (searchesMessages !== false && byID("search-words").value) await findMessages();
}

async function findMessages() {
  const words = byID("search-words").value;
  const groupIDs = [byID("search-group").value.trim()].filter(Boolean);
  const senders = [byID("search-sender").value.trim()].filter(Boolean);
  await showPages(byID("messages-found"), "No message is found.", async (from = 0) => {
    let page;
    let next = from;
    // A call looks at a part of the messages, and may find none there.
    do {
      page = await rpc("searchGroupMessages",
        { keywordList: [words], groupIDList: groupIDs, senderUserIDList: senders, count: 50, nextSeq: next });
      next = page.nextSeq;
    } while (page.messageList.length === 0 && next !== 0 && credential && words === byID("search-words").value);
    return { rows: page.messageList.map(foundMessageRow), next: next || undefined };
  }, (count, hasMore) => say("search-state", foundWords(count, hasMore)));
}

function foundMessageRow(message) {
  const { groupID } = message;
  return messageRow(message, [
    element("a", { href: groupAddress(groupID) }, groupID), smallButton("Recall", () => recallMessage(groupID, message), "danger"),
  ]);
}
