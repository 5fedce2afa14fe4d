// The members of the group that is shown.

async function showMembers(info) {
  const { groupID } = info;
  await showPages(byID("members"), "Nobody", async (nextSeq = 0) => {
    const page = await rpc("getGroupMemberList", { groupID, nextSeq, count: 50 });
    return { rows: page.memberList.map((member) => memberRow(info, member)), next: page.nextSeq || undefined };
  });
}

async function showMuted(info) {
  const { groupID } = info;
  await showPages(byID("muted"), "Nobody", async (nextSeq = 0) => {
    const page = await rpc("getGroupMutedMembers", { groupID, nextSeq, count: 50 });
    return { rows: page.memberList.map((member) => mutedRow(groupID, member)), next: page.nextSeq || undefined };
  });
}

function memberRow(info, member) {
  const { userID, role, nameCard } = member;
  const acts = [smallButton("Mute", () => muteMember(info.groupID, userID)), smallButton("Role", () => changeRole(info.groupID, member)),
    smallButton("Remove", () => removeMember(info.groupID, userID), "danger")];
  return element("tr", {},
    element("td", {}, element("a", { href: userAddress(userID) }, nameCard || userID), nameCard && element("span", { class: "sub" }, userID)),
    element("td", {}, role !== "Member" && element("span", { class: "badge" }, role), " ",
      member.isOnline && element("span", { class: "badge accent" }, "online")),
    element("td", {}, element("span", { class: "quiet" }, member.joinTime ? `since ${moment(member.joinTime)}` : "")),
    // Nobody acts on the owner: that is what a transfer is for.
    element("td", { class: "end" }, role !== "Owner" && element("div", { class: "acts" }, acts)));
}

function mutedRow(groupID, { userID, nameCard, muteUntil }) {
  const speakAgain = async () => {
    try {
      await act("muteGroupMember", { groupID, userID, muteTime: 0 });
    } finally {
      await route();
    }
  };
  return element("tr", {}, element("td", {}, nameCard || userID, nameCard && element("span", { class: "sub" }, userID)),
    element("td", {}, `until ${moment(muteUntil)}`),
    element("td", { class: "end" }, element("div", { class: "acts" }, smallButton("Unmute", speakAgain))));
}

function muteMember(groupID, userID) {
  return changeGroup(groupID, {
    title: `Mute ${userID}`, action: "Mute",
    fields: [{ name: "minutes", label: "Minutes", type: "number", min: 0, value: "10", required: true, hint: "0 lets the member speak again." }],
    run: ({ minutes }) => act("muteGroupMember", { groupID, userID, muteTime: seconds(minutes) }),
  });
}

function changeRole(groupID, { userID, role }) {
  return changeGroup(groupID, {
    title: `Role of ${userID}`, action: "Apply",
    fields: [{ name: "role", label: "Role", value: role, required: true, hint: "Admin, Member, or a number of 100 to 2147483647." }],
    run: (fields) => act("setGroupMemberRole", { groupID, userID, role: fields.role.trim() }),
  });
}

function removeMember(groupID, userID) {
  return changeGroup(groupID, {
    title: `Remove ${userID}?`, action: "Remove", danger: true,
    fields: [
      { name: "reason", label: "Reason", placeholder: "none" },
      { name: "minutes", label: "Minutes of ban", type: "number", min: 0, placeholder: "none", hint: "Until then the user cannot come back." },
    ],
    run: async ({ reason, minutes }) => {
      const { memberList: [row] } = await act("kickGroupMember", given({ groupID, userIDList: [userID], reason, banTime: seconds(minutes) }));
      if (row.result !== "Success") throw new Error(`${userID}: ${row.result}`);
    },
  });
}
