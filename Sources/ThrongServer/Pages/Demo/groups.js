// The groups of this page: entering and leaving them, their history, what was missed, their members.

const historyPage = 30;
const memberPage = 50;
/** How often an open list of members asks who is online, which the server does not push. */
const presenceInterval = 5_000;
/** `name` is null until the user has chosen one; `knocking` holds the groups that the user waits to be let into. */
const chat = {
  client: null, token: "", me: "", name: null, groups: new Map(), current: null, knocking: new Set(), farewell: "",
  /** The rights of each group type, as the server tells them. */
  rights: new Map(),
};
const admissions = new Map();
/** Other roles rank as Member. */
const roleRanks = { Owner: 2, Admin: 1, Member: 0 };

class Group {
  members = new Map();
  nextMember = 0;
  applications = new Map();
  hasOlder = false;
  areMembersHidden = false;
  isLoading = false;
  isMarking = false;
  likes = 0;
  /** The users at the microphones, by seat; null = the room has none. */
  seating = null;
  /** The states of the messages that were sent at once, by clientMsgID. */
  burst = new Map();
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
  /** The last change of a message that was told. */
  changeSeq;
  /** Messages that a sync has brought so far. */
  missed = 0;
  /** Messages since the group was last looked at. */
  unread;
  timeline = new Timeline({
    recall: (item) => recall(this, item), again: (item) => chat.client.resend(item.sent), readers: (item) => showReaders(this, item),
    edit: (item) => edit(this, item), pin: (item) => pin(this, item), mayPin: () => this.may("pinMessage"),
    react: (item, reaction, isAdded) => react(this, item, reaction, isAdded),
  });

  constructor(info) {
    this.info = info;
    this.id = info.groupID;
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

  /** Whether the user's role has a right, such as to pin messages. */
  may(action) {
    const lowest = roleRanks[chat.rights.get(this.info.groupType)?.[action]];
    return lowest !== undefined && (roleRanks[this.info.selfInfo.role] ?? roleRanks.Member) >= lowest;
  }

  /** Whether its owner ends it rather than leaving: the owner of a Work group does not. */
  get isDisbandable() {
    return this.info.owner === chat.me && this.info.groupType !== "Work";
  }

  /** The mute of the group at this moment, in words, or nothing. */
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

/** The groups of a user who has some already that the page shows, as many as it opens at once. */
const mostGroups = 20;

/** Joins a group and opens it. Answers Joined, or Pending where somebody must let the user in first. */
async function join(groupID) {
  try {
    const { status } = await call("joinGroup", { groupID });
    if (status === "Pending") {
      chat.knocking.add(groupID);
      return status;
    }
  } catch (error) {
    if (error.code !== ErrorCode.alreadyMember) throw error;
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
  if (row.code !== 0) throw new ThrongError("getGroupsInfo", row);
  if (!row.info.selfInfo) throw new ThrongError("getGroupsInfo", { code: ErrorCode.noRight, message: "Not a member" });
  const group = new Group(row.info);
  chat.groups.set(groupID, group);
  chat.knocking.delete(groupID);
  try {
    await loadOlder(group);
    await complete(group);
  } catch (error) {
    // The next connection brings what a lost one left out, see `resume`.
    if (!(error instanceof ClientError)) {
      chat.groups.delete(groupID);
      throw error;
    }
  }
  render();
  return group;
}

/** Reads the parts of a group that are no messages. */
async function complete(group) {
  await Promise.all([
    loadMembers(group), loadApplications(group), loadLikes(group), loadSeats(group), giveName(group), loadReceipts(group),
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
    if (error.code !== ErrorCode.noRight) throw error;
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

/** Reads the open applications to join; only owners and admins decide. */
async function loadApplications(group) {
  if (!["Owner", "Admin"].includes(group.info.selfInfo.role) || group.info.joinMode !== "Auth") return;
  const { applicationList } = await call("getGroupApplicationList");
  group.applications.clear();
  for (const application of applicationList) {
    if (application.groupID !== group.id || application.handleStatus !== "Unhandled") continue;
    group.applications.set(application.applicationID, application.fromUser);
  }
}

/** Takes what came and changed in a group without a connection; where that is lost, its history is read anew. */
function takeSync({ groupID, recovered, messageList, changeList, info, more }) {
  const group = chat.groups.get(groupID);
  if (!group) return;
  if (info) group.info = info;
  if (!recovered) return group.isKept ? void attempt(() => readAnew(group)) : tellUnkept(group);
  for (const message of changeList) changeMessage(group, message.seq, message.changeSeq, () => itemOf(message));
  for (const message of messageList) addMessage(group, message);
  for (const { changeSeq = 0 } of [...changeList, ...messageList]) group.changeSeq = Math.max(group.changeSeq, changeSeq);
  group.missed += messageList.length;
  if (!more) tellMissed(group);
  render();
}

function tellMissed(group) {
  const words = group.missed === 0 ? "nothing was missed" : group.missed === 1 ? "1 message came meanwhile" : `${group.missed} messages came meanwhile`;
  group.missed = 0;
  addItem(group, { time: Date.now(), words: `Connected again: ${words}` });
}

function tellUnkept(group) {
  addItem(group, { time: Date.now(), words: "Connected again. This room keeps nothing of what was said meanwhile." });
}

/** Enters a live room again, which forgets who stays away too long. */
async function reenter(group) {
  try {
    const { status } = await call("joinGroup", { groupID: group.id });
    if (status === "Joined") return tellUnkept(group);
    leaveBehind(group.id, "you were away too long. You have knocked; the room opens here when somebody lets you in.");
    chat.knocking.add(group.id);
  } catch (error) {
    if (error instanceof ClientError) throw error;
    if (error.code === ErrorCode.alreadyMember) return tellUnkept(group);
    const isGone = error.code === ErrorCode.noSuchGroup;
    leaveBehind(group.id, isGone ? "the room was closed while you were away." : `you were away too long. ${inWords(error)}`);
  }
}

/** After a lost connection: the groups that the user was brought into or is no longer in, and what no message tells of the others. */
async function resume({ joined, left }) {
  for (const groupID of left) {
    const group = chat.groups.get(groupID);
    if (group && !group.isKept) await reenter(group);
    else leaveBehind(groupID, "you are no longer a member.");
  }
  const groups = [...chat.groups.values()];
  for (const group of groups) group.arePinsKnown = false;
  for (let start = 0; start < groups.length; start += 50) await refresh(groups.slice(start, start + 50));
  await Promise.all(joined.slice(0, mostGroups).map(admit));
  for (const group of groups) {
    // The connection may have ended before its history was read.
    if (group.timeline.newest === 0) await loadOlder(group);
    await complete(group);
  }
  if (chat.current) await loadPins(chat.current);
  render();
}

async function refresh(groups) {
  const { resultList } = await call("getGroupsInfo", { groupIDList: groups.map((group) => group.id) });
  for (const [index, { info }] of resultList.entries()) if (info?.selfInfo) groups[index].info = info;
}

/** Forgets what the timeline holds, and reads the newest page. */
async function readAnew(group) {
  group.timeline.clear();
  await loadOlder(group);
}
