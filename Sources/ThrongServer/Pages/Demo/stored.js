// What this browser keeps: the groups of a user and their last messages, which the page shows before there is a connection.

/** Until when what is kept of each user is of use, by userID: as long as their token. */
const keptKey = `throng-kept ${location.pathname}`;

/** What a token says of itself, which is not checked here; nothing where it is no such token. */
function claimsOf(token) {
  try {
    return JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
  } catch {
    return {};
  }
}

/** The options of a client that keeps what it is told; those whose time is over are forgotten. */
function storageFor(url, token) {
  const { sub, exp } = claimsOf(token);
  if (typeof sub !== "string" || !sub || !Number.isFinite(exp)) return {};
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem(keptKey)) ?? {};
    localStorage.setItem(keptKey, JSON.stringify({ ...kept, [sub]: exp * 1000 }));
  } catch {
    // What could not be forgotten later is not kept at all.
    return {};
  }
  for (const [userID, until] of Object.entries(kept)) if (userID !== sub && until < Date.now()) forget(url, userID);
  return { userID: sub, storage: new IndexedDBStorage() };
}

/** Destroys what is kept of a user whose token has ended. */
async function forget(url, userID) {
  const client = new ThrongClient({ url, token: "", userID, storage: new IndexedDBStorage(), log: null });
  try {
    await client.logout({ forget: true });
  } catch (error) {
    // There is no connection to say it to; what cannot be destroyed is tried again by the next page.
    if (error.reason !== "NotConnected") return;
  }
  const { [userID]: gone, ...others } = JSON.parse(localStorage.getItem(keptKey));
  localStorage.setItem(keptKey, JSON.stringify(others));
}

/** Ends when the messages that were stored are shown. */
let storedShown = Promise.resolve();

/** Shows the groups as they were, with what waits to be sent. What is the case now comes with the connection. */
function showStored(client, { conversations, outbox }) {
  Object.assign(chat, { client, me: client.userID });
  const shown = conversations.filter(({ status, info }) => status === "member" && info.groupType !== "AVChatRoom");
  storedShown = Promise.all(shown.slice(0, mostGroups).map(({ groupID, info }) => {
    const group = new Group(info);
    chat.groups.set(groupID, group);
    admissions.set(groupID, Promise.resolve(group));
    return showStoredMessages(group, outbox.filter((sent) => sent.groupID === groupID));
  }));
  openLink();
  render();
}

async function showStoredMessages(group, unsent) {
  let messageList;
  try {
    ({ messageList } = await chat.client.messages(group.id, { count: historyPage }));
  } catch (error) {
    // The client is closed: nobody looks at it.
    if (error instanceof ClientError) return;
    throw error;
  }
  group.storedCount = messageList.length;
  learnSenders(messageList);
  keepPlace(group, () => messageList.forEach((message) => addMessage(group, message)));
  Object.assign(group, { hasOlder: true, isHistoryKnown: messageList.length > 0 });
  unsent.forEach(showSent);
  if (group === chat.current) scrollToEnd();
  render();
}

/** The user of the page before is nobody here. */
function forgetAll() {
  chat.groups.clear();
  admissions.clear();
  chat.me = "";
  openLobby();
}
