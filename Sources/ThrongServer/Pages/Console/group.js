// One group: what it is, and what an administrator does with it.

let groupReads = 0;

async function showGroup(groupID) {
  const reading = ++groupReads;
  say("group-fault", "");
  const { resultList: [row] } = await rpc("getGroupsInfo", { groupIDList: [groupID] });
  if (reading !== groupReads) return;
  byID("group-parts").hidden = row.code !== 0;
  byID("group-acts").replaceChildren();
  byID("group-badges").replaceChildren(element("code", { class: "quiet wrap" }, groupID));
  byID("group-title").textContent = row.info?.groupName ?? groupID;
  if (row.code !== 0) return say("group-fault", `${row.code} · ${row.message}`);
  showInfo(row.info);
  const parts = [showMembers, showMuted, showBans, showCounters, showPins, showMessages];
  await Promise.all(parts.map((show) => show(row.info)));
}

function showInfo(info) {
  byID("group-badges").append(styled("badge", info.groupType),
    isMuted(info) ? styled("badge warning", `muted: ${info.mute.mode}`) : "");
  byID("group-acts").replaceChildren(...groupActs(info));
  const policies = ["joinMode", "inviteMode", "beInviteMode", "updateInfoMode", "updateCustomMode", "ownerQuitMode",
    "memberChangeNotification", "isSearchable", "isMemberVisible"].filter((name) => info[name] !== undefined);
  const custom = Object.entries(info.customInfo ?? {}).map(([key, value]) => `${key}: ${value}`).join("\n");
  const rows = [
    ["Owner", info.owner && element("a", { href: userAddress(info.owner) }, info.owner)],
    ["Members", `${info.memberCount}, ${info.onlineCount} online${info.maxMemberNum ? `, at most ${info.maxMemberNum}` : ""}`],
    ["Introduction", info.introduction], ["Notification", info.notification],
    ["Muted", isMuted(info) && muteWords(info.mute)],
    ["Created", moment(info.createTime)], ["Info changed", moment(info.lastInfoTime)],
    ["Last message", moment(info.lastMessageTime)],
    ["Messages so far", String(info.lastSeq)], ["Custom info", custom],
    ["Policy", policies.map((name) => `${name}: ${info[name]}`).join("\n")],
  ].filter(([, value]) => value);
  const entry = ([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value));
  byID("info").replaceChildren(...rows.map(entry));
}

function muteWords({ mode, roles, muteUntil }) {
  return [mode, roles?.join(", "), muteUntil && `until ${moment(muteUntil)}`].filter(Boolean).join(" · ");
}

function groupActs(info) {
  const { groupID, groupName } = info;
  const button = (words, onclick, kind = "") => element("button", { type: "button", class: kind, onclick }, words);
  return [
    button("Send message", () => sendMessage(info)), button("Edit", () => editGroup(info)), button("Mute", () => muteGroup(info)),
    button("Transfer", () => transferGroup(info)),
    button("Recycle", () => endGroup("recycleGroup", "Recycle", groupID, groupName), "danger"),
    button("Disband", () => endGroup("dismissGroup", "Disband", groupID, groupName), "danger"),
  ];
}

/** Asks, acts, and shows the group as it is then. */
async function changeGroup(question) {
  if (!(await ask(question))) return;
  await route();
  // The element that had the focus may be gone.
  if (document.activeElement === document.body) byID("group-title").focus();
}

function editGroup(info) {
  const fields = [
    { name: "groupName", label: "Name", value: info.groupName, required: true },
    { name: "introduction", label: "Introduction", value: info.introduction, lines: 2 },
    { name: "notification", label: "Notification", value: info.notification, lines: 3 },
  ];
  return changeGroup({
    title: `Edit ${info.groupName}`, action: "Save", fields,
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
    title: `Mute ${info.groupName}`, action: "Apply",
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

function transferGroup(info) {
  return changeGroup({
    title: `Transfer ${info.groupName}`, action: "Transfer", danger: true, text: `${info.owner} owns it now.`,
    fields: [
      { name: "userID", label: "New owner", required: true, placeholder: "userID of a member" },
      { name: "quit", label: "The old owner", options: [["", "becomes Member"], ["leave", "leaves the group"]] },
    ],
    run: ({ userID, quit }) => act("transferGroupOwner", { groupID: info.groupID, userID, quit: quit === "leave" }),
  });
}

async function endGroup(method, action, groupID, groupName) {
  const isDone = await ask({
    title: `${action} ${groupName}?`, action, danger: true,
    text: `The group ${groupID} ends for everybody, and its messages are deleted. This cannot be undone.`,
    run: () => act(method, { groupID }),
  });
  if (isDone) location.hash = "#groups";
}
