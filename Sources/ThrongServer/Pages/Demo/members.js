// The members of a group: their list, who is online, and what somebody with the right does to them.

const memberPage = 50;
/** How often an open list of members asks for what no event tells: the end of a mute, and who is online where nobody's status is shown. */
const presenceInterval = 5_000;

async function loadMembers(group, more = false) {
  const nextSeq = more ? group.nextMember : 0;
  try {
    const page = await call("getGroupMemberList", { groupID: group.id, count: memberPage, nextSeq });
    if (!more) group.members.clear();
    for (const member of page.memberList) group.members.set(member.userID, member);
    learnNames(page.memberList);
    group.nextMember = page.nextSeq;
    group.areMembersHidden = false;
  } catch (error) {
    // A group may show its members to its managers only.
    if (error.code !== ErrorCode.noRight) throw error;
    group.areMembersHidden = true;
  }
}

/** Asks which of the first members that are listed are online, and what else has changed of them. */
async function refreshPresence(group) {
  const userIDList = [...group.members.keys()].slice(0, memberPage);
  if (userIDList.length === 0 || group.areMembersHidden) return;
  const { memberList } = await call("getGroupMembersInfo", { groupID: group.id, userIDList });
  learnNames(memberList);
  for (const { userID, isOnline, muteUntil } of memberList) {
    // A status goes on for a while behind the last session, see `presence.grace`.
    markOnline(group, userID, chat.client.statusOf(userID)?.isOnline ?? isOnline);
    const member = group.members.get(userID);
    if (member) member.muteUntil = muteUntil;
  }
}

function markOnline(group, userID, isOnline = true) {
  const member = group.members.get(userID);
  if (member) member.isOnline = isOnline;
}

// MARK: The list

/** The member whose menu is open. */
let openMember = null;

function renderMembers(group) {
  const members = [...group.members.values()].sort((a, b) => rankOf(b.role) - rankOf(a.role));
  say("member-count", group.areMembersHidden ? "are not shown here" : String(group.info.memberCount));
  byID("more-members").hidden = group.nextMember === 0;
  watchListed(group);
  if (!areMembersOpen) return;
  if (!group.members.has(openMember)) openMember = null;
  const place = byID("member-list");
  const hadFocus = place.contains(document.activeElement);
  keepingFocus(place, () => renew(place, members.map((member) => memberRow(group, member))));
  // The member whose row had the focus has gone.
  if (hadFocus && !place.contains(document.activeElement)) byID("to-members").focus();
}

function memberRow(group, member) {
  const { userID, role } = member;
  const isMe = userID === chat.me;
  const says = chat.client.statusOf(userID)?.customStatus;
  const online = isMe || member.isOnline ? "online" : "offline";
  const rights = rightsOver(group, userID);
  const hasActs = rights.mayMute || rights.mayRemove || rights.mayChangeRole;
  const isOpen = hasActs && openMember === userID;
  const name = nameOf(member);
  return element("li", { "data-id": userID },
    element("span", { class: `dot ${online}`, title: online }),
    element("span", { class: "who", title: userID }, styled("name", chosenText(name)), isMe && styled("quiet", "(you)"),
      styled("unseen", `, ${online}`), says && styled("quiet", chosenText(says))),
    rights.isMuted && styled("badge warning", "muted"),
    rankOf(role) > 0 && styled("badge", role),
    hasActs && element("button", {
      type: "button", class: "plain small menu-button", "data-key": "menu", "aria-label": `Actions on ${plainText(name)}`,
      "aria-expanded": String(isOpen),
    }, "⋯"),
    isOpen && memberMenu(group, member, rights));
}

function memberMenu(group, { role, ...member }, { mayMute, mayRemove, mayChangeRole, isMuted }) {
  const name = nameOf(member);
  const manager = group.isKept ? "admin" : "moderator";
  const button = (words, label, act, kind = "") => element("button", {
    type: "button", class: `plain small ${kind}`, "data-key": act, "data-act": act,
    "aria-label": label.replace("…", () => plainText(name)),
  }, words);
  return element("div", { class: "menu", role: "group", "aria-label": "Actions", "data-arrows": "button" },
    element("div", { class: "choices" },
      mayChangeRole && (role === "Admin"
        ? button(`No ${manager}`, `… is no longer ${manager}`, "demote")
        : button(`Make ${manager}`, `Make … ${manager}`, "promote")),
      mayMute && (isMuted ? button("Unmute", "Let … speak again", "unmute") : button("Mute", "Mute …", "mute")),
      mayRemove && button("Remove", "Remove … from the group", "remove", "danger")));
}

/** Opens the menu of a member and closes that of any other; or closes it. */
function toggleMember(userID) {
  openMember = openMember === userID ? null : userID;
  renderMembers(chat.current);
  const row = [...byID("member-list").children].find((one) => one.dataset.id === userID);
  row?.querySelector(openMember ? ".menu button" : ".menu-button")?.focus();
}

byID("member-list").addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (!button) return;
  const userID = button.closest("[data-id]").dataset.id;
  const acts = { mute, unmute, remove: removeMember, promote, demote };
  toggleMember(userID);
  if (button.dataset.act) acts[button.dataset.act](chat.current, userID);
});

// MARK: What somebody with the right does

/** What the user may do to somebody who has written here or is listed, by the server's table; whether that one is muted. */
function rightsOver(group, userID) {
  const member = group.members.get(userID) ?? { userID, role: "Member" };
  const isPerson = userID !== undefined && userID !== "administrator";
  return {
    mayMute: isPerson && group.mayOn("muteMember", member), mayRemove: isPerson && group.mayOn("remove", member),
    mayChangeRole: isPerson && group.mayOn("changeRole", member),
    isMuted: member.muteUntil > serverNow(),
  };
}

const muteTimes = [["60", "1 minute"], ["600", "10 minutes"], ["3600", "1 hour"], ["86400", "1 day"]];

function mute(group, userID) {
  const name = nameIn(group, userID);
  return decideInDialog({
    title: phrase`Mute ${chosenText(name)}?`, action: "Mute",
    text: phrase`${chosenText(name)} reads on, and cannot write here until the time is over or you end it.`,
    fields: [{ name: "muteTime", label: "For", options: muteTimes, value: "600" }],
    run: ({ muteTime }) => setMute(group, userID, Number(muteTime)),
  });
}

const unmute = (group, userID) => attempt(() => setMute(group, userID, 0));

async function setMute(group, userID, muteTime) {
  try {
    const { muteUntil } = await call("muteGroupMember", { groupID: group.id, userID, muteTime });
    const member = group.members.get(userID);
    if (member) member.muteUntil = muteUntil;
  } catch (error) {
    throw gone(group, userID, error);
  }
  render();
}

const promote = (group, userID) => attempt(() => setRole(group, userID, "Admin"));
const demote = (group, userID) => attempt(() => setRole(group, userID, "Member"));

/** The event tells everybody, this page too. */
async function setRole(group, userID, role) {
  try {
    await call("setGroupMemberRole", { groupID: group.id, userID, role });
  } catch (error) {
    throw gone(group, userID, error);
  }
}

/** A refusal about somebody who has left meanwhile says so. */
function gone(group, userID, error) {
  const isGone = error.code === ErrorCode.noRight && !group.members.has(userID) && group.nextMember === 0;
  return isGone ? new Error("This user is no member any more.") : error;
}

const banTimes = [["", "No ban"], ["600", "10 minutes"], ["3600", "1 hour"], ["86400", "1 day"]];

/** Asks first: the one who is removed is put out at once. */
function removeMember(group, userID) {
  const name = nameIn(group, userID);
  return decideInDialog({
    title: phrase`Remove ${chosenText(name)}?`, action: "Remove", danger: true,
    text: phrase`${chosenText(name)} is put out of the group at once, and is told the reason.`,
    fields: [
      { name: "reason", label: "Reason", placeholder: "none" },
      { name: "banTime", label: "Keep the user out for", options: banTimes, value: "" },
    ],
    run: async ({ reason, banTime }) => {
      const chosen = { ...(reason.trim() ? { reason: reason.trim() } : {}), ...(banTime ? { banTime: Number(banTime) } : {}) };
      const { memberList: [{ result }] } = await call("kickGroupMember", { groupID: group.id, userIDList: [userID], ...chosen });
      if (result === "Invalid") throw new Error("This user is no member any more.");
      if (result !== "Success") throw new Error("That is not allowed to you in this group.");
    },
  });
}
