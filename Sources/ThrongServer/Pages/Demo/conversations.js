// What the user keeps about a group in their own list: pinned above others, marked unread, its history cleared.

/** The groups in the order of the list: the pinned ones first, otherwise as they came. */
const listed = (groups) => [...groups].sort((a, b) => Number(b.isPinned) - Number(a.isPinned));

/** Pins the group above others, or no longer; only the user's other sessions get an event. */
async function pinConversation(group) {
  const isPinned = !group.isPinned;
  await call("setConversation", { groupID: group.id, isPinned });
  takeConversation(group, { isPinned });
}

/** Marks the group unread, and goes back to the groups: what is looked at is read. */
async function markUnread(group) {
  openLobby("", "groups");
  try {
    await call("setConversation", { groupID: group.id, isMarkedUnread: true });
    takeConversation(group, { isMarkedUnread: true });
  } catch (error) {
    lobbyNotice(inWords(error));
  }
}

/** Asks first: what is cleared does not come back. */
function clearHistory(group) {
  return decideInDialog({
    title: phrase`Clear ${chosenText(group.info.groupName)}?`, action: "Clear", danger: true,
    text: "All messages up to now are gone for you, on all your devices. Others go on seeing them.",
    run: async () => takeConversation(group, await call("clearGroupHistory", { groupID: group.id })),
  });
}

/** Takes what has changed, as the server tells it or as it was asked for. */
function takeConversation(group, { clearedSeq, ...change }) {
  const { selfInfo } = group.info;
  for (const name of ["isPinned", "isHidden", "isMarkedUnread"]) {
    if (change[name] === true) selfInfo[name] = true;
    else if (change[name] === false) delete selfInfo[name];
  }
  if (clearedSeq !== undefined) {
    group.info.firstSeq = Math.max(group.info.firstSeq ?? 1, clearedSeq + 1);
    group.timeline.clear(clearedSeq);
    group.pins = group.pins.filter(({ seq }) => seq > clearedSeq);
    Object.assign(group, { hasOlder: false, isHistoryKnown: true, isCleared: true, unread: 0, answered: null });
    askUnread(group);
  }
  render();
}

/** The buttons of the group that is shown. */
function renderConversationButtons(group) {
  for (const id of ["pin-conversation", "mark-unread", "clear"]) byID(id).hidden = !group.isKept;
  byID("pin-conversation").setAttribute("aria-pressed", group.isPinned);
}
