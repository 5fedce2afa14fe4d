// Replies: the message that is being answered, and what stands above the text of an answer.

/** How many messages one request reads. */
const quotePage = 20;

/** Begins or ends an answer; the composer shows to what. */
function answer(group, item) {
  group.answered = item;
  render();
  if (item) byID("text").focus();
}

function renderAnswered(group) {
  const item = group.answered;
  byID("answered").hidden = !item;
  if (!item) return;
  const who = item.isOwn ? "yourself" : chosenText(senderOf(item));
  say("answered-words", phrase`Answers ${who}: ${chosenText(textOf(item))}`);
}

/** The answered message as far as it is known here: one of the timeline, or one that was read for it. */
const quotedBy = (group, { replyTo }) => group.timeline.at(replyTo.seq) ?? group.quoted.get(replyTo.seq);

/** Asks for the answered message where it is not here; what comes together is asked together. */
function askQuoted(group, item) {
  if (!item.replyTo || quotedBy(group, item)) return;
  group.unquoted.push(item);
  if (group.unquoted.length === 1) queueMicrotask(() => loadQuoted(group, group.unquoted.splice(0)));
}

/** Reads the answered messages of these that are not here; one that the user may not see any more stays unknown. */
async function loadQuoted(group, items) {
  const isUnknown = (item) => item.replyTo && !quotedBy(group, item);
  const seqs = new Set(items.filter(isUnknown).map(({ replyTo }) => replyTo.seq).filter((seq) => !group.asked.has(seq)));
  if (seqs.size === 0) return;
  for (const seq of seqs) group.asked.add(seq);
  try {
    for (let left = [...seqs]; left.length > 0; left = left.slice(quotePage)) {
      const { messageList } = await call("getGroupMessages", { groupID: group.id, seqList: left.slice(0, quotePage) });
      learnSenders(messageList);
      for (const message of messageList) group.quoted.set(message.seq, itemOf(group, message));
    }
    group.timeline.redraw();
  } catch (error) {
    for (const seq of seqs) group.asked.delete(seq);
    // The next connection brings what is shown of it.
    if (!(error instanceof ClientError)) sayRefusal(error);
  }
}

/** What stands above the text of an answer; a click goes to the answered message. */
function quoteOf(item, acts) {
  if (!item.replyTo || item.isRevoked) return null;
  const answered = acts.quoted(item);
  const sender = answered ? senderOf(answered) : item.replyTo.sender && nameOf({ userID: item.replyTo.sender });
  const text = answered ? chosenText(textOf(answered)) : "An earlier message";
  const words = [sender && styled("who", chosenText(sender)), styled("words", text)];
  const label = `Answers ${sender ? plainText(sender) : "an earlier message"}: show it`;
  // Read aloud with its message, and not again when more is known of what it answers.
  const attributes = { class: "plain quote", "aria-label": label, "aria-live": "off" };
  return messageButton("quote", attributes, words, () => acts.show(item.replyTo.seq));
}

byID("no-answer").addEventListener("click", () => {
  answer(chat.current, null);
  byID("text").focus();
});
