// Changes of messages: recalls, edits, reactions, pins.

/** Runs what a button of a message asks for; what is refused is said above the composer. */
async function attempt(act) {
  composerFault("");
  try {
    await act();
    render();
  } catch (error) {
    sayRefusal(error);
  }
}

/** Asks in a dialog; what the server refuses is said there in the words of this page. */
function decideInDialog(question) {
  const run = async (values) => {
    try {
      await question.run(values);
    } catch (error) {
      throw Object.assign(new Error(inWords(error)), { about: error.code === ErrorCode.muted ? "mute" : "" });
    }
  };
  return ask({ ...question, run });
}

/** How long a message may still be recalled or edited by its sender, in milliseconds; below 0 it is too late. */
const timeLeftToRecall = ({ time }) => time + chat.limits["limits.revokeWindow"] * 1000 - serverNow();
const timeLeftToEdit = ({ time }) =>
  chat.limits["limits.editWindow"] > 0 ? time + chat.limits["limits.editWindow"] * 1000 - serverNow() : Infinity;

/** How long what may be done with a message stays as it is. */
function timeLeftToChange(item) {
  const ends = item.isOwn ? [timeLeftToRecall(item), timeLeftToEdit(item)] : [];
  return Math.min(...ends.filter((left) => left >= 0));
}

/**
 * Whether a message may be recalled: an own one for some time, those of others where the role has the right. An own message
 * that has waited in a live room has no `seq` here, and one that waits still has none: its ID names it.
 */
function mayRecall(group, item) {
  const { isOwn, seq, msgID, sender, state } = item;
  const isNamed = group.isRemembered && msgID !== undefined && (state === undefined || state === "queued");
  if ((seq === undefined && !isNamed) || sender === "administrator") return false;
  if (isOwn) return timeLeftToRecall(item) >= 0;
  return group.mayOn("recallOthers", group.members.get(sender) ?? { userID: sender, role: "Member" });
}

function recall(group, item) {
  return attempt(async () => {
    const target = item.seq === undefined ? { msgID: item.msgID } : { seq: item.seq };
    await call("revokeGroupMessage", { groupID: group.id, ...target });
    group.timeline.update(item, recalled());
  });
}

/** The rest of a message after a recall. */
const recalled = () => ({ isRevoked: true, text: undefined, isPinned: false, reactions: [], mine: new Set() });

/** Asks for the new text of an own message; the event of the edit brings it into the timeline. */
function edit(group, item) {
  return decideInDialog({
    title: "Edit your message", action: "Save",
    fields: [{
      name: "text", label: "Text", value: item.text, lines: 4, required: true, isSentByEnter: true,
      hint: "Enter saves, Shift and Enter begin a line, Escape leaves it as it was.",
    }],
    run: ({ text }) => call("modifyGroupMessage", { groupID: group.id, seq: item.seq, text }),
  });
}

/** Gives a reaction or takes it back. The event has the counts, and the reply tells that it is the own one. */
function react(group, item, reaction, isAdded) {
  return attempt(async () => {
    const method = isAdded ? "addMessageReaction" : "removeMessageReaction";
    await call(method, { groupID: group.id, seq: item.seq, reaction });
    group.timeline.update(item, { mine: withReaction(item.mine, reaction, isAdded) });
  });
}

function withReaction(mine, reaction, isAdded) {
  const others = [...mine].filter((other) => other !== reaction);
  return new Set(isAdded ? [...others, reaction] : others);
}

/** How many messages one request asks about. */
const reactionPage = 20;

/** Asks which reactions to a message are the user's own: another session may have given them. */
async function askForOwn(group, seq) {
  group.unsure.add(seq);
  if (group.isAskingForOwn) return;
  group.isAskingForOwn = true;
  try {
    while (group.unsure.size > 0) {
      const seqList = [...group.unsure].slice(0, reactionPage);
      // Before the call: an event that comes meanwhile asks again.
      for (const asked of seqList) group.unsure.delete(asked);
      const { resultList } = await call("getMessageReactions", { groupID: group.id, seqList });
      for (const { seq: told, reactions } of resultList) {
        const item = group.timeline.at(told);
        if (item) group.timeline.update(item, { mine: ownReactions(reactions) });
      }
    }
  } catch (error) {
    group.unsure.clear();
    if (!(error instanceof ClientError)) sayRefusal(error);
  } finally {
    group.isAskingForOwn = false;
  }
}

function ownReactions(reactions) {
  return new Set(reactions.filter(({ byMe }) => byMe).map(({ reaction }) => reaction));
}

function pin(group, { seq, isPinned }) {
  return attempt(() => call("pinGroupMessage", { groupID: group.id, seq, isPinned: !isPinned }));
}

/** Takes an event of a change into the timeline, and into what is shown of the message above its answers. */
function changeMessage(group, seq, changeSeq, news) {
  group.timeline.change(seq, changeSeq, news);
  const quoted = group.quoted.get(seq);
  if (quoted) Object.assign(quoted, news(quoted));
  group.timeline.redrawAnswers(seq);
}

/** Handlers of the events of changes. */
const changeEvents = {
  onRecvMessageRevoked(group, { seq, msgID, changeSeq }) {
    // An own message that has waited in a live room is known by its ID alone.
    const waited = group.timeline.named(msgID);
    if (waited && waited.seq === undefined) group.timeline.update(waited, recalled());
    changeMessage(group, seq, changeSeq, recalled);
    if (group.answered?.seq === seq) group.answered = null;
    changePins(group, (pins) => pins.filter((pinned) => pinned.seq !== seq));
    askUnread(group);
  },
  onRecvMessageModified(group, { message }) {
    const { seq, changeSeq, text, editTime } = message;
    changeMessage(group, seq, changeSeq, () => ({ text, editTime }));
    changePins(group, (pins) => pins.map((pinned) => (pinned.seq === seq ? itemOf(group, message) : pinned)));
  },
  onRecvMessageReactionsChanged(group, { seq, changeSeq, reactions, reaction, isAdded, opUser }) {
    const isOwn = opUser.userID === chat.me;
    changeMessage(group, seq, changeSeq, ({ mine }) => ({
      reactions, mine: isOwn ? withReaction(mine, reaction, isAdded) : mine,
    }));
    // It stands for several changes, and names the last alone.
    if (changeSeq > group.changeSeq + 1 && group.timeline.at(seq)) askForOwn(group, seq);
  },
  onGroupMessagePinned(group, { seq, changeSeq, isPinned, message }) {
    changeMessage(group, seq, changeSeq, () => ({ isPinned }));
    changePins(group, (pins) => {
      const others = pins.filter((pinned) => pinned.seq !== seq);
      return isPinned ? [itemOf(group, message), ...others] : others;
    });
  },
};

// MARK: The pinned messages of the group that is shown

/** Reads what is pinned; where an event overtakes the answer, once more. */
async function loadPins(group) {
  if (!group.isKept || group.isReadingPins) return;
  group.isReadingPins = true;
  try {
    do {
      group.arePinsKnown = true;
      const { messageList } = await call("getPinnedGroupMessageList", { groupID: group.id });
      learnSenders(messageList);
      group.pins = messageList.map((message) => itemOf(group, message));
    } while (!group.arePinsKnown);
  } catch (error) {
    group.arePinsKnown = false;
    throw error;
  } finally {
    group.isReadingPins = false;
  }
  render();
}

function changePins(group, change) {
  group.pins = change(group.pins);
  if (group.isReadingPins) group.arePinsKnown = false;
}

function renderPins(group) {
  const { pins } = group;
  byID("pins").hidden = pins.length === 0;
  say("pin-latest", pins.length > 0 ? chosenText(textOf(pins[0])) : "");
  say("pin-count", String(pins.length));
  keepingFocus(byID("pin-list"), () => renew(byID("pin-list"), pins.map((pinned) => pinRow(group, pinned))));
}

function pinRow(group, pinned) {
  const words = [pinned.isOwn ? "You" : chosenText(senderOf(pinned)), ": ", chosenText(textOf(pinned))];
  const text = element("button", { type: "button", class: "plain small text", "data-key": "show" }, words);
  const label = `Unpin: ${plainText(textOf(pinned))}`;
  const unpin = { type: "button", class: "plain small", "data-key": "unpin", "aria-label": label };
  return element("li", { "data-id": pinned.seq }, text, group.may("pinMessage") && element("button", unpin, "Unpin"));
}

byID("pin-list").addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (!button) return;
  const seq = Number(button.closest("[data-id]").dataset.id);
  if (button.dataset.key === "show") showMessage(chat.current, seq);
  else pin(chat.current, { seq, isPinned: true });
});

/** How many pages of older messages are read for one that is pinned, or answered. */
const mostPagesForOne = 20;

/** Brings a message into view, with older history up to it. */
function showMessage(group, seq) {
  return attempt(async () => {
    for (let page = 0; !group.timeline.at(seq) && group.hasOlder && page < mostPagesForOne; page += 1) await loadOlder(group);
    const node = group.timeline.at(seq)?.node;
    if (!node || group !== chat.current) return;
    node.tabIndex = -1;
    node.focus({ preventScroll: true });
    node.scrollIntoView({ block: "center" });
  });
}
