// The groups of this page: entering and leaving them, their history, what was missed.

const historyPage = 30;
/** `knocking` holds the groups that the user waits to be let into. */
const chat = {
  client: null, token: "", me: "", groups: new Map(), current: null, knocking: new Set(), farewell: "", hasBegun: false,
  /** What the server tells of itself: its limits, and of each group type what it does and what each role may do in it. */
  limits: {}, types: new Map(),
};
const admissions = new Map();
/** Other roles rank as Member. */
const roleRanks = { Owner: 2, Admin: 1, Member: 0 };
const rankOf = (role) => roleRanks[role] ?? roleRanks.Member;

class Group {
  members = new Map();
  nextMember = 0;
  /** Who asks to join, by application: `{ userID }`, with the `outcome` in words once somebody has decided. */
  applications = new Map();
  hasOlder = false;
  isHistoryKnown = false;
  areMembersHidden = false;
  isLoading = false;
  isMarking = false;
  likes = 0;
  /** The users at the microphones, by seat; null = the room has none. */
  seating = null;
  /** The seats that this page itself leaves. */
  leaving = new Set();
  /** The states of the messages that were sent at once, by clientMsgID. */
  burst = new Map();
  /** Taps on the heart that are not sent yet, and those that are, until an event shows them. */
  taps = 0;
  countedTaps = 0;
  isLiking = false;
  /** Until when somebody writes, by userID, the first to end first. */
  typing = new Map();
  /** When slow mode lets the user write again, by this machine's clock. */
  mayWriteAt = 0;
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
  /** How many messages are unread, as the server counts. */
  unread = 0;
  /** The message that the user is answering. */
  answered = null;
  /** Answered messages that the timeline does not hold, by `seq`; those that were asked for, and answers that wait for it. */
  quoted = new Map();
  asked = new Set();
  unquoted = [];
  /** The user has cleared what was said before. */
  isCleared = false;
  /** Whether something has been said since the group was last looked at. */
  hasNews = false;
  /** The newest message that the reader has had in view. */
  seenThrough = 0;
  /** The messages that the storage had of it. */
  storedCount = 0;
  timeline = new Timeline({
    recall: (item) => recall(this, item), again: (item) => chat.client.resend(item.sent),
    readers: (item) => showReaders(this, item), edit: (item) => edit(this, item), pin: (item) => pin(this, item),
    mayPin: () => this.may("pinMessage"),
    react: (item, reaction, isAdded) => react(this, item, reaction, isAdded),
    mayEdit: (item) => this.isKept && item.isOwn && item.text !== undefined && timeLeftToEdit(item) >= 0,
    mayRecall: (item) => mayRecall(this, item), timeLeft: timeLeftToChange,
    isKept: () => this.isKept, reply: (item) => answer(this, item),
    mayReport: (item) => mayReport(this, item), report: (item) => report(this, item),
    mayReply: ({ seq, isRevoked }) => this.hasHistory && seq !== undefined && !isRevoked,
    quoted: (item) => quotedBy(this, item), show: (seq) => showMessage(this, seq),
    person: ({ sender }) => rightsOver(this, sender), mute: (userID) => mute(this, userID),
    unmute: (userID) => unmute(this, userID), remove: (userID) => removeMember(this, userID),
  });

  constructor(info) {
    this.id = info.groupID;
    this.changeSeq = info.changeSeq ?? 0;
    this.take(info);
  }

  /** Takes what the server tells of the group, with the number of unread messages. */
  take(info) {
    const role = this.info?.selfInfo.role;
    this.info = info;
    // What the reader has cleared elsewhere, or the server keeps no longer.
    const { oldest } = this.timeline;
    if (this.isKept && oldest > 0 && oldest < info.firstSeq) this.timeline.clear(info.firstSeq - 1);
    this.unread = info.selfInfo.unreadCount;
    // Other messages have menus now, and menus other choices.
    if (role !== undefined && role !== info.selfInfo.role) this.timeline.redraw();
  }

  /** What groups of this type do. */
  get type() {
    return chat.types.get(this.info.groupType) ?? {};
  }

  /** Whether the group keeps its messages. */
  get isKept() {
    return this.info.groupType !== "AVChatRoom";
  }

  /** Whether it is a live room that remembers its last messages: alone among groups it has no `firstSeq`. */
  get isRemembered() {
    return !this.isKept && this.info.epoch !== undefined && this.info.firstSeq === undefined;
  }

  /** Whether there are messages from before to be read. */
  get hasHistory() {
    return this.isKept || this.isRemembered;
  }

  get isPinned() {
    return Boolean(this.info.selfInfo.isPinned);
  }

  get isHidden() {
    return Boolean(this.info.selfInfo.isHidden);
  }

  get isMarkedUnread() {
    return Boolean(this.info.selfInfo.isMarkedUnread);
  }

  /** Whether own messages ask who reads them. */
  get hasReceipts() {
    return ["Work", "Public"].includes(this.info.groupType) && !this.isTooLargeForReceipts;
  }

  /** Whether the user's role has a right, such as to pin messages. */
  may(action) {
    const lowest = roleRanks[this.type.rights?.[action]];
    return lowest !== undefined && rankOf(this.info.selfInfo.role) >= lowest;
  }

  /** Whether the user may do something to a member: nobody acts on somebody of the same or a higher role. */
  mayOn(action, { userID, role }) {
    return userID !== chat.me && this.may(action) && rankOf(this.info.selfInfo.role) > rankOf(role);
  }

  /** Whether its owner ends it rather than leaving: the owner of a Work group does not. */
  get isDisbandable() {
    return this.info.owner === chat.me && this.info.groupType !== "Work";
  }

  /** Whether the whole group, or a part of it, is muted at this moment. */
  get isGroupMuted() {
    const { mute } = this.info;
    return Boolean(mute) && mute.mode !== "None" && !(mute.muteUntil && mute.muteUntil <= serverNow());
  }

  /** Whether the user may not write at this moment. */
  get isMuted() {
    const { mute, selfInfo: { muteUntil, role } } = this.info;
    if (muteUntil > serverNow()) return true;
    if (!this.isGroupMuted) return false;
    return mute.mode === "All" || (mute.mode === "Ordinary" && rankOf(role) === 0) || (mute.roles ?? []).includes(role);
  }

  /** The mute of the group at this moment, in words, or nothing. */
  get muteNotice() {
    const { mute, selfInfo } = this.info;
    if (selfInfo.muteUntil > serverNow()) return `You are muted here until ${clock(selfInfo.muteUntil)}.`;
    return this.isGroupMuted ? `This group is muted: ${muteWords(mute)}.` : "";
  }

  /** How long all mutes stay as they are, in milliseconds: "the end of a timed mute sends nothing". */
  get muteRest() {
    const members = [...this.members.values()].map(({ muteUntil = 0 }) => muteUntil);
    const ends = [this.info.selfInfo.muteUntil, this.info.mute?.muteUntil ?? 0, ...members].filter((end) => end > serverNow());
    return Math.min(...ends) - serverNow();
  }
}

/** Asks once what the server allows, and what each role may do. */
async function loadRights() {
  if (chat.types.size > 0) return;
  const { groupTypes, limits } = await call("getServerInfo");
  chat.types = new Map(groupTypes.map((type) => [type.groupType, type]));
  chat.limits = limits;
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
    // Messages may have come since.
    askUnread(group);
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
  await Promise.all([loadMembers(group), loadApplications(group), loadLikes(group), loadSeats(group)]);
}

/** Forgets a group; `words` say why where the user did not ask for it. */
function leaveBehind(groupID, words) {
  const group = chat.groups.get(groupID);
  chat.knocking.delete(groupID);
  if (!group) return;
  chat.groups.delete(groupID);
  admissions.delete(groupID);
  if (chat.current === group) openLobby(words ? phrase`${chosenText(group.info.groupName)}: ${words}` : "");
  render();
}

/** Reads the next page of older messages. */
async function loadOlder(group) {
  if (!group.hasHistory || group.isLoading) return;
  group.isLoading = true;
  group.timeline.beginReading();
  try {
    const from = group.timeline.oldest > 0 ? { fromSeq: group.timeline.oldest } : {};
    const page = await call("getGroupHistoryMessageList", { groupID: group.id, count: historyPage, ...from });
    learnSenders(page.messageList);
    keepPlace(group, () => page.messageList.forEach((message) => addMessage(group, message)));
    group.hasOlder = !page.isFinished;
    group.isHistoryKnown = true;
  } finally {
    group.isLoading = false;
    group.timeline.endReading();
  }
  render();
  if (isLookedAt(group)) confirmReading(group);
  await loadReceipts(group, group.timeline.withReceipts.filter(({ readCount }) => readCount === undefined));
}

/** Takes what came and changed in a group without a connection; where that is lost, its history is read anew. */
function takeSync({ groupID, recovered, messageList, changeList, info, more }) {
  const group = chat.groups.get(groupID);
  if (!group) return;
  if (info) group.take(info);
  learnSenders([...changeList, ...messageList]);
  if (!recovered && !group.hasHistory) return tellUnkept(group);
  if (!recovered) {
    group.changeSeq = info?.changeSeq ?? 0;
    return void attempt(() => readAnew(group));
  }
  for (const message of changeList) changeMessage(group, message.seq, message.changeSeq, () => itemOf(group, message));
  for (const message of messageList) addMessage(group, message);
  for (const { changeSeq = 0 } of [...changeList, ...messageList]) group.changeSeq = Math.max(group.changeSeq, changeSeq);
  group.missed += messageList.length;
  if (!isSeen(group) && messageList.some(({ sender, tips }) => !tips && sender !== chat.me)) group.hasNews = true;
  if (!more) tellMissed(group);
  render();
}

function tellMissed(group) {
  const missed = group.missed;
  group.missed = 0;
  // A page that was loaded again shows what was there, and what has come since.
  if (!chat.hasBegun) return;
  const words = missed === 0 ? "nothing was missed" : missed === 1 ? "1 message came meanwhile" : `${missed} messages came meanwhile`;
  addItem(group, { time: serverNow(), words: () => [`Connected again: ${words}`] });
}

function tellUnkept(group) {
  addItem(group, { time: serverNow(), words: () => ["Connected again. This room keeps nothing of what was said meanwhile."] });
}

/** What a live room remembers takes the place of what was shown of it. */
async function comeBack(group) {
  await refresh([group]);
  if (group.isRemembered) await readAnew(group);
  else tellUnkept(group);
}

/** Enters a live room again, which forgets who stays away too long. */
async function reenter(group) {
  try {
    const { status } = await call("joinGroup", { groupID: group.id });
    if (status === "Joined") return await comeBack(group);
    leaveBehind(group.id, "you were away too long. You have knocked; the room opens here when somebody lets you in.");
    chat.knocking.add(group.id);
  } catch (error) {
    if (error instanceof ClientError) throw error;
    if (error.code === ErrorCode.alreadyMember) return await comeBack(group);
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
    // The connection may have ended before its history was read, and the storage has only what was told.
    if (group.timeline.newest === 0 || (!chat.hasBegun && group.storedCount < historyPage)) await loadOlder(group);
    await complete(group);
    await loadReceipts(group, group.timeline.withReceipts);
    askUnread(group);
  }
  if (chat.current) await loadPins(chat.current);
  // What has come meanwhile stands before the reader's eyes.
  if (chat.current && isSeen(chat.current)) markRead(chat.current);
  render();
}

async function refresh(groups) {
  const { resultList } = await call("getGroupsInfo", { groupIDList: groups.map((group) => group.id) });
  for (const [index, { info }] of resultList.entries()) if (info?.selfInfo) groups[index].take(info);
}

/** Forgets what the timeline holds, and reads the newest page. */
async function readAnew(group) {
  group.timeline.clear();
  await loadOlder(group);
  if (isSeen(group)) markRead(group);
}
