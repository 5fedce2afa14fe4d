// What people are called: by the nickname of their profile, or by the name card that they have in a group.

/** The nicknames that the server has told, by userID; "" = none. */
const nickNames = new Map();
const namesPage = 100;

/** Takes over who is called how, of those whom an event or an answer shows with their profiles. */
function learnNames(people) {
  let isNew = false;
  for (const { userID, nickName = "" } of people) {
    if (nickNames.get(userID) === nickName) continue;
    isNew ||= nickNames.has(userID);
    nickNames.set(userID, nickName);
  }
  if (!isNew) return;
  for (const group of chat.groups.values()) group.timeline.redraw();
  render();
}

/** The same of messages, which show their sender, and as tips others too. */
function learnSenders(messages) {
  const shown = messages.flatMap(({ sender, nickName, tips }) =>
    tips ? [tips.opUser, ...(tips.memberList ?? [])].filter(Boolean) : [{ userID: sender, nickName }]);
  learnNames(shown);
}

/** What no token may carry is no user: an attribute, for example, may hold any text. */
const isUserID = (text) => text !== "administrator" && /^(?!@)[\x21-\x7e]{1,32}$/.test(text);

/** Asks for the names of users of whom the server has told the ID alone. */
async function loadNames(userIDs) {
  const unknown = [...new Set(userIDs)].filter((userID) => userID && isUserID(userID) && !nickNames.has(userID));
  for (let start = 0; start < unknown.length; start += namesPage) {
    const userIDList = unknown.slice(start, start + namesPage);
    const { userList } = await call("getUsersInfo", { userIDList });
    learnNames([...userIDList.map((userID) => ({ userID })), ...userList]);
  }
  if (unknown.length > 0) {
    for (const group of chat.groups.values()) group.timeline.redraw();
    render();
  }
}

/** The name of a member, or of a user. */
function nameOf(member) {
  if (!member) return "Somebody";
  if (member.userID === "administrator") return "An administrator";
  return member.nameCard || nickNames.get(member.userID) || member.userID;
}

/** The name of somebody who need not be a member. */
const nameIn = (group, userID) => nameOf(group.members.get(userID) ?? { userID });

// MARK: The reader's own name

/** Reads the own profile: another session may have changed it. */
async function loadOwnName() {
  const { userList } = await call("getUsersInfo", { userIDList: [chat.me] });
  learnNames(userList);
  showOwnName();
}

/** The field is the reader's while it has the focus. */
function showOwnName() {
  if (document.activeElement !== byID("name")) byID("name").value = nickNames.get(chat.me) ?? "";
}

async function saveOwnName() {
  const nickName = byID("name").value.trim();
  byID("name-state").textContent = "";
  await call("setSelfInfo", { nickName });
  learnNames([{ userID: chat.me, nickName }]);
  byID("name-state").replaceChildren(
    ...(nickName ? phrase`Saved: you are called ${chosenText(nickName)}.` : ["Saved: you have no display name."]));
}
