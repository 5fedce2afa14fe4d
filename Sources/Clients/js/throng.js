// SPDX-License-Identifier: Apache-2.0
//
// A client of Throng for browsers and Node, in one module without dependencies.
//
//   import { ThrongClient } from "https://chat.example/throng.js";
//
//   const client = new ThrongClient({ url: "wss://chat.example/ws", token: () => fetchToken() });
//   client.on("onRecvNewMessage", ({ message }) => console.log(message.sender, message.text));
//   await client.connect();
//   await client.call("joinGroup", { groupID: "hello" });
//   client.sendText("hello", "Hello!");
//
// It connects again after a loss, asks for everything that was missed, and sends no message twice. With the option
// `storage` it shows conversations before there is a connection, and sends after a restart what was written before. Where
// no WebSocket passes it takes an event stream. Where no server answers it says so with console.warn, unless the option
// `log` is null.
// The types are in throng.d.ts. The rules are those of Protocol.md, "Reconnecting", and Clients.md, "Memory".

/** @typedef {import("./throng.js").ThrongClient} Client */
/** @typedef {import("./throng.js").ClientOptions} ClientOptions */
/** @typedef {import("./throng.js").LocalMessage} LocalMessage */
/** @typedef {import("./throng.js").SendOptions} SendOptions */
/** @typedef {import("./throng.js").Position} Position */
/** @typedef {import("./throng.js").ClientErrorReason} ClientErrorReason */
/** @typedef {import("./throng.js").ClientEvents} Events */
/** @typedef {import("./throng.js").Methods} Methods */

/**
 * An error that the server answered: "joinGroup: No such group (10010)". `serverMessage`: its words alone; `temporary`: the
 * same request may succeed later.
 */
export class ThrongError extends Error {
  /**
   * @param {string} method
   * @param {{code: number, message: string, data?: {temporary?: boolean, field?: string, retryAfterMs?: number}}} error
   */
  constructor(method, error) {
    super(`${method}: ${error.message} (${error.code})`);
    this.name = "ThrongError";
    this.method = method;
    this.serverMessage = error.message;
    this.code = error.code;
    this.temporary = error.data?.temporary ?? false;
    this.field = error.data?.field;
    this.retryAfterMs = error.data?.retryAfterMs ?? 0;
  }
}

/** A request or message that got no answer of the server; `reason` says why. */
export class ClientError extends Error {
  /**
   * @param {ClientErrorReason} reason
   * @param {string} [detail]
   */
  constructor(reason, detail) {
    super(detail ?? clientErrors[reason]);
    this.name = "ClientError";
    this.reason = reason;
  }
}

/** @type {Record<ClientErrorReason, string>} */
const clientErrors = {
  NotConnected: "There is no connection to the server.",
  ConnectionLost: "The connection ended before the answer came: whether the request was carried out is not known.",
  OutcomeUnknown: "The connection ended before the answer came, and the server cannot tell any more what became of the message.",
  ConversationEnded: "The user is in the group no more.",
  Expired: "The message was for those who were there then.",
  TokenTimeout: "The token function has not answered in time.",
  QueueFull: "Too much waits for the connection already.",
  TooLarge: "The request is larger than the server takes.",
  BadAnswer: "The server has answered what no server of this protocol does.",
  Closed: "The client is closed, and connects no more: make another one.",
};

/** What a browser tells of a WebSocket that does not open. */
const unopened = "no server answers, or it refuses the connection";

/** The least delay before the next connection, and the bounds of a random one, in milliseconds. */
const leastBackoff = 100;
const firstBackoff = 500;
const longestBackoff = 20_000;
/** A session that lived this long was a good one: the next loss begins with the first delay again. */
const goodSession = 10_000;
/** The longest wait for an open WebSocket, and for the answer to `login`. */
const connectTimeout = 20_000;
const pingTimeout = 10_000;
/** The shortest time from a renewal of the token to the next. */
const renewalPause = 10_000;
/** Messages under way at the same time; more wait here. */
const windowSize = 32;
/** How long a message is sent again that the server refuses as temporary. */
const longestRefusal = 120_000;
/** How long a message for a live room waits for its first try. */
const longestLiveWait = 120_000;
/** Messages that failed, of which the user is still told. */
const mostFailed = 100;
/** A token that is asked for in vain is used for as long. */
const leastLeft = 5_000;
/** On streams, a WebSocket is tried after so long; where it fails, after twice as long. */
const firstQuietTime = 300_000;
const longestQuietTime = 3_600_000;
/** A server without streams is not asked for one before. */
const streamsPause = 600_000;
/** A message that waits at the server leaves or is dropped within 1.1 s (Protocol.md, "Waiting messages"). */
const longestQueued = 1_500;
/** Settled messages that are remembered, so that no history brings them a second time. */
const rememberedMessages = 1_000;
/** The server takes no longer message (Protocol.md, "Frames"). */
const largestFrame = 65_536;
const groupsPerSync = 50;
/** The most that a page of a history holds. */
const historyPage = 100;
/** A clock of the server may be off by so much, and events may overtake: a resume looks back so much farther. */
const lookBack = 60_000;

// The bounds of what a client takes from a server, whoever runs it (Clients.md, "Bounds").

/** The longest wait that a server may ask for. Timers hold no more than 2³¹ ms, and fire at once beyond. */
const longestWait = 86_400_000;
const longestHeartbeat = 86_400;
/** A message of the WebSocket: 50 groups of a resume with 100 long messages each. An event is much shorter. */
const largestMessage = 67_108_864;
const largestEvent = 1_048_576;
const deepestFrame = 32;
const largestNumber = 2 ** 53;
/** An ID or epoch: the protocol's longest has 64 bytes. */
const longestIdentifier = 256;
const longestWords = 1_024;
/** The groups of a user; the text that lists them in a resume, and the pages that do. */
const mostGroups = 50_000;
const largestList = 67_108_864;
const mostListPages = 1_000;
/** The pages of one group's history in a resume: a million messages. The next one goes on there. */
const mostHistoryPages = 10_000;
/** How often a resume asks for a group anew because more events came than may wait. */
const mostRepeats = 10;
/** Events that wait for the syncs of their groups, and their text. */
const heldLimit = 10_000;
const largestHeld = 8_388_608;
/** Groups that are not tracked yet: those entered, and those of which the last place is kept. */
const mostNewGroups = 1_000;
/** Own messages of a group beyond its place. */
const mostOwnMessages = 1_000;
/** Own messages that wait at the server at the same time. */
const mostQueued = 100;
/** Calls of the application that the server has not answered. */
const mostCalls = 1_000;
/** Users whose status is watched: the most that a server can be set up to allow; and those that one request names. */
const mostWatched = 10_000;
const usersPerWatch = 100;
/** The shortest time from one signal "typing" in a group to the next. */
const typingPause = 3_000;
/** Groups of which it is remembered when their slow mode lets the user write. */
const mostSlowGroups = 1_000;
/** A token's `iat` has whole seconds, so that one of the second of a revocation may be refused as well. */
const revocationPause = 1_000;

// What a server says. Nothing else reads a frame: each value comes out typed and within its bounds, or the frame is no
// answer at all. An optional member that is null counts as absent.

/** @returns {never} */
function refuse(detail) {
  throw new ClientError("BadAnswer", detail);
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value) => typeof value === "string";
// With half of a surrogate pair it would go back as another one (see `encoded`).
const isIdentifier = (value) => isText(value) && value.length <= longestIdentifier && !/[\ud800-\udfff]/u.test(value);
const listOf = (list, fits) => (Array.isArray(list) ? list.filter(fits) : []);
const isListOf = (fits) => (value) => Array.isArray(value) && value.every(fits);
const isAbsentOr = (fits) => (value) => value === undefined || value === null || fits(value);
/** Whether an object has members of these types; others do not matter. */
const isOf = (members) => {
  const rows = Object.entries(members);
  return (value) => isObject(value) && rows.every(([name, fits]) => fits(value[name]));
};

/** A number of the server as one that can be counted on: an instant in milliseconds, a place in a history. */
const counted = (value) => Math.min(Math.max(0, value ?? 0), largestNumber);
/** A number of any value of the server's or the storage's. */
const whole = (value) => (Number.isInteger(value) ? counted(value) : 0);
const words = (text) => (text.length <= longestWords ? text : `${text.slice(0, longestWords)}…`);

const optionalInteger = isAbsentOr(Number.isInteger);
const isMessage = isOf({
  msgID: isIdentifier, sender: isText, clientMsgID: isAbsentOr(isText), seq: optionalInteger, changeSeq: optionalInteger,
});
const isMember = isOf({ userID: isText });
const isStatus = isOf({
  userID: isText, isOnline: (value) => typeof value === "boolean", platformList: isListOf(isText), customStatus: isText,
  lastOnlineTime: Number.isInteger,
});
const isGroupInfo = isOf({
  groupID: isIdentifier, groupType: isText, epoch: isAbsentOr(isIdentifier), lastSeq: optionalInteger,
  firstSeq: optionalInteger, changeSeq: optionalInteger, selfInfo: isAbsentOr(isObject),
});

/** The results of the client's own requests. */
const results = {
  object: isObject,
  session: isOf({
    userID: isIdentifier, sessionID: isIdentifier, serverTime: Number.isInteger, tokenExpiresAt: Number.isInteger,
    heartbeat: Number.isInteger,
  }),
  time: isOf({ serverTime: Number.isInteger }),
  sent: isOf({ msgID: isIdentifier, seq: optionalInteger, timestamp: Number.isInteger, status: isText }),
  groups: isOf({ groupList: isListOf(isGroupInfo), leftGroupIDList: isListOf(isIdentifier), nextSeq: Number.isInteger }),
  infos: isOf({
    resultList: isListOf((row) => isOf({ groupID: isText, code: Number.isInteger })(row) && (row.code !== 0 || isGroupInfo(row.info))),
  }),
  history: isOf({ groups: isListOf(isHistory) }),
  statuses: isOf({ userList: isListOf(isStatus) }),
};

const isError = isOf({
  code: Number.isInteger, message: isText,
  data: isAbsentOr(isOf({ temporary: isAbsentOr((value) => typeof value === "boolean"), field: isAbsentOr(isText), retryAfterMs: optionalInteger })),
});

const isRecovered = isOf({
  messageList: isListOf(isMessage), changeList: isAbsentOr(isListOf(isMessage)), lastSeq: Number.isInteger,
  changeSeq: optionalInteger,
});

/** A row of syncGroups. */
function isHistory(row) {
  if (!isOf({ groupID: isText, code: Number.isInteger })(row)) return false;
  if (row.code !== 0) return true;
  if (row.recovered === true) return isRecovered(row);
  return isOf({ epoch: isIdentifier, lastSeq: Number.isInteger, changeSeq: optionalInteger })(row);
}

/** What the client reads in an event, whatever its name. */
const isEvent = isOf({
  groupID: isAbsentOr(isText), opTime: optionalInteger, seq: optionalInteger, changeSeq: optionalInteger,
  memberList: isAbsentOr(isListOf(isMember)),
});
/** What it reads in events of these names. */
const events = {
  onRecvNewMessage: isOf({ groupID: isText, message: isMessage }),
  onRecvMessageModified: isOf({ groupID: isText, message: isMessage }),
  onServerDraining: isOf({ retryAfterMs: Number.isInteger }),
  onMessageDropped: isOf({ msgID: isIdentifier, clientMsgID: isAbsentOr(isText) }),
  onUsersStatusChanged: isOf({ userList: isListOf(isStatus) }),
  onGroupSignal: isOf({ groupID: isText, name: isText, data: isAbsentOr(isText), sender: isText }),
};
const fitsEvent = (name, params) => isEvent(params) && (!Object.hasOwn(events, name) || events[name](params));

/** The text that each result came with. */
const sizes = new WeakMap();

/** Bounds numbers and levels: what is deeper would end a recursion of the application's, JSON.stringify to begin with. */
function checkValue(value, depth) {
  if (typeof value === "number" && !(Math.abs(value) <= largestNumber)) refuse("a number beyond 2⁵³");
  if (typeof value !== "object" || value === null) return;
  if (depth > deepestFrame) refuse(`a frame of more than ${deepestFrame} levels`);
  for (const member of Object.values(value)) checkValue(member, depth + 1);
}

/** A frame: an event (`method`), or an answer (`id`, and `result` or `error`). */
function readFrame(text) {
  if (!isText(text)) refuse("a binary message");
  if (text.length > largestMessage) refuse(`a message of ${text.length} characters`);
  let frame;
  try {
    frame = JSON.parse(text);
  } catch (error) {
    refuse(words(error.message));
  }
  if (!isObject(frame)) refuse("a frame that is no object");
  checkValue(frame, 1);
  if (!isAbsentOr(isText)(frame.method)) refuse("an event without a name");
  if (isText(frame.method) && !isObject(frame.params)) refuse("an event without parameters");
  if (isText(frame.method) && text.length > largestEvent) refuse(`an event of ${text.length} characters`);
  return frame;
}

/** The error of an answer. */
function readError(method, error) {
  if (!isError(error)) refuse("an error that is none of the protocol's");
  const { temporary, field, retryAfterMs } = error.data ?? {};
  const data = { temporary: temporary ?? false, retryAfterMs: Math.min(counted(retryAfterMs), longestWait) };
  return new ThrongError(method, { code: error.code, message: words(error.message), data: { ...data, field: isText(field) ? words(field) : undefined } });
}

function boundedSession(session) {
  const { serverTime, tokenExpiresAt, heartbeat } = session;
  return {
    ...session, serverTime: counted(serverTime), tokenExpiresAt: counted(tokenExpiresAt),
    heartbeat: Math.min(Math.max(1, heartbeat), longestHeartbeat),
  };
}

/** Whether a group is a live room, and one that remembers its last messages: alone among groups it has no `firstSeq`. */
const isLiveRoom = ({ groupType }) => groupType === "AVChatRoom";
/** Whether some messages of others do not come as events: what lies between two that came is not known then. */
const isHeardInPart = (info) => ["NotReceive", "ReceiveFromManagers"].includes(info?.selfInfo?.receiveMessageOpt);
const remembersMessages = (info) => isLiveRoom(info) && isText(info.epoch) && !Number.isInteger(info.firstSeq);

/** The members of an event that stand in `selfInfo`, where they are true, or a list that is not empty. */
const conversationFlags = ["isPinned", "isHidden", "isMarkedUnread"];

/** A group's info with what onConversationChanged tells. */
function changeConversation(info, change) {
  if (!isObject(info?.selfInfo)) return;
  for (const name of conversationFlags) {
    if (change[name] === true) info.selfInfo[name] = true;
    else if (change[name] === false) delete info.selfInfo[name];
  }
  if (Array.isArray(change.marks) && change.marks.length > 0) info.selfInfo.marks = [...change.marks];
  else if (Array.isArray(change.marks)) delete info.selfInfo.marks;
  if (!Number.isInteger(change.clearedSeq)) return;
  info.firstSeq = Math.max(counted(info.firstSeq), counted(change.clearedSeq) + 1);
  info.selfInfo.unreadCount = 0;
  if (isObject(info.lastMessage) && counted(info.lastMessage.seq) <= counted(change.clearedSeq)) delete info.lastMessage;
}

/** The place that a page of a history reaches; never one before the place that was asked from. */
function readPage(ask, row) {
  let { seq } = ask;
  for (const message of row.messageList) {
    if (!(counted(message.seq) > seq)) refuse("a history that does not ascend");
    seq = counted(message.seq);
  }
  const changeSeq = counted(row.changeSeq ?? ask.changeSeq);
  if (changeSeq < ask.changeSeq) refuse("changes that do not ascend");
  return { seq, changeSeq };
}

// What is said where nobody looks at the events.

/** The address of the WebSocket, for which that of HTTP stands as well; nothing where it is neither. */
function addressOf(url) {
  try {
    const address = new URL(url, globalThis.location?.href);
    address.protocol = address.protocol.replace("http", "ws");
    return /^wss?:/.test(address.href) ? address.href : undefined;
  } catch {
    return undefined;
  }
}

/** An address without what may be secret: a user, a password, a query. */
const shownAddress = (url) => String(url).replace(/[?#].*$/s, "").replace(/\/\/[^/]*@/, "//");

/** Words of others as part of a line: no character moves the cursor, or turns the line around. */
const oneLine = (text) => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, " ");

/** Why a connection has ended. */
function causeOf({ code, reason, error }) {
  const parts = [reason, error?.serverMessage ?? error?.message].filter(Boolean);
  // A refused sign-in has the same words twice.
  const text = [...new Set(parts)].join(": ") || "the connection has ended";
  return oneLine(code > 0 && code !== 1006 ? `${text} (${code})` : text);
}

/** A handler of `state` that writes a line where there is no connection, where there is one again, and where none will be. */
function reporter(url, log) {
  const address = oneLine(shownAddress(url));
  let [wasOnline, isAway] = [false, false];
  return ({ state, transport, retryInMs, ...loss }) => {
    if (state === "waiting") {
      isAway = true;
      log(`throng: not connected to ${address}: ${causeOf(loss)}; next try in ${(retryInMs / 1000).toFixed(1)} s`);
    } else if (state === "online") {
      if (isAway) log(`throng: connected to ${address}${transport === "stream" ? " over an event stream" : ""}`);
      [wasOnline, isAway] = [true, false];
    } else if (state === "closed" && wasOnline && loss.error?.reason !== "Closed") {
      // Before the first sign-in `connect` rejects with the reason.
      log(`throng: the connection to ${address} is closed for good: ${causeOf(loss)}`);
    }
  };
}

/** The delay before the next try of something that has failed so often. */
const backoffAfter = (failures, random) =>
  Math.max(leastBackoff, random() * Math.min(longestBackoff, firstBackoff * 2 ** Math.min(failures, 10)));

/** Events whose `seq` is that of a tip, which the history keeps. */
const tipEvents = new Set([
  "onGroupCreated", "onMemberEnter", "onMemberLeave", "onMemberInvited", "onMemberKicked", "onGrantAdministrator",
  "onRevokeAdministrator", "onGroupInfoChanged", "onGroupMemberInfoChanged",
]);
const changeEvents = new Set([
  "onRecvMessageRevoked", "onRecvMessageModified", "onRecvMessageReactionsChanged", "onGroupMessagePinned",
]);
const endEvents = new Set(["onGroupDismissed", "onGroupRecycled", "onQuitFromGroup"]);
const entryEvents = new Set(["onGroupCreated", "onMemberEnter", "onMemberInvited"]);

/** The place of an event in the history of its group: `seq` and `changeSeq`, 0 where it has none. */
function placeOf(name, params) {
  if (name === "onRecvNewMessage") return { seq: counted(params.message.seq), changeSeq: 0 };
  if (tipEvents.has(name)) return { seq: counted(params.seq), changeSeq: 0 };
  return { seq: 0, changeSeq: changeEvents.has(name) ? counted(params.changeSeq) : 0 };
}

/** The part of one group that the application has been told. */
class TrackedGroup {
  /** Events of this connection that wait until the group is in step again; null = they do not wait. */
  held = null;
  /** Their text, as they came. */
  heldSize = 0;
  /** More came than may wait: the group is synchronized once more. */
  hasOverflowed = false;
  /** Own messages of this session beyond `seq`, which no event brings. */
  #own;

  /** `remembers`: a live room whose last messages a sync brings. */
  constructor(groupID, { epoch, seq = 0, changeSeq = 0, own = [], isLive = false, remembers = false }) {
    Object.assign(this, { groupID, epoch, seq: counted(seq), changeSeq: counted(changeSeq), isLive, remembers });
    this.#own = new Set(own);
  }

  get position() {
    return { epoch: this.epoch, seq: this.seq, changeSeq: this.changeSeq };
  }

  /** Whether a sync may bring what was missed. */
  get hasHistory() {
    return !this.isLive || this.remembers;
  }

  /** Events of a group come in their order: one tells that those before it have come. */
  reach({ seq, changeSeq }) {
    this.seq = Math.max(this.seq, seq);
    this.changeSeq = Math.max(this.changeSeq, changeSeq);
    // As a rule they are ascending.
    for (const own of this.#own) {
      if (own > this.seq) break;
      this.#own.delete(own);
    }
    while (this.#own.delete(this.seq + 1)) this.seq += 1;
  }

  addOwn(seq) {
    if (!this.hasHistory || seq <= this.seq) return;
    this.#own.add(seq);
    // Others' messages need not come: the next sync brings those before again, and the outbox knows them.
    if (this.#own.size > mostOwnMessages) this.#own.delete(this.#own.values().next().value);
    this.reach(this);
  }

  /** The history begins anew. */
  restart({ epoch, lastSeq, changeSeq }) {
    Object.assign(this, { epoch, seq: counted(lastSeq), changeSeq: counted(changeSeq) });
    this.#own.clear();
  }

  /** Events wait until the group is in step, unless no sync could bring anything. */
  hold() {
    if (this.hasHistory) this.held ??= [];
  }

  /** Whether the application has been told of what an event tells. */
  knows({ seq, changeSeq }) {
    return (seq > 0 && seq <= this.seq) || (changeSeq > 0 && changeSeq <= this.changeSeq);
  }

  /** Whether an event shows that the room's memory was lost: its places begin anew, under another epoch. */
  beginsAnew(place) {
    return this.isLive && this.remembers && this.held === null && this.knows(place);
  }
}

/** Own messages from `send` to their end, in the order in which they leave. */
class Outbox {
  #client;
  #limit;
  #waiting = [];
  #inFlight = new Set();
  /** Those that wait at the server. */
  #queued = new Set();
  /** The last that failed or were dropped, the oldest first: `resend` and `discard` know them. */
  #failed = new Set();
  /** The records of messages by clientMsgID: all that are under way, and the last that were settled. */
  #records = new Map();
  /** The clientMsgIDs of those that were settled, the oldest first. */
  #settled = new Set();
  #order = 0;
  #isOpen = false;
  #pauseTimer = 0;
  #refusals = 0;
  /** Timers of groups that take no message of the user's yet; other groups do. */
  #groupPauses = new Map();
  /** When a group takes the user's next message, by `now`, as its last refusal said. */
  #writeTimes = new Map();
  /** What was written to the disk last: messages leave behind it, in their order. */
  #written = Promise.resolve();

  /** `client`: `request`, `canSend`, `positionOf`, `addOwn`, `isLive`, `serverTime`, `show`, `store`, `platform`, `random`. */
  constructor(client, limit) {
    this.#client = client;
    this.#limit = limit;
  }

  /**
   * Adds a new message, unless there is one with its clientMsgID that is under way or has arrived.
   * @returns {LocalMessage}
   */
  add(method, params, error) {
    const known = this.#records.get(params.clientMsgID)?.message;
    if (known && !["failed", "dropped"].includes(known.state)) return known;
    const clientMsgID = params.clientMsgID ?? newID();
    const message = { ...params, clientMsgID, state: "sending", createdAt: Date.now() };
    this.#start({ message, method, params: { ...params, clientMsgID } }, error);
    return message;
  }

  /** Sends a message again that failed or was dropped, with the same clientMsgID. */
  repeat(message, changes, refusal) {
    if (!["failed", "dropped"].includes(message.state)) return message;
    Object.assign(message, changes, { state: "sending" });
    delete message.error;
    const { state, createdAt, msgID, seq, timestamp, ...params } = message;
    const method = params.text === undefined ? "sendGroupCustomMessage" : "sendGroupTextMessage";
    this.#start({ message, method, params }, refusal);
    return message;
  }

  #start(record, error) {
    const { message: { clientMsgID }, params } = record;
    const isLong = byteLength(encoded(params)) > largestFrame - 256;
    const before = this.#records.get(clientMsgID);
    this.#failed.delete(before);
    this.#enlist(record, { key: before?.key, order: ++this.#order, since: now() });
    if (error) return this.#fail(record, error);
    if (this.#waiting.length >= this.#limit) return this.#fail(record, new ClientError("QueueFull"));
    if (isLong) return this.#fail(record, new ClientError("TooLarge"));
    this.#waiting.push(record);
    // In a live room nobody waits for a message of minutes ago.
    if (this.#isLive(record)) record.expiry = after(longestLiveWait, () => this.#expire(record));
    this.#client.show(record.message);
    this.#pump();
    // What leaves now is written when it does.
    if (this.#waiting.includes(record)) this.#save(record);
  }

  #enlist(record, more) {
    const { promise: done, resolve: settle } = deferred();
    Object.defineProperty(record.message, "done", { value: done, configurable: true });
    // `isUnanswered`: whether a try has had no answer; `after`: where a history begins that holds it.
    Object.assign(record, { settle, firstSentAt: 0, isUnanswered: false, refusedAt: undefined, after: undefined, ...more });
    this.#records.set(record.message.clientMsgID, record);
    this.#settled.delete(record.message.clientMsgID);
  }

  #save(record) {
    // The server takes no such message at any time.
    if (record.message.error?.reason === "TooLarge") return this.#written;
    return (this.#written = this.#client.store.save(record));
  }

  /** Takes up what an earlier process, or a tab that is gone, has left in the store. */
  restore(rows) {
    const restored = [];
    for (const [key, row] of rows) {
      const { clientMsgID, method, params, createdAt, firstSentAt = 0, after: position, state, error } = row;
      if (this.#records.has(clientMsgID)) continue;
      const message = { ...params, clientMsgID, state, createdAt };
      const record = { message, method, params };
      // Before all that this process sends.
      const order = whole(row.order) - largestNumber;
      this.#enlist(record, { key, order, firstSentAt, isUnanswered: firstSentAt > 0, after: position, since: -Infinity });
      if (state === "failed") {
        const { code, reason = "OutcomeUnknown", message: told } = error ?? {};
        if (reason === "Dropped") message.state = "dropped";
        else message.error = Number.isInteger(code) ? new ThrongError(method, error) : new ClientError(reason, told);
        record.settle(message);
        this.#failed.add(record);
        this.#settled.add(clientMsgID);
      } else this.#wait(record);
      restored.push(record);
    }
    return restored;
  }

  /** What has been restored begins: live rooms hear nothing of an earlier process. */
  begin(records) {
    for (const record of records) this.#expire(record);
    this.#pump();
  }

  /** The messages that are not at their end, and those that failed, in their order. */
  messages() {
    return this.records().map(({ message }) => message);
  }

  /** Their records. */
  records() {
    const leaving = [...this.#inFlight].filter(({ message }) => message.state === "sending");
    const all = new Set([...this.#waiting, ...leaving, ...this.#queued, ...this.#failed]);
    return [...all].filter((record) => this.#isCurrent(record)).sort((one, other) => one.order - other.order);
  }

  /** Takes a message that failed, or was dropped, out of the outbox. */
  discard({ clientMsgID }) {
    const record = this.#records.get(clientMsgID);
    if (this.#failed.has(record)) this.#erase(record);
  }

  #erase(record) {
    this.#failed.delete(record);
    this.#settled.delete(record.message.clientMsgID);
    this.#records.delete(record.message.clientMsgID);
    record.isForgotten = true;
    this.#save(record);
  }

  /** Messages may leave: the session is in step with its groups. */
  open() {
    this.#isOpen = true;
    this.#pump();
  }

  /** There is no connection: what has no answer waits for the next. */
  shut() {
    this.#isOpen = false;
    clearTimeout(this.#pauseTimer);
    this.#pauseTimer = this.#refusals = 0;
    for (const timer of this.#groupPauses.values()) clearTimeout(timer);
    this.#groupPauses.clear();
    for (const record of this.#records.values()) {
      clearTimeout(record.queuedTimer);
      // Whether it was dropped is told to the session that is gone; sending it again asks.
      if (record.message.state !== "queued") continue;
      record.isUnanswered = true;
      this.#wait(record);
    }
  }

  #isLive({ message: { groupID }, params }) {
    return params.onlineUserOnly === true || this.#client.isLive(groupID);
  }

  /** Fails a message for a live room, or for those online alone, that was never sent and has waited too long. */
  #expire(record) {
    if (record.isUnanswered || record.firstSentAt > 0 || !this.#isLive(record) || now() - record.since < longestLiveWait) return false;
    if (!this.#waiting.includes(record)) return false;
    this.#remove(record, new ClientError("Expired"));
    return true;
  }

  #pump() {
    // A socket that is closing takes nothing, and tells its end later.
    const isFree = () =>
      this.#isOpen && this.#pauseTimer === 0 && this.#inFlight.size < windowSize && this.#queued.size < mostQueued;
    while (isFree() && this.#client.canSend()) {
      const index = this.#waiting.findIndex(({ message }) => !this.#groupPauses.has(message.groupID));
      if (index < 0) return;
      const record = this.#waiting[index];
      if (this.#expire(record)) continue;
      this.#waiting.splice(index, 1);
      this.#transmit(record);
    }
  }

  async #transmit(record) {
    this.#inFlight.add(record);
    const { groupID } = record.message;
    // Every try after the first says when that was.
    const isRepeat = record.firstSentAt > 0;
    if (!isRepeat) {
      record.firstSentAt = this.#client.serverTime();
      // The history never holds what is for those online alone.
      if (!record.params.onlineUserOnly) record.after = this.#client.positionOf(groupID)?.seq;
    }
    try {
      // It is on the disk before the server can have it.
      if (this.#client.store.isDurable) await (isRepeat ? this.#written : this.#save(record));
      if (record.message.state !== "sending" || !this.#isCurrent(record)) return;
      if (!this.#isOpen) throw new ClientError("NotConnected");
      const params = isRepeat ? { ...record.params, firstSentAt: record.firstSentAt } : record.params;
      this.#answered(record, await this.#client.request(record.method, params, results.sent));
    } catch (error) {
      this.#refused(record, error);
    } finally {
      this.#inFlight.delete(record);
      this.#pump();
    }
  }

  #answered(record, { msgID, seq, timestamp, status }) {
    // A message that a sync has brought meanwhile, or that is sent again, stays as it is.
    if (record.message.state !== "sending" || !this.#isCurrent(record)) return;
    this.#refusals = 0;
    const hasSeq = Number.isInteger(seq);
    if (hasSeq) this.#client.addOwn(record.message.groupID, counted(seq));
    const news = { msgID, timestamp, ...(hasSeq ? { seq } : {}) };
    const final = { Stored: "stored", Dropped: "dropped" };
    if (status !== "Queued") return this.#settle(record, Object.hasOwn(final, status) ? final[status] : "delivered", news);
    this.#queued.add(record);
    Object.assign(record.message, news, { state: "queued" });
    this.#client.show(record.message);
    record.queuedTimer = after(longestQueued, () => this.#confirm(record));
  }

  /** A queued message that nothing was heard of has left: the server tells of drops alone. */
  async #confirm(record) {
    try {
      await this.#client.request("ping", {}, results.time);
      if (record.message.state === "queued" && this.#isCurrent(record)) this.#settle(record, "delivered", {});
      this.#pump();
    } catch (error) {
      // Without a connection `shut` has seen to it. A refusal, for the rate as a rule, says nothing: asked again.
      if (!(error instanceof ThrongError) || record.message.state !== "queued" || !this.#isCurrent(record)) return;
      record.queuedTimer = after(Math.max(longestQueued, error.retryAfterMs), () => this.#confirm(record));
    }
  }

  /** Whether the record is of the last try of its message. */
  #isCurrent(record) {
    return this.#records.get(record.message.clientMsgID) === record;
  }

  #refused(record, error) {
    if (record.message.state !== "sending" || !this.#isCurrent(record)) return;
    const forget = () => {
      if (!record.isUnanswered) Object.assign(record, { firstSentAt: 0, after: undefined });
    };
    if (error instanceof ClientError) {
      if (!["NotConnected", "ConnectionLost"].includes(error.reason)) return this.#fail(record, error);
      record.isUnanswered ||= error.reason === "ConnectionLost";
      forget();
      return this.#wait(record, !record.isUnanswered);
    }
    // Nobody can tell what became of an earlier try.
    if (error.field === "firstSentAt") {
      const unknown = new ClientError("OutcomeUnknown");
      unknown.cause = error;
      return this.#fail(record, unknown);
    }
    // It was not taken, so it may be sent at any later time; an earlier try that was not answered may have been.
    forget();
    record.refusedAt ??= now();
    const refusedFor = now() - record.refusedAt;
    if (!error.temporary || refusedFor > longestRefusal) return this.#fail(record, error);
    if (error.code === 10023) return this.#slow(record, error, refusedFor);
    this.#wait(record, !record.isUnanswered);
    if (this.#pauseTimer !== 0) return;
    const backoff = this.#nextBackoff();
    const resume = () => {
      this.#pauseTimer = 0;
      this.#pump();
    };
    this.#pauseTimer = after(Math.max(error.retryAfterMs, backoff), resume);
  }

  #nextBackoff() {
    const backoff = backoffAfter(this.#refusals, this.#client.random);
    this.#refusals += 1;
    return backoff;
  }

  /** The group takes no message of the user's yet, because of its slow mode as a rule. That holds nothing up elsewhere. */
  #slow(record, error, refusedFor) {
    const { groupID } = record.message;
    this.#noteWriteTime(groupID, now() + error.retryAfterMs);
    // A wait of hours is the user's: the message would come when nobody expects it.
    if (refusedFor + error.retryAfterMs > longestRefusal) return this.#fail(record, error);
    this.#wait(record, !record.isUnanswered);
    if (this.#groupPauses.has(groupID)) return;
    const resume = () => {
      this.#groupPauses.delete(groupID);
      this.#pump();
    };
    this.#groupPauses.set(groupID, after(Math.max(error.retryAfterMs, this.#nextBackoff()), resume));
  }

  #noteWriteTime(groupID, time) {
    this.#writeTimes.delete(groupID);
    this.#writeTimes.set(groupID, time);
    if (this.#writeTimes.size > mostSlowGroups) this.#writeTimes.delete(this.#writeTimes.keys().next().value);
  }

  /** How long it is until the group takes the user's next message, in milliseconds; 0 = as far as is known, none. */
  writeDelay(groupID) {
    return Math.max(0, (this.#writeTimes.get(groupID) ?? 0) - now());
  }

  /** Puts a message back to its place among those that wait; `isOther`: its row on the disk is another one now. */
  #wait(record, isOther = false) {
    this.#queued.delete(record);
    if (record.message.state !== "sending") {
      record.message.state = "sending";
      this.#client.show(record.message);
    }
    const index = this.#waiting.findIndex(({ order }) => order > record.order);
    this.#waiting.splice(index < 0 ? this.#waiting.length : index, 0, record);
    if (isOther) this.#save(record);
  }

  /** A message of the user's: the record of this client, if it has sent it. */
  recordOf({ clientMsgID }) {
    return clientMsgID === undefined ? undefined : this.#records.get(clientMsgID);
  }

  /** The history holds the message, or an event brings it: its answer was lost. */
  found(record, { msgID, seq, timestamp }) {
    if (["stored", "delivered"].includes(record.message.state)) return;
    delete record.message.error;
    this.#waiting = this.#waiting.filter((other) => other !== record);
    const hasSeq = Number.isInteger(seq);
    // A live room's messages have a place as well, where it remembers them.
    const isStored = hasSeq && !this.#client.positionOf(record.message.groupID)?.isLive;
    this.#settle(record, isStored ? "stored" : "delivered", { msgID, timestamp, ...(hasSeq ? { seq } : {}) });
  }

  /** Where a sync of the group has to begin so that it holds whatever is under way. */
  startOfSync(group) {
    return this.#unanswered(group.groupID).reduce((least, { after: position }) => Math.min(least, position ?? least), group.seq);
  }

  #unanswered(groupID) {
    return this.#waiting.filter((record) => record.firstSentAt > 0 && record.message.groupID === groupID);
  }

  /**
   * The group is in step: what its history does not hold was never stored, so it is a new message. In a live room it may
   * still wait for its place; there the server is asked by sending it again.
   */
  proveAbsent({ groupID, isLive }) {
    if (isLive) return;
    for (const record of this.#unanswered(groupID)) {
      if (record.after === undefined) continue;
      Object.assign(record, { firstSentAt: 0, isUnanswered: false, after: undefined });
      this.#save(record);
    }
  }

  /** The history of the group cannot be had: no place in it tells of a message any more. */
  losePlaces({ groupID }) {
    for (const record of this.#unanswered(groupID)) {
      if (record.after === undefined) continue;
      record.after = undefined;
      this.#save(record);
    }
  }

  /** The user is in the group no more: what waits for it cannot arrive. */
  endConversation(groupID) {
    for (const record of this.#waiting.filter(({ message }) => message.groupID === groupID)) {
      this.#remove(record, new ClientError("ConversationEnded"));
    }
  }

  /** News of a drop counts, also where `#confirm` had given up waiting for it. */
  drop({ msgID, clientMsgID }) {
    const record = this.#records.get(clientMsgID);
    if (!record || !["sending", "queued", "delivered"].includes(record.message.state)) return;
    this.#settle(record, "dropped", { msgID });
    this.#pump();
  }

  /** The client is closed: nothing is sent any more. What is on the disk is sent by the next process. */
  end(error, isKept) {
    this.shut();
    const isOpen = (record) => record.message.state === "sending" && this.#isCurrent(record);
    for (const record of [...this.#waiting, ...this.#inFlight].filter(isOpen)) {
      clearTimeout(record.expiry);
      if (isKept) record.settle(record.message);
      else this.#remove(record, error);
    }
  }

  #remove(record, error) {
    this.#waiting = this.#waiting.filter((other) => other !== record);
    this.#fail(record, error);
  }

  #fail(record, error) {
    this.#settle(record, "failed", { error });
  }

  #settle(record, state, news) {
    const { message } = record;
    clearTimeout(record.queuedTimer);
    clearTimeout(record.expiry);
    this.#queued.delete(record);
    Object.assign(message, news, { state });
    this.#keep(record);
    this.#client.show(message);
    record.settle(message);
    // A handler may have sent it again.
    if (["sending", "queued"].includes(message.state)) return;
    this.#settled.add(message.clientMsgID);
    for (const clientMsgID of this.#settled) {
      if (this.#settled.size <= rememberedMessages) return;
      if (this.#failed.has(this.#records.get(clientMsgID))) continue;
      this.#settled.delete(clientMsgID);
      this.#records.delete(clientMsgID);
    }
  }

  /** Stores what has become of a message. */
  #keep(record) {
    const { method, params, message: { state, msgID, seq, timestamp, error } } = record;
    if (state === "stored") {
      this.#failed.delete(record);
      return this.#client.store.settle(record, { method, params, msgID, seq, timestamp, platform: this.#client.platform });
    }
    if (state !== "delivered" && error?.reason !== "Closed") {
      this.#failed.add(record);
      for (const oldest of this.#failed) if (this.#failed.size > mostFailed) this.#erase(oldest);
    } else this.#failed.delete(record);
    this.#save(record);
  }
}

/** The users whose status the application watches, with the last row of each. It decides what is asked; one request at a time. */
class StatusWatch {
  /** The last row by userID; null = there is none. */
  #rows = new Map();
  /** Users that this session has to be told of, and those that it watches and the application does not any more. */
  #toWatch = new Set();
  #toUnwatch = new Set();
  /** The request under way, with the users whom an event has told of since it left. */
  #asked = null;
  #isOpen = false;

  /** The user's row as it was told last. */
  rowOf(userID) {
    return this.#rows.get(userID) ?? undefined;
  }

  add(userIDList) {
    const added = new Set(userIDList.filter((userID) => !this.#rows.has(userID)));
    if (this.#rows.size + added.size > mostWatched) throw new ClientError("QueueFull");
    for (const userID of added) {
      this.#rows.set(userID, null);
      this.#toWatch.add(userID);
    }
  }

  remove(userIDList = [...this.#rows.keys()]) {
    for (const userID of userIDList) {
      if (!this.#rows.delete(userID)) continue;
      // Without a session there is nothing that one would watch.
      if (!this.#toWatch.delete(userID) && this.#isOpen) this.#toUnwatch.add(userID);
    }
  }

  /** A new session watches nobody. */
  startSession() {
    this.endSession();
    this.#isOpen = true;
    this.#toWatch = new Set(this.#rows.keys());
  }

  endSession() {
    this.#isOpen = false;
    this.#asked = null;
    this.#toUnwatch.clear();
  }

  /** What is to be asked now; null = nothing, or a request is under way. */
  next() {
    if (!this.#isOpen || this.#asked !== null) return null;
    const isEnd = this.#toUnwatch.size > 0;
    const users = isEnd ? this.#toUnwatch : this.#toWatch;
    if (users.size === 0) return null;
    const userIDList = [...users].slice(0, usersPerWatch);
    for (const userID of userIDList) users.delete(userID);
    this.#asked = { isEnd, userIDList, told: new Set() };
    return this.#asked;
  }

  /** Takes the rows of the answer, unless an event was newer; answers what is news. */
  answered(rows) {
    const { isEnd, userIDList, told } = this.#asked;
    this.#asked = null;
    if (isEnd) return { userList: [], unknownUserIDList: [] };
    const asked = new Set(userIDList.filter((userID) => this.#rows.has(userID) && !told.has(userID)));
    const userList = rows.filter(({ userID }) => asked.delete(userID));
    for (const row of userList) this.#rows.set(row.userID, row);
    for (const userID of asked) this.#rows.set(userID, null);
    return { userList, unknownUserIDList: [...asked] };
  }

  /** The request was refused for now, and is made again. */
  putBack() {
    const { isEnd, userIDList } = this.#asked;
    this.#asked = null;
    for (const userID of userIDList) {
      if (isEnd) this.#toUnwatch.add(userID);
      else if (this.#rows.has(userID)) this.#toWatch.add(userID);
    }
  }

  /** The request was refused for good: answers the users who are not watched. */
  refused() {
    const { isEnd, userIDList } = this.#asked;
    this.#asked = null;
    return isEnd ? [] : userIDList.filter((userID) => this.#rows.delete(userID));
  }

  /** Rows of an event; answers those of users who are watched. */
  hear(rows) {
    const userList = rows.filter(({ userID }) => this.#rows.has(userID));
    for (const row of userList) {
      this.#rows.set(row.userID, row);
      this.#asked?.told.add(row.userID);
    }
    return { userList, unknownUserIDList: [] };
  }
}

/** Requests that wait share a batch up to so many, and so many bytes. */
const mostBatched = 20;
const largestBatch = 60_000;
const heldBack = "a proxy may hold the stream back (Clients, Behind proxies)";

/**
 * A session where no WebSocket passes (Protocol.md, "Event streams"), with what the client needs of a WebSocket: events
 * come by one long answer, requests leave by POST, one after the other.
 */
class EventStream {
  readyState = 0;
  /** The key of the stream's requests. */
  key = "";
  #address;
  #abort = new AbortController();
  #waiting = [];
  #isPosting = false;
  /** What is to be done when the answer under way is here. */
  #posted = () => this.#post();
  #closeTimer;

  /** Where streams are: beside the WebSocket at `url`. */
  constructor(url, { token, platform, deviceID }) {
    this.#address = new URL(url, globalThis.location?.href);
    this.#address.protocol = this.#address.protocol.replace("ws", "http");
    this.#address.search = this.#address.hash = this.#address.username = this.#address.password = "";
    const query = new URLSearchParams(Object.entries({ platform, deviceID }).filter(([, value]) => value !== undefined));
    this.#read(`events?${query}`, token);
  }

  #fetch(path, credential, options) {
    const headers = { Authorization: `Bearer ${credential}`, ...options.headers };
    // No token stands in an address, and cookies are nobody's business.
    const fixed = { headers, cache: "no-store", credentials: "omit", redirect: "error", signal: this.#abort.signal };
    return fetch(new URL(path, this.#address), { ...options, ...fixed });
  }

  async #read(path, token) {
    try {
      const response = await this.#fetch(path, token, {});
      const { status } = response;
      // A server that has no streams says so in one of these ways.
      if (!response.ok || !response.body) return this.#end(1006, `the server answers HTTP ${status}`, [404, 405, 501].includes(status));
      this.onopen?.();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let [rest, name, data, size] = ["", "", [], 0];
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        this.onlife?.();
        const lines = (rest + part.value).split("\n");
        rest = lines.pop();
        size += part.value.length;
        if (size > largestMessage + largestFrame) return this.#end(1009, "an event that is too long");
        for (const line of lines.map((one) => one.replace(/\r$/, ""))) {
          if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
          else if (line.startsWith("event:")) name = line.slice(6).trim();
          else if (line === "") {
            if (name === "close") return this.#close(data.join("\n"));
            if (data.length > 0) this.onmessage?.({ data: data.join("\n") });
            [name, data, size] = ["", [], rest.length];
          }
        }
      }
      this.#end(1006, "");
    } catch (error) {
      this.#end(1006, words(String(error?.cause?.message ?? error?.message ?? error)));
    }
  }

  #close(text) {
    let told;
    try {
      told = JSON.parse(text);
    } catch {
      // As if it had ended without a word.
    }
    const fits = isOf({ code: Number.isInteger, reason: isText })(told);
    const end = () => this.#end(fits ? told.code : 1006, fits ? words(told.reason) : "");
    if (!this.#isPosting) return end();
    // The answer under way, to `logout` as a rule, may come behind the news of the end.
    this.readyState = 2;
    this.#posted = end;
    this.#closeTimer = after(pingTimeout, end);
  }

  #end(code, reason, isAbsent = false) {
    if (this.readyState === 3) return;
    this.readyState = 3;
    clearTimeout(this.#closeTimer);
    this.#abort.abort();
    this.onclose?.({ code, reason, isAbsent });
  }

  send(text) {
    this.#waiting.push(text);
    // Those of one turn leave together.
    if (!this.#isPosting) Promise.resolve().then(() => this.#post());
  }

  /** One request at a time: so they stay in their order. */
  async #post() {
    if (this.#isPosting || this.#waiting.length === 0 || this.readyState !== 1) return;
    this.#isPosting = true;
    let [count, size] = [0, 2];
    for (const text of this.#waiting.slice(0, mostBatched)) {
      size += bytesOf(text) + 1;
      if (count > 0 && size > largestBatch) break;
      count += 1;
    }
    const texts = this.#waiting.splice(0, count);
    const body = count === 1 ? texts[0] : `[${texts.join()}]`;
    try {
      const response = await this.#fetch("rpc", this.key, { method: "POST", body, headers: { "Content-Type": "application/json" } });
      const { ok, status } = response;
      if (status === 413) this.onrefused?.(texts.map((text) => JSON.parse(text).id));
      else if (ok) await this.#receive(response);
      // The key has ended with the stream, of which the end is known already.
      else if (this.readyState === 1) return this.#end(1006, `the server answers HTTP ${status} to a request`);
    } catch (error) {
      return this.#end(1006, words(String(error?.cause?.message ?? error?.message ?? error)));
    }
    this.#isPosting = false;
    this.#posted();
  }

  async #receive(response) {
    const text = await response.text();
    if (response.status === 204 || this.readyState === 3) return;
    if (!text.trimStart().startsWith("[")) return this.onmessage?.({ data: text });
    let answers;
    try {
      answers = JSON.parse(text);
    } catch {
      // The client finds that it cannot be read.
      return this.onmessage?.({ data: text });
    }
    for (const answer of answers) this.onmessage?.({ data: JSON.stringify(answer) });
  }

  close() {
    this.readyState = 3;
    clearTimeout(this.#closeTimer);
    this.#abort.abort();
  }
}

/** Which way the next connection takes, and when a stream is left for a WebSocket. All times are by `now`. */
class TransportChoice {
  #transport;
  /** WebSockets in a row that ended before their sign-in, and whether the last connection was a stream. */
  #failures = 0;
  #wasStream = false;
  /** Since when the client is on streams; null = it is not. */
  #streamsSince = null;
  #quietTime = firstQuietTime;
  #noStreamsBefore = 0;

  constructor(transport) {
    this.#transport = transport;
  }

  next() {
    if (this.#transport !== "auto") return this.#transport;
    if (now() < this.#noStreamsBefore || !globalThis.fetch) return "websocket";
    if (this.#streamsSince !== null) return now() - this.#streamsSince < this.#quietTime ? "stream" : "websocket";
    return this.#failures >= 2 && !this.#wasStream ? "stream" : "websocket";
  }

  /** How long a stream is kept before a WebSocket is tried beside it; null = for ever. */
  get probeDelay() {
    return this.#transport === "auto" ? this.#quietTime : null;
  }

  signedIn(transport) {
    if (transport === "stream") this.#streamsSince ??= now();
    else this.reset();
  }

  /** The network is another one, or the WebSocket is back. */
  reset() {
    this.#failures = 0;
    this.#wasStream = false;
    this.#streamsSince = null;
    this.#quietTime = firstQuietTime;
  }

  /** A connection that ended before its sign-in. */
  failed(transport, isAbsent) {
    this.#wasStream = transport === "stream";
    if (!this.#wasStream) this.#failures += 1;
    if (isAbsent) this.#noStreamsBefore = now() + streamsPause;
    this.#streamsSince = null;
  }

  /** A WebSocket beside the stream did not open: the next is tried later. */
  probeFailed() {
    this.#quietTime = Math.min(2 * this.#quietTime, longestQuietTime);
    this.#streamsSince = now();
  }
}

/** A session that outlives its connections. */
export class ThrongClient {
  #options;
  /** The address of the WebSocket; undefined where the application has given none. */
  #address;
  #handlers = new Map();
  #socket = null;
  #state = "idle";
  #session = null;
  /** Frames that came and are not told yet; the first one is. */
  #frames = [];
  /** Requests without an answer yet, by their number. */
  #pending = new Map();
  #nextID = 1;
  /** Calls of the application among them. */
  #callCount = 0;
  /** Calls that wait for a connection: functions that make them, or refuse them with an error. */
  #calls = [];
  #token;
  /** The token of the session: a newer one may have come that is not used yet. */
  #usedToken;
  /** The token function's answer that is awaited; one that comes later than that is nobody's. */
  #tokenInReading;
  #tokenTimer;
  #isTokenStale = false;
  /** The server has refused the token, or it has ended. */
  #isTokenRefused = false;
  #isRenewing = false;
  #renewalBegan = -Infinity;
  #losses = 0;
  #signedInAt = 0;
  #isSignedIn = false;
  #waitAtLeast = 0;
  #timers = new Map();
  #heard = false;
  #isLoggingOut = false;
  #groups = new Map();
  /** The events that wait in all groups, and their text. */
  #held = { count: 0, size: 0 };
  /** Groups that the user has entered in this session and that are not tracked yet, with the tries to read them. */
  #entered = new Map();
  /** The same of earlier sessions, which ended before the groups' positions were read. */
  #enteredBefore = new Set();
  /** Groups that a resume has found and that the application was not told of yet. */
  #joined = new Set();
  /** The last places that were told of groups that are not tracked yet. */
  #untracked = new Map();
  /** The groups that the resume under way has read, which `ready` tells. */
  #infos = new Map();
  /** The server's clock at the last frame that shows it, and at the end of the last session that was in step. */
  #serverTime = 0;
  #toldUntil = 0;
  #isReady = false;
  #wasReady = false;
  #connected = null;
  #store;
  #outbox;
  #choice;
  /** The way of the connection that is made or open. */
  #transport = "websocket";
  #probe = null;
  #watch = new StatusWatch();
  #watchRefusals = 0;
  /** When the last signal "typing" left, by group, the oldest first. */
  #typed = new Map();
  /** The last tokens were refused as revoked: one more is asked for. */
  #wasRevoked = false;
  /** Before this instant the server wants no connection. */
  #notBefore = 0;
  /** The browser has a network again: that ends the client's own delay, not the one that the server asked for. */
  #hurry = () => {
    this.#choice.reset();
    if (this.#state === "waiting") this.#start("retry", () => this.#open(), Math.max(0, this.#notBefore - now()));
  };

  /** @param {ClientOptions} options */
  constructor(options) {
    this.#options = {
      platform: undefined, queueLimit: 1000, random: Math.random, WebSocket: globalThis.WebSocket, transport: "auto",
      tokenTimeoutMs: 30_000, ...options,
    };
    const { url, token, storage, userID, storageLimits, transport } = this.#options;
    if (!this.#options.WebSocket && transport !== "stream") {
      const ways = "Node has one from 22 on, or with --experimental-websocket; others need a class as the option WebSocket.";
      throw new TypeError(`There is no global WebSocket: ${ways}`);
    }
    if (!isText(token) && typeof token !== "function") throw new TypeError("The option token is a text or a function.");
    if (storage?.isDurable && !userID) throw new TypeError("A storage needs the option userID.");
    this.#choice = new TransportChoice(transport);
    this.#address = addressOf(url);
    this.#store = storage?.makeStore(storeName(this.#address ?? url, userID), storageLimits, {
      emit: (name, params) => this.#emit(name, params),
      placeOf: (groupID) => this.#groups.get(groupID)?.position,
      records: () => this.#outbox.records(),
      adopt: (rows) => this.#adopt(rows),
      userID: () => this.userID,
    }) ?? noStore;
    const { log = (line) => console.warn(line) } = options;
    if (log) this.on("state", reporter(this.#address ?? url, log));
    if (!this.#store.isDurable) this.#beginAt(options.positions ?? []);
    this.#outbox = new Outbox({
      request: (method, params, fits) => this.#request(method, params, fits),
      canSend: () => this.#canSend,
      positionOf: (groupID) => this.#groups.get(groupID),
      addOwn: (groupID, seq) => this.#addOwn(groupID, seq),
      isLive: (groupID) => this.#groups.get(groupID)?.isLive ?? this.#store.isLive(groupID),
      serverTime: () => Math.floor(this.#session.serverTime + now() - this.#session.at),
      show: (message) => this.#emit("message", message),
      store: this.#store,
      platform: this.#options.platform ?? "Unknown",
      random: this.#options.random,
    }, this.#options.queueLimit);
  }

  #beginAt(positions) {
    for (const { groupID, ...position } of positions) {
      this.#groups.set(groupID, new TrackedGroup(groupID, position));
      this.#groups.get(groupID).hold();
    }
  }

  /**
   * idle, connecting, online, waiting or closed.
   * @type {Client["state"]}
   */
  get state() {
    return this.#state;
  }

  /**
   * The result of the last sign-in; null before the first.
   * @type {Client["session"]}
   */
  get session() {
    return this.#session;
  }

  /** @type {string} */
  get userID() {
    return this.#session?.userID ?? this.#options.userID ?? "";
  }

  /**
   * Calls a handler at each event of that name, of the server or the client; the answer ends that. What a later server has
   * besides comes as `event`.
   * @param {keyof Events | "event" | "frame"} name
   * @param {(...values: any[]) => void} handler
   * @returns {() => void}
   */
  on(name, handler) {
    const names = [...ownEvents, ...serverEvents];
    if (!names.includes(name)) throw new TypeError(`There is no event "${name}"; there are ${names.join(", ")}.`);
    if (!this.#handlers.has(name)) this.#handlers.set(name, new Set());
    this.#handlers.get(name).add(handler);
    return () => void this.#handlers.get(name)?.delete(handler);
  }

  #emit(name, ...values) {
    for (const handler of [...(this.#handlers.get(name) ?? [])]) {
      try {
        handler(...values);
      } catch (error) {
        // A fault of one handler must stop neither the others nor the client, and be seen.
        const { onHandlerError = globalThis.reportError ?? ((fault) => console.error(fault)) } = this.#options;
        onHandlerError(error, name);
      }
    }
  }

  /**
   * Connects and stays connected. Resolves at the first sign-in, rejects where none can come.
   * @type {Client["connect"]}
   */
  connect() {
    if (this.#state === "closed") return Promise.reject(new ClientError("Closed"));
    if (this.#connected === null) {
      this.#connected = deferred();
      this.#connected.promise.catch(() => {});
      globalThis.addEventListener?.("online", this.#hurry);
      if (this.#store.isDurable) this.#begin();
      else this.#open();
    }
    return this.#connected.promise;
  }

  /** Shows what is stored, and then connects. */
  async #begin() {
    const { places, outbox } = await this.#store.open();
    if (this.#state === "closed") return;
    this.#beginAt(places.length > 0 ? places.map(([groupID, place]) => ({ groupID, ...place })) : this.#options.positions ?? []);
    for (const groupID of this.#store.liveRooms.slice(0, mostNewGroups)) this.#enteredBefore.add(groupID);
    this.#toldUntil = this.#store.toldUntil;
    const restored = this.#outbox.restore(outbox);
    this.#emit("stored", { conversations: this.#store.conversations(), outbox: this.outbox(), source: "stored" });
    this.#outbox.begin(restored);
    // A handler may have closed the client.
    if (this.#state === "idle") this.#open();
  }

  /** Takes over what a tab that is gone has left. */
  #adopt(rows) {
    const restored = this.#outbox.restore(rows);
    for (const { message } of restored) this.#emit("message", message);
    this.#outbox.begin(restored);
  }

  /** Tries now where the client waits to, or where the token function does not answer. */
  reconnectNow() {
    const isAsking = this.#state === "connecting" && this.#tokenInReading !== undefined;
    if (this.#state !== "waiting" && !isAsking) return;
    this.#giveUpToken();
    this.#choice.reset();
    this.#open();
  }

  /** Ends the connection for good; messages under way fail, or wait in the storage for the next client. */
  close() {
    this.#end({ error: new ClientError("Closed"), code: 1000, reason: "closed by the application" });
  }

  /**
   * Signs out: the server forgets the session, and the client is closed. With `forget` all that is stored of the user is
   * destroyed, whether or not the server could be told.
   * @type {Client["logout"]}
   */
  async logout({ forget = false } = {}) {
    this.#isLoggingOut = true;
    const forgotten = forget ? this.#store.forget() : undefined;
    // Both are waited for, and the first that fails is told.
    forgotten?.catch(() => {});
    try {
      await this.#request("logout", {}, results.object);
    } finally {
      this.#end({ error: new ClientError("Closed"), code: 1000, reason: "closed by the application" }, forget);
      await forgotten;
    }
  }

  // What is stored

  /**
   * The conversations as a list shows them: pinned ones first, then those with the last message.
   * @type {Client["conversations"]}
   */
  async conversations({ hidden = false } = {}) {
    await this.flush();
    return this.#stored.conversations(hidden);
  }

  get #stored() {
    if (this.#store === noStore) throw new TypeError("Nothing is stored without the option storage.");
    return this.#store;
  }

  /**
   * One conversation; undefined where the client has never known it.
   * @type {Client["conversation"]}
   */
  async conversation(groupID) {
    await this.flush();
    return this.#stored.conversation(groupID);
  }

  /**
   * Messages of a conversation, ascending: the newest, or those before a place. What is older than the stored ones is read
   * from the server, if there is a connection.
   * @type {Client["messages"]}
   */
  async messages(groupID, { before, count = 50 } = {}) {
    const stored = await this.#stored.messages(groupID, before, count);
    if (stored === null) {
      // The user may have entered it a moment ago.
      const { older, isFinished, error } = await this.#readOlder(groupID, before, count);
      const source = older.length === 0 && error ? "stored" : "server";
      return { messageList: older, source, isFinished, ...(error ? { error } : {}) };
    }
    const { row: { status, info, firstStored }, messageList } = stored;
    // Nothing of a live room is stored.
    const first = isLiveRoom(info) ? before : Math.min(before ?? Infinity, firstStored);
    if (status === "member" && isHeardInPart(info)) {
      // What did not come as an event is not in the store.
      const { older, isFinished, error } = await this.#readOlder(groupID, before, count);
      if (!error) return { messageList: older, source: "server", isFinished };
    }
    // A full page may have older ones behind it in the store.
    if (messageList.length >= count) return { messageList, source: "stored", isFinished: false };
    const isWhole = !isLiveRoom(info) && first <= Math.max(1, whole(info.firstSeq));
    if (isWhole || status !== "member") return { messageList, source: "stored", isFinished: isWhole };
    const { older, isFinished, error } = await this.#readOlder(groupID, first, count - messageList.length);
    const source = older.length === 0 && error ? "stored" : messageList.length > 0 ? "both" : "server";
    return { messageList: [...older, ...messageList], source, isFinished, ...(error ? { error } : {}) };
  }

  /** Up to so many messages before a place from the server's history, ascending. */
  async #readOlder(groupID, before, count) {
    const older = [];
    for (let [fromSeq, isFinished] = [before, false]; ; ) {
      if (isFinished || older.length >= count) return { older: older.reverse(), isFinished };
      try {
        const params = { groupID, fromSeq, count: Math.min(historyPage, count - older.length) };
        const page = await this.call("getGroupHistoryMessageList", params, { queue: false });
        const rows = listOf(page.messageList, (message) => isMessage(message) && whole(message.seq) > 0);
        older.push(...rows);
        isFinished = page.isFinished === true || rows.length === 0;
        fromSeq = rows.at(-1)?.seq;
      } catch (error) {
        if (!(error instanceof ThrongError) && !(error instanceof ClientError)) throw error;
        return { older: older.reverse(), isFinished: false, error };
      }
    }
  }

  /**
   * The members of a group as they were seen last.
   * @type {Client["storedMembers"]}
   */
  async storedMembers(groupID) {
    return this.#stored.members(groupID);
  }

  /** @type {Client["storedMember"]} */
  async storedMember(groupID, userID) {
    return this.#stored.member(groupID, userID);
  }

  /**
   * The names of a user as they were seen last.
   * @type {Client["storedProfile"]}
   */
  async storedProfile(userID) {
    return this.#stored.profile(userID);
  }

  /**
   * Own messages that are not at their end, and those that failed, in their order.
   * @returns {LocalMessage[]}
   */
  outbox() {
    return this.#outbox.messages();
  }

  /**
   * Takes a message that failed, or was dropped, out of the outbox.
   * @param {LocalMessage} message
   */
  discard(message) {
    this.#outbox.discard(message);
  }

  /** Resolves when all that was told is stored. */
  async flush() {
    if (this.#state !== "closed") await this.#store.flush();
  }

  /**
   * The result of a method; without a connection it waits for one unless `queue` is false.
   * @template {keyof Methods} Name
   * @param {Name} method
   * @param {Partial<Methods[Name]["params"]>} [params]
   * @param {{queue?: boolean}} [options]
   * @returns {Promise<Methods[Name]["result"]>}
   */
  call(method, params = {}, { queue = true } = {}) {
    if (this.#state === "online" && (this.#canSend || !queue)) {
      return this.#callCount < mostCalls ? this.#request(method, params) : Promise.reject(new ClientError("QueueFull"));
    }
    if (this.#state === "closed") return Promise.reject(new ClientError("Closed"));
    if (!queue || this.#connected === null) return Promise.reject(new ClientError("NotConnected"));
    if (this.#calls.length >= this.#options.queueLimit) return Promise.reject(new ClientError("QueueFull"));
    return new Promise((resolve, reject) => {
      this.#calls.push((error) => (error ? reject(error) : this.#request(method, params).then(resolve, reject)));
    });
  }

  /**
   * Sends a text, as often as it takes; the answer says at any time what became of it.
   * @param {string} groupID
   * @param {string} text
   * @param {SendOptions} [options]
   * @returns {LocalMessage}
   */
  sendText(groupID, text, options = {}) {
    return this.#send("sendGroupTextMessage", { ...options, groupID, text });
  }

  /**
   * Sends data of the application.
   * @param {string} groupID
   * @param {string} data
   * @param {SendOptions} [options]
   * @returns {LocalMessage}
   */
  sendCustom(groupID, data, options = {}) {
    return this.#send("sendGroupCustomMessage", { ...options, groupID, data });
  }

  #send(method, params) {
    return this.#outbox.add(method, params, this.#refusalOf(params));
  }

  /** Why a message cannot be sent at all. */
  #refusalOf({ groupID }) {
    if (this.#state === "closed") return new ClientError("Closed");
    return this.#store.hasEnded(groupID) ? new ClientError("ConversationEnded") : undefined;
  }

  /**
   * Sends a message again that failed or was dropped, with changes where they are given; not on a closed client.
   * @param {LocalMessage} message
   * @param {Partial<SendOptions>} [changes]
   * @returns {LocalMessage}
   */
  resend(message, changes = {}) {
    if (this.#state !== "closed") this.#outbox.repeat(message, changes, this.#refusalOf(message));
    return message;
  }

  /**
   * How far the application has been told, by group: kept, and given to the next client as an option, it resumes there.
   * @returns {Position[]}
   */
  positions() {
    return [...this.#groups.values()].filter(({ isLive }) => !isLive)
      .map(({ groupID, epoch, seq, changeSeq }) => ({ groupID, epoch, seq, changeSeq }));
  }

  // Presence and signals

  /**
   * Watches users' statuses, across connections: the event `status` tells of their rows. A refusal comes as `watchFailed`.
   * @param {string[]} userIDList
   */
  watchUsers(userIDList) {
    if (!userIDList.every(isIdentifier)) throw new TypeError("A userID is a text of at most 256 characters.");
    this.#watch.add(userIDList);
    this.#pumpWatch();
  }

  /**
   * Watches these users no longer; without a list, nobody.
   * @param {string[]} [userIDList]
   */
  unwatchUsers(userIDList) {
    this.#watch.remove(userIDList);
    this.#pumpWatch();
  }

  /**
   * The last row of a user who is watched; undefined where there is none. Without a connection it may be out of date.
   * @type {Client["statusOf"]}
   */
  statusOf(userID) {
    return this.#watch.rowOf(userID);
  }

  async #pumpWatch() {
    const socket = this.#socket;
    if (this.#state !== "online" || this.#timers.has("watch")) return;
    for (let ask = this.#watch.next(); ask !== null; ask = this.#watch.next()) {
      const { isEnd, userIDList } = ask;
      const [method, fits] = isEnd ? ["unsubscribeUsersStatus", results.object] : ["subscribeUsersStatus", results.statuses];
      try {
        const { userList } = await this.#request(method, { userIDList }, fits);
        if (this.#socket !== socket) return;
        this.#watchRefusals = 0;
        this.#tellStatuses(this.#watch.answered(userList ?? []));
      } catch (error) {
        const isRefused = error instanceof ThrongError || error.reason === "TooLarge";
        // The next session begins with all of them.
        if (!isRefused || this.#socket !== socket) return;
        if (error.temporary) return this.#pumpWatchLater(error);
        const failed = this.#watch.refused();
        if (failed.length > 0) this.#emit("watchFailed", { userIDList: failed, error });
      }
    }
  }

  #pumpWatchLater({ retryAfterMs }) {
    this.#watch.putBack();
    const backoff = backoffAfter(this.#watchRefusals, this.#options.random);
    this.#watchRefusals += 1;
    const again = () => {
      this.#stop("watch");
      this.#pumpWatch();
    };
    this.#start("watch", again, Math.max(retryAfterMs, backoff));
  }

  #tellStatuses(news) {
    if (news.userList.length > 0 || news.unknownUserIDList.length > 0) this.#emit("status", news);
  }

  /**
   * Tells the members who are online something of the moment. It is sent once, now or never.
   * @type {Client["sendSignal"]}
   */
  sendSignal(groupID, name, data) {
    return this.call("sendGroupSignal", { groupID, name, data }, { queue: false });
  }

  /**
   * Tells the members that the user writes, with the signal "typing", every three seconds at most. Call it at each key.
   * @param {string} groupID
   */
  sendTyping(groupID) {
    for (const [other, time] of this.#typed) {
      if (now() - time < typingPause) break;
      this.#typed.delete(other);
    }
    if (this.#typed.has(groupID)) return;
    this.#typed.set(groupID, now());
    // Nobody waits for a hint: where the server refuses it, or there is no connection, the next one may come through.
    this.sendSignal(groupID, "typing").catch((error) => {
      if (!(error instanceof ThrongError) && !(error instanceof ClientError)) throw error;
    });
  }

  /**
   * When the group takes the user's next message, by Date.now(), as the last refusal with 10023 said; 0 = not known to wait.
   * @type {Client["mayWriteAt"]}
   */
  mayWriteAt(groupID) {
    const delay = this.#outbox.writeDelay(groupID);
    return delay > 0 ? Date.now() + delay : 0;
  }

  // The connection

  async #open() {
    this.#stop("retry");
    this.#transport = this.#choice.next();
    this.#setState("connecting");
    const attempt = (this.#socket = {});
    try {
      await this.#readToken();
    } catch (error) {
      if (this.#socket !== attempt) return;
      if (!this.#isTokenGood) return this.#lose({ code: 0, reason: "no token", error });
    }
    if (this.#socket !== attempt) return;
    const { url, platform, deviceID } = this.#options;
    const address = this.#address;
    try {
      if (!address) throw new TypeError(`not a WebSocket's address: ${shownAddress(url)}; one is such as wss://chat.example/ws`);
      if (this.#transport === "stream") {
        this.#usedToken = this.#token;
        this.#attach(new EventStream(address, { token: this.#token, platform, deviceID }));
      } else this.#attach(new this.#options.WebSocket(address, ["throng.v1.json"]));
    } catch (error) {
      this.#end({ code: 0, reason: error.message, error });
    }
  }

  /** Asks the application for a token where there is none, or where it is at its end. */
  async #readToken() {
    const { token, tokenTimeoutMs } = this.#options;
    if (typeof token !== "function") return void (this.#token = token);
    if (this.#token !== undefined && !this.#isTokenStale && !this.#endsSoon) return;
    // A renewal and the next connection may ask at the same time.
    this.#tokenInReading ??= this.#askForToken(token, tokenTimeoutMs);
    await this.#tokenInReading;
  }

  #askForToken(ask, limit) {
    const answer = new Promise((resolve, reject) => {
      this.#tokenTimer = after(limit, () => reject(new ClientError("TokenTimeout")));
      Promise.resolve(ask()).then((token) => {
        if (!isText(token)) throw new TypeError("the token function has not given a text");
        resolve(token);
      }).catch(reject);
    });
    // One that was given up is not waited for.
    const isCurrent = () => this.#tokenInReading === reading;
    const end = () => {
      if (!isCurrent()) return false;
      this.#giveUpToken();
      return true;
    };
    const reading = answer.then(
      (token) => {
        if (!end()) return;
        this.#token = token;
        this.#isTokenStale = this.#isTokenRefused = false;
      },
      (error) => {
        end();
        throw error;
      });
    return reading;
  }

  #giveUpToken() {
    clearTimeout(this.#tokenTimer);
    this.#tokenInReading = undefined;
  }

  get #endsSoon() {
    return this.#token === this.#usedToken && this.#session !== null && this.#left < leastLeft;
  }

  /** Whether the old token serves where there is no new one. */
  get #isTokenGood() {
    return this.#token !== undefined && !this.#isTokenRefused && this.#left > leastLeft;
  }

  #attach(socket) {
    this.#socket = socket;
    const isStream = this.#transport === "stream";
    let [isOpen, fault] = [false, ""];
    const guarded = (act) => (event) => {
      if (this.#socket === socket) act(event);
    };
    socket.onopen = guarded(() => {
      isOpen = true;
      if (isStream) this.#await(isOpen);
      else this.#signIn();
    });
    socket.onmessage = guarded(({ data }) => this.#receive(data));
    // The close event follows, but not behind a connection that Node 20 could not make.
    const lose = (code, reason, isAbsent) => this.#lose({ code, reason: reason || (isOpen ? "" : unopened + fault), isOpen, isAbsent });
    socket.onerror = (event) => {
      // Browsers have no words for it.
      if (isText(event?.message) && event.message) fault = ` (${words(event.message)})`;
      if (!isOpen) setTimeout(guarded(() => lose(1006, "")));
    };
    socket.onclose = guarded(({ code, reason, isAbsent }) => {
      const [, number, message] = (isStream && !this.#isSignedIn && code === 4500 && /^(\d+) (.*)/s.exec(reason)) || [];
      if (number) this.#refuseSignIn(new ThrongError("login", { code: Number(number), message }));
      else lose(code, reason, isAbsent);
    });
    if (isStream) {
      socket.onlife = guarded(() => this.#noteLife());
      socket.onrefused = guarded((ids) => ids.forEach((id) => this.#settleRequest(id)?.reject(new ClientError("TooLarge"))));
    }
    this.#await(isOpen);
  }

  /** The answer to `login` has to come in time. */
  #await(isOpen) {
    const late = isOpen ? "the stream is held back" : "no answer in time";
    const reason = this.#transport === "stream" ? `${late}: ${heldBack}` : "no answer in time";
    this.#start("connect", () => this.#lose({ code: 1006, reason, isOpen }), connectTimeout);
  }

  async #signIn() {
    const { platform, deviceID } = this.#options;
    const token = (this.#usedToken = this.#token);
    try {
      const session = await this.#request("login", { token, platform, deviceID }, results.session);
      this.#signedIn(boundedSession(session));
    } catch (error) {
      if (error.reason === "TooLarge") return this.#end({ code: 0, reason: "the token is too long", error });
      if (!(error instanceof ClientError)) this.#refuseSignIn(error);
    }
  }

  #refuseSignIn(error) {
    this.#waitAtLeast = Math.max(this.#waitAtLeast, error.retryAfterMs);
    const isRevoked = error.code === 70021;
    this.#isTokenStale = this.#isTokenRefused = error.code === 70001 || isRevoked;
    // A function whose second token is revoked as well has no other.
    const mayAskAgain = this.#isTokenStale && this.#mayRenew && !(isRevoked && this.#wasRevoked);
    const isFinal = !error.temporary && !mayAskAgain;
    if (isRevoked) {
      this.#wasRevoked = true;
      this.#waitAtLeast = Math.max(this.#waitAtLeast, revocationPause);
    }
    this.#lose({ code: isFinal ? 4500 : 0, reason: error.serverMessage, error, isFinal, isOpen: true });
  }

  get #mayRenew() {
    return typeof this.#options.token === "function";
  }

  #signedIn(session) {
    this.#stop("connect");
    if (![session.userID, ""].includes(this.userID)) {
      return this.#end({ code: 0, reason: `the new token is of another user, ${session.userID}` });
    }
    this.#session = { ...session, at: now() };
    this.#signedInAt = now();
    this.#isSignedIn = true;
    this.#wasRevoked = this.#isTokenRefused = false;
    this.#choice.signedIn(this.#transport);
    if (this.#transport === "stream") this.#probeLater();
    this.#watch.startSession();
    this.#lookForLife(session.heartbeat * 1000);
    this.#setState("online");
    this.#connected.resolve(session);
    for (const make of this.#calls.splice(0)) make();
    this.#pumpWatch();
    this.#resume();
  }

  /** After a quiet time on a stream a WebSocket is tried beside it, and taken if it opens. */
  #probeLater() {
    const { probeDelay } = this.#choice;
    if (probeDelay === null || !this.#options.WebSocket) return;
    this.#start("probe", () => this.#tryWebSocket(), probeDelay);
  }

  #tryWebSocket() {
    // Requests under way would be lost with the stream.
    if (this.#pending.size > 0) return this.#start("probe", () => this.#tryWebSocket(), 1_000);
    const probe = (this.#probe = new this.#options.WebSocket(this.#address, ["throng.v1.json"]));
    const ended = (act) => () => {
      if (this.#probe !== probe) return;
      this.#endProbe();
      act();
    };
    const fail = ended(() => {
      this.#choice.probeFailed();
      this.#probeLater();
    });
    probe.onopen = ended(() => this.#leaveStream());
    probe.onerror = probe.onclose = fail;
    this.#start("probe", fail, connectTimeout);
  }

  #endProbe() {
    const probe = this.#probe;
    this.#probe = null;
    if (!probe) return;
    probe.onopen = probe.onerror = probe.onclose = null;
    probe.close(1000);
  }

  #leaveStream() {
    if (this.#pending.size > 0) return this.#start("probe", () => this.#leaveStream(), leastBackoff);
    this.#choice.reset();
    this.#disconnect();
    this.#signedInAt = 0;
    this.#open();
  }

  /** Browsers do not show the server's pings: after a silent interval a request asks for a sign of life. */
  #lookForLife(interval) {
    this.#start("life", () => {
      this.#lookForLife(interval);
      const wasHeard = this.#heard;
      this.#heard = false;
      if (wasHeard || this.#timers.has("ping")) return;
      this.#start("ping", () => this.#lose({ code: 4003, reason: "no sign of life", isOpen: true }), pingTimeout);
      this.#request("ping", {}, results.time).catch(() => {});
    }, interval);
  }

  get #canSend() {
    return this.#socket?.readyState === 1;
  }

  /** `fits`: whether a result is one of the method, for the client's own requests: otherwise the connection is given up. */
  #request(method, params, fits) {
    return new Promise((resolve, reject) => {
      if (!this.#canSend) return reject(new ClientError("NotConnected"));
      const request = { jsonrpc: "2.0", id: this.#nextID++, method, params };
      const text = encoded(request);
      if (byteLength(text) > largestFrame) return reject(new ClientError("TooLarge"));
      this.#pending.set(request.id, { method, params, fits, resolve, reject });
      if (!fits) this.#callCount += 1;
      this.#emit("frame", "out", request);
      this.#socket.send(text);
    });
  }

  #noteLife() {
    this.#heard = true;
    this.#stop("ping");
  }

  /**
   * Takes frames one behind the other: what awaits an answer goes on before the next frame is told. Browsers see to it, but
   * Node tells all frames that came together in one turn.
   */
  async #receive(text) {
    this.#noteLife();
    this.#frames.push(text);
    if (this.#frames.length > 1) return;
    const socket = this.#socket;
    while (this.#socket === socket && this.#frames.length > 0) {
      if (this.#take(this.#frames[0])) await null;
      if (this.#socket === socket) this.#frames.shift();
    }
  }

  /** Takes one frame; answers whether somebody has awaited it. */
  #take(text) {
    try {
      const frame = readFrame(text);
      this.#emit("frame", "in", frame);
      const isEvent = isText(frame.method);
      if (isEvent) this.#receiveEvent(frame.method, frame.params, text.length);
      else this.#receiveAnswer(frame, text.length);
      return !isEvent;
    } catch (error) {
      this.#break(error);
      return false;
    }
  }

  /** The request is under way no more. */
  #settleRequest(id) {
    const request = this.#pending.get(id);
    if (this.#pending.delete(id) && !request.fits) this.#callCount -= 1;
    return request;
  }

  /** `size`: of its text. */
  #receiveAnswer({ id, result, error }, size) {
    const request = this.#pending.get(id);
    if (request === undefined) return;
    const refusal = (error ?? null) === null ? undefined : readError(request.method, error);
    const isGood = refusal !== undefined || (request.fits ?? results.object)(result);
    // It stays among those without an answer, which the end of the connection refuses.
    if (!isGood && request.fits) refuse(`an answer that is none of ${request.method}`);
    this.#settleRequest(id);
    if (isGood && !refusal && !request.fits) this.#storeAnswer(request.method, request.params, result);
    if (isGood && !refusal && Number.isInteger(result.serverTime)) this.#noteTime(result.serverTime);
    if (isGood && !refusal) sizes.set(result, size);
    if (isGood && !refusal) request.resolve(result);
    else request.reject(refusal ?? new ClientError("BadAnswer", `an answer that is none of ${request.method}`));
  }

  /** What the application has asked for is stored, too, and so is what it has changed. */
  #storeAnswer(method, params, result) {
    const groupID = isIdentifier(params?.groupID) ? params.groupID : undefined;
    const take = (name, more) => this.#store.take(name, { groupID, ...more });
    const isRow = (member) => isMember(member) && isIdentifier(member.userID);
    const { resultList, memberList, messageList } = result;
    switch (method) {
      case "createGroup": return this.#noteEntry(result.groupID);
      case "getUsersInfo": return take("users", { userList: listOf(result.userList, isRow), seenAt: this.#serverTime });
      case "getGroupsInfo": return take("infos", { infoList: listOf(resultList, isObject).map(({ info }) => info).filter(isGroupInfo) });
      case "getJoinedGroupList": return take("infos", { infoList: listOf(result.groupList, isGroupInfo) });
    }
    if (groupID === undefined) return;
    switch (method) {
      case "getGroupMemberList":
      case "getGroupMembersInfo": return take("members", { memberList: listOf(memberList, isRow) });
      case "getGroupHistoryMessageList":
        if (params.direction === "Newer") return;
        return take("history", {
          fromSeq: whole(params.fromSeq), messageList: listOf(messageList, isMessage), isFinished: result.isFinished === true,
        });
      case "markGroupMessageAsRead": return take("marked", { seq: params.seq });
      case "setGroupReceiveMessageOpt": return take("onReceiveMessageOptChanged", { opt: params.opt });
      case "setConversation": return take("onConversationChanged", { ...params });
      case "clearGroupHistory": return take("onConversationChanged", { clearedSeq: result.clearedSeq });
      case "quitGroup": return take("ended", { status: "left", endedAt: this.#serverTime });
      case "joinGroup":
        if (result.status !== "Joined") return;
        this.#store.enter(groupID);
        this.#noteEntry(groupID);
    }
  }

  /** The server breaks the protocol: another connection may lead to a better one. */
  #break(error) {
    this.#lose({ code: 0, reason: "a frame that this client cannot read", error, isOpen: true, isBreach: true });
  }

  #noteTime(instant) {
    this.#serverTime = Math.max(this.#serverTime, counted(instant));
  }

  /** The connection is gone, or given up: comes back unless a retry is pointless. */
  #lose({ code, reason, error, isOpen = false, isBreach = false, isAbsent = false, isFinal = code >= 4500 && code < 5000 }) {
    if (code === 4006) this.#isTokenStale = this.#isTokenRefused = this.#token === this.#usedToken;
    // A refusal, or the lack of a token, is nothing that another way could change.
    if (!this.#isSignedIn && !error && code === 1006) this.#choice.failed(this.#transport, isAbsent);
    if (isFinal || (code === 4006 && !this.#mayRenew) || this.#isLoggingOut) return this.#end({ code, reason, error });
    this.#disconnect();
    if (this.#signedInAt > 0 && now() - this.#signedInAt >= goodSession && !isBreach) this.#losses = 0;
    this.#signedInAt = 0;
    const backoff = backoffAfter(this.#losses, this.#options.random);
    const retryInMs = Math.ceil(Math.max(backoff, this.#waitAtLeast));
    this.#notBefore = now() + this.#waitAtLeast;
    this.#losses += 1;
    this.#waitAtLeast = 0;
    this.#start("retry", () => this.#open(), retryInMs);
    this.#setState("waiting", { code, reason, error, isOpen, retryInMs });
  }

  /** `isForgotten`: nothing of the user's is to be left. */
  #end({ code, reason, error }, isForgotten = false) {
    if (this.#state === "closed") return;
    this.#disconnect();
    globalThis.removeEventListener?.("online", this.#hurry);
    this.#giveUpToken();
    this.#state = "closed";
    const closed = new ClientError("Closed", reason);
    closed.cause = error;
    for (const refuse of this.#calls.splice(0)) refuse(closed);
    this.#outbox.end(closed, this.#store.isDurable && !isForgotten);
    this.#store.close();
    this.#connected?.reject(error ?? closed);
    this.#emit("state", { state: "closed", code, reason, error });
  }

  #disconnect() {
    const socket = this.#socket;
    this.#socket = null;
    this.#frames = [];
    this.#isSignedIn = false;
    for (const name of [...this.#timers.keys()]) this.#stop(name);
    this.#endProbe();
    this.#store.endSession();
    if (socket?.close) {
      socket.onopen = socket.onmessage = socket.onclose = socket.onlife = null;
      socket.close(1000);
    }
    if (this.#isReady) this.#toldUntil = this.#serverTime;
    this.#heard = this.#isReady = false;
    for (const groupID of this.#entered.keys()) if (this.#enteredBefore.size < mostNewGroups) this.#enteredBefore.add(groupID);
    this.#entered.clear();
    this.#untracked.clear();
    this.#held = { count: 0, size: 0 };
    for (const group of this.#groups.values()) {
      Object.assign(group, { held: null, heldSize: 0, hasOverflowed: false });
      group.hold();
    }
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    this.#callCount = 0;
    for (const { reject } of pending) reject(new ClientError("ConnectionLost"));
    this.#watch.endSession();
    this.#watchRefusals = 0;
    this.#outbox.shut();
  }

  #setState(state, details = {}) {
    this.#state = state;
    this.#emit("state", { state, transport: this.#transport, ...details });
  }

  #start(name, act, delay) {
    this.#stop(name);
    this.#timers.set(name, after(delay, act));
  }

  #stop(name) {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }

  /** A new token before the old one ends; without one the session ends with 4006, and the next begins with a new one. */
  async #renew() {
    if (!this.#mayRenew || this.#isRenewing) return;
    this.#isRenewing = true;
    this.#renewalBegan = now();
    this.#stop("renew");
    const socket = this.#socket;
    this.#isTokenStale = true;
    try {
      await this.#readToken();
      if (this.#socket === socket) {
        const session = boundedSession(await this.#request("login", { token: this.#token }, results.session));
        this.#usedToken = this.#token;
        this.#session = { ...session, at: now() };
        this.#emit("renewed", session);
        // The server warns of it at once, and the application may have no better one.
        if (this.#socket === socket && this.#left < 60_000) this.#renewLater();
      }
    } catch (error) {
      // A token that the server has not seen is a good one.
      this.#isTokenStale = !(error instanceof ClientError);
      this.#emit("renewalFailed", error);
      if (this.#socket === socket) this.#renewLater();
    } finally {
      this.#isRenewing = false;
    }
  }

  #renewLater() {
    // Half of what is left, so that there are a few tries.
    if (this.#left > 2_000) this.#start("renew", () => this.#renew(), Math.min(renewalPause, this.#left / 2));
  }

  /** The token is about to end. A renewal that is under way, or planned, sees to it. */
  #renewSoon() {
    if (this.#state !== "online" || this.#isRenewing || this.#timers.has("renew")) return;
    if (now() - this.#renewalBegan < renewalPause) this.#renewLater();
    else this.#renew();
  }

  /** How long the session's token still holds. */
  get #left() {
    if (this.#session === null) return 0;
    const { tokenExpiresAt, serverTime, at } = this.#session;
    return tokenExpiresAt - serverTime - (now() - at);
  }

  // Events

  #receiveEvent(name, params, size) {
    // The first frame of a stream, which holds the key of its requests.
    if (name === "onConnectSuccess" && this.#transport === "stream" && !this.#isSignedIn) return this.#openStream(params);
    // Of a later server, if of any: handlers of the name expect other parameters.
    if (!fitsEvent(name, params)) return this.#emit("event", name, params);
    this.#noteTime(params.opTime);
    if (name === "onServerDraining") this.#waitAtLeast = Math.min(counted(params.retryAfterMs), longestWait);
    if (name === "onUserSigExpired") this.#renewSoon();
    if (name === "onMessageDropped") this.#outbox.drop(params);
    const group = this.#groups.get(params.groupID);
    // A resume that is under way finds it by itself.
    if (this.#isReady && group?.beginsAnew(placeOf(name, params))) this.#rereadRoom(group);
    // A signal is of its moment, and no part of what a sync tells.
    if (group?.held && name !== "onGroupSignal") this.#hold(group, [name, params], size);
    else this.#tell(name, params);
    if (name === "onUsersStatusChanged") this.#tellStatuses(this.#watch.hear(params.userList));
  }

  #openStream({ streamKey, ...session }) {
    if (!results.session(session) || !isText(streamKey)) refuse("a stream without a session");
    Object.assign(this.#socket, { key: streamKey, readyState: 1 });
    this.#noteTime(session.serverTime);
    this.#signedIn(boundedSession(session));
  }

  #hold(group, event, size) {
    const hasRoom = this.#held.count < heldLimit && this.#held.size + size <= largestHeld;
    if (hasRoom && !group.hasOverflowed) {
      group.held.push(event);
      group.heldSize += size;
      this.#held.count += 1;
      this.#held.size += size;
    } else {
      this.#forgetHeld(group);
      Object.assign(group, { held: [], heldSize: 0, hasOverflowed: true });
    }
  }

  #forgetHeld({ held, heldSize }) {
    this.#held.count -= held?.length ?? 0;
    this.#held.size -= heldSize;
  }

  #tell(name, params) {
    const group = this.#groups.get(params.groupID);
    const place = placeOf(name, params);
    if (group) group.reach(place);
    else if (place.seq > 0 || place.changeSeq > 0) this.#noteUntracked(params.groupID, place);
    this.#store.take(name, params);
    if (name === "onRecvNewMessage" && this.#findOwn(params.message)) return;
    // The list that the resume has read is told behind this event.
    if (name === "onConversationChanged") changeConversation(this.#infos.get(params.groupID), params);
    this.#emit(name, params);
    this.#emit("event", name, params);
    const namesMe = params.memberList?.some(({ userID }) => userID === this.userID) ?? false;
    if (endEvents.has(name) || (name === "onMemberKicked" && namesMe)) this.#forget(params.groupID);
    else if (!group && entryEvents.has(name) && (namesMe || name === "onGroupCreated")) this.#noteEntry(params.groupID);
  }

  /** The event, or the answer to a call of the application: whichever comes first. */
  #noteEntry(groupID) {
    if (!this.#groups.has(groupID) && !this.#entered.has(groupID)) this.#enter(groupID);
  }

  /** A message of this client's that the server kept back until the session that sent it was gone: `message` tells of it. */
  #findOwn(message) {
    const record = message.sender === this.userID ? this.#outbox.recordOf(message) : undefined;
    if (record) this.#outbox.found(record, message);
    return record !== undefined;
  }

  #forget(groupID) {
    const group = this.#groups.get(groupID);
    if (group) this.#forgetHeld(group);
    this.#groups.delete(groupID);
    this.#outbox.endConversation(groupID);
  }

  /** The place of an own message. What is told of a group that is not tracked yet begins behind it. */
  #addOwn(groupID, seq) {
    const group = this.#groups.get(groupID);
    if (group) group.addOwn(seq);
    else this.#noteUntracked(groupID, { seq, changeSeq: 0 });
  }

  #noteUntracked(groupID, { seq, changeSeq }) {
    if (!isIdentifier(groupID) || (this.#untracked.size >= mostNewGroups && !this.#untracked.has(groupID))) return;
    const before = this.#untracked.get(groupID) ?? { seq: 0, changeSeq: 0 };
    this.#untracked.set(groupID, { seq: Math.max(before.seq, seq), changeSeq: Math.max(before.changeSeq, changeSeq) });
  }

  /** The user is a member of one more group: its position is read once. */
  async #enter(groupID) {
    const socket = this.#socket;
    const tries = this.#entered.get(groupID) ?? 0;
    // The next resume finds what is not asked for.
    if (!isIdentifier(groupID) || (tries === 0 && this.#entered.size >= mostNewGroups)) return;
    this.#entered.set(groupID, tries + 1);
    this.#store.enter(groupID);
    try {
      const { resultList } = await this.#request("getGroupsInfo", { groupIDList: [groupID] }, results.infos);
      const row = resultList.find((one) => one.groupID === groupID);
      if (row?.code === 0 && row.info.selfInfo && row.info.groupID === groupID) this.#track(row.info);
      this.#entered.delete(groupID);
    } catch (error) {
      // Without a connection the next resume looks at the group.
      if (!(error instanceof ThrongError) || this.#socket !== socket) return;
      const pause = 1_000 * 2 ** Math.min(tries + 1, 5);
      this.#start(`enter ${groupID}`, () => this.#enter(groupID), Math.max(error.retryAfterMs, pause));
    }
  }

  /** Begins with the group as it is: the application reads what is before from its history. */
  #track(info) {
    const { groupID, epoch, lastSeq, changeSeq } = info;
    if (this.#groups.has(groupID) || this.#groups.size >= mostGroups) return false;
    const [isLive, remembers] = [isLiveRoom(info), remembersMessages(info)];
    const group = new TrackedGroup(groupID, { epoch, seq: lastSeq, changeSeq, isLive, remembers });
    group.reach(this.#untracked.get(groupID) ?? { seq: 0, changeSeq: 0 });
    this.#untracked.delete(groupID);
    this.#groups.set(groupID, group);
    this.#store.take("entered", { info, position: group.position });
    return true;
  }

  // Resuming

  /** After each sign-in: finds the groups joined and left, and asks in all others for what was missed. */
  async #resume(tries = 0) {
    const socket = this.#socket;
    // A try before this one may have told the events of some.
    for (const group of this.#groups.values()) group.hold();
    try {
      const told = await this.#catchUp(this.#toldUntil);
      this.#isReady = this.#wasReady = true;
      this.#joined.clear();
      this.#infos = new Map();
      this.#store.confirm(this.#session.serverTime);
      this.#emit("ready", told);
      if (this.#socket !== socket) return;
      this.#outbox.open();
      this.#store.takeOver();
    } catch (error) {
      if (error.reason === "TooLarge") return this.#end({ code: 0, reason: "the positions are too long", error });
      if (this.#socket !== socket) return;
      // Any other than BadAnswer comes with the end of the connection.
      if (error instanceof ClientError && error.reason !== "BadAnswer") return;
      if (!(error instanceof ThrongError)) return this.#break(error);
      if (!error.temporary) {
        // Nothing that a later try could mend: everything is told, and the application reads its groups anew.
        this.#emit("resumeFailed", error);
        for (const group of this.#groups.values()) this.#release(group);
        return this.#outbox.open();
      }
      const backoff = backoffAfter(tries, this.#options.random);
      this.#start("resume", () => this.#resume(tries + 1), Math.max(error.retryAfterMs, backoff));
    }
  }

  async #catchUp(since) {
    const isFirst = !this.#wasReady;
    const isWhole = since === 0;
    const known = new Set(this.#groups.keys());
    const { infos, gone } = await this.#readJoined(isWhole ? undefined : Math.max(0, since - lookBack));
    this.#infos = infos;
    const left = new Set([...gone].filter((groupID) => known.has(groupID)));
    if (isWhole) for (const groupID of known) if (!infos.has(groupID) && !this.#groups.get(groupID)?.isLive) left.add(groupID);
    for (const [groupID, info] of infos) if (this.#track(info)) this.#joined.add(groupID);
    const kept = [...known].map((groupID) => this.#groups.get(groupID)).filter((group) => group && !left.has(group.groupID));
    const told = { ...newlyTold(), infos, left };
    const live = kept.filter(({ isLive }) => isLive).map(({ groupID }) => groupID);
    const entered = [...this.#enteredBefore].filter((groupID) => !this.#groups.has(groupID));
    for (const groupIDs of slices([...live, ...entered], groupsPerSync)) await this.#checkLive(groupIDs, told);
    const rooms = [...told.rooms.keys()].map((groupID) => this.#groups.get(groupID)).filter(Boolean);
    const inSync = [...kept.filter(({ isLive }) => !isLive), ...rooms];
    for (const groups of slices(inSync, groupsPerSync)) await this.#sync(groups, told);
    const dismissed = await this.#readDismissed([...told.left].filter((groupID) => this.#store.isKnown(groupID)));
    for (const groupID of told.left) this.#leave(groupID, dismissed.has(groupID) ? "dismissed" : "left");
    const { recovered, notRecovered } = told;
    return {
      isFirst, groups: [...infos.values()], joined: [...this.#joined], left: [...told.left], recovered: [...recovered],
      notRecovered: [...notRecovered], source: "server",
    };
  }

  /** Those of the groups left that are there no more: their conversations say so. */
  async #readDismissed(groupIDs) {
    const dismissed = new Set();
    for (const groupIDList of slices(groupIDs, groupsPerSync)) {
      const { resultList } = await this.#request("getGroupsInfo", { groupIDList }, results.infos);
      for (const { groupID, code } of resultList) if (code === 10010) dismissed.add(groupID);
    }
    return dismissed;
  }

  async #readJoined(updatedSince) {
    const infos = new Map();
    const gone = new Set();
    // Where each page ended.
    const ends = new Set();
    for (let nextSeq = 0, size = 0; !ends.has(0); ) {
      const page = await this.#request("getJoinedGroupList", { updatedSince, count: 200, nextSeq }, results.groups);
      size += sizes.get(page);
      ({ nextSeq } = page);
      if (ends.has(nextSeq) || ends.size >= mostListPages) refuse("a list of groups without an end");
      ends.add(nextSeq);
      for (const info of page.groupList) infos.set(info.groupID, info);
      for (const groupID of page.leftGroupIDList) gone.add(groupID);
      if (infos.size > mostGroups || gone.size > mostGroups || size > largestList) refuse("more groups than a user has");
    }
    return { infos, gone };
  }

  /** Live rooms forget members who stay away too long. Those that remember their last messages are left to a sync. */
  async #checkLive(groupIDList, told) {
    const { resultList } = await this.#request("getGroupsInfo", { groupIDList }, results.infos);
    const asked = new Set(groupIDList);
    for (const { groupID, code, info } of resultList) {
      if (!asked.delete(groupID)) continue;
      this.#enteredBefore.delete(groupID);
      if (code !== 0 || !info.selfInfo) {
        told.left.add(groupID);
        continue;
      }
      const isNew = this.#track(info);
      const group = this.#groups.get(groupID);
      const hasRemembered = !isNew && group?.isLive && group.remembers;
      if (group?.isLive) group.remembers = remembersMessages(info);
      if (hasRemembered && group.remembers) {
        told.rooms.set(groupID, info);
        continue;
      }
      // Its memory, or the lack of one, begins with the server's new configuration.
      if (!isNew && group?.isLive) group.restart(info);
      told.notRecovered.add(groupID);
      this.#tellSync({ groupID, info, recovered: false, changeList: [], messageList: [], more: false });
      if (group?.isLive) this.#release(group);
    }
  }

  /** The places of a room do not ascend: its memory was lost while the connection lived, or an answer overtook an event. */
  async #rereadRoom(group, tries = 0) {
    const { groupID } = group;
    const socket = this.#socket;
    const told = newlyTold();
    group.hold();
    try {
      const { resultList } = await this.#request("getGroupsInfo", { groupIDList: [groupID] }, results.infos);
      if (this.#groups.get(groupID) !== group) return;
      const { code, info } = resultList.find((one) => one.groupID === groupID) ?? refuse("a row is missing");
      if (code !== 0 || !info.selfInfo) return this.#leave(groupID);
      const isSame = info.epoch === group.epoch;
      group.remembers = remembersMessages(info);
      if (!isSame) {
        group.restart(info);
        this.#tellSync({ groupID, info, recovered: false, changeList: [], messageList: [], more: false });
      }
      if (!group.hasOverflowed || !group.remembers) return this.#release(group, isSame);
      told.rooms.set(groupID, info);
      await this.#sync([group], told);
      if (told.left.has(groupID)) this.#leave(groupID);
    } catch (error) {
      // Without a connection the next resume looks at the room.
      if (this.#socket !== socket || (error instanceof ClientError && error.reason !== "BadAnswer")) return;
      if (!(error instanceof ThrongError)) return this.#break(error);
      const backoff = backoffAfter(tries, this.#options.random);
      this.#start(`room ${groupID}`, () => this.#rereadRoom(group, tries + 1), Math.max(error.retryAfterMs, backoff));
    }
  }

  async #sync(groups, told) {
    let behind = groups.map((group) => {
      const { groupID, epoch, seq, changeSeq } = group;
      const ask = { groupID, epoch, seq: this.#outbox.startOfSync(group), changeSeq };
      return { group, known: { seq, changeSeq }, ask, pages: 0 };
    });
    while (behind.length > 0) {
      const answer = await this.#request("syncGroups", { groups: behind.map(({ ask }) => ask) }, results.history);
      const rows = new Map(answer.groups.map((row) => [row.groupID, row]));
      // A row alone may stay where it is: all rows share the bytes of an answer.
      let hasAdvanced = false;
      behind = behind.filter((one) => {
        const before = { ...one.ask, pages: one.pages };
        const hasMore = this.#takeRow(one, rows.get(one.group.groupID) ?? refuse("a row is missing"), told);
        const { ask: { seq, changeSeq }, pages } = one;
        hasAdvanced ||= !hasMore || pages === 0 || seq > before.seq || changeSeq > before.changeSeq;
        return hasMore;
      });
      if (!hasAdvanced) refuse("pages of a history that do not advance");
    }
  }

  /** Takes one row of a sync; answers whether there is more. */
  #takeRow(one, row, told) {
    const { group, known, ask } = one;
    const { groupID } = group;
    if (row.code !== 0) {
      told.left.add(groupID);
      return false;
    }
    const info = told.infos.get(groupID) ?? told.rooms.get(groupID);
    if (row.recovered !== true) {
      group.restart(row);
      told.notRecovered.add(groupID);
      this.#outbox.losePlaces(group);
      this.#tellSync({ groupID, info, recovered: false, changeList: [], messageList: [], more: false });
      return this.#releaseOrRepeat(one, told);
    }
    const page = readPage(ask, row);
    const more = row.more === true;
    const { changeList, messageList } = this.#sorted(known, row);
    const from = group.seq;
    // Before the group's own position a page tells of changes that its changeSeq does not cover.
    const changeSeq = !more || page.seq >= known.seq ? page.changeSeq : known.changeSeq;
    group.reach({ seq: more ? page.seq : counted(row.lastSeq), changeSeq });
    Object.assign(ask, page);
    const everything = { messageList: row.messageList, changeList: row.changeList ?? [], from };
    this.#tellSync({ groupID, info, recovered: true, changeList, messageList, more }, everything);
    if (more) {
      one.pages += 1;
      if (one.pages >= mostHistoryPages) refuse("a history without an end");
      return true;
    }
    this.#outbox.proveAbsent(group);
    if (this.#releaseOrRepeat(one, told)) return true;
    if (!told.notRecovered.has(groupID)) told.recovered.add(groupID);
    return false;
  }

  /** `page`: all that it holds, own messages too. */
  #tellSync(sync, page = {}) {
    const group = this.#groups.get(sync.groupID);
    if (group) this.#store.take("sync", { ...sync, ...page, position: group.position });
    this.#emit("sync", sync);
  }

  /** The group is in step, unless more events came than may wait: then it is asked for once more. */
  #releaseOrRepeat(one, told) {
    const { group, known, ask } = one;
    if (!group.hasOverflowed) {
      this.#release(group);
      return false;
    }
    const repeats = (told.repeats.get(group.groupID) ?? 0) + 1;
    if (repeats > mostRepeats) refuse("more events than the history of a group holds");
    told.repeats.set(group.groupID, repeats);
    one.pages = 0;
    group.hasOverflowed = false;
    const { epoch, seq, changeSeq } = group;
    Object.assign(known, { seq, changeSeq });
    Object.assign(ask, { epoch, seq: this.#outbox.startOfSync(group), changeSeq });
    return true;
  }

  /** A page without what the application has: own messages, and those before its position that did not change. */
  #sorted(known, row) {
    const changeList = [...(row.changeList ?? [])];
    const messageList = [];
    for (const message of row.messageList) {
      const isKnown = this.#findOwn(message) || message.seq <= known.seq;
      if (!isKnown) messageList.push(message);
      else if ((message.changeSeq ?? 0) > known.changeSeq) changeList.push(message);
    }
    return { changeList, messageList };
  }

  /** The group is in step: events that came meanwhile are told, those that the sync held are not unless `all` are. */
  #release(group, all = false) {
    const held = group.held ?? [];
    this.#forgetHeld(group);
    Object.assign(group, { held: null, heldSize: 0, hasOverflowed: false });
    for (const [name, params] of held) if (all || !group.knows(placeOf(name, params))) this.#tell(name, params);
  }

  #leave(groupID, status = "left") {
    const group = this.#groups.get(groupID);
    if (group) this.#release(group);
    this.#groups.delete(groupID);
    this.#store.take("ended", { groupID, status, endedAt: this.#session?.serverTime });
    this.#outbox.endConversation(groupID);
  }
}

/** What a resume has found: groups by their fate, infos of live rooms that a sync is asked about, repeats by group. */
const newlyTold = () => ({
  infos: new Map(), rooms: new Map(), left: new Set(), recovered: new Set(), notRecovered: new Set(), repeats: new Map(),
});

/** A clock that nobody sets, in milliseconds: Date.now() is for people. */
function now() {
  return performance.now();
}

/** What a client without a storage has in the place of one. */
const noStore = {
  isDurable: false, toldUntil: 0, take() {}, settle() {}, enter() {}, confirm() {}, takeOver() {}, endSession() {}, close() {},
  save: () => Promise.resolve(), flush: () => Promise.resolve(), forget: () => Promise.resolve(),
  hasEnded: () => false, isKnown: () => false, isLive: () => false,
};

/** The name of a user's store: the server's address without what may be secret, and the user. */
function storeName(url, userID) {
  if (!userID) return "memory";
  let address = String(url);
  try {
    const { protocol, host, pathname } = new URL(url, globalThis.location?.href);
    address = `${protocol}//${host}${pathname}`;
  } catch {
    // `connect` says that it is no address.
  }
  return `${address}|${userID}`;
}

/** Every timer: none is given a delay that it cannot hold. */
function after(delay, act) {
  return setTimeout(act, Math.min(Math.max(0, delay), longestWait));
}

function deferred() {
  let resolve, reject;
  const promise = new Promise((...both) => ([resolve, reject] = both));
  return { promise, resolve, reject };
}

function slices(list, size) {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) => list.slice(index * size, (index + 1) * size));
}

/** JSON as the server takes it: half of a surrogate pair becomes U+FFFD, as in all that browsers send by themselves. */
function encoded(value) {
  return JSON.stringify(value).replace(/\\(?:u[0-9a-f]{4}|.)/g, (escape) => (escape.startsWith("\\ud") ? "\ufffd" : escape));
}

const encoder = new TextEncoder();
const bytesOf = (text) => encoder.encode(text).length;
const byteLength = (text) => (text.length * 3 <= largestFrame - 256 ? text.length : encoder.encode(text).length);

/** A clientMsgID. `randomUUID` is for secure origins only, which a page need not come from. */
function newID() {
  return [...globalThis.crypto.getRandomValues(new Uint32Array(4))].map((word) => word.toString(36)).join("-");
}

/** The client's own events, beside those of the server. */
const ownEvents = [
  "state", "message", "sync", "ready", "renewed", "renewalFailed", "resumeFailed", "status", "watchFailed", "stored", "conversation",
  "storageFailed", "event", "frame",
];

/** What throng-storage.js needs of this module, and nobody else. */
export const internal = {
  changeConversation, counted, deferred, endEvents, isHeardInPart, isIdentifier, isLiveRoom, isMember, isObject, isOf, isText,
  mostOwnMessages, newID, slices, whole, words,
};

// Generated from the server's declarations: Scripts/generate rewrites it.

export const ErrorCode = Object.freeze({
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  notSignedIn: 6014,
  otherUserSignedIn: 6015,
  requestRate: 7008,
  tokenExpired: 70001,
  tokenMalformed: 70003,
  tokenWrongSignature: 70009,
  userBlocked: 70020,
  tokenRevoked: 70021,
  badNewGroupID: 8501,
  badGroupName: 8502,
  introductionTooLong: 8503,
  notificationTooLong: 8504,
  faceURLTooLong: 8505,
  nameCardTooLong: 8506,
  tooManyMembers: 8507,
  workNotJoinable: 8508,
  ownerInMemberList: 8509,
  emptyUserList: 8510,
  attributeCallsTooOften: 8511,
  temporary: 10002,
  badValue: 10004,
  noRight: 10007,
  ownerMayNotQuit: 10009,
  noSuchGroup: 10010,
  alreadyMember: 10013,
  groupFull: 10014,
  badGroupID: 10015,
  refusedByApplication: 10016,
  muted: 10017,
  userUnknown: 10019,
  groupIDTaken: 10021,
  groupMessageRate: 10023,
  applicationHandled: 10024,
  groupIDTakenByYourself: 10025,
  messageUnknown: 10030,
  recallTooLate: 10031,
  recallNotYours: 10032,
  recallUnsupported: 10033,
  tooManyAVChatRooms: 10036,
  tooManyGroups: 10037,
  maxMemberNumBelowCount: 10038,
  attributeKeyTooLong: 10045,
  attributeValueTooLong: 10046,
  tooManyAttributes: 10047,
  attributesTooLarge: 10048,
  attributeWritesTooOften: 10049,
  attributeUnknown: 10050,
  tooManyMentions: 10053,
  tooManyForReceipts: 10054,
  tooManyReactions: 10055,
  tooManyPinned: 10056,
  tooManyCounters: 10057,
  expectationFailed: 10058,
  attributeHeld: 10059,
  tooManyWatched: 10060,
  groupTooLargeForSignals: 10061,
  application10120: 10120,
  application10121: 10121,
  application10122: 10122,
  application10123: 10123,
  application10124: 10124,
  application10125: 10125,
  application10126: 10126,
  application10127: 10127,
  application10128: 10128,
  application10129: 10129,
  application10130: 10130,
  messageTooLong: 80002,
});

export const CloseCode = Object.freeze({
  normal: 1000,
  tryAgainLater: 1013,
  draining: 4001,
  slowConsumer: 4002,
  noSignOfLife: 4003,
  requestFlood: 4004,
  connectionLimit: 4005,
  tokenExpired: 4006,
  notSignedIn: 4007,
  lostTouch: 4008,
  authenticationFailed: 4500,
  badProtocol: 4501,
  replaced: 4502,
  removed: 4503,
});

const serverEvents = [
  "onMemberEnter",
  "onMemberLeave",
  "onMemberInvited",
  "onMemberKicked",
  "onGroupMemberInfoChanged",
  "onGroupCreated",
  "onGroupDismissed",
  "onGroupRecycled",
  "onGroupInfoChanged",
  "onReceiveJoinApplication",
  "onReceiveGroupInvitation",
  "onApplicationProcessed",
  "onGroupApplicationListChanged",
  "onGrantAdministrator",
  "onRevokeAdministrator",
  "onQuitFromGroup",
  "onReceiveMessageOptChanged",
  "onGroupAttributeChanged",
  "onGroupCounterChanged",
  "onRecvNewMessage",
  "onRecvMessageRevoked",
  "onRecvMessageModified",
  "onRecvMessageReactionsChanged",
  "onGroupMessagePinned",
  "onMessageDropped",
  "onConversationRead",
  "onConversationChanged",
  "onRecvMessageReadReceipts",
  "onGroupSignal",
  "onReceiveRESTCustomData",
  "onSelfInfoUpdated",
  "onUsersStatusChanged",
  "onConnectSuccess",
  "onKickedOffline",
  "onUserSigExpired",
  "onServerDraining",
];
