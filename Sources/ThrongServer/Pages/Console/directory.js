// The list of groups: all of them, or those that a search finds.

let groupListReads = 0;

/** Reads the list anew, or its next page. */
async function showGroups(nextSeq = 0) {
  const reading = ++groupListReads;
  const [groupType, words] = [byID("type-filter").value, byID("group-words").value.trim()];
  const isLate = () => reading !== groupListReads || !credential;
  try {
    const page = words
      ? await searchGroups(words, groupType, nextSeq, isLate) : await rpc("listGroups", given({ groupType, nextSeq, count: 50 }));
    const names = await nickNames(page.groupList.map(({ owner }) => owner));
    // A later reading has another filter.
    if (isLate()) return;
    const rows = page.groupList.map((info) => groupRow(info, names));
    const body = byID("groups-table").tBodies[0];
    if (nextSeq === 0) body.replaceChildren(...rows);
    else body.append(...rows);
    say("groups-state", words ? foundWords(body.rows.length, page.nextSeq !== 0) : "");
    if (body.rows.length === 0) body.append(element("tr", {}, element("td", { colspan: 6, class: "quiet" }, "No groups")));
    byID("groups-total").textContent = page.totalCount ?? "";
    byID("more-groups").hidden = page.nextSeq === 0;
    byID("more-groups").onclick = () => showGroups(page.nextSeq);
    say("groups-fault", "");
  } catch (error) {
    say("groups-fault", error.message);
  }
}

/** A page of the groups whose name or ID holds the words; those that begin with them come first. */
async function searchGroups(words, groupType, nextSeq, isLate) {
  const groupList = [];
  let next = nextSeq;
  // A call looks at a part of the groups, and may find none there.
  do {
    const page = await rpc("searchGroups", { keywordList: [words], count: 50, nextSeq: next });
    groupList.push(...page.groupList.filter((info) => !groupType || info.groupType === groupType));
    next = page.nextSeq;
  } while (groupList.length === 0 && next !== 0 && !isLate());
  return { groupList: beginningFirst(groupList, words, ({ groupID, groupName }) => [groupName, groupID]), nextSeq: next };
}

/** The same in an order that begins with those of which a text begins with the words, in upper or lower case. */
function beginningFirst(list, words, textsOf) {
  const beginning = words.toLowerCase();
  const begins = (one) => textsOf(one).some((text) => text?.toLowerCase().startsWith(beginning));
  return [...list.filter(begins), ...list.filter((one) => !begins(one))];
}

/** How many were found; more may follow. */
function foundWords(count, hasMore) {
  return hasMore ? `${count} found so far` : `${count} found`;
}

/** The nicknames of up to 100 users, by userID; a user without one is left out. */
async function nickNames(userIDs) {
  const userIDList = [...new Set(userIDs.filter(Boolean))];
  if (userIDList.length === 0) return new Map();
  const { userList } = await rpc("getUsersInfo", { userIDList });
  return new Map(userList.filter(({ nickName }) => nickName).map(({ userID, nickName }) => [userID, nickName]));
}

function groupRow(info, names) {
  const { groupID, groupType, owner } = info;
  const cell = (label, child) => element("td", { "data-label": label }, child);
  return element("tr", { "data-group": groupID },
    element("td", {}, groupLink(info), element("code", { class: "sub" }, groupID)),
    element("td", {}, styled("badge", groupType), " ", isMuted(info) && styled("badge warning", "muted")),
    cell("Owner", owner ? userName({ userID: owner, nickName: names.get(owner) }) : "–"),
    numberCells(info));
}

/** The cells that `refreshGroupRows` renews. */
function numberCells({ memberCount, onlineCount, lastMessageTime }) {
  const cell = (label, child, kind) => element("td", { class: kind, "data-label": label }, child);
  return [
    cell("Members", memberCount, "end"), cell("Online", styled(onlineCount > 0 ? "badge accent" : "quiet", onlineCount), "end"),
    cell("Last message", moment(lastMessageTime)),
  ];
}

/** Reads the numbers of the groups that are listed again. */
async function refreshGroupRows() {
  const reading = groupListReads;
  const rows = new Map(
    [...byID("groups-table").tBodies[0].rows].filter((row) => row.dataset.group).map((row) => [row.dataset.group, row]));
  const groupIDs = [...rows.keys()];
  for (let start = 0; start < groupIDs.length; start += 50) {
    const { resultList } = await rpc("getGroupsInfo", { groupIDList: groupIDs.slice(start, start + 50) });
    // Another list is shown, or its reader has signed out.
    if (reading !== groupListReads) return;
    for (const { groupID, code, info } of resultList) {
      const numbers = numberCells(code === 0 ? info : { memberCount: "ended", onlineCount: "–" });
      [...rows.get(groupID).cells].slice(-numbers.length).forEach((cell, index) => cell.replaceWith(numbers[index]));
    }
  }
  if (byID("groups-total").textContent === "") return;
  const { totalCount } = await rpc("listGroups", given({ groupType: byID("type-filter").value, count: 1 }));
  if (reading === groupListReads) byID("groups-total").textContent = totalCount;
}

const isMuted = (info) => Boolean(info.mute && info.mute.mode !== "None");
const groupAddress = (groupID) => `#group/${encodeURIComponent(groupID)}`;
const userAddress = (userID) => `#users/${encodeURIComponent(userID)}`;

/** A group's name, which leads to it. */
function groupLink({ groupID, groupName }) {
  return element("a", { href: groupAddress(groupID) }, chosenText(groupName));
}

/** A user's name, which leads to the user, above the userID; where there is no name, the userID alone. */
function userName({ userID, nickName, nameCard }) {
  const name = nameCard || nickName;
  const link = element("a", { href: userAddress(userID) }, name ? chosenText(name) : userID);
  const isBoth = nameCard && nickName && nameCard !== nickName;
  return [link, name && styled("sub", ...(isBoth ? [chosenText(nickName), " · "] : []), userID)];
}

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
