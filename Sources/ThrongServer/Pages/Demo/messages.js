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
async function send(group, text) {
  const fresh = { time: Date.now(), sender: chat.me, isOwn: true, state: "sending", changeSeq: 0, reactions: [], mine: new Set() };
  const item = { ...fresh, clientMsgID: newID(), text };
  addItem(group, item);
  await transmit(group, item);
}

/** Sends an item, or sends it again: the same clientMsgID is never delivered twice. */
async function transmit(group, item) {
  group.timeline.update(item, { state: "sending" });
  try {
    const { text, clientMsgID } = item;
    const needReadReceipt = group.hasReceipts;
    const message = { groupID: group.id, text, clientMsgID, needReadReceipt };
    const { msgID, seq, timestamp, status } = await call("sendGroupTextMessage", message);
    const state = { Queued: "queued", Dropped: "dropped" }[status];
    following(group, () => group.timeline.update(item, { msgID, seq, time: timestamp, state, needReadReceipt }), true);
  } catch (error) {
    if (error.code === 10054 && group.hasReceipts) {
      group.isTooLargeForReceipts = true;
      return transmit(group, item);
    }
    // Without a connection the item goes on waiting: `resume` sends it when there is one.
    if (error instanceof Disconnected) return;
    group.timeline.update(item, { state: "failed" });
    composerFault(inWords(error));
  }
}

function sendAgain(group, item) {
  // An ID whose message was queued and dropped later would only be answered with "Queued" again.
  if (item.state === "dropped") item.clientMsgID = newID();
  return transmit(group, item);
}

/** A clientMsgID. `randomUUID` is for secure origins only, which this page need not come from. */
function newID() {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((word) => word.toString(36)).join("-");
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
      marked = group.timeline.position;
      await call("markGroupMessageAsRead", { groupID: group.id });
    } while (marked < group.timeline.position && isLookedAt(group));
  } catch (error) {
    if (!(error instanceof Disconnected)) composerFault(inWords(error));
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
    if (!(error instanceof Disconnected)) composerFault(inWords(error));
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
