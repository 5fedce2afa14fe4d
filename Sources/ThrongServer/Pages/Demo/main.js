// Forms and buttons, and the start.

/** Runs what a form asks for; what goes wrong is said in the form. */
function onSubmit(formID, faultID, act) {
  byID(formID).addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = event.target.querySelector("button");
    say(faultID, "");
    button.disabled = true;
    try {
      await act();
    } catch (error) {
      say(faultID, inWords(error));
    } finally {
      button.disabled = false;
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

onSubmit("name-form", "name-fault", async () => {
  const name = byID("name").value.trim();
  if (new TextEncoder().encode(name).length > 50) throw new ThrongError("", { code: ErrorCode.nameCardTooLong, message: "" });
  chat.name = name;
  for (const group of chat.groups.values()) await giveName(group);
});

onSubmit("composer", "composer-fault", async () => {
  const text = byID("text").value.trim();
  if (!text) return;
  byID("text").value = "";
  byID("text").rows = 1;
  // Not awaited: the next message may be written while this one is under way.
  send(chat.current, text);
  byID("text").focus();
});

byID("text").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  byID("composer").requestSubmit();
});
byID("text").addEventListener("input", ({ target }) => (target.rows = Math.min(6, target.value.split("\n").length)));

byID("to-lobby").addEventListener("click", () => openLobby());
byID("lobby-back").addEventListener("click", () => openLobby("", "groups"));
byID("back").addEventListener("click", () => openLobby("", "groups"));
byID("newer").addEventListener("click", scrollToEnd);
for (const id of ["to-members", "close-members"]) {
  byID(id).addEventListener("click", () => {
    areMembersOpen = !areMembersOpen;
    render();
    // The server does not push who is online.
    if (areMembersOpen) loadMembers(chat.current).then(render, (error) => composerFault(inWords(error)));
  });
}

/** Runs what a button of the conversation asks for. */
function onClick(id, act) {
  byID(id).addEventListener("click", async () => {
    try {
      await act(chat.current);
      render();
    } catch (error) {
      composerFault(inWords(error));
    }
  });
}

onClick("older", loadOlder);
onClick("like", like);
onClick("mute-all", muteAll);
onClick("ask-first", askFirst);
onClick("send-burst", sendBurst);
onClick("more-members", (group) => loadMembers(group, true));
onClick("copy", async (group) => {
  const link = new URL(linkTo(group.id), location.href).href;
  // Browsers lend the clipboard to secure origins only, which this page need not come from.
  const fields = [{ name: "link", label: "Link", value: link }];
  if (!navigator.clipboard) return ask({ title: "Copy link", fields, action: "Done", run: async () => {} });
  await navigator.clipboard.writeText(link);
  byID("copy").textContent = "Copied";
  setTimeout(() => (byID("copy").textContent = "Copy link"), 2000);
});
onClick("leave", async (group) => {
  const { groupName } = group.info;
  if (!group.isDisbandable) return call("quitGroup", { groupID: group.id });
  await ask({
    title: `Disband ${groupName}?`, text: "Everybody is put out, and its messages are deleted.", action: "Disband", danger: true,
    run: () => call("dismissGroup", { groupID: group.id }),
  });
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
    await loadRights();
    if (!news.isFirst) await resume(news);
    else await enterRestored(news.groups);
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
const asksForToken = () => !guestToken && !chat.me;

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
  if (chat.current && isLookedAt(chat.current)) markRead(chat.current);
});
setInterval(() => {
  const isSeen = chat.current && isLookedAt(chat.current) && !byID("members").hidden && chat.client.state === "online";
  if (isSeen) refreshPresence(chat.current).then(render, () => {});
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
