// Forms and buttons, and the start.

/** Runs what a form asks for, once at a time; what goes wrong is said in the form. */
function onSubmit(formID, faultID, act) {
  const button = byID(formID).querySelector("button:not([type])");
  byID(formID).addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isBusy(button)) return;
    say(faultID, "");
    setBusy(button, true);
    try {
      await act();
    } catch (error) {
      say(faultID, inWords(error));
    } finally {
      setBusy(button, false);
    }
  });
}

onSubmit("create-form", "create-fault", async () => {
  await create(byID("group-name").value.trim(), byID("create-form").elements.type.value);
});

async function create(groupName, groupType, groupID) {
  // Guests want to see each other come and go, which a Meeting does not tell unless it is asked to.
  const made = await call("createGroup", { groupName, groupType, groupID, memberChangeNotification: true });
  openGroup(await admit(made.groupID));
}

onSubmit("join-form", "join-fault", async () => {
  const text = byID("group-id").value.trim();
  await joinByID(text.includes("/#") ? groupInLink(text.slice(text.indexOf("/#") + 1)) : text);
});

async function joinByID(groupID) {
  byID("create-missing").hidden = true;
  try {
    if ((await join(groupID)) === "Pending") openLobby("You have knocked. The group opens here when somebody lets you in.");
  } catch (error) {
    byID("group-id").value = groupID;
    byID("create-missing").hidden = error.code !== ErrorCode.noSuchGroup;
    say("join-fault", inWords(error));
    if (!(error instanceof ThrongError)) throw error;
  }
}

byID("create-missing").addEventListener("click", async () => {
  const groupID = byID("group-id").value.trim();
  byID("create-missing").hidden = true;
  try {
    await create(groupID.slice(0, 30), "Meeting", groupID);
    say("join-fault", "");
  } catch (error) {
    say("join-fault", inWords(error));
  }
});

onSubmit("name-form", "name-fault", saveOwnName);
byID("name").addEventListener("input", () => {
  byID("name-state").textContent = "";
  say("name-fault", "");
});

onSubmit("composer", "composer-fault", async () => {
  const text = byID("text").value.trim();
  // The countdown of slow mode says how long the text stays in its field.
  if (!text || slowRest(chat.current) > 0) return;
  byID("text").value = "";
  byID("text").rows = 1;
  // Not awaited: the next message may be written while this one is under way.
  send(chat.current, text);
  byID("text").focus();
});

byID("text").addEventListener("keydown", sendByEnter);
byID("text").addEventListener("input", ({ target }) => {
  target.rows = Math.min(6, target.value.split("\n").length);
  tellTyping(chat.current);
});

byID("to-lobby").addEventListener("click", () => openLobby());
byID("lobby-back").addEventListener("click", () => openLobby("", "groups"));
byID("back").addEventListener("click", () => openLobby("", "groups"));
byID("newer").addEventListener("click", scrollToEnd);
for (const id of ["to-members", "close-members"]) {
  byID(id).addEventListener("click", () => {
    areMembersOpen = !areMembersOpen;
    render();
    // Where the list lies over the conversation, the focus goes with it.
    if (!wide.matches) queueMicrotask(() => byID(areMembersOpen ? "close-members" : "to-members").focus());
    // No event tells of the end of a mute, and a server need not show who is online.
    if (areMembersOpen) loadMembers(chat.current).then(render, sayRefusal);
  });
}

/** Runs what a button of the conversation asks for. */
function onClick(id, act) {
  byID(id).addEventListener("click", async () => {
    try {
      await act(chat.current);
      render();
    } catch (error) {
      sayRefusal(error);
    }
  });
}

onClick("older", loadOlder);
onClick("like", like);
onClick("mute-all", muteAll);
onClick("ask-first", askFirst);
onClick("slow-mode", askSlowMode);
onClick("send-burst", sendBurst);
onClick("pin-conversation", pinConversation);
onClick("hide-conversation", hideConversation);
onClick("mark-unread", markUnread);
onClick("clear", clearHistory);
onClick("more-members", (group) => loadMembers(group, true));
onClick("copy", async (group) => {
  const link = new URL(linkTo(group.id), location.href).href;
  // Browsers lend the clipboard to secure origins only, which this page need not come from.
  const fields = [{ name: "link", label: "Link", value: link }];
  if (!navigator.clipboard) return ask({ title: "Copy link", fields, action: "Done", cancel: null, run: async () => {} });
  await navigator.clipboard.writeText(link);
  say("copy", "Copied");
  byID("spoken").textContent = "The link is copied.";
  setTimeout(() => {
    say("copy", "Copy link");
    byID("spoken").textContent = "";
  }, 2000);
});
onClick("leave", (group) => {
  const name = chosenText(group.info.groupName);
  const quit = () => call("quitGroup", { groupID: group.id });
  if (group.isDisbandable) {
    return decideInDialog({
      title: phrase`Disband ${name}?`, text: "Everybody is put out, and its messages are deleted.", action: "Disband", danger: true,
      run: () => call("dismissGroup", { groupID: group.id }),
    });
  }
  const wayBack = {
    Auth: "To come back you have to ask, and somebody has to let you in.",
    Forbid: "You come back only if somebody brings you in.",
  }[group.info.joinMode];
  if (!wayBack) return quit();
  return decideInDialog({ title: phrase`Leave ${name}?`, text: wayBack, action: "Leave", danger: true, run: quit });
});

// MARK: The start

function groupInLink(hash) {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    // Not made by this page: as it stands.
    return hash.slice(1);
  }
}

async function openLink() {
  const groupID = groupInLink(location.hash);
  if (!groupID || !chat.me || chat.current?.id === groupID) return;
  const known = chat.groups.get(groupID);
  if (known) openGroup(known);
  else await joinByID(groupID);
}

/** The session is in step with its groups, at first or after a lost connection. */
async function begin(client, news) {
  chat.me = client.userID;
  for (const place of document.querySelectorAll(".own-id")) place.textContent = chat.me;
  setReady(true);
  try {
    await storedShown;
    await loadRights();
    await Promise.all([loadOwnName(), news.isFirst ? enterRestored(news) : resume(news)]);
    chat.hasBegun = true;
    await openLink();
  } catch (error) {
    // The next connection does it again.
    if (!(error instanceof ClientError)) lobbyNotice(inWords(error));
  }
}

function setReady(isReady) {
  for (const id of ["create-form", "join-form", "name-form", "to-lobby"]) byID(id).hidden = !isReady;
}

/** Whether the page waits for somebody's token: it came without one, and none has signed in yet. */
const asksForToken = () => !guestToken && !chat.client?.session;

byID("retry").addEventListener("click", () => {
  // A page that is signed out for good begins anew: as another guest, or with another token.
  if (byID("state").dataset.state === "closed") location.reload();
  else chat.client.reconnectNow();
});
byID("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  connect(byID("token").value.trim());
  byID("token").value = "";
});
addEventListener("hashchange", openLink);
document.addEventListener("visibilitychange", () => {
  if (chat.current && isSeen(chat.current)) markRead(chat.current);
  render();
});
setInterval(() => {
  const group = chat.current;
  if (!group || !isLookedAt(group) || byID("members").hidden || chat.client.state !== "online") return;
  refreshPresence(group).then(render, (error) => error instanceof ClientError || group !== chat.current || sayRefusal(error));
}, presenceInterval);

const meta = document.querySelector("meta[name=guest-token]");
const guestToken = meta.content;
meta.remove();
render();
if (guestToken) {
  connectGuest();
} else {
  sayState("closed", "Signed out");
  byID("token-form").hidden = false;
}
