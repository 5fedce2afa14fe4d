// Sending and receiving messages.

/** Puts a message that the server told into the timeline of its group. */
function addMessage(group, message) {
  const item = itemOf(group, message);
  const sent = item.isOwn ? group.timeline.sent(item.clientMsgID) : undefined;
  if (sent && sent.seq === undefined) group.timeline.update(sent, { ...item, state: undefined });
  else addItem(group, item);
  askQuoted(group, item);
}

function itemOf(group, message) {
  const { seq, msgID, timestamp, sender, tips, changeSeq = 0, reactions = [] } = message;
  if (tips) return { seq, msgID, time: timestamp, words: () => sentences(group, tips.type, tips), changeSeq };
  const { clientMsgID, nameCard, text, replyTo, isRevoked, needReadReceipt, editTime, isPinned } = message;
  return {
    seq, msgID, clientMsgID, time: timestamp, sender, nameCard, text, replyTo, isRevoked, needReadReceipt, editTime, isPinned,
    changeSeq, reactions, mine: ownReactions(reactions), isOwn: sender === chat.me,
  };
}

/** An event that is also a tip of the group's history, or would be if the group kept one. */
function addTip(group, name, params) {
  const { seq, msgID, opTime } = params;
  addItem(group, { seq, msgID, time: opTime, words: () => sentences(group, tipTypes[name], params), changeSeq: 0 });
}

function addItem(group, item) {
  if (item.seq !== undefined && group.timeline.at(item.seq)) return group.timeline.add(item);
  following(group, () => group.timeline.add(item), item.isOwn);
}

/** Sends a text; it stands in the timeline at once, and says there what becomes of it. */
function send(group, text) {
  composerFault("");
  // A live room may be too busy for some; a group that keeps messages takes all.
  const options = group.isKept ? { needReadReceipt: group.hasReceipts } : { priority: chosenPriority() };
  if (group.answered) options.replyTo = group.answered.seq;
  group.answered = null;
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
    // The own message names the place alone of what it answers.
    const replyTo = sent.replyTo && { seq: sent.replyTo, sender: group.timeline.at(sent.replyTo)?.sender };
    addItem(group, { ...fresh, sent, clientMsgID, text, replyTo, state, needReadReceipt });
  } else if (seq !== undefined && item.seq === undefined) {
    group.timeline.update(item, { msgID, seq, time: timestamp, state, needReadReceipt });
  } else {
    group.timeline.update(item, { msgID, time: timestamp ?? item.time, state });
  }
  countSent(group, sent);
  noteSent(group, sent.state);
  if (sent.state === "failed" && group === chat.current) sayRefusal(error);
  render();
}
