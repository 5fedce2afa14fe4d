// The bans of the group that is shown.

async function showBans({ groupID, groupType }) {
  if (groupType === "BChatRoom") {
    byID("bans").replaceChildren(element("p", { class: "empty" }, `${groupType} has no bans.`));
    return;
  }
  await showPages(byID("bans"), "Nobody", async (nextSeq = 0) => {
    const page = await readBans({ groupID, groupType, nextSeq });
    const names = await nickNames(page.memberList.map(({ userID }) => userID));
    const row = (ban) => banRow(groupID, { ...ban, nickName: names.get(ban.userID) });
    return { rows: page.memberList.map(row), next: page.nextSeq || undefined };
  });
}

/** A live room has bans where the server gives it moderators. */
async function readBans({ groupID, groupType, nextSeq }) {
  try {
    return await rpc("getGroupBannedMembers", { groupID, nextSeq, count: 50 });
  } catch (error) {
    if (groupType === "AVChatRoom" && error.code === 10007) throw new Error("AVChatRoom has no bans.");
    throw error;
  }
}

function banRow(groupID, { userID, nickName, bannedUntil, reason }) {
  return element("tr", {},
    element("td", {}, userName({ userID, nickName }), reason && styled("sub", chosenText(reason))),
    element("td", {}, `until ${moment(bannedUntil)}`),
    element("td", { class: "end" }, element("div", { class: "acts" }, smallButton("Unban", () => endBan(groupID, userID)))));
}

function endBan(groupID, userID) {
  return changeGroup({
    title: `Unban ${userID}?`, action: "Unban", text: "The user can come back; nobody is told.",
    run: async () => {
      const { memberList: [row] } = await act("unbanGroupMember", { groupID, userIDList: [userID] });
      if (row.result !== "Success") throw new Error(`${userID}: ${row.result}`);
    },
  });
}
