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

function memberRow({ groupID }, member) {
  const { userID, role, joinTime, isOnline } = member;
  const acts = [
    smallButton("Mute", () => muteMember(groupID, userID)), smallButton("Role", () => changeRole(groupID, member)),
    smallButton("Remove", () => removeMember(groupID, userID), "danger"),
  ];
  return element("tr", {},
    element("td", {}, userName(member)),
    element("td", {}, role !== "Member" && styled("badge", role), " ", isOnline && styled("badge accent", "online")),
    element("td", { class: "quiet" }, joinTime ? `since ${moment(joinTime)}` : ""),
    // The owner can only be replaced by a transfer.
    element("td", { class: "end" }, role !== "Owner" && element("div", { class: "acts" }, acts)));
}

function mutedRow(groupID, member) {
  const { userID, muteUntil } = member;
  // Done or refused, which `act` tells: the list is shown as it is then.
  const speakAgain = () => act("muteGroupMember", { groupID, userID, muteTime: 0 }).then(route, route);
  return element("tr", {}, element("td", {}, userName(member)), element("td", {}, `until ${moment(muteUntil)}`),
    element("td", { class: "end" }, element("div", { class: "acts" }, smallButton("Unmute", speakAgain))));
}

function muteMember(groupID, userID) {
  return changeGroup({
    title: `Mute ${userID}`, action: "Mute",
    fields: [{
      name: "minutes", label: "Minutes", type: "number", min: 0, value: "10", required: true,
      hint: "0 lets the member speak again.",
    }],
    run: ({ minutes }) => act("muteGroupMember", { groupID, userID, muteTime: seconds(minutes) }),
  });
}

function changeRole(groupID, { userID, role }) {
  return changeGroup({
    title: `Role of ${userID}`, action: "Apply",
    fields: [{
      name: "role", label: "Role", value: role, required: true, hint: "Admin, Member, or a number of 100 to 2147483647.",
    }],
    run: (fields) => act("setGroupMemberRole", { groupID, userID, role: fields.role.trim() }),
  });
}

function removeMember(groupID, userID) {
  return changeGroup({
    title: `Remove ${userID}?`, action: "Remove", danger: true,
    fields: [
      { name: "reason", label: "Reason", placeholder: "none" },
      {
        name: "minutes", label: "Minutes of ban", type: "number", min: 0, placeholder: "none",
        hint: "Until then the user cannot come back.",
      },
    ],
    run: async ({ reason, minutes }) => {
      const request = given({ groupID, userIDList: [userID], reason, banTime: seconds(minutes) });
      const { memberList: [row] } = await act("kickGroupMember", request);
      if (row.result !== "Success") throw new Error(`${userID}: ${row.result}`);
    },
  });
}
