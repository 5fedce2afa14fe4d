// One group: what it is, and what an administrator does with it.

let groupReads = 0;
/** The group that is shown; undefined = none. */
let shownGroupID;

async function showGroup(groupID) {
  const reading = ++groupReads;
  shownGroupID = undefined;
  say("group-fault", "");
  const row = await readGroup(groupID);
  if (reading !== groupReads) return;
  byID("group-parts").hidden = row.code !== 0;
  byID("group-acts").replaceChildren();
  byID("group-badges").replaceChildren(element("code", { class: "quiet wrap" }, groupID));
  byID("group-title").replaceChildren(chosenText(row.info?.groupName ?? groupID));
  if (row.code !== 0) return say("group-fault", `${row.code} · ${row.message}`);
  byID("group-badges").append(styled("badge", row.info.groupType),
    isMuted(row.info) ? styled("badge warning", `muted: ${row.info.mute.mode}`) : "");
  byID("group-acts").replaceChildren(...groupActs(row.info));
  shownGroupID = groupID;
  showInfo(row);
  const parts = [showMessages, showPins, showMembers, showMuted, showBans, showCounters];
  await Promise.all(parts.map((show) => show(row.info)));
}

/** What the server tells of a group, with the owner's nickname: `{code, message}`, or `{code: 0, info, names}`. */
async function readGroup(groupID) {
  const { resultList: [row] } = await rpc("getGroupsInfo", { groupIDList: [groupID] });
  return row.code === 0 ? { ...row, names: await nickNames([row.info.owner]) } : row;
}

/** Reads the numbers of the group that is shown again. */
async function refreshGroup() {
  if (shownGroupID === undefined) return;
  const [reading, groupID] = [groupReads, shownGroupID];
  const row = await readGroup(groupID);
  if (reading !== groupReads) return;
  if (row.code !== 0) {
    shownGroupID = undefined;
    return say("group-fault", `${row.code} · ${row.message}`);
  }
  showInfo(row);
  await refreshCounters(groupID, () => reading !== groupReads);
}

function showInfo({ info, names }) {
  const policies = ["joinMode", "inviteMode", "beInviteMode", "updateInfoMode", "updateCustomMode", "ownerQuitMode",
    "memberChangeNotification", "isSearchable", "isMemberVisible", "historyVisibility", "slowMode", "attributeMode",
  ].filter((name) => info[name] !== undefined);
  const rows = [
    ["Owner", info.owner && userName({ userID: info.owner, nickName: names.get(info.owner) })],
    ["Members", `${info.memberCount}, ${info.onlineCount} online${info.maxMemberNum ? `, at most ${info.maxMemberNum}` : ""}`],
    ["Introduction", info.introduction && chosenText(info.introduction)],
    ["Notification", info.notification && chosenText(info.notification)],
    ["Muted", isMuted(info) && muteWords(info.mute)],
    ["Created", moment(info.createTime)], ["Info changed", moment(info.lastInfoTime)],
    ["Last message", moment(info.lastMessageTime)],
    ["Messages so far", String(info.lastSeq)], ["Custom info", customWords(info.customInfo)],
    ["Policy", policies.map((name) => `${name}: ${info[name]}`).join("\n")],
  ].filter(([, value]) => value);
  renew(byID("info"), rows.map(definition));
}

/** An entry of a list of properties. */
function definition([name, value]) {
  return element("div", {}, element("dt", {}, name), element("dd", {}, value));
}

/** The application's own texts, a line for each; nothing where there are none. */
function customWords(customInfo = {}) {
  const lines = Object.entries(customInfo).map(([key, value]) => element("span", { class: "line" }, `${key}: `, chosenText(value)));
  return lines.length > 0 && lines;
}

function muteWords({ mode, roles, muteUntil }) {
  return [mode, roles?.join(", "), muteUntil && `until ${moment(muteUntil)}`].filter(Boolean).join(" · ");
}

function groupActs(info) {
  const button = (words, onclick, kind = "") => element("button", { type: "button", class: kind, onclick }, words);
  return [
    button("Send message", () => sendMessage(info)), button("Edit", () => editGroup(info)), button("Mute", () => muteGroup(info)),
    ...(info.slowMode === undefined ? [] : [button("Slow mode", () => setSlowMode(info))]),
    ...(info.groupType === "AVChatRoom" || info.groupType === "BChatRoom" ? [] : [button("Add members", () => addMembers(info))]),
    button("Notify", () => notifyGroup(info)), button("Transfer", () => transferGroup(info)),
    ...(info.groupType === "AVChatRoom" ? [button("Moderators", () => setModerator(info))] : []),
    button("Recycle", () => endGroup(info, {
      method: "recycleGroup", action: "Recycle",
      tells: "The members are told that the application has taken the group back (onGroupRecycled).",
    }), "danger"),
    button("Disband", () => endGroup(info, {
      method: "dismissGroup", action: "Disband",
      tells: "The members are told that the group was disbanded, as by its owner (onGroupDismissed).",
    }), "danger"),
  ];
}

/** Asks, acts, and shows the group as it is then. */
async function changeGroup(question) {
  if (!(await ask(question))) return;
  await route();
  focusTitle();
}

/** Moves the focus to the title of the part that is shown, if the element that had it is gone. */
function focusTitle() {
  const title = document.querySelector("main > section:not([hidden]) h2");
  if (document.activeElement === document.body) title?.focus();
}

function editGroup(info) {
  const fields = [
    { name: "groupName", label: "Name", value: info.groupName, required: true },
    { name: "introduction", label: "Introduction", value: info.introduction, lines: 2 },
    { name: "notification", label: "Notification", value: info.notification, lines: 3 },
  ];
  return changeGroup({
    title: ["Edit ", chosenText(info.groupName)], action: "Save", fields,
    run: (values) => {
      const changed = Object.entries(values).filter(([name, value]) => value !== info[name]);
      return act("setGroupInfo", { groupID: info.groupID, ...Object.fromEntries(changed) });
    },
  });
}

function muteGroup(info) {
  const modes = [["None", "None: everybody speaks"], ["Ordinary", "Ordinary: members are silent"],
    ["All", "All: everybody is silent"], ["Custom", "Custom: the roles below are silent"]];
  return changeGroup({
    title: ["Mute ", chosenText(info.groupName)], action: "Apply",
    fields: [
      { name: "mode", label: "Mode", options: modes, value: isMuted(info) ? "None" : "Ordinary" },
      { name: "minutes", label: "Minutes", type: "number", min: 0, placeholder: "without end" },
      { name: "roles", label: "Roles", placeholder: "Admin, Member, 100", hint: "For mode Custom only." },
    ],
    run: ({ mode, minutes, roles }) => {
      const list = roles.split(",").map((role) => role.trim()).filter(Boolean);
      const chosen = list.length > 0 ? list : undefined;
      return act("muteGroup", given({ groupID: info.groupID, mode, duration: seconds(minutes), roles: chosen }));
    },
  });
}

function setSlowMode(info) {
  return changeGroup({
    title: ["Slow mode of ", chosenText(info.groupName)], action: "Apply",
    text: "Members wait so long from one message to their next; managers do not.",
    fields: [{
      name: "slowMode", label: "Seconds", type: "number", min: 0, value: String(info.slowMode), required: true, hint: "0 ends it.",
    }],
    run: ({ slowMode }) => act("setGroupInfo", { groupID: info.groupID, slowMode: Number(slowMode) }),
  });
}

/** A role of a live room may be somebody's who is not there: it is theirs when they come. */
function setModerator(info) {
  return changeGroup({
    title: ["Moderators of ", chosenText(info.groupName)], action: "Apply",
    text: "A moderator removes, bans and mutes members, and takes messages away. The user need not be there.",
    fields: [
      { name: "userID", label: "User", required: true, placeholder: "userID" },
      { name: "role", label: "The user is", options: [["Admin", "a moderator"], ["Member", "no moderator"]], value: "Admin" },
    ],
    run: ({ userID, role }) => act("setGroupMemberRole", { groupID: info.groupID, userID: userID.trim(), role }),
  });
}

/** The application asks nobody: whom it adds is a member at once, unless the group asks the invited (beInviteMode). */
function addMembers({ groupID, groupName }) {
  return changeGroup({
    title: ["Add members to ", chosenText(groupName)], action: "Add",
    fields: [{ name: "users", label: "Users", required: true, lines: 3, placeholder: "userIDs, by blanks or lines", hint: "At most 100." }],
    run: async ({ users }) => {
      const { memberList } = await act("inviteUserToGroup", { groupID, userIDList: users.split(/[\s,]+/).filter(Boolean) });
      const refused = memberList.filter(({ result }) => result !== "Success" && result !== "Pending");
      if (refused.length > 0) throw new Error(refused.map(({ userID, result }) => `${userID}: ${result}`).join(", "));
    },
  });
}

/** What apps are told, and people only if their app shows it. */
function notifyGroup({ groupID, groupName }) {
  return changeGroup({
    title: ["Notify ", chosenText(groupName)], action: "Notify",
    text: "Members who are online get it as onReceiveRESTCustomData. It is no message, and is not kept.",
    fields: [{ name: "content", label: "Content", required: true, lines: 3, hint: "In a form that the app knows." }],
    run: ({ content }) => act("sendGroupSystemNotification", { groupID, content }),
  });
}

function transferGroup(info) {
  return changeGroup({
    title: ["Transfer ", chosenText(info.groupName)], action: "Transfer", danger: true, text: `${info.owner} owns it now.`,
    fields: [
      { name: "userID", label: "New owner", required: true, placeholder: "userID of a member" },
      { name: "quit", label: "The old owner", options: [["", "becomes Member"], ["leave", "leaves the group"]] },
    ],
    run: ({ userID, quit }) => act("transferGroupOwner", { groupID: info.groupID, userID, quit: quit === "leave" }),
  });
}

async function endGroup({ groupID, groupName }, { method, action, tells }) {
  const isDone = await ask({
    title: [`${action} `, chosenText(groupName), "?"], action, danger: true,
    text: `The group ${groupID} ends for everybody, and its messages are deleted. ${tells} This cannot be undone.`,
    run: () => act(method, { groupID }),
  });
  if (isDone) location.hash = "#groups";
}
