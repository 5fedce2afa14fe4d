// The groups of this page: entering and leaving them, their history, what was missed, their members.

const historyPage = 30;
const memberPage = 50;
/** How often an open list of members asks who is online, which the server does not push. */
const presenceInterval = 5_000;
/** `name` is null until the user has chosen one; `knocking` holds the groups that the user waits to be let into. */
const chat = {
  connection: null, me: "", name: null, groups: new Map(), current: null, knocking: new Set(), farewell: "",
  /** The rights of each group type, as the server tells them. */
  rights: new Map(),
};
const admissions = new Map();
/** Other roles rank as Member. */
const roleRanks = { Owner: 2, Admin: 1, Member: 0 };

const call = (method, params) => chat.connection.call(method, params);

class Group {
  members = new Map();
  nextMember = 0;
  applications = new Map();
  hasOlder = false;
  areMembersHidden = false;
  isLoading = false;
  isMarking = false;
  likes = 0;
  /** Taps on the heart that are not sent yet, and those that are, until an event shows them. */
  taps = 0;
  countedTaps = 0;
  isLiking = false;
  isConfirming = false;
  isTooLargeForReceipts = false;
  /** The last pinned first. */
  pins = [];
  arePinsKnown = false;
  isReadingPins = false;
  /** The messages of which it is to be asked which reactions are the user's own. */
  unsure = new Set();
  isAskingForOwn = false;
  /** Up to here every change of the messages in the timeline is known: where a sync of changes begins. */
  changeSeq;
  /** Whether events tell all changes: not from a lost connection until the sync behind it has arrived. */
  isSynced = true;
  /** Messages since the group was last looked at. */
  unread;
  timeline = new Timeline({
    recall: (item) => recall(this, item), again: (item) => sendAgain(this, item), readers: (item) => showReaders(this, item),
    edit: (item) => edit(this, item), pin: (item) => pin(this, item), mayPin: () => this.mayPin,
    react: (item, reaction, isAdded) => react(this, item, reaction, isAdded),
  });

  constructor(info) {
    this.info = info;
    this.id = info.groupID;
    this.epoch = info.epoch;
    this.changeSeq = info.changeSeq ?? 0;
    this.unread = info.selfInfo.unreadCount;
  }

  /** Whether the group keeps its messages. */
  get isKept() {
    return this.info.groupType !== "AVChatRoom";
  }

  /** Whether own messages ask who reads them. */
  get hasReceipts() {
    return ["Work", "Public"].includes(this.info.groupType) && !this.isTooLargeForReceipts;
  }

  /** Whether the user's role has the right to pin messages. */
  get mayPin() {
    const lowest = roleRanks[chat.rights.get(this.info.groupType)?.pinMessage];
    return lowest !== undefined && (roleRanks[this.info.selfInfo.role] ?? roleRanks.Member) >= lowest;
  }

  /** Whether its owner ends it rather than leaving: the owner of a Work group does not. */
  get isDisbandable() {
    return this.info.owner === chat.me && this.info.groupType !== "Work";
  }

  /** Who is silent here just now, in words, or nothing. */
  get muteNotice() {
    const { mute, selfInfo } = this.info;
    const now = Date.now();
    if (selfInfo.muteUntil > now) return `You are muted here until ${clock(selfInfo.muteUntil)}.`;
    if (!mute || mute.mode === "None" || (mute.muteUntil && mute.muteUntil <= now)) return "";
    return `This group is muted: ${muteWords(mute)}.`;
  }

  /** How long the notice of a mute stays as it is, in milliseconds: "the end of a timed mute sends nothing". */
  get muteRest() {
    const ends = [this.info.selfInfo.muteUntil, this.info.mute?.muteUntil ?? 0].filter((end) => end > Date.now());
    return Math.min(...ends) - Date.now();
  }
}

/** Asks once what each role may do. */
async function loadRights() {
  if (chat.rights.size > 0) return;
  const { groupTypes } = await call("getServerInfo");
  chat.rights = new Map(groupTypes.map(({ groupType, rights }) => [groupType, rights]));
}

/** The groups that the user of a pasted token is in already, as many as fit on a page. */
async function loadJoined() {
  const { groupList } = await call("getJoinedGroupList", { count: 20 });
  for (const { groupID } of groupList) await admit(groupID);
}

/** Joins a group and opens it. Answers Joined, or Pending where somebody must let the user in first. */
async function join(groupID) {
  try {
    const { status } = await call("joinGroup", { groupID });
    if (status === "Pending") {
      chat.knocking.add(groupID);
      return status;
    }
  } catch (error) {
    if (error.code !== 10013) throw error;
  }
  openGroup(await admit(groupID));
  return "Joined";
}

/** The group that the user is a member of, read from the server where this page does not have it yet. */
function admit(groupID) {
  if (!admissions.has(groupID)) {
    const admission = load(groupID);
    admissions.set(groupID, admission);
    admission.catch(() => admissions.delete(groupID));
  }
  return admissions.get(groupID);
}

async function load(groupID) {
  const { resultList: [row] } = await call("getGroupsInfo", { groupIDList: [groupID] });
  if (row.code !== 0) throw new Refusal(row);
  if (!row.info.selfInfo) throw new Refusal({ code: 10007, message: "Not a member" });
  const group = new Group(row.info);
  chat.groups.set(groupID, group);
  chat.knocking.delete(groupID);
  try {
    await loadOlder(group);
    await complete(group);
  } catch (error) {
    // What a lost connection left out comes with the next one, see `resume`.
    if (!(error instanceof Disconnected)) {
      chat.groups.delete(groupID);
      throw error;
    }
  }
  render();
  return group;
}

/** What a group needs beside its messages. */
async function complete(group) {
  await Promise.all([
    loadMembers(group), loadApplications(group), loadLikes(group), giveName(group), loadReceipts(group),
  ]);
}

async function giveName(group) {
  if (chat.name === null || chat.name === group.info.selfInfo.nameCard) return;
  await call("setGroupMemberInfo", { groupID: group.id, userID: chat.me, nameCard: chat.name });
  group.info.selfInfo.nameCard = chat.name;
}

/** Forgets a group; `words` say why where the user did not ask for it. */
function leaveBehind(groupID, words) {
  const group = chat.groups.get(groupID);
  chat.knocking.delete(groupID);
  if (!group) return;
  chat.groups.delete(groupID);
  admissions.delete(groupID);
  if (chat.current === group) openLobby(words ? `${group.info.groupName}: ${words}` : "");
  render();
}

/** Reads the next page of older messages. */
async function loadOlder(group) {
  if (!group.isKept || group.isLoading) return;
  group.isLoading = true;
  group.timeline.beginReading();
  try {
    const from = group.timeline.oldest > 0 ? { fromSeq: group.timeline.oldest } : {};
    const page = await call("getGroupHistoryMessageList", { groupID: group.id, count: historyPage, ...from });
    keepPlace(group, () => page.messageList.forEach((message) => addMessage(group, message)));
    group.hasOlder = !page.isFinished;
  } finally {
    group.isLoading = false;
    group.timeline.endReading();
  }
  render();
}

async function loadMembers(group, more = false) {
  const nextSeq = more ? group.nextMember : 0;
  try {
    const page = await call("getGroupMemberList", { groupID: group.id, count: memberPage, nextSeq });
    if (!more) group.members.clear();
    for (const member of page.memberList) group.members.set(member.userID, member);
    group.nextMember = page.nextSeq;
    group.areMembersHidden = false;
  } catch (error) {
    // A group may show its members to its managers only.
    if (error.code !== 10007) throw error;
    group.areMembersHidden = true;
  }
}

/** Asks which of the first members that are listed are online. */
async function refreshPresence(group) {
  const userIDList = [...group.members.keys()].slice(0, memberPage);
  if (userIDList.length === 0) return;
  const { memberList } = await call("getGroupMembersInfo", { groupID: group.id, userIDList });
  for (const { userID, isOnline } of memberList) markOnline(group, userID, isOnline);
}

function markOnline(group, userID, isOnline = true) {
  const member = group.members.get(userID);
  if (member) member.isOnline = isOnline;
}

/** Who waits at the door; only owners and admins decide. */
async function loadApplications(group) {
  if (!["Owner", "Admin"].includes(group.info.selfInfo.role) || group.info.joinMode !== "Auth") return;
  const { applicationList } = await call("getGroupApplicationList");
  group.applications.clear();
  for (const application of applicationList) {
    if (application.groupID !== group.id || application.handleStatus !== "Unhandled") continue;
    group.applications.set(application.applicationID, application.fromUser);
  }
}

/** After a lost connection: what the groups are now, what was missed, and what was under way. */
async function resume() {
  const groups = [...chat.groups.values()];
  for (const group of groups) group.isSynced = group.arePinsKnown = false;
  for (let start = 0; start < groups.length; start += 50) await refresh(groups.slice(start, start + 50));
  for (const group of chat.groups.values()) {
    await complete(group);
    await Promise.all(group.timeline.unsent.map((item) => transmit(group, item)));
  }
  if (chat.current) await loadPins(chat.current);
  render();
}

async function refresh(groups) {
  const { resultList } = await call("getGroupsInfo", { groupIDList: groups.map((group) => group.id) });
  const present = [];
  for (const [index, { code, info }] of resultList.entries()) {
    const group = groups[index];
    if (code === 0 && info.selfInfo) present.push(Object.assign(group, { info }));
    // A live room forgets who stayed away too long.
    else if (code === 0 && !group.isKept) await call("joinGroup", { groupID: group.id });
    else leaveBehind(group.id, "you are no longer a member.");
  }
  await catchUp(present.filter((group) => group.isKept));
}

/**
 * Asks for every message and every change since the last ones, as often as there are more; where that is not possible, reads
 * the history anew.
 */
async function catchUp(groups) {
  let behind = [];
  for (const group of groups) {
    if (group.timeline.position > 0) behind.push(group);
    else await readAnew(group, group.info);
  }
  while (behind.length > 0) {
    const positions = behind.map(({ id, epoch, timeline, changeSeq }) =>
      ({ groupID: id, epoch, seq: timeline.position, changeSeq }));
    const answer = await call("syncGroups", { groups: positions });
    const rows = answer.groups.map((row, index) => [behind[index], row]).filter(([, row]) => row.code === 0);
    for (const [group, row] of rows) await takeRow(group, row);
    behind = rows.filter(([, row]) => row.more).map(([group]) => group);
  }
}

/** Takes one row of a sync: changes of messages that are here, then new messages. */
async function takeRow(group, row) {
  if (!row.recovered) return readAnew(group, row);
  for (const message of row.changeList) changeMessage(group, message.seq, message.changeSeq, () => itemOf(message));
  for (const message of row.messageList) addMessage(group, message);
  group.changeSeq = row.changeSeq;
  group.timeline.reach(row.more ? (row.messageList.at(-1)?.seq ?? 0) : row.lastSeq);
  group.isSynced = !row.more;
}

/** Forgets what the timeline holds, and reads the newest page: it holds the changes up to the given `changeSeq`. */
async function readAnew(group, { epoch, changeSeq }) {
  group.timeline.clear();
  group.epoch = epoch;
  group.changeSeq = changeSeq;
  group.isSynced = true;
  await loadOlder(group);
}
