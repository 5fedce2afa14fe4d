// The list of groups.

let groupListReads = 0;

/** Reads the list anew, or its next page. */
async function showGroups(nextSeq = 0) {
  const reading = ++groupListReads;
  const groupType = byID("type-filter").value;
  try {
    const page = await rpc("listGroups", given({ groupType, nextSeq, count: 50 }));
    // A later reading has another filter.
    if (reading !== groupListReads) return;
    const rows = page.groupList.map(groupRow);
    const body = byID("groups-table").tBodies[0];
    if (nextSeq === 0) body.replaceChildren(...rows);
    else body.append(...rows);
    if (body.rows.length === 0) body.append(element("tr", {}, element("td", { colspan: 6, class: "quiet" }, "No groups")));
    byID("groups-total").textContent = page.totalCount;
    byID("more-groups").hidden = page.nextSeq === 0;
    byID("more-groups").onclick = () => showGroups(page.nextSeq);
    say("groups-fault", "");
  } catch (error) {
    say("groups-fault", error.message);
  }
}

function groupRow(info) {
  const { groupID, groupName, groupType, owner, memberCount, onlineCount } = info;
  const cell = (label, child, kind) => element("td", { class: kind, "data-label": label }, child);
  return element("tr", {},
    element("td", {}, element("a", { href: groupAddress(groupID) }, groupName), element("code", { class: "sub" }, groupID)),
    element("td", {}, styled("badge", groupType), " ", isMuted(info) && styled("badge warning", "muted")),
    cell("Owner", owner ? element("a", { href: userAddress(owner) }, owner) : "–"),
    cell("Members", memberCount, "end"),
    cell("Online", styled(onlineCount > 0 ? "badge accent" : "quiet", onlineCount), "end"),
    cell("Last message", moment(info.lastMessageTime)));
}

const isMuted = (info) => Boolean(info.mute && info.mute.mode !== "None");
const groupAddress = (groupID) => `#group/${encodeURIComponent(groupID)}`;
const userAddress = (userID) => `#users/${encodeURIComponent(userID)}`;

async function createGroup() {
  const types = ["Meeting", "Public", "Work", "AVChatRoom", "BChatRoom"].map((type) => [type, type]);
  let groupID;
  const isDone = await ask({
    title: "Create group", action: "Create",
    fields: [
      { name: "groupType", label: "Type", options: types },
      { name: "groupName", label: "Name", required: true },
      { name: "ownerUserID", label: "Owner", required: true, placeholder: "userID" },
      { name: "groupID", label: "Group ID", placeholder: "made by the server" },
      { name: "introduction", label: "Introduction", lines: 2 },
    ],
    run: async (fields) => ({ groupID } = await act("createGroup", given(fields))),
  });
  if (isDone) location.hash = groupAddress(groupID);
}
