// Users: found by ID and name, and one of them with profile, groups and sessions.

let userReads = 0;

/** The most calls, and about the most users, of one step of a search. */
const [callsPerStep, usersPerStep] = [50, 20];

/** Shows one user, or the search where the address names none. */
async function showUsers(userID) {
  const reading = ++userReads;
  byID("users-found").hidden = byID("blocked-card").hidden = userID !== "";
  byID("user").hidden = userID === "";
  if (userID === "") return showBlocked();
  say("users-state", "");
  byID("user-title").textContent = userID;
  for (const id of ["user-acts", "profile", "user-groups", "sessions"]) byID(id).replaceChildren();
  say("user-fault", "");
  say("user-state", "");
  byID("user-parts").hidden = false;
  try {
    const { userList: [user] } = await rpc("getUsersInfo", { userIDList: [userID] });
    if (reading !== userReads) return;
    showProfile(userID, user);
    await Promise.all([showUserGroups(userID, user !== undefined), showSessions(userID), showDeletion(userID, () => reading === userReads)]);
  } catch (error) {
    if (reading !== userReads) return;
    say("user-fault", error.message);
    byID("user-parts").hidden = true;
  }
}

function showProfile(userID, user) {
  byID("user-title").replaceChildren(user?.nickName ? chosenText(user.nickName) : userID);
  byID("user-acts").replaceChildren(
    element("a", { class: "back", href: `#trace/user%2F${encodeURIComponent(userID)}` }, "Trace this user"),
    ...[["Edit", () => editProfile(userID, user)], ["Export", exportUser], ["Unblock", unblock], ["Revoke tokens", revokeTokens]].map(
      ([words, run]) => element("button", { type: "button", onclick: () => run(userID) }, words)),
    ...[["End all sessions", kick], ["Block", block], ["Delete", deleteUser]].map(([words, run]) =>
      element("button", { type: "button", class: "danger", onclick: () => run(userID) }, words)));
  const rows = [
    ["User ID", element("code", {}, userID)], ["Nickname", user?.nickName && chosenText(user.nickName)],
    ["Picture", user?.faceURL && chosenText(user.faceURL)], ["Custom info", user && customWords(user.customInfo)],
    ["State", user ? undefined : "The server does not know this user: nobody has signed in or was imported under the ID."],
  ].filter(([, value]) => value);
  byID("profile").replaceChildren(...rows.map(definition));
}

/** What others see of a user. An empty text removes what was there. */
function editProfile(userID, { nickName = "", faceURL = "" } = {}) {
  return changeGroup({
    title: `Edit ${userID}`, action: "Save",
    text: "Members of the user’s groups see the change. A user whom the server does not know is known from then on.",
    fields: [
      { name: "nickName", label: "Nickname", value: nickName, placeholder: "none" },
      { name: "faceURL", label: "Picture", value: faceURL, placeholder: "none", hint: "Its address." },
    ],
    run: (fields) => act("setUserInfo", { userID, nickName: fields.nickName, faceURL: fields.faceURL }),
  });
}

/** The users who cannot sign in, by their ID. */
async function showBlocked() {
  await showPages(byID("blocked"), "Nobody", async (nextSeq = 0) => {
    const page = await rpc("getBlockedUsers", { nextSeq, count: 50 });
    const names = await nickNames(page.userList.map(({ userID }) => userID));
    return { rows: page.userList.map((row) => blockedRow(row, names)), next: page.nextSeq || undefined };
  });
}

function blockedRow({ userID, blockedUntil, reason }, names) {
  return element("tr", {},
    element("td", {}, userName({ userID, nickName: names.get(userID) }), reason && styled("sub", chosenText(reason))),
    element("td", {}, blockedUntil ? `until ${moment(blockedUntil)}` : "without end"),
    element("td", { class: "end" }, element("div", { class: "acts" }, smallButton("Unblock", () => unblock(userID)))));
}

async function showUserGroups(userID, isKnown) {
  await showPages(byID("user-groups"), "None", async (nextSeq = 0) => {
    // Acting as a user who is not known would make the user known.
    if (!isKnown) return { rows: [] };
    const page = await rpc("getJoinedGroupList", { asUser: userID, nextSeq, count: 50 });
    return { rows: page.groupList.map(joinedGroupRow), next: page.nextSeq || undefined };
  });
}

function joinedGroupRow(info) {
  const { groupID, groupType, selfInfo: { role, nameCard, joinTime, muteUntil } } = info;
  return element("tr", {},
    element("td", {}, groupLink(info), element("code", { class: "sub" }, groupID)),
    element("td", {}, styled("badge", groupType), " ", role !== "Member" && styled("badge accent", role), " ",
      muteUntil > Date.now() && element("span", { class: "badge warning", title: `Until ${moment(muteUntil)}` }, "muted")),
    element("td", { "data-label": "name card" }, nameCard && chosenText(nameCard)),
    element("td", { class: "quiet" }, joinTime ? `since ${moment(joinTime)}` : ""));
}

async function showSessions(userID) {
  await showPages(byID("sessions"), "Not signed in", async () => {
    const { sessionList } = await rpc("listSessions", { userID });
    return { rows: sessionList.map(sessionRow) };
  });
}

function sessionRow({ sessionID, platform, deviceID, address, loginTime }) {
  return element("tr", {},
    element("td", {}, platform, deviceID && styled("sub", chosenText(deviceID))),
    element("td", { "data-label": "from" }, address),
    element("td", { "data-label": "since" }, moment(loginTime)),
    element("td", {}, element("code", { class: "quiet" }, sessionID)));
}

async function kick(userID) {
  const isDone = await ask({
    title: `Sign ${userID} out?`, action: "End sessions", danger: true,
    text: "All sessions of the user are closed; the token stays valid.",
    fields: [{ name: "reason", label: "Reason", placeholder: "none", hint: "The user is told." }],
    run: ({ reason }) => act("kickUser", given({ userID, reason })),
  });
  if (isDone) await showSessions(userID);
}

function block(userID) {
  return changeGroup({
    title: `Block ${userID}?`, action: "Block", danger: true,
    text: "All sessions of the user are closed, and the user cannot sign in until the block ends.",
    fields: [
      { name: "minutes", label: "Minutes", type: "number", min: 0, placeholder: "without end" },
      { name: "reason", label: "Reason", placeholder: "none", hint: "The user is told." },
    ],
    run: ({ minutes, reason }) => act("blockUser", given({ userID, blockTime: seconds(minutes), reason })),
  });
}

function unblock(userID) {
  return changeGroup({
    title: `Unblock ${userID}?`, action: "Unblock", text: "The user can sign in again.",
    run: () => act("unblockUser", { userID }),
  });
}

function revokeTokens(userID) {
  return changeGroup({
    title: `Revoke the tokens of ${userID}?`, action: "Revoke", danger: true,
    text: "Tokens that were issued until now, or do not say when, are good for nothing any more, and their sessions end.",
    run: () => act("revokeTokens", { userID }),
  });
}

function deleteUser(userID) {
  return changeGroup({
    title: `Delete ${userID}?`, action: "Delete", danger: true,
    text: "The user leaves every group, and everything that the server keeps of the user goes. This cannot be undone.",
    fields: [{
      name: "messages", label: "The user’s messages",
      options: [["Keep", "stay, with the user’s ID"], ["Revoke", "are taken away"]], value: "Keep",
    }],
    run: ({ messages }) => act("deleteUser", { userID, messages }),
  });
}

/** How often a deletion that runs is asked about. */
const deletionInterval = 2_000;

/** Says whether the user is being deleted, or was; asks again as long as that runs and the user is shown. */
async function showDeletion(userID, isShown) {
  const { state } = await rpc("getUserDeletion", { userID });
  if (!isShown()) return;
  say("user-state", { Running: "This user is being deleted.", Done: "This user was deleted." }[state] ?? "");
  if (state !== "Running") return;
  setTimeout(() => {
    if (isShown() && credential) showDeletion(userID, isShown).catch((error) => say("user-fault", error.message));
  }, deletionInterval);
}

/** Saves everything that the server keeps of the user as a file of JSON. */
async function exportUser(userID) {
  say("user-fault", "");
  try {
    const all = [];
    for (let nextSeq = 0, isFirst = true; isFirst || nextSeq !== 0; isFirst = false) {
      const page = await rpc("exportUser", { userID, nextSeq });
      all.push(...page.rows);
      nextSeq = page.nextSeq;
      say("user-state", `${all.length} rows so far.`);
    }
    say("user-state", `${all.length} ${all.length === 1 ? "row" : "rows"}.`);
    const file = new Blob([JSON.stringify({ userID, rows: all }, undefined, 2)], { type: "application/json" });
    const address = URL.createObjectURL(file);
    element("a", { href: address, download: `${userID.replace(/[^\w.-]/g, "_")}.json` }).click();
    // The download has begun by then.
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  } catch (error) {
    say("user-fault", error.message);
  }
}

/** Shows the users whose ID, nickname or name card holds the words. */
async function findUsers(words) {
  await showPages(byID("users-found"), "Nobody is found. A user who is in no group is found by the whole ID alone.",
    async (search = usersHolding(words)) => {
      const found = [];
      for (let calls = 0; calls < callsPerStep && found.length < usersPerStep; calls += 1) {
        const { value, done } = await search.next();
        if (done) return { rows: foundRows(found, words) };
        found.push(...value);
      }
      return { rows: foundRows(found, words), next: search };
    },
    (count, hasMore) => say("users-state", foundWords(count, hasMore)));
}

/**
 * The users found by each call of the server: who has this very ID, then members of groups. No method lists users, so the
 * search goes through the groups that have such a member.
 */
async function* usersHolding(words) {
  const seen = new Set();
  const newOnes = (users) => users.filter(({ userID }) => !seen.has(userID) && seen.add(userID));
  if (isUserID(words)) yield newOnes((await rpc("getUsersInfo", { userIDList: [words] })).userList);
  const wanted = words.toLowerCase();
  const holds = (user) => textsOfUser(user).some((text) => text?.toLowerCase().includes(wanted));
  const matchFields = ["memberUserID", "memberNickName", "memberNameCard"];
  let nextSeq = 0;
  do {
    const page = await rpc("searchGroups", { keywordList: [words], matchFields, count: 10, nextSeq });
    yield [];
    // A broadcast group has everybody, and lists nobody.
    for (const group of page.groupList.filter(({ groupType }) => groupType !== "BChatRoom")) {
      for await (const members of memberPages(group.groupID)) {
        yield newOnes(members.filter(holds)).map((member) => ({ ...member, group }));
      }
    }
    nextSeq = page.nextSeq;
  } while (nextSeq !== 0);
}

/** The pages of a group's members; none of a group that has ended meanwhile. */
async function* memberPages(groupID) {
  let nextSeq = 0;
  do {
    let page;
    try {
      page = await rpc("getGroupMemberList", { groupID, nextSeq, count: 50 });
    } catch (error) {
      if (error.code === 10010) return;
      throw error;
    }
    yield page.memberList;
    nextSeq = page.nextSeq;
  } while (nextSeq !== 0);
}

const textsOfUser = ({ userID, nickName, nameCard }) => [nameCard, nickName, userID];

/** Whether a text may be a user's ID. */
const isUserID = (text) => text !== "administrator" && /^(?!@)[\x21-\x7e]{1,32}$/.test(text);

function foundRows(users, words) {
  return beginningFirst(users, words, textsOfUser).map((user) => element("tr", {},
    element("td", {}, userName(user)),
    element("td", { class: "quiet" }, user.group && ["in ", groupLink(user.group)])));
}
