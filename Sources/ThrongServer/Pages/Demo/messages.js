// Sending and receiving messages.

/** Puts a message that the server told into the timeline of its group. */
function addMessage(group, message) {
  const item = itemOf(message);
  const sent = item.isOwn ? group.timeline.sent(item.clientMsgID) : undefined;
  if (sent && sent.seq === undefined) group.timeline.update(sent, { ...item, state: undefined });
  else addItem(group, item);
}

function itemOf(message) {
  const { seq, msgID, timestamp, sender, tips, changeSeq = 0, reactions = [] } = message;
  if (tips) return { seq, msgID, time: timestamp, words: sentences(tips.type, tips), changeSeq };
  const { clientMsgID, nameCard, text, isRevoked, needReadReceipt, editTime, isPinned } = message;
  return {
    seq, msgID, clientMsgID, time: timestamp, sender, nameCard, text, isRevoked, needReadReceipt, editTime, isPinned, changeSeq,
    reactions, mine: ownReactions(reactions), isOwn: sender === chat.me,
  };
}

/** An event that is also a tip of the group's history, or would be if the group kept one. */
function addTip(group, name, params) {
  const { seq, msgID, opTime } = params;
  addItem(group, { seq, msgID, time: opTime, words: sentences(tipTypes[name], params), changeSeq: 0 });
}

function sentences(type, tips) {
  return tipWords(type, tips).join(". ") || "Something about the group changed";
}

function addItem(group, item) {
  if (item.seq !== undefined && group.timeline.at(item.seq)) return keepEnd(group, () => group.timeline.add(item));
  following(group, () => group.timeline.add(item), item.isOwn);
}

/** Sends a text; it stands in the timeline at once, and says there what becomes of it. */
function send(group, text) {
  composerFault("");
  // A live room may be too busy for some; a group that keeps messages takes all.
  const options = group.isKept ? { needReadReceipt: group.hasReceipts } : { priority: chosenPriority() };
  chat.client.sendText(group.id, text, options);
}

/** Shows what has become of an own message. */
function showSent(sent) {
  const group = chat.groups.get(sent.groupID);
  if (!group) return;
  const { clientMsgID, msgID, seq, text, timestamp, needReadReceipt, error } = sent;
  const state = ["stored", "delivered"].includes(sent.state) ? undefined : sent.state;
  const item = group.timeline.sent(clientMsgID);
  if (error?.code === ErrorCode.tooManyForReceipts && group.hasReceipts) {
    group.isTooLargeForReceipts = true;
    return queueMicrotask(() => chat.client.resend(sent, { needReadReceipt: false }));
  }
  if (!item) {
    const fresh = { time: sent.createdAt, sender: chat.me, isOwn: true, changeSeq: 0, reactions: [], mine: new Set() };
    addItem(group, { ...fresh, sent, clientMsgID, text, state, needReadReceipt });
  } else if (seq !== undefined && item.seq === undefined) {
    following(group, () => group.timeline.update(item, { msgID, seq, time: timestamp, state, needReadReceipt }), true);
  } else {
    keepEnd(group, () => group.timeline.update(item, { msgID, time: timestamp ?? item.time, state }));
  }
  countSent(group, sent);
  if (sent.state === "failed") composerFault(inWords(error));
  render();
}

/** Tells the server what has been read, one request at a time: groups that count unread messages are told exactly. */
async function markRead(group) {
  group.unread = 0;
  render();
  confirmReading(group);
  if (!["Work", "Public"].includes(group.info.groupType) || group.isMarking) return;
  group.isMarking = true;
  try {
    let marked;
    do {
      marked = group.timeline.newest;
      await call("markGroupMessageAsRead", { groupID: group.id });
    } while (marked < group.timeline.newest && isLookedAt(group));
  } catch (error) {
    if (!(error instanceof ClientError)) composerFault(inWords(error));
  } finally {
    group.isMarking = false;
  }
}

// MARK: Read receipts

/** How many messages one request confirms or asks about. */
const receiptPage = 50;

/** Tells the senders that their messages are seen here. */
async function confirmReading(group) {
  if (group.isConfirming) return;
  group.isConfirming = true;
  try {
    for (let items = group.timeline.unconfirmed; items.length > 0; items = group.timeline.unconfirmed) {
      const seen = items.slice(0, receiptPage);
      await call("sendMessageReadReceipts", { groupID: group.id, seqList: seen.map((item) => item.seq) });
      for (const item of seen) item.isConfirmed = true;
    }
  } catch (error) {
    if (!(error instanceof ClientError)) composerFault(inWords(error));
  } finally {
    group.isConfirming = false;
  }
}

/** Asks who has read the newest own messages; later changes come as events. */
async function loadReceipts(group) {
  const seqList = group.timeline.withReceipts.slice(-receiptPage).map((item) => item.seq);
  if (seqList.length === 0) return;
  const { receiptList } = await call("getMessageReadReceipts", { groupID: group.id, seqList });
  group.timeline.count(receiptList);
}

/** Names who has read an own message, and who has not. */
async function showReaders(group, item) {
  const list = async (filter) => {
    const { memberList, nextSeq } = await call("getGroupMessageReadMemberList", { groupID: group.id, seq: item.seq, filter });
    const names = memberList.map(nameOf);
    return names.length === 0 ? "nobody" : names.join(", ") + (nextSeq === 0 ? "" : " and others");
  };
  try {
    const [read, unread] = await Promise.all([list("Read"), list("Unread")]);
    await ask({ title: "Read by", text: `${read}. Not yet: ${unread}.`, action: "Done", run: async () => {} });
  } catch (error) {
    composerFault(inWords(error));
  }
}
