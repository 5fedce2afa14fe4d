// Sending, receiving and recalling messages.

/** Puts a message that the server told into the timeline of its group. */
function addMessage(group, message) {
  const item = itemOf(message);
  const sent = item.isOwn ? group.timeline.sent(item.clientMsgID) : undefined;
  if (sent) group.timeline.update(sent, { ...item, state: undefined });
  else addItem(group, item);
}

function itemOf({ seq, msgID, clientMsgID, timestamp, sender, nameCard, text, tips, isRevoked }) {
  if (tips) return { seq, msgID, time: timestamp, words: sentences(tips.type, tips) };
  return { seq, msgID, clientMsgID, time: timestamp, sender, nameCard, text, isRevoked, isOwn: sender === chat.me };
}

/** An event that is also a tip of the group's history, or would be if the group kept one. */
function addTip(group, name, params) {
  const { seq, msgID, opTime } = params;
  addItem(group, { seq, msgID, time: opTime, words: sentences(tipTypes[name], params) });
}

function sentences(type, tips) {
  return tipWords(type, tips).join(". ") || "Something about the group changed";
}

function addItem(group, item) {
  following(group, () => group.timeline.add(item), item.isOwn);
}

/** Sends a text; it stands in the timeline at once, and says there what becomes of it. */
async function send(group, text) {
  const item = { clientMsgID: newID(), time: Date.now(), sender: chat.me, text, isOwn: true, state: "sending" };
  addItem(group, item);
  await transmit(group, item);
}

/** Sends an item, or sends it again: the same clientMsgID is never delivered twice. */
async function transmit(group, item) {
  group.timeline.update(item, { state: "sending" });
  try {
    const { text, clientMsgID } = item;
    const { msgID, seq, timestamp, status } = await call("sendGroupTextMessage", { groupID: group.id, text, clientMsgID });
    const state = { Queued: "queued", Dropped: "dropped" }[status];
    following(group, () => group.timeline.update(item, { msgID, seq, time: timestamp, state }), true);
  } catch (error) {
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

async function recall(group, item) {
  try {
    await call("revokeGroupMessage", { groupID: group.id, seq: item.seq });
    group.timeline.revoke(item.msgID);
    render();
  } catch (error) {
    composerFault(inWords(error));
  }
}

/** Tells the server what has been read, one request at a time: groups that count unread messages are told exactly. */
async function markRead(group) {
  group.unread = 0;
  render();
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
