// Who is there, and who is writing.

/** How long somebody writes as far as this page knows, behind the last signal; the library sends one every three seconds. */
const typingTime = 5_000;
/** The most who are named as writing, in each group. */
const mostTyping = 100;
let typingTimer = 0;
/** The users whose status the server is asked to tell: the first members of the open list. */
let watched = new Set();
/** Where statuses are not to be had, the list asks for its members again and again. */
let areStatusesShown = true;

/** Watches those whom the open list shows, and nobody else. */
function watchListed(group) {
  const isListOpen = areMembersOpen && group && !group.areMembersHidden;
  const listed = isListOpen && areStatusesShown ? [...group.members.keys()].slice(0, memberPage) : [];
  const wanted = new Set(listed.filter((userID) => userID !== chat.me && isUserID(userID)));
  const gone = [...watched].filter((userID) => !wanted.has(userID));
  const added = [...wanted].filter((userID) => !watched.has(userID));
  watched = wanted;
  if (gone.length > 0) chat.client.unwatchUsers(gone);
  if (added.length > 0) chat.client.watchUsers(added);
}

/** Takes what the server tells of users who are watched. */
function takeStatuses({ userList }) {
  for (const { userID, isOnline } of userList) {
    for (const group of chat.groups.values()) markOnline(group, userID, isOnline);
  }
  render();
}

/** The server shows nobody's status, or lets a session watch fewer than are listed: the list does without. */
function failToWatch() {
  areStatusesShown = false;
  render();
}

// MARK: Who is writing

/** The group's own signal: whoever writes is named for a while. */
function takeSignal(group, { name, sender, nickName }) {
  if (name !== "typing" || sender === chat.me) return;
  learnNames([{ userID: sender, nickName }]);
  group.typing.delete(sender);
  group.typing.set(sender, Date.now() + typingTime);
  if (group.typing.size > mostTyping) group.typing.delete(group.typing.keys().next().value);
}

/** Names who writes, as long as they do. */
function renderTyping(group) {
  clearTimeout(typingTimer);
  const now = Date.now();
  for (const [userID, end] of group.typing) if (end <= now) group.typing.delete(userID);
  const writers = [...group.typing.keys()];
  const names = namesOf(writers.map((userID) => group.members.get(userID) ?? { userID }));
  say("typing", writers.length === 0 ? "" : phrase`${names} ${writers.length > 1 ? "are" : "is"} writing`);
  if (writers.length > 0) typingTimer = setTimeout(render, Math.min(...group.typing.values()) - now + 1);
}

/** The user writes: the others are told, at each key if need be. */
function tellTyping(group) {
  if (group && chat.client.state === "online" && byID("text").value !== "" && !group.isMuted) chat.client.sendTyping(group.id);
}
