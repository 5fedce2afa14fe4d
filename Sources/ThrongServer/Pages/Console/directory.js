// The list of groups.

let groupsRead = 0;

/** Reads the list anew, or its next page. */
async function showGroups(nextSeq = 0) {
  const reading = ++groupsRead;
  const groupType = byID("type-filter").value;
  try {
    const page = await rpc("listGroups", given({ groupType, nextSeq, count: 50 }));
    // A later reading has another filter.
    if (reading !== groupsRead) return;
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
  const live = info.onlineCount > 0 ? "badge accent" : "quiet";
  return element("tr", {},
    element("td", {}, element("a", { href: groupAddress(info.groupID) }, info.groupName), element("code", { class: "sub" }, info.groupID)),
    element("td", {}, element("span", { class: "badge" }, info.groupType), " ", isMuted(info) && element("span", { class: "badge warning" }, "muted")),
    element("td", { "data-label": "Owner" }, info.owner ? element("a", { href: userAddress(info.owner) }, info.owner) : "–"),
    element("td", { class: "end", "data-label": "Members" }, info.memberCount),
    element("td", { class: "end", "data-label": "Online" }, element("span", { class: live }, info.onlineCount)),
    element("td", { "data-label": "Last message" }, moment(info.lastMessageTime)));
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
