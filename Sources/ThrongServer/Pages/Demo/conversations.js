// What the user keeps about a group in their own list: pinned above others, hidden, marked unread, its history cleared.

/** Whether the list holds the hidden groups, too. */
let areHiddenListed = false;

/** The groups in the order of the list: the pinned ones first, otherwise as they came. */
const ordered = (groups) => [...groups].sort((a, b) => Number(b.isPinned) - Number(a.isPinned));

/** Whether the list holds a group: a hidden one where it is looked for, or shown beside the list. */
const isListed = (group) => !group.isHidden || areHiddenListed || group === chat.current;

byID("list-hidden").addEventListener("click", () => {
  areHiddenListed = !areHiddenListed;
  render();
});

/** The button that lists the hidden groups, as long as there are any. */
function renderHidden(groups) {
  const count = groups.filter(({ isHidden }) => isHidden).length;
  if (count === 0) areHiddenListed = false;
  say("list-hidden", count > 0 && `Hidden groups: ${count}`);
  byID("list-hidden").setAttribute("aria-pressed", areHiddenListed);
}

/** Pins the group above others, or no longer; only the user's other sessions get an event. */
async function pinConversation(group) {
  const isPinned = !group.isPinned;
  await call("setConversation", { groupID: group.id, isPinned });
  takeConversation(group, { isPinned });
}

/** Marks the group unread: what is looked at is read. */
const markUnread = (group) => putAside(group, { isMarkedUnread: true });

/** Takes the group out of the list until something in it counts as unread or mentions the user; or puts it back. */
async function hideConversation(group) {
  if (!group.isHidden) return putAside(group, { isHidden: true });
  await call("setConversation", { groupID: group.id, isHidden: false });
  takeConversation(group, { isHidden: false });
}

/** Goes back to the groups, and changes the one that was shown. */
async function putAside(group, change) {
  openLobby("", "groups");
  try {
    await call("setConversation", { groupID: group.id, ...change });
    takeConversation(group, change);
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
  for (const id of ["pin-conversation", "hide-conversation", "mark-unread", "clear"]) byID(id).hidden = !group.isKept;
  byID("pin-conversation").setAttribute("aria-pressed", group.isPinned);
  byID("hide-conversation").setAttribute("aria-pressed", group.isHidden);
}
