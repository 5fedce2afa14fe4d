// What has been read: the numbers of unread messages, which are the server's, read marks and read receipts.

/** The shortest time between two questions for unread messages. */
const unreadPause = 1_000;
/** The groups whose number of unread messages has to be asked for. */
const uncertain = new Set();
let isAskingUnread = false;

/** Asks how many messages of a group are unread; what is asked for while an answer is under way is asked together. */
function askUnread(group) {
  if (!group.type.countsUnread) return;
  uncertain.add(group.id);
  if (!isAskingUnread) readUnread();
}

async function readUnread() {
  isAskingUnread = true;
  try {
    while (uncertain.size > 0) {
      const asked = [...uncertain];
      uncertain.clear();
      await takeUnread(asked);
      await new Promise((resolve) => setTimeout(resolve, unreadPause));
    }
  } catch (error) {
    // The next connection brings the numbers.
    uncertain.clear();
    if (!(error instanceof ClientError)) sayRefusal(error);
  } finally {
    isAskingUnread = false;
  }
}

async function takeUnread(groupIDList) {
  try {
    const { groups } = await call("getGroupUnreadCount", { groupIDList });
    for (const { groupID, unreadCount } of groups) {
      const group = chat.groups.get(groupID);
      if (group) group.unread = unreadCount;
    }
    render();
  } catch (error) {
    // A group that the user has left meanwhile is the error of the whole question.
    if (!(error instanceof ThrongError)) throw error;
    if (groupIDList.length > 1) for (const groupID of groupIDList) await takeUnread([groupID]);
  }
}

/** The number that stands beside a group: nothing is unread that the reader sees. */
const shownUnread = (group) => (isSeen(group) ? 0 : group.unread);

/** The end of the conversation has come into view. */
function seeEnd() {
  const group = chat.current;
  if (group && isSeen(group) && group.timeline.newest > group.seenThrough) markRead(group);
}

/** Tells the server what has been read, one request at a time: groups that count unread messages are told exactly. */
async function markRead(group) {
  group.hasNews = false;
  group.seenThrough = Math.max(group.seenThrough, group.timeline.newest);
  render();
  confirmReading(group);
  if (!(group.type.countsUnread || group.isMarkedUnread) || group.isMarking) return;
  group.isMarking = true;
  try {
    let marked;
    do {
      marked = group.timeline.newest;
      await call("markGroupMessageAsRead", { groupID: group.id, ...(marked > 0 ? { seq: marked } : {}) });
    } while (marked < group.timeline.newest && isSeen(group));
    delete group.info.selfInfo.isMarkedUnread;
    askUnread(group);
    render();
  } catch (error) {
    // The next connection marks it.
    if (!(error instanceof ClientError)) sayRefusal(error);
  } finally {
    group.isMarking = false;
  }
}

// MARK: Read receipts

/** How many messages one request confirms or asks about. */
const receiptPage = 50;

/** Tells the senders that their messages are seen here. */
async function confirmReading(group) {
  if (group.isConfirming) return;
  group.isConfirming = true;
  try {
    const unconfirmed = () => group.timeline.unconfirmed.filter(({ seq }) => seq <= group.seenThrough);
    for (let items = unconfirmed(); items.length > 0; items = unconfirmed()) {
      const seen = items.slice(0, receiptPage);
      await call("sendMessageReadReceipts", { groupID: group.id, seqList: seen.map((item) => item.seq) });
      for (const item of seen) item.isConfirmed = true;
    }
  } catch (error) {
    if (!(error instanceof ClientError)) sayRefusal(error);
  } finally {
    group.isConfirming = false;
  }
}

/** Asks who has read own messages; later changes come as events. */
async function loadReceipts(group, items) {
  for (let start = 0; start < items.length; start += receiptPage) {
    const seqList = items.slice(start, start + receiptPage).map((item) => item.seq);
    const { receiptList } = await call("getMessageReadReceipts", { groupID: group.id, seqList });
    group.timeline.count(receiptList);
  }
}

/** Names who has read an own message, and who has not. */
async function showReaders(group, item) {
  const list = async (filter) => {
    const { memberList, nextSeq } = await call("getGroupMessageReadMemberList", { groupID: group.id, seq: item.seq, filter });
    learnNames(memberList);
    if (memberList.length === 0) return "nobody";
    const names = memberList.map((member, index) => [index === 0 ? "" : ", ", chosenText(nameOf(member))]);
    return [names, nextSeq === 0 ? "" : " and others"];
  };
  try {
    const [read, unread] = await Promise.all([list("Read"), list("Unread")]);
    const text = phrase`${read}. Not yet: ${unread}.`;
    await ask({ title: "Read by", text, action: "Done", cancel: null, run: async () => {} });
  } catch (error) {
    sayRefusal(error);
  }
}
