// The pinned messages of the group that is shown.

async function showPins({ groupID, groupType }) {
  if (keepsNothing(groupType)) {
    byID("pins").replaceChildren(element("p", { class: "empty" }, `${groupType} keeps no messages.`));
    return;
  }
  await showPages(byID("pins"), "None", async () => {
    const { messageList } = await rpc("getPinnedGroupMessageList", { groupID });
    const row = (message) => messageRow({ ...message, isPinned: false }, [pinButton(groupID, message)]);
    return { rows: messageList.map(row) };
  });
}

/** Pins a message or unpins it. */
function pinButton(groupID, { seq, isPinned }) {
  // Done or refused, which `act` tells: the group is shown as it is then.
  const change = () => act("pinGroupMessage", { groupID, seq, isPinned: !isPinned }).then(route, route);
  return smallButton(isPinned ? "Unpin" : "Pin", change);
}
