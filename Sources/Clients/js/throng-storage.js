// SPDX-License-Identifier: Apache-2.0
//
// The memory of throng.js (Clients.md, "Memory"): where conversations, messages and the outbox are stored, and by which rules.
//
//   import { ThrongClient } from "https://chat.example/throng.js";
//   import { IndexedDBStorage } from "https://chat.example/throng-storage.js";
//
//   const client = new ThrongClient({ url, token, userID: "ann", storage: new IndexedDBStorage() });
//   client.on("stored", ({ conversations }) => draw(conversations));
//
// It is a module of its own, so that an application that keeps nothing need not load it. The types are in
// throng-storage.d.ts.

import { ClientError, internal } from "./throng.js";

const {
  changeConversation, counted, deferred, endEvents, isHeardInPart, isIdentifier, isLiveRoom, isMember, isObject, isOf, isText,
  mostOwnMessages, newID, slices, whole, words,
} = internal;

/** @typedef {import("./throng-storage.js").StorageFailure} StorageFailure */

const encoder = new TextEncoder();
const bytesOf = (text) => encoder.encode(text).length;

// Where a client stores (Clients.md, "Memory"): an ordered map of texts, with updates that are done whole or not at all.

/** A storage that failed; `reason` says how. It never reaches a call of the application. */
export class StorageError extends Error {
  /**
   * @param {StorageFailure} reason
   * @param {string} [detail]
   */
  constructor(reason, detail) {
    super(detail ?? storageErrors[reason]);
    this.name = "StorageError";
    this.reason = reason;
  }
}

/** @type {Record<StorageFailure, string>} */
const storageErrors = {
  Full: "There is no room to store more.",
  Refused: "This system lets the client store nothing.",
  Corrupt: "What is stored cannot be read.",
  InUse: "Another process has the store open.",
  TooNew: "A later version of the library has written the store.",
  Failed: "The storage has failed.",
};

/** What all storages have in common: the store that is built upon one. An application's own extends it. */
export class Storage {
  /** Whether what is stored outlives the process. */
  get isDurable() {
    return true;
  }

  /** For ThrongClient. */
  makeStore(name, limits, client) {
    return new LocalStore(this, name, limits, client);
  }
}

/** A storage that ends with the process. */
export class MemoryStorage extends Storage {
  #rows = new Map();
  /** Its keys in their order; null = not known at the moment. */
  #keys = null;

  get isDurable() {
    return false;
  }

  async open() {}

  async close() {}

  async destroy() {
    this.#rows.clear();
    this.#keys = null;
  }

  async get(key) {
    return this.#rows.get(key);
  }

  async scan({ from, to, limit = Infinity, isDescending = false }) {
    const keys = this.#between(from, to);
    if (isDescending) keys.reverse();
    return keys.slice(0, limit).map((key) => [key, this.#rows.get(key)]);
  }

  async update(keys, decide) {
    const changes = decide(new Map(keys.filter((key) => this.#rows.has(key)).map((key) => [key, this.#rows.get(key)])));
    for (const { put, value, delete: key, deleteFrom, to } of changes) {
      if (put !== undefined) {
        if (!this.#rows.has(put)) this.#keys = null;
        this.#rows.set(put, value);
        continue;
      }
      for (const one of key !== undefined ? [key] : this.#between(deleteFrom, to)) {
        if (this.#rows.delete(one)) this.#keys = null;
      }
    }
  }

  #between(from, to) {
    this.#keys ??= [...this.#rows.keys()].sort();
    const keys = this.#keys;
    return keys.slice(lowerBound(keys, from), lowerBound(keys, to));
  }
}

/** The index of the first element that is not below a value. */
function lowerBound(sorted, value) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What a browser calls a failure. */
const failureNames = {
  QuotaExceededError: "Full", VersionError: "TooNew", UnknownError: "Corrupt", InvalidStateError: "Refused",
  SecurityError: "Refused", NotAllowedError: "Refused",
};
const storageError = (error) =>
  error instanceof StorageError ? error : new StorageError(failureNames[error?.name] ?? "Failed", words(`${error?.message ?? error}`));

/** The storage of a browser: a database of its own for each store. */
export class IndexedDBStorage extends Storage {
  #database;
  #name;

  async open(name) {
    if (this.#database) return;
    this.#name = `throng:${name}`;
    let database;
    try {
      const request = globalThis.indexedDB.open(this.#name, 1);
      request.onupgradeneeded = () => request.result.createObjectStore("rows");
      database = await ended(request);
    } catch (error) {
      // Without IndexedDB there is nothing to call.
      throw error instanceof TypeError ? new StorageError("Refused") : storageError(error);
    }
    // Another tab forgets the store: this one finds it closed, and goes on without.
    database.onversionchange = () => database.close();
    this.#database = database;
  }

  async get(key) {
    return this.#with("readonly", {}, (rows) => ended(rows.get(key)));
  }

  async scan({ from, to, limit, isDescending = false }) {
    // No range of IndexedDB is empty.
    if (from >= to) return [];
    const range = globalThis.IDBKeyRange.bound(from, to, false, true);
    return this.#with("readonly", {}, async (rows) => {
      if (!isDescending) {
        const [keys, values] = await Promise.all([ended(rows.getAllKeys(range, limit)), ended(rows.getAll(range, limit))]);
        return keys.map((key, index) => [key, values[index]]);
      }
      const found = [];
      const request = rows.openCursor(range, "prev");
      for (let cursor = await ended(request); cursor && found.length < (limit ?? Infinity); cursor = await ended(request)) {
        found.push([cursor.key, cursor.value]);
        cursor.continue();
      }
      return found;
    });
  }

  async update(keys, decide) {
    // What is sent has to be there after a power failure, too.
    const durability = keys.some((key) => key.startsWith("o/")) ? "strict" : "relaxed";
    return this.#with("readwrite", { durability }, async (rows) => {
      const read = await Promise.all(keys.map((key) => ended(rows.get(key))));
      const values = new Map(keys.map((key, index) => [key, read[index]]).filter(([, value]) => value !== undefined));
      for (const { put, value, delete: key, deleteFrom, to } of decide(values)) {
        if (put !== undefined) rows.put(value, put);
        else if (key !== undefined) rows.delete(key);
        else if (deleteFrom < to) rows.delete(globalThis.IDBKeyRange.bound(deleteFrom, to, false, true));
      }
    });
  }

  async close() {
    this.#database?.close();
    this.#database = undefined;
  }

  async destroy() {
    await this.close();
    if (!globalThis.indexedDB) return;
    await ended(globalThis.indexedDB.deleteDatabase(this.#name)).catch((error) => Promise.reject(storageError(error)));
  }

  /** Runs one transaction; what `act` throws undoes it. */
  async #with(mode, options, act) {
    let transaction;
    try {
      transaction = this.#database.transaction("rows", mode, options);
      const end = new Promise((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error ?? new StorageError("Failed"));
      });
      // Whichever fails first says why.
      end.catch(() => {});
      const result = await act(transaction.objectStore("rows"));
      await end;
      return result;
    } catch (error) {
      try {
        transaction?.abort();
      } catch {
        // It has ended already.
      }
      throw storageError(error);
    }
  }
}

/** The result of a request of IndexedDB. */
function ended(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

// What is stored, and what an event changes in it. All of this is pure; Tests/Clients/store-vectors.json holds for it.

const storeVersion = 1;
/** How a later version brings the rows of an earlier one up to date: functions of the rows that answer changes, by version. */
const migrations = [];

/** A text as part of a key: each byte of UTF-8 that is no letter, digit, `_`, `.` or `-` is written %XX. */
const keyPart = (text) =>
  encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, "\ufffd"))
    .replace(/[!~*'()]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
const groupKey = (groupID) => `g/${keyPart(groupID)}`;
const placeKey = (groupID) => `p/${keyPart(groupID)}`;
const messagesKey = (groupID) => `m/${keyPart(groupID)}/`;
const digits = (number) => String(number).padStart(16, "0");
const messageKey = (groupID, seq) => messagesKey(groupID) + digits(seq);
const membersKey = (groupID) => `u/${keyPart(groupID)}/`;
const memberKey = (groupID, userID) => membersKey(groupID) + keyPart(userID);
const userKey = (userID) => `U/${keyPart(userID)}`;
const outboxKey = (order, clientMsgID) => `o/${digits(order)}/${keyPart(clientMsgID)}`;
/** All keys that begin so. */
const allOf = (prefix) => ({ from: prefix, to: `${prefix}~` });
const seqOf = (key) => Number(key.slice(-16));
function groupOf(key) {
  try {
    return decodeURIComponent(key.split("/")[1] ?? "");
  } catch {
    throw new StorageError("Corrupt", `the key ${key} is none`);
  }
}

/** Values of the application's and the server's, of which neither may change what is stored. */
const copyOf = (value) => JSON.parse(JSON.stringify(value));

/** What rows have to be that the client itself reads, by the first letters of their keys. */
const rowChecks = {
  "g/": ({ info, status, firstStored }) => isObject(info) && isIdentifier(info.groupID) && isText(status) && Number.isInteger(firstStored),
  "p/": ({ epoch, seq, changeSeq, own }) =>
    (epoch === undefined || isIdentifier(epoch)) && [seq, changeSeq].every(Number.isInteger) && Array.isArray(own) && own.every(Number.isInteger),
  "o/": ({ clientMsgID, method, params, order }) =>
    isText(clientMsgID) && isText(method) && isObject(params) && isText(params.groupID) && Number.isInteger(order),
};

function readRow(key, text) {
  let row;
  try {
    row = JSON.parse(text);
  } catch {
    // Said below.
  }
  const fits = isObject(row) && (rowChecks[key.slice(0, 2)]?.(row) ?? true);
  if (!fits) throw new StorageError("Corrupt", `the row ${key} is none`);
  return row;
}

/** The rows of one update: as they were read, and as events change them. */
class Draft {
  #texts;
  #rows = new Map();
  #changed = new Set();
  /** How memberships ended whose groups are not kept. */
  ended = new Map();
  /** The keys that `changes` has found to be others, and how many rows more there are. */
  written = [];

  /** `texts`: the values by key, of all keys that the events may touch. */
  constructor(texts) {
    this.#texts = texts;
  }

  get(key) {
    if (!this.#rows.has(key)) this.#rows.set(key, this.#texts.has(key) ? readRow(key, this.#texts.get(key)) : undefined);
    return this.#rows.get(key);
  }

  put(key, row) {
    this.#rows.set(key, row);
    this.#changed.add(key);
  }

  delete(key) {
    this.put(key, undefined);
  }

  /** The keys of all rows that were read or put, and whether they are there once the draft is stored. */
  presence() {
    const keys = new Set([...this.#texts.keys(), ...this.#changed]);
    return [...keys].map((key) => [key, this.#changed.has(key) ? this.#rows.get(key) !== undefined : true]);
  }

  /** A row as it is stored then; undefined = there is none. */
  textOf(key) {
    if (!this.#changed.has(key)) return this.#texts.get(key);
    const row = this.#rows.get(key);
    return row === undefined ? undefined : JSON.stringify(row);
  }

  /** The changes, and by how many bytes the store grows. */
  changes() {
    const changes = [];
    let growth = 0;
    const size = (key, text) => (text === undefined ? 0 : bytesOf(key) + bytesOf(text));
    for (const key of this.#changed) {
      const [before, after] = [this.#texts.get(key), this.textOf(key)];
      if (before === after) continue;
      changes.push(after === undefined ? { delete: key } : { put: key, value: after });
      this.written.push({ key, growth: Number(after !== undefined) - Number(before !== undefined) });
      growth += size(key, after) - size(key, before);
    }
    return { changes, growth };
  }
}

/** Whether the group keeps its messages: live rooms and BChatRooms do not. */
const isKept = ({ groupType, firstSeq }) => Number.isInteger(firstSeq) && !["AVChatRoom", "BChatRoom"].includes(groupType);
const isMemberRow = (row) => row?.status === "member";
const hasHistory = (row) => isMemberRow(row) && isKept(row.info);

/** The members of a group's info that other rules keep, and `onGroupInfoChanged` does not. */
const keptFields = new Set([
  "groupID", "groupType", "epoch", "lastSeq", "firstSeq", "changeSeq", "selfInfo", "lastMessage", "__proto__",
]);
/** What a member's row and the user's own `selfInfo` have alike. */
const ownFields = new Set(["role", "nameCard", "customInfo", "muteUntil"]);
const tipTypes = {
  onGroupCreated: "Create", onMemberEnter: "Join", onMemberLeave: "Quit", onMemberInvited: "Invite", onMemberKicked: "Kicked",
  onGrantAdministrator: "SetAdmin", onRevokeAdministrator: "CancelAdmin", onGroupInfoChanged: "GroupInfoChange",
  onGroupMemberInfoChanged: "MemberInfoChange",
};

/** Moves a position; own messages beyond it are passed. */
function reach(place, { seq = 0, changeSeq = 0 }) {
  place.seq = Math.max(place.seq, seq);
  place.changeSeq = Math.max(place.changeSeq, changeSeq);
  const own = new Set(place.own);
  while (own.has(place.seq + 1)) place.seq += 1;
  place.own = place.own.filter((one) => one > place.seq);
}

function movePlace(draft, groupID, place) {
  const row = draft.get(placeKey(groupID));
  if (!row) return;
  reach(row, place);
  draft.put(placeKey(groupID), row);
}

/** Whether a message is one of those that the server counts as unread. */
const doesCount = ({ groupType, selfInfo }, message, { userID }) =>
  ["Work", "Public"].includes(groupType) && message.type !== "GroupTips" && message.sender !== userID && !message.isRevoked
  && !message.isExcludedFromUnreadCount && !message.toUserIDList && isObject(selfInfo) && selfInfo.receiveMessageOpt !== "NotReceive";
const doesMention = ({ atUserIDList, sender, type }, { userID }) =>
  type !== "GroupTips" && sender !== userID && Array.isArray(atUserIDList)
  && (atUserIDList.includes(userID) || atUserIDList.includes("@all"));

/** Whether a place lies beyond what was told, and before an own message, which is the last one that is known. */
const isBehindOwn = (place, seq, lastSeq) => place !== undefined && seq > place.seq && seq < lastSeq && place.own.includes(lastSeq);

/** A message that has come: `isPage`, in a page of the history, which may tell it again; `isAnswer`, as the answer to an own one. */
function addMessage(draft, state, groupID, message, { isPage = false, isAnswer = false } = {}) {
  const row = draft.get(groupKey(groupID));
  const seq = whole(message.seq);
  if (!hasHistory(row) || seq === 0) return;
  const { info } = row;
  const key = messageKey(groupID, seq);
  const before = draft.get(key);
  // The answers to own messages behind it may have come first.
  const isOvertaken = !isPage && !before && isBehindOwn(draft.get(placeKey(groupID)), seq, whole(info.lastSeq));
  if (!isPage && state.inPart.has(groupID) && isHeardInPart(info)) {
    const last = Math.max(whole(draft.get(placeKey(groupID))?.seq), seqsNow(draft, state, groupID).at(-1) ?? 0);
    if (seq > last + 1) {
      // Nobody knows what lies between: what is stored begins anew.
      deleteMessages(draft, state, groupID);
      draft.put(groupKey(groupID), Object.assign(row, { firstStored: seq }));
    }
  }
  if (seq > whole(info.lastSeq) || isOvertaken) {
    const isLast = seq > whole(info.lastSeq);
    info.lastSeq = Math.max(seq, whole(info.lastSeq));
    if (isLast && !message.isExcludedFromLastMessage && !message.toUserIDList) {
      Object.assign(info, { lastMessage: message, lastMessageTime: message.timestamp });
      row.activeAt = Math.max(whole(row.activeAt), whole(message.timestamp));
    }
    const counts = doesCount(info, message, state);
    if (counts) info.selfInfo.unreadCount = whole(info.selfInfo.unreadCount) + 1;
    if (info.selfInfo?.isHidden && (counts || doesMention(message, state))) delete info.selfInfo.isHidden;
    draft.put(groupKey(groupID), row);
  }
  const isNewer = !before || whole(before.changeSeq) < whole(message.changeSeq) + (isPage ? 1 : 0);
  if (isNewer && seq >= row.firstStored) draft.put(key, copyOf(message));
  // Messages of others before an own one may be still to come.
  if (!isAnswer) movePlace(draft, groupID, { seq });
  if (before) return;
  for (const { changeSeq, told, change } of state.missed.of(key)) changeMessage(draft, state, groupID, seq, changeSeq, told, change);
}

/** A message that has changed: `change` makes of it what it is now, by what is told. */
function changeMessage(draft, state, groupID, seq, changeSeq, told, change = () => told) {
  const row = draft.get(groupKey(groupID));
  if (!hasHistory(row)) return;
  const { info } = row;
  const key = messageKey(groupID, seq);
  const before = draft.get(key);
  const isNews = changeSeq > whole(info.changeSeq);
  if (before && changeSeq > whole(before.changeSeq)) {
    const after = change(copyOf(before));
    draft.put(key, { ...after, changeSeq });
    const countsLess = isNews && after.isRevoked && doesCount(info, before, state) && seq > whole(info.selfInfo.readSeq);
    if (countsLess) info.selfInfo.unreadCount = Math.max(0, whole(info.selfInfo.unreadCount) - 1);
  } else if (!before && changeSeq > 0 && seq >= row.firstStored) {
    // The answer to an own message may come behind the news of its recall.
    state.missed.keep(key, { changeSeq, told, change });
  }
  const isLast = info.lastMessage?.seq === seq && changeSeq > whole(info.lastMessage.changeSeq);
  if (isLast) info.lastMessage = { ...change(copyOf(info.lastMessage)), changeSeq };
  if (isNews) info.changeSeq = changeSeq;
  if (isNews || isLast) draft.put(groupKey(groupID), row);
  movePlace(draft, groupID, { changeSeq });
}

function without(row, ...names) {
  for (const name of names) delete row[name];
  return row;
}

/** What an event makes of its message. */
const messageChanges = {
  onRecvMessageRevoked: () => (message) =>
    ({ ...without(message, "text", "data", "extension", "reactions", "isPinned", "editTime"), isRevoked: true }),
  onRecvMessageModified: ({ message: edited }) => (message) => {
    for (const name of ["text", "data", "extension", "editTime"]) {
      if (edited[name] === undefined) delete message[name];
      else message[name] = edited[name];
    }
    return message;
  },
  onRecvMessageReactionsChanged: ({ reactions, reaction: changed, isAdded, opUser }, { userID }) => (message) => {
    const byMe = new Set((message.reactions ?? []).filter((one) => one.byMe).map(({ reaction }) => reaction));
    if (opUser?.userID === userID) byMe[isAdded ? "add" : "delete"](changed);
    const rows = Array.isArray(reactions) ? reactions.filter(isObject) : [];
    if (rows.length === 0) return without(message, "reactions");
    return { ...message, reactions: rows.map((row) => (byMe.has(row.reaction) ? { ...row, byMe: true } : row)) };
  },
  onGroupMessagePinned: ({ isPinned }) => (message) => (isPinned ? { ...message, isPinned } : without(message, "isPinned")),
};

/** The tip that an event tells of, as the history will have it. */
function tipOf(name, { groupID, seq, msgID, opTime, opUser, memberList, changeInfoList, memberCount, platform }, state, info) {
  const operator = opUser ?? memberList?.[0] ?? { userID: state.userID };
  return {
    msgID, groupID, seq, sender: operator.userID, timestamp: opTime, type: "GroupTips",
    tips: { type: tipTypes[name], opUser: operator, memberList, changeInfoList, memberCount: memberCount ?? info.memberCount },
    priority: "Normal", platform: platform ?? "Unknown",
  };
}

/** Members who are named by an event, with what it says of them. */
function namedMembers(name, { opTime, memberList, changeInfoList }) {
  const role = { onGrantAdministrator: "Admin", onRevokeAdministrator: "Member" }[name];
  if (name !== "onGroupMemberInfoChanged") return (memberList ?? []).map((one) => ({ ...(role ? { role } : {}), ...one }));
  const changes = Array.isArray(changeInfoList) ? changeInfoList.filter(isMember) : [];
  return changes.map(({ muteTime, ...change }) =>
    Number.isInteger(muteTime) ? { ...change, muteUntil: muteTime > 0 ? whole(opTime) + muteTime * 1000 : 0 } : change);
}

/** What a tip says of the group and its members. */
function changeGroup(draft, state, name, params) {
  const { groupID } = params;
  const row = draft.get(groupKey(groupID));
  if (!isMemberRow(row)) return;
  const { info } = row;
  if (name === "onGroupInfoChanged" && Array.isArray(params.changeInfoList)) {
    for (const { type, key, value } of params.changeInfoList.filter(isOf({ type: isText }))) {
      const field = type.slice(0, 1).toLowerCase() + type.slice(1);
      if (field === "customInfo") {
        info.customInfo = { ...info.customInfo, [key]: value };
        if (value === "") delete info.customInfo[key];
      } else if (!keptFields.has(field)) info[field] = value;
      if (field === "owner" && isObject(info.selfInfo)) {
        if (value === state.userID) info.selfInfo.role = "Owner";
        else if (info.selfInfo.role === "Owner") info.selfInfo.role = "Member";
      }
    }
  }
  // A live room has many, and is asked for its members.
  if (isKept(info) && Number.isInteger(params.memberCount)) info.memberCount = params.memberCount;
  const hasGone = name === "onMemberLeave" || name === "onMemberKicked";
  for (const member of namedMembers(name, params)) {
    if (!hasGone && member.userID === state.userID && isObject(info.selfInfo)) {
      const own = Object.entries(member).filter(([field, value]) => ownFields.has(field) && value !== undefined);
      Object.assign(info.selfInfo, Object.fromEntries(own));
    }
    if (!isKept(info) || !isIdentifier(member.userID)) continue;
    if (hasGone) draft.delete(memberKey(groupID, member.userID));
    else putMember(draft, state, groupID, member);
  }
  draft.put(groupKey(groupID), row);
}

function putMember(draft, state, groupID, member) {
  const key = memberKey(groupID, member.userID);
  const before = draft.get(key);
  if (!before && !state.mayAddMember(groupID, key)) return;
  draft.put(key, without({ ...before, ...member }, "isOnline"));
}

/** The names that a message or a list has of a user. They are written again where they are others, or an hour old. */
function putUser(draft, state, { userID, nickName = "", faceURL = "" }, seenAt) {
  const before = draft.get(userKey(userID));
  if (!before && !state.mayAddUser(userKey(userID))) return;
  const isSame = before && before.nickName === nickName && before.faceURL === faceURL && seenAt - whole(before.seenAt) < 3_600_000;
  if (!isSame) draft.put(userKey(userID), { userID, nickName, faceURL, seenAt });
}
const hasNames = ({ sender, nickName, faceURL }) => isIdentifier(sender) && (isText(nickName) || isText(faceURL));

function deleteMessages(draft, state, groupID, end = Infinity) {
  for (const seq of seqsNow(draft, state, groupID)) if (seq < end) draft.delete(messageKey(groupID, seq));
}

/** The group is one of the user's from now on: what was stored of an earlier membership is not what comes next. */
function enterGroup(draft, state, { info, position }) {
  const { groupID } = info;
  if (!isKept(info) && !isLiveRoom(info)) return;
  const before = draft.get(groupKey(groupID));
  const activeAt = Math.max(whole(info.lastMessageTime), whole(info.selfInfo?.joinTime));
  if (!isKept(info)) return draft.put(groupKey(groupID), { info, status: "member", firstStored: 0, activeAt });
  // Another tab has entered it already.
  const place = draft.get(placeKey(groupID));
  if (isMemberRow(before) && place?.epoch === position.epoch && place.seq >= position.seq) return;
  deleteMessages(draft, state, groupID);
  draft.put(groupKey(groupID), { info, status: "member", firstStored: position.seq + 1, activeAt });
  draft.put(placeKey(groupID), { ...position, own: [] });
}

function endGroup(draft, { groupID }, status, endedAt) {
  const row = draft.get(groupKey(groupID));
  // The last member who quits leaves no group behind.
  if (row?.status === "left" && status === "dismissed") draft.put(groupKey(groupID), { ...row, status });
  if (!isMemberRow(row)) return;
  if (isKept(row.info)) draft.put(groupKey(groupID), { ...row, info: without(row.info, "selfInfo"), status, endedAt: whole(endedAt) });
  else {
    draft.delete(groupKey(groupID));
    draft.ended.set(groupID, status);
  }
  draft.delete(placeKey(groupID));
}

/** The server's info takes the place of what was counted here, unless it was read before. */
function replaceInfo(draft, state, info) {
  const key = groupKey(info.groupID);
  const row = draft.get(key);
  if (!isMemberRow(row) || !isObject(info.selfInfo) || isKept(info) !== isKept(row.info)) return;
  const isBehind = ["lastSeq", "changeSeq"].some((name) => whole(info[name]) < whole(row.info[name]));
  if (info.epoch === row.info.epoch && isBehind) return;
  const activeAt = Math.max(whole(row.activeAt), whole(info.lastMessageTime), whole(info.selfInfo.joinTime));
  // What the user has cleared elsewhere, or the server keeps no longer, goes here, too.
  const firstStored = Math.max(row.firstStored, isKept(info) ? whole(info.firstSeq) : 0);
  if (firstStored > row.firstStored) deleteMessages(draft, state, info.groupID, firstStored);
  draft.put(key, { ...row, info, activeAt, firstStored });
}

/** A page of what was missed. `from`: where it begins. */
function syncGroup(draft, state, { groupID, recovered, messageList, changeList, info, position, from }) {
  const key = groupKey(groupID);
  if (info) replaceInfo(draft, state, info);
  if (info && !draft.get(key)) {
    // Its place was known without the group.
    enterGroup(draft, state, { info, position: { ...position, seq: from ?? position.seq } });
  }
  const row = draft.get(key);
  if (!hasHistory(row)) return;
  if (recovered) {
    for (const message of messageList) {
      const before = draft.get(messageKey(groupID, whole(message.seq)));
      if (before) changeMessage(draft, state, groupID, whole(message.seq), whole(message.changeSeq), message);
      addMessage(draft, state, groupID, message, { isPage: true });
    }
    for (const message of changeList) changeMessage(draft, state, groupID, whole(message.seq), whole(message.changeSeq), message);
    return movePlace(draft, groupID, position);
  }
  deleteMessages(draft, state, groupID);
  const isOther = row.info.epoch !== position.epoch;
  Object.assign(row.info, { epoch: position.epoch, lastSeq: isOther ? position.seq : Math.max(position.seq, whole(row.info.lastSeq)) });
  if (isOther && !info) delete row.info.lastMessage;
  draft.put(key, { ...row, firstStored: position.seq + 1 });
  draft.put(placeKey(groupID), { epoch: position.epoch, seq: position.seq, changeSeq: position.changeSeq, own: [] });
}

/** The user has read up to a message; what is behind it is counted where it is all here. */
function markRead(draft, state, { groupID, seq }) {
  const row = draft.get(groupKey(groupID));
  if (!hasHistory(row) || !isObject(row.info.selfInfo)) return;
  const { info, info: { selfInfo } } = row;
  const last = whole(info.lastSeq);
  delete selfInfo.isMarkedUnread;
  const readSeq = Math.max(whole(selfInfo.readSeq), Math.min(seq ?? last, last));
  if (readSeq >= last) selfInfo.unreadCount = 0;
  else if (readSeq > whole(selfInfo.readSeq) && readSeq + 1 >= row.firstStored) {
    const behind = seqsNow(draft, state, groupID).filter((one) => one > readSeq).map((one) => draft.get(messageKey(groupID, one)));
    selfInfo.unreadCount = behind.filter((message) => message && doesCount(info, message, state)).length;
  }
  selfInfo.readSeq = readSeq;
  draft.put(groupKey(groupID), row);
}

function setConversation(draft, state, params) {
  const key = groupKey(params.groupID);
  const row = draft.get(key);
  if (!isMemberRow(row)) return;
  changeConversation(row.info, params);
  if (Number.isInteger(params.clearedSeq) && isKept(row.info)) {
    row.firstStored = Math.max(row.firstStored, counted(params.clearedSeq) + 1);
    deleteMessages(draft, state, params.groupID, row.firstStored);
  }
  draft.put(key, row);
}

/** A page of the history that the application has asked for: its newest messages before the stored ones join them. */
function addHistory(draft, state, { groupID, fromSeq, messageList, isFinished }) {
  const key = groupKey(groupID);
  const row = draft.get(key);
  if (!hasHistory(row)) return;
  for (const message of messageList) {
    if (whole(message.seq) < row.firstStored) continue;
    changeMessage(draft, state, groupID, whole(message.seq), whole(message.changeSeq), message);
  }
  const older = messageList.filter(({ seq }) => whole(seq) > 0 && whole(seq) < row.firstStored).sort((one, other) => other.seq - one.seq);
  if (fromSeq > 0 && fromSeq < row.firstStored) return;
  const room = state.limits.messagesPerGroup - seqsNow(draft, state, groupID).length;
  const taken = older.slice(0, Math.max(0, room));
  for (const message of taken) draft.put(messageKey(groupID, message.seq), message);
  if (taken.length > 0) row.firstStored = taken.at(-1).seq;
  if (isFinished && taken.length === older.length) row.firstStored = Math.min(row.firstStored, Math.max(1, whole(row.info.firstSeq)));
  draft.put(key, row);
}

/** The answer to an own message, as the history has it. */
function addOwn(draft, state, { method, params, msgID, seq, timestamp, platform }) {
  const { groupID, replyTo, onlineUserOnly, firstSentAt, priority = "Normal", ...content } = params;
  const answered = replyTo && draft.get(messageKey(groupID, replyTo));
  addMessage(draft, state, groupID, {
    ...content, msgID, groupID, seq, sender: state.userID, timestamp,
    type: method === "sendGroupTextMessage" ? "Text" : "Custom", priority, platform,
    ...(replyTo ? { replyTo: { seq: replyTo, sender: answered?.sender ?? "" } } : {}),
  }, { isAnswer: true });
  const place = draft.get(placeKey(groupID));
  if (!place || seq <= place.seq) return;
  place.own = [...place.own, seq].sort((one, other) => one - other).slice(-mostOwnMessages);
  movePlace(draft, groupID, {});
}

/** What each event does, by its name; those of the client's own begin with a small letter. */
const storeRules = {
  onConversationChanged: setConversation,
  onConversationRead: (draft, state, { groupID, readSeq }) => markRead(draft, state, { groupID, seq: whole(readSeq) }),
  onReceiveMessageOptChanged(draft, state, { groupID, opt }) {
    const row = draft.get(groupKey(groupID));
    if (!isMemberRow(row) || !isObject(row.info.selfInfo)) return;
    row.info.selfInfo.receiveMessageOpt = opt;
    draft.put(groupKey(groupID), row);
  },
  onGroupDismissed: (draft, state, params) => endGroup(draft, params, "dismissed", params.opTime),
  onGroupRecycled: (draft, state, params) => endGroup(draft, params, "dismissed", params.opTime),
  onQuitFromGroup: (draft, state, params) => endGroup(draft, params, "left", params.opTime),
  onRecvNewMessage(draft, state, { groupID, message }) {
    addMessage(draft, state, groupID, message);
    if (hasNames(message)) putUser(draft, state, { ...message, userID: message.sender }, whole(message.timestamp));
  },
  ready() {},
  sync: syncGroup,
  entered: enterGroup,
  ended: (draft, state, params) => endGroup(draft, params, params.status, params.endedAt),
  marked: markRead,
  own: addOwn,
  history: addHistory,
  infos: (draft, state, { infoList }) => infoList.forEach((info) => replaceInfo(draft, state, info)),
  members(draft, state, { groupID, memberList }) {
    if (hasHistory(draft.get(groupKey(groupID)))) for (const member of memberList) putMember(draft, state, groupID, member);
  },
  users: (draft, state, { userList, seenAt }) => userList.forEach((user) => putUser(draft, state, user, seenAt)),
};

for (const [name, changeOf] of Object.entries(messageChanges)) {
  storeRules[name] = (draft, state, params) => {
    const seq = whole(params.seq ?? params.message?.seq);
    changeMessage(draft, state, params.groupID, seq, whole(params.changeSeq), params, changeOf(params, state));
  };
}

for (const name of Object.keys(tipTypes)) {
  storeRules[name] = (draft, state, params) => {
    const row = draft.get(groupKey(params.groupID));
    if (name === "onMemberKicked" && params.memberList?.some(({ userID }) => userID === state.userID)) {
      return endGroup(draft, params, "removed", params.opTime);
    }
    if (!isMemberRow(row)) return;
    const [seq, lastSeq] = [whole(params.seq), whole(row.info.lastSeq)];
    const isOvertaken = isBehindOwn(draft.get(placeKey(params.groupID)), seq, lastSeq) && !draft.get(messageKey(params.groupID, seq));
    // What the info has already is older than the info.
    if (seq === 0 || seq > lastSeq || isOvertaken) changeGroup(draft, state, name, params);
    if (seq > 0) addMessage(draft, state, params.groupID, tipOf(name, params, state, row.info));
  };
}

/** The seq of each message that an event may bring. */
function seqsIn({ seq, message, messageList, changeList, params }) {
  const listed = [messageList, changeList].filter(Array.isArray).flat().map((one) => one?.seq);
  return [seq, message?.seq, params?.replyTo, ...listed].filter((one) => whole(one) > 0);
}

/** The keys that an event may read and change. */
function keysOf(name, params, state) {
  if (name === "ready") return [];
  if (name === "users") return params.userList.map(({ userID }) => userKey(userID));
  if (name === "infos") {
    return params.infoList.flatMap(({ groupID }) => [groupKey(groupID), ...state.seqsOf(groupID).map((seq) => messageKey(groupID, seq))]);
  }
  const groupID = params.groupID ?? params.info?.groupID ?? params.params.groupID;
  const keys = [groupKey(groupID), placeKey(groupID), ...seqsIn(params).map((seq) => messageKey(groupID, seq))];
  if (needsWindow(name, params)) keys.push(...state.seqsOf(groupID).map((seq) => messageKey(groupID, seq)));
  if (name === "members") keys.push(...params.memberList.map(({ userID }) => memberKey(groupID, userID)));
  if (tipTypes[name]) for (const { userID } of namedMembers(name, params)) if (isIdentifier(userID)) keys.push(memberKey(groupID, userID));
  if (name === "onRecvNewMessage" && hasNames(params.message)) keys.push(userKey(params.message.sender));
  return keys;
}

/** Whether an event may delete, or has to count, all that is stored of its group. */
const needsWindow = (name, { recovered, clearedSeq, info }) =>
  ["entered", "marked", "onConversationRead"].includes(name) || (name === "sync" && (!recovered || info)) || clearedSeq !== undefined;

/** Deletes the oldest messages of a group beyond the limit. */
function trimGroup(draft, state, groupID) {
  const row = draft.get(groupKey(groupID));
  const seqs = seqsNow(draft, state, groupID);
  const surplus = seqs.slice(0, Math.max(0, seqs.length - state.limits.messagesPerGroup));
  if (surplus.length === 0 || !row) return;
  for (const seq of surplus) draft.delete(messageKey(groupID, seq));
  row.firstStored = Math.max(row.firstStored, surplus.at(-1) + 1);
  draft.put(groupKey(groupID), row);
}

/** The seqs of the messages that a draft leaves of a group, ascending. `state.seqsOf`: those that were stored before it. */
function seqsNow(draft, state, groupID) {
  const prefix = messagesKey(groupID);
  const seqs = new Set(state.seqsOf(groupID));
  // Another tab may have stored one.
  for (const [key, isThere] of draft.presence()) if (key.startsWith(prefix)) seqs[isThere ? "add" : "delete"](seqOf(key));
  return [...seqs].sort((one, other) => one - other);
}

/** What is told in this turn is stored with one update, up to so much. */
const eventsPerUpdate = 200;
/** Events that wait for the disk. Beyond, the stored messages of one group are given up. */
const mostUnstored = 10_000;
const membersPerGroup = 1_000;
const mostUsers = 20_000;
/** Changes that have overtaken the answers to own messages: messages, changes of each, and the length of what told of them. */
const mostMissed = 1_000;
const changesPerMessage = 10;
const largestMissed = 8_388_608;
/** What is stored of a live room, which has no history of its own. */
const liveEvents = new Set(["entered", "ended", "sync", "onGroupInfoChanged", "onMemberKicked", ...endEvents]);
const defaultLimits = { messagesPerGroup: 200, groups: 1_000, bytes: 67_108_864 };
const memoryBytes = 16_777_216;

/** Changes of messages that are not here, by the keys of these. Beyond the bounds those of other messages go, the oldest first. */
class MissedChanges {
  #changes = new Map();
  #size = 0;

  of(key) {
    return this.#changes.get(key) ?? [];
  }

  keep(key, { changeSeq, told, change }) {
    const size = JSON.stringify(told).length;
    const changes = this.of(key).filter((one) => one.changeSeq !== changeSeq);
    this.delete(key);
    const kept = [...changes, { changeSeq, told, change, size }].slice(-changesPerMessage);
    this.#changes.set(key, kept);
    this.#size += sizeOf(kept);
    for (const oldest of this.#changes.keys()) {
      if (this.#changes.size <= mostMissed && this.#size <= largestMissed) break;
      this.delete(oldest);
    }
  }

  delete(key) {
    this.#size -= sizeOf(this.of(key));
    this.#changes.delete(key);
  }

  clear() {
    this.#changes.clear();
    this.#size = 0;
  }
}
const sizeOf = (changes) => changes.reduce((sum, { size }) => sum + size, 0);

/** A rule that failed on what a server has said. */
class RuleFault extends Error {}

function guarded(act) {
  try {
    return act();
  } catch (error) {
    throw error instanceof StorageError ? error : new RuleFault(words(String(error)));
  }
}

/** The store of one user: what is told goes into it, in order, and what an application shows comes out. */
class LocalStore {
  /** Whether what is stored outlives the process. */
  isDurable;
  #storage;
  /** The storage of the application: `#storage` unless that has failed. */
  #given;
  #name;
  #limits;
  #client;
  /** Events, records of the outbox, and tasks, in their order. */
  #inbox = [];
  #isWorking = false;
  #opened = null;
  #isOpen = false;
  /** Whether the outbox of the storage is this tab's to send. */
  #hasOutbox = false;
  #isClosed = false;
  #isForgotten = false;
  /** The rows `g/` and `p/`, by groupID; and the first as they are stored. */
  #groups = new Map();
  #texts = new Map();
  #places = new Map();
  /** Groups that are stored, or will be when the inbox is empty: whether they are live rooms. */
  #kinds = new Map();
  /** Conversations that ended and that the user has entered again, which is not stored yet. */
  #entering = new Set();
  /** The seqs of stored messages, and how many members are stored, of groups that were asked for. */
  #seqs = new Map();
  #members = new Map();
  #userCount = null;
  /** Changes of messages that are not here yet, by their keys. */
  #missed = new MissedChanges();
  #summary = { toldUntil: 0, bytes: 0, order: 0 };
  /** Groups that the server has confirmed in this session; null = all. */
  #confirmed = new Set();
  #owner = newID();
  #unlock = () => {};
  #isLocked = false;
  #failures = { Full: 0, Corrupt: 0 };
  /** What the last eviction has left may be more than the limit: conversations themselves are not forgotten. */
  #leastBytes = 0;

  /** `client`: `userID`, `emit`, `placeOf`, and of the outbox `records` and `adopt`. */
  constructor(storage, name, limits, client) {
    this.#storage = this.#given = storage;
    this.isDurable = storage.isDurable;
    this.#name = name;
    this.#limits = { ...defaultLimits, ...(this.isDurable ? {} : { bytes: memoryBytes }), ...limits };
    this.#client = client;
  }

  /** The server's instant up to which all is stored; 0 = nothing is. */
  get toldUntil() {
    return this.#summary.toldUntil;
  }

  /** Opens the store; answers the rows of its outbox, and the positions. */
  open() {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  async #open() {
    for (;;) {
      try {
        await this.#storage.open(this.#name);
        this.#isOpen = true;
        return await this.#read();
      } catch (error) {
        await this.#endure(storageError(error));
      }
    }
  }

  async #read() {
    const meta = await this.#storage.get("meta");
    const { version = storeVersion } = meta === undefined ? {} : readRow("meta", meta);
    if (version > storeVersion) throw new StorageError("TooNew");
    for (let from = version; from < storeVersion; from += 1) {
      await this.#storage.update([], () => migrations[from]());
    }
    await this.#storage.update(["meta"], (values) =>
      values.has("meta") ? [] : [{ put: "meta", value: JSON.stringify({ version: storeVersion, name: this.#name }) }]);
    const read = async (prefix) => (await this.#storage.scan(allOf(prefix))).map(([key, text]) => [key, readRow(key, text)]);
    const summary = await this.#storage.get("s");
    const [groups, places] = [await read("g/"), await read("p/")];
    const outbox = await this.#take(await read("o/"));
    this.#hasOutbox = true;
    if (summary !== undefined) this.#summary = { ...this.#summary, ...readRow("s", summary) };
    for (const [key, row] of groups) this.#noteGroup(groupOf(key), row);
    for (const [key, row] of places) this.#places.set(groupOf(key), row);
    return { outbox, places: [...this.#places] };
  }

  // Failures

  /** Goes on without what has failed: with less, anew, or in memory. */
  async #endure(error) {
    const { reason } = error;
    const isFirst = reason in this.#failures && this.#failures[reason]++ === 0;
    if (reason === "Full" && isFirst) {
      try {
        return await this.#evict(0.5 * this.#summary.bytes);
      } catch (again) {
        return this.#endure(storageError(again));
      }
    }
    let lostOutbox = false;
    if (reason === "Corrupt" && isFirst) {
      try {
        const kept = await this.#rescue();
        lostOutbox = kept === null;
        await this.#storage.destroy();
        await this.#storage.open(this.#name);
        await this.#fill(kept ?? []);
        return this.#tellFailure(error, lostOutbox);
      } catch (again) {
        return this.#endure(storageError(again));
      }
    }
    // Nobody waits for it.
    this.#leave(this.#storage).catch(() => {});
    this.#storage = new MemoryStorage();
    this.isDurable = false;
    this.#limits.bytes = Math.min(this.#limits.bytes, memoryBytes);
    await this.#fill([]);
    this.#tellFailure(error, lostOutbox);
  }

  /** What waits in a storage leaves from memory: a later process that found it there would send it once more. */
  async #leave(storage) {
    const changes = this.#client.records().filter(({ key }) => this.#hasOutbox && key).map(({ key }) => ({ delete: key }));
    if (changes.length > 0) await storage.update([], () => changes).catch(() => {});
    await storage.close();
  }

  #tellFailure({ reason, message }, lostOutbox) {
    if (!this.#isForgotten) this.#client.emit("storageFailed", { reason, message, lostOutbox });
  }

  /** The outbox of a damaged store; null = it cannot be read. */
  async #rescue() {
    if (!this.#isOpen) return null;
    try {
      const rows = await this.#storage.scan(allOf("o/"));
      for (const [key, text] of rows) readRow(key, text);
      return rows;
    } catch {
      // The store is given up for the error that led here.
      return null;
    }
  }

  /** Writes what is known of groups into an empty storage; messages begin anew. */
  async #fill(outbox) {
    this.#seqs.clear();
    this.#members.clear();
    this.#userCount = null;
    const draft = new Draft(new Map());
    draft.put("meta", { version: storeVersion, name: this.#name });
    for (const [groupID, before] of this.#groups) {
      const row = { ...before, firstStored: this.#endOf(groupID, before) + 1 };
      this.#noteGroup(groupID, row);
      draft.put(groupKey(groupID), row);
    }
    for (const [groupID, row] of this.#places) draft.put(placeKey(groupID), row);
    const { changes, growth } = draft.changes();
    this.#summary.bytes = growth + outbox.reduce((sum, [key, text]) => sum + bytesOf(key) + bytesOf(text), 0);
    const rows = [...outbox, ["s", JSON.stringify(this.#summary)]];
    await this.#storage.update([], () => [...changes, ...rows.map(([put, value]) => ({ put, value }))]);
    // What is under way is written anew.
    if (this.isDurable) for (const record of this.#client.records()) this.save(record);
  }

  /** Up to where the messages of a group have been told. */
  #endOf(groupID, { info }) {
    return this.#places.get(groupID)?.seq ?? whole(info.lastSeq);
  }

  // Writing

  /** Takes an event of the server or the client. */
  take(name, params) {
    if (this.#isClosed || !Object.hasOwn(storeRules, name) || !this.#isOfUse(name, params)) return;
    this.#push({ name, params: copyOf(params) });
  }

  #isOfUse(name, { groupID, info }) {
    if (name === "users" || name === "infos" || name === "own") return true;
    if (info && !this.#kinds.has(info.groupID) && (isKept(info) || isLiveRoom(info))) this.#kinds.set(info.groupID, isLiveRoom(info));
    const isLive = this.#kinds.get(groupID ?? info?.groupID);
    return isLive !== undefined && (!isLive || liveEvents.has(name));
  }

  /** Brings a record of the outbox to the disk, or off it; resolves when that is done. */
  save(record) {
    if (!this.isDurable || this.#isClosed) return Promise.resolve();
    const { promise, resolve } = deferred();
    this.#push({ record, resolve });
    return promise;
  }

  /** An own message has arrived: it is stored, and leaves the outbox, in one update. */
  settle(record, message) {
    if (!this.#isClosed) this.#push({ name: "own", params: copyOf(message), record });
  }

  /** The answer of a task, behind all that was told before. */
  run(task) {
    if (this.#isClosed) return Promise.reject(new ClientError("Closed"));
    return new Promise((resolve, reject) => this.#push({ task, resolve, reject }));
  }

  #push(entry) {
    this.#inbox.push(entry);
    if (this.#inbox.length > mostUnstored) this.#dropMost();
    if (!this.#isWorking) this.#work();
  }

  /** The disk is too slow: the messages of the group that waits most begin anew behind what was told. */
  #dropMost() {
    const isEvent = ({ name, params }) => name !== undefined && name !== "own" && isText(params.groupID);
    const counts = new Map();
    for (const { params: { groupID } } of this.#inbox.filter(isEvent)) counts.set(groupID, (counts.get(groupID) ?? 0) + 1);
    const [[groupID] = []] = [...counts].sort(([, one], [, other]) => other - one);
    if (groupID === undefined) return;
    this.#inbox = this.#inbox.filter((entry) => !isEvent(entry) || entry.params.groupID !== groupID);
    const position = this.#client.placeOf(groupID);
    const params = { groupID, recovered: false, messageList: [], changeList: [], position };
    if (position) this.#inbox.push({ name: "sync", params });
    this.#tellFailure(new StorageError("Failed", `more was told than can be stored: the messages of ${groupID} begin anew`), false);
  }

  async #work() {
    this.#isWorking = true;
    await this.open();
    while (this.#inbox.length > 0) {
      const isTask = this.#inbox[0].task !== undefined;
      const next = this.#inbox.findIndex(({ task }) => task !== undefined);
      const batch = this.#inbox.splice(0, isTask ? 1 : Math.min(eventsPerUpdate, next < 0 ? Infinity : next));
      if (isTask) await this.#perform(batch[0]);
      else await this.#store(batch);
    }
    this.#isWorking = false;
  }

  async #perform({ task, resolve, reject }) {
    for (;;) {
      try {
        return resolve(await task(this.#storage));
      } catch (error) {
        if (!(error instanceof StorageError) || !this.isDurable) return reject(error);
        await this.#endure(error);
      }
    }
  }

  async #store(batch) {
    for (;;) {
      try {
        this.#tell(await this.#update(batch));
        break;
      } catch (error) {
        if (error instanceof RuleFault) return this.#pass(batch, error);
        await this.#endure(storageError(error));
      }
    }
    this.#failures.Full = 0;
    for (const { resolve } of batch) resolve?.();
    try {
      if (this.#isTooLarge) await this.#evict(0.9 * this.#limits.bytes);
    } catch (error) {
      await this.#endure(storageError(error));
    }
  }

  #tell(conversations) {
    for (const conversation of conversations) this.#client.emit("conversation", { conversation, source: "server" });
  }

  /** No rule fits what a server says: the rest is stored without it. */
  async #pass(batch, fault) {
    if (batch.length > 1) {
      for (const one of batch) await this.#store([one]);
      return;
    }
    this.#tellFailure(new StorageError("Failed", `${batch[0].name ?? "a message"} cannot be stored: ${fault.message}`), false);
    batch[0].resolve?.();
  }

  /** Stores events and records; answers the conversations that are others now. */
  async #update(batch) {
    const state = await this.#stateFor(batch);
    const told = Math.max(...batch.map(({ name, params }) => (name === "ready" ? whole(params.toldUntil) : 0)));
    let draft, fault;
    const act = () => {
      for (const { name, params, record } of batch) {
        if (name) storeRules[name](draft, state, params);
        if (record?.key) this.#writeRecord(draft, record);
      }
      for (const groupID of state.groupIDs) trimGroup(draft, state, groupID);
    };
    const keys = guarded(() => this.#keysFor(batch, state));
    await this.#write(keys, (texts) => {
      draft = new Draft(texts);
      try {
        guarded(act);
      } catch (error) {
        fault = error;
        throw error;
      }
      return draft;
    }, told).catch((error) => Promise.reject(fault ?? error));
    for (const { name, params } of batch) if (name === "entered") this.#entering.delete(params.info.groupID);
    return this.#note(draft, state);
  }

  #keysFor(batch, state) {
    const keys = new Set();
    for (const { name, params, record } of batch) {
      if (name) for (const key of keysOf(name, params, state)) keys.add(key);
      if (record && this.isDurable) keys.add((record.key ??= outboxKey(++this.#summary.order, record.message.clientMsgID)));
    }
    // The oldest may have to go, or all.
    for (const groupID of state.groupIDs) {
      if (state.inPart.has(groupID)) for (const seq of state.seqsOf(groupID)) keys.add(messageKey(groupID, seq));
      const brought = [...keys].filter((key) => key.startsWith(messagesKey(groupID))).length;
      for (const seq of state.seqsOf(groupID).slice(0, brought)) keys.add(messageKey(groupID, seq));
    }
    return [...keys];
  }

  /** One update, with what it does to the size of the store. */
  async #write(keys, decide, told = 0) {
    let summary;
    await this.#storage.update(["s", ...keys], (texts) => {
      const { changes, growth } = decide(texts).changes();
      const stored = texts.has("s") ? readRow("s", texts.get("s")) : this.#summary;
      if (changes.length === 0 && told <= whole(stored.toldUntil)) return [];
      summary = {
        toldUntil: Math.max(whole(stored.toldUntil), told), bytes: Math.max(0, whole(stored.bytes) + growth),
        order: Math.max(whole(stored.order), this.#summary.order),
      };
      return [...changes, { put: "s", value: JSON.stringify(summary) }];
    });
    if (summary) this.#summary = summary;
  }

  #writeRecord(draft, record) {
    const row = rowOf(record, this.#owner);
    if (row) draft.put(record.key, row);
    else draft.delete(record.key);
  }

  /** What the rules have to know of what is stored beside the rows. */
  async #stateFor(batch) {
    const named = batch.filter(({ name }) => name !== undefined);
    const groupIDs = new Set(named.map(({ params }) => params.groupID ?? params.info?.groupID ?? params.params?.groupID).filter(isText));
    for (const { groupID, firstSeq } of named.flatMap(({ params }) => params.infoList ?? [])) {
      if (whole(firstSeq) > (this.#groups.get(groupID)?.firstStored ?? Infinity)) groupIDs.add(groupID);
    }
    const isNewOption = ({ name, params }, groupID) => name === "onReceiveMessageOptChanged" && params.groupID === groupID;
    const inPart = new Set([...groupIDs].filter((groupID) =>
      isHeardInPart(this.#groups.get(groupID)?.info) || named.some((one) => isNewOption(one, groupID))));
    for (const groupID of groupIDs) {
      if (this.#kinds.get(groupID) !== false || this.#seqs.has(groupID)) continue;
      this.#seqs.set(groupID, (await this.#storage.scan(allOf(messagesKey(groupID)))).map(([key]) => seqOf(key)));
    }
    for (const { name, params } of named) {
      if (name !== "members" && !tipTypes[name]) continue;
      const { groupID } = params;
      if (this.#members.has(groupID)) continue;
      this.#members.set(groupID, (await this.#storage.scan({ ...allOf(membersKey(groupID)), limit: membersPerGroup })).length);
    }
    if (this.#userCount === null && named.some(({ name, params }) => name === "users" || hasNames(params.message ?? {}))) {
      this.#userCount = (await this.#storage.scan({ ...allOf("U/"), limit: mostUsers })).length;
    }
    const [members, users] = [new Set(), new Set()];
    const countIn = (groupID) => [...members].filter((key) => key.startsWith(membersKey(groupID))).length;
    return {
      userID: this.#client.userID(), limits: this.#limits, groupIDs, inPart, missed: this.#missed,
      seqsOf: (groupID) => this.#seqs.get(groupID) ?? [],
      mayAddMember: (groupID, key) =>
        (this.#members.get(groupID) ?? 0) + countIn(groupID) < membersPerGroup && Boolean(members.add(key)),
      mayAddUser: (key) => this.#userCount + users.size < mostUsers && Boolean(users.add(key)),
    };
  }

  /** Keeps in mind what was stored; answers the conversations that are others now. */
  #note(draft, state) {
    for (const groupID of state.groupIDs) if (this.#seqs.has(groupID)) this.#seqs.set(groupID, seqsNow(draft, state, groupID));
    for (const { key, growth } of draft.written) {
      const groupID = groupOf(key);
      if (key.startsWith("u/")) this.#members.set(groupID, (this.#members.get(groupID) ?? 0) + growth);
      if (key.startsWith("U/")) this.#userCount += growth;
    }
    const conversations = [];
    for (const [key, isThere] of draft.presence()) {
      const groupID = groupOf(key);
      if (isThere) this.#missed.delete(key);
      if (key.startsWith("p/")) this.#places[draft.get(key) ? "set" : "delete"](groupID, draft.get(key));
      // What another tab has stored is news to this one.
      if (!key.startsWith("g/") || draft.textOf(key) === this.#texts.get(groupID)) continue;
      const row = draft.get(key);
      // A live room that the user has left is not stored.
      const shown = row ?? { ...this.#groups.get(groupID), status: draft.ended.get(groupID) ?? "left" };
      this.#noteGroup(groupID, row);
      this.#confirmed?.add(groupID);
      conversations.push(this.#shown(groupID, shown));
    }
    return conversations;
  }

  #noteGroup(groupID, row) {
    if (row) this.#kinds.set(groupID, !isKept(row.info));
    else this.#kinds.delete(groupID);
    this.#groups[row ? "set" : "delete"](groupID, row);
    this.#texts[row ? "set" : "delete"](groupID, JSON.stringify(row));
  }

  // Bounds

  get #isTooLarge() {
    if (this.#summary.bytes > Math.max(this.#limits.bytes, this.#leastBytes)) return true;
    return this.#groups.size > this.#limits.groups && this.#surplus.length > 0;
  }

  /** Conversations beyond the number that may be kept: those that ended, or those whose messages are still there. */
  get #surplus() {
    const count = this.#groups.size - this.#limits.groups;
    if (count <= 0) return [];
    const victims = this.#victims.slice(0, count);
    return victims.filter(([groupID, row]) => !isMemberRow(row) || this.#seqs.get(groupID)?.length !== 0);
  }

  /** Groups in the order in which they are forgotten: ended ones, then those that are quiet for longest, pinned ones last. */
  get #victims() {
    const rank = ([, { status, info }]) => (status !== "member" ? 0 : info.selfInfo?.isPinned ? 2 : 1);
    const time = ([, { endedAt, activeAt }]) => whole(endedAt ?? activeAt);
    return [...this.#groups].filter(([, { info }]) => isKept(info))
      .sort((one, other) => rank(one) - rank(other) || time(one) - time(other));
  }

  /** Forgets what an application misses least, until the store is so small. */
  async #evict(bytes) {
    for (const [groupID, row] of this.#surplus) await this.#forget(groupID, { isWhole: !isMemberRow(row) });
    const passes = [
      (groupID) => this.#forget(groupID, { newest: 20 }),
      (groupID) => this.#erase(membersKey(groupID)),
      (groupID, row) => !isMemberRow(row) && this.#forget(groupID, { isWhole: true }),
      null,
      (groupID, row) => this.#forget(groupID, {}),
    ];
    for (const pass of passes) {
      if (pass === null) await this.#eraseUsers(bytes);
      else for (const [groupID, row] of this.#victims) if (this.#summary.bytes > bytes) await pass(groupID, row);
    }
    this.#leastBytes = 1.1 * this.#summary.bytes;
  }

  /** Deletes a group's stored messages but the newest, or all that is stored of it. */
  async #forget(groupID, { newest = 0, isWhole = false }) {
    const keys = (await this.#storage.scan(allOf(messagesKey(groupID)))).map(([key]) => key);
    const victims = keys.slice(0, Math.max(0, keys.length - newest));
    await this.#delete(victims, groupID, (draft, row) => {
      if (isWhole) return draft.delete(groupKey(groupID));
      const end = newest > 0 ? seqOf(victims.at(-1) ?? digits(0)) : this.#endOf(groupID, row);
      draft.put(groupKey(groupID), { ...row, firstStored: Math.max(row.firstStored, end + 1) });
    });
    this.#seqs.set(groupID, keys.slice(victims.length).map(seqOf));
    if (newest === 0) await this.#erase(membersKey(groupID));
  }

  async #erase(prefix) {
    await this.#delete((await this.#storage.scan(allOf(prefix))).map(([key]) => key));
    this.#members.clear();
  }

  async #eraseUsers(bytes) {
    const rows = (await this.#storage.scan(allOf("U/"))).map(([key, text]) => [key, readRow(key, text)]);
    rows.sort(([, one], [, other]) => whole(one.seenAt) - whole(other.seenAt));
    for (const part of slices(rows, 500)) {
      if (this.#summary.bytes <= bytes) return;
      await this.#delete(part.map(([key]) => key));
      this.#userCount = null;
    }
  }

  /** Deletes rows; `act` changes that of their group. */
  async #delete(victims, groupID, act) {
    let draft;
    const keys = groupID === undefined ? victims : [...victims, groupKey(groupID)];
    await this.#write(keys, (texts) => {
      draft = new Draft(texts);
      for (const key of victims) draft.delete(key);
      const row = groupID === undefined ? undefined : draft.get(groupKey(groupID));
      if (row) act(draft, row);
      return draft;
    });
    if (groupID !== undefined) this.#noteGroup(groupID, draft.get(groupKey(groupID)));
  }

  // The outbox of several tabs

  /** The rows of the outbox that are this tab's now: those that no living one owns. */
  async #take(rows) {
    const { locks } = globalThis.navigator ?? {};
    const lockOf = (owner) => `throng:${this.#name}:${owner}`;
    if (locks && this.isDurable && !this.#isLocked) {
      this.#isLocked = true;
      await new Promise((resolve) => {
        const held = () => {
          resolve();
          return new Promise((unlock) => (this.#unlock = unlock));
        };
        // Where a browser has none for this page, the clientMsgID keeps double sends harmless.
        locks.request(lockOf(this.#owner), held).catch(resolve);
      });
    }
    const owners = new Set(rows.map(([, { owner }]) => owner));
    owners.delete(this.#owner);
    for (const owner of locks ? owners : []) {
      if (!(await locks.request(lockOf(owner), { ifAvailable: true }, (lock) => lock !== null))) owners.delete(owner);
    }
    const keys = rows.filter(([, { owner }]) => owners.has(owner)).map(([key]) => key);
    if (keys.length === 0) return [];
    let taken;
    await this.#write(keys, (texts) => {
      const draft = new Draft(texts);
      // A row may be another tab's by now, or sent.
      taken = keys.filter((key) => owners.has(draft.get(key)?.owner)).map((key) => [key, { ...draft.get(key), owner: this.#owner }]);
      for (const [key, row] of taken) draft.put(key, row);
      return draft;
    });
    return taken;
  }

  /** After each resume: what tabs that are gone have left. */
  takeOver() {
    if (!this.isDurable || !globalThis.navigator?.locks) return;
    const task = async (storage) => {
      const rows = (await storage.scan(allOf("o/"))).map(([key, text]) => [key, readRow(key, text)]);
      this.#client.adopt(await this.#take(rows));
    };
    this.run(task).catch((error) => {
      if (!(error instanceof StorageError) && !(error instanceof ClientError)) throw error;
    });
  }

  // Sessions

  /** Whether a message to the group cannot arrive any more. */
  hasEnded(groupID) {
    const row = this.#groups.get(groupID);
    return row !== undefined && !isMemberRow(row) && !this.#entering.has(groupID);
  }

  /** The user is in the group again, whatever is stored yet. */
  enter(groupID) {
    if (this.hasEnded(groupID)) this.#entering.add(groupID);
  }

  /** The groups are as the server has them, up to this instant. */
  confirm(toldUntil) {
    this.#confirmed = null;
    if (!this.#isClosed) this.#push({ name: "ready", params: { toldUntil } });
  }

  endSession() {
    this.#confirmed = new Set();
  }

  /** Live rooms that the user was in. */
  get liveRooms() {
    return [...this.#groups].filter(([, { info }]) => !isKept(info)).map(([groupID]) => groupID);
  }

  isLive(groupID) {
    return this.#kinds.get(groupID) === true;
  }

  isKnown(groupID) {
    return isMemberRow(this.#groups.get(groupID));
  }

  /** Stores what waits, and ends. */
  close() {
    if (this.#isClosed) return;
    this.#push({ task: (storage) => storage.close(), resolve: this.#unlock, reject: this.#unlock });
    this.#isClosed = true;
  }

  /** Destroys the store, whatever else happens; rejects where it cannot be. */
  async forget() {
    this.#isClosed = this.#isForgotten = true;
    for (const { resolve, reject } of this.#inbox.splice(0)) (reject ?? resolve)?.(new ClientError("Closed"));
    let fault;
    // Also one that has failed meanwhile.
    const task = async (storage) => {
      for (const one of new Set([storage, this.#given])) await one.destroy().catch((error) => (fault = error));
    };
    // Behind the update under way.
    await new Promise((resolve, reject) => this.#push({ task, resolve, reject }));
    for (const map of [this.#groups, this.#texts, this.#places, this.#missed, this.#seqs, this.#kinds]) map.clear();
    this.#unlock();
    if (fault) throw fault;
  }

  // Reading

  #shown(groupID, { info, status, endedAt }) {
    const isConfirmed = this.#confirmed === null || this.#confirmed.has(groupID);
    return {
      groupID, info: copyOf(info), status, canSend: status === "member", ...(endedAt === undefined ? {} : { endedAt }),
      source: isConfirmed ? "server" : "stored",
    };
  }

  /** The conversations as a list shows them: pinned ones first, then those with the last message. */
  conversations(isHiddenShown = false) {
    const order = ([, { info, activeAt }]) => [Number(info.selfInfo?.isPinned === true), whole(activeAt)];
    return [...this.#groups].filter(([, { info }]) => isHiddenShown || !info.selfInfo?.isHidden)
      .map((one) => [order(one), one])
      .sort(([one], [other]) => other[0] - one[0] || other[1] - one[1])
      .map(([, [groupID, row]]) => this.#shown(groupID, row));
  }

  conversation(groupID) {
    const row = this.#groups.get(groupID);
    return row && this.#shown(groupID, row);
  }

  /** The newest stored messages before a place, ascending, and where they begin. */
  messages(groupID, before, count) {
    return this.run(async (storage) => {
      const row = this.#groups.get(groupID);
      if (!row) return null;
      const prefix = messagesKey(groupID);
      const to = before === undefined ? `${prefix}~` : prefix + digits(Math.max(0, before));
      const rows = await storage.scan({ from: prefix + digits(row.firstStored), to, limit: count, isDescending: true });
      return { row, messageList: rows.reverse().map(([key, text]) => readRow(key, text)) };
    });
  }

  members(groupID) {
    return this.run(async (storage) => (await storage.scan(allOf(membersKey(groupID)))).map(([key, text]) => readRow(key, text)));
  }

  member(groupID, userID) {
    return this.#row(memberKey(groupID, userID));
  }

  profile(userID) {
    return this.#row(userKey(userID));
  }

  #row(key) {
    return this.run(async (storage) => {
      const text = await storage.get(key);
      return text === undefined ? undefined : readRow(key, text);
    });
  }

  /** Resolves when all that was told before is stored. */
  flush() {
    return this.run(() => {});
  }
}

/** A record of the outbox as it is stored; nothing where it has come to its end. */
function rowOf({ message, method, params, firstSentAt, after: position, key, isForgotten }, owner) {
  const { clientMsgID, state, createdAt, error } = message;
  if (isForgotten || state === "stored" || state === "delivered") return undefined;
  const hasFailed = state === "failed" || state === "dropped";
  const reason = state === "dropped" ? { reason: "Dropped" } : {};
  const { code, temporary, field, retryAfterMs } = error ?? {};
  const told = { message: error?.serverMessage ?? error?.message ?? "", data: { temporary, field, retryAfterMs } };
  const failure = hasFailed && { code, reason: error?.reason, ...reason, ...told };
  return {
    clientMsgID, method, params, createdAt, order: Number(key.split("/")[1]), owner, state: hasFailed ? "failed" : "sending",
    ...(firstSentAt > 0 ? { firstSentAt, after: position } : {}), ...(failure ? { error: failure } : {}),
  };
}

