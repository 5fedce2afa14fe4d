// Changes of messages: recalls, edits, reactions, pins.

/** Runs what a button of a message asks for; what is refused is said above the composer. */
async function attempt(act) {
  composerFault("");
  try {
    await act();
    render();
  } catch (error) {
    composerFault(inWords(error));
  }
}

function recall(group, item) {
  return attempt(async () => {
    await call("revokeGroupMessage", { groupID: group.id, seq: item.seq });
    keepEnd(group, () => group.timeline.update(item, recalled()));
  });
}

/** The rest of a message after a recall. */
const recalled = () => ({ isRevoked: true, text: undefined, isPinned: false, reactions: [], mine: new Set() });

/** Asks for the new text of an own message; the event of the edit brings it into the timeline. */
function edit(group, item) {
  return ask({
    title: "Edit your message", action: "Save",
    fields: [{ name: "text", label: "Text", value: item.text, lines: 4, required: true }],
    run: async ({ text }) => {
      try {
        await call("modifyGroupMessage", { groupID: group.id, seq: item.seq, text });
      } catch (error) {
        throw new Error(inWords(error));
      }
    },
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
    if (!(error instanceof ClientError)) composerFault(inWords(error));
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

/** Takes an event of a change into the timeline. */
function changeMessage(group, seq, changeSeq, news) {
  keepEnd(group, () => group.timeline.change(seq, changeSeq, news));
}

/** Handlers of the events of changes. */
const changeEvents = {
  onRecvMessageRevoked(group, { seq, changeSeq }) {
    changeMessage(group, seq, changeSeq, recalled);
    changePins(group, (pins) => pins.filter((pinned) => pinned.seq !== seq));
  },
  onRecvMessageModified(group, { message }) {
    const { seq, changeSeq, text, editTime } = message;
    changeMessage(group, seq, changeSeq, () => ({ text, editTime }));
    changePins(group, (pins) => pins.map((pinned) => (pinned.seq === seq ? itemOf(message) : pinned)));
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
      return isPinned ? [itemOf(message), ...others] : others;
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
      group.pins = messageList.map(itemOf);
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

/** The state of the bar of pinned messages: it is made anew only when that changes, for the sake of the focus. */
let shownPins = "";

function renderPins(group) {
  const { pins } = group;
  byID("pins").hidden = pins.length === 0;
  const shown = JSON.stringify([group.id, group.may("pinMessage"), pins]);
  if (shown === shownPins) return;
  shownPins = shown;
  byID("pin-latest").textContent = pins.length > 0 ? textOf(pins[0]) : "";
  byID("pin-count").textContent = pins.length;
  byID("pin-list").replaceChildren(...pins.map((pinned) => pinRow(group, pinned)));
}

function pinRow(group, pinned) {
  const who = pinned.isOwn ? "You" : pinned.nameCard || pinned.sender;
  const text = element("button", { type: "button", class: "plain small text", onclick: () => showPinned(group, pinned.seq) },
    `${who}: ${textOf(pinned)}`);
  const unpin = () => pin(group, { seq: pinned.seq, isPinned: true });
  return element("li", {}, text, group.may("pinMessage")
    && element("button", { type: "button", class: "plain small", "aria-label": `Unpin: ${textOf(pinned)}`, onclick: unpin }, "Unpin"));
}

/** How many pages of older messages are read for one that is pinned. */
const mostPagesForPinned = 20;

/** Brings a pinned message into view, with older history up to it. */
function showPinned(group, seq) {
  return attempt(async () => {
    for (let page = 0; !group.timeline.at(seq) && group.hasOlder && page < mostPagesForPinned; page += 1) await loadOlder(group);
    const node = group.timeline.at(seq)?.node;
    if (!node || group !== chat.current) return;
    node.tabIndex = -1;
    node.focus({ preventScroll: true });
    node.scrollIntoView({ block: "center" });
  });
}
