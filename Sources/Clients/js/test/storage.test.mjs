// Storages, and what a store does with one that fails.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryStorage, Storage, StorageError } from "../throng-storage.js";
import { contract } from "./contract.mjs";
import { contents, stub } from "./support.mjs";

for (const [name, run] of Object.entries(contract)) test(`in memory, ${name}`, () => run(() => new MemoryStorage()));

/** A storage that outlives its store, as a disk does, and fails as a test says. */
class Disk extends Storage {
  rows = new MemoryStorage();
  /** By the name of a method: what it throws. */
  faults = {};
  isOpen = false;

  #fail(name) {
    const fault = this.faults[name];
    if (fault) throw typeof fault === "function" ? fault() : fault;
  }

  async open() {
    this.#fail("open");
    this.isOpen = true;
  }

  async get(key) {
    this.#fail("get");
    return this.rows.get(key);
  }

  async scan(range) {
    this.#fail("scan");
    return this.rows.scan(range);
  }

  async update(keys, decide) {
    this.#fail("update");
    return this.rows.update(keys, decide);
  }

  async close() {
    this.isOpen = false;
  }

  async destroy() {
    this.#fail("destroy");
    this.rows = new MemoryStorage();
    this.isOpen = false;
  }
}

const info = (groupID, more = {}) => ({
  groupID, groupType: "Public", groupName: "group", owner: "bob", lastSeq: 0, firstSeq: 1, changeSeq: 0, epoch: "e", memberCount: 2,
  lastMessageTime: 0, selfInfo: { role: "Member", joinTime: 1, readSeq: 0, unreadCount: 0, receiveMessageOpt: "Receive" }, ...more,
});
const position = (seq = 0, changeSeq = 0) => ({ epoch: "e", seq, changeSeq });
const message = (groupID, seq, more = {}) =>
  ({ msgID: `${groupID}-${seq}`, groupID, seq, sender: "bob", timestamp: 1000 + seq, type: "Text", text: "hello", ...more });
const told = (groupID, seq, more) => ({ groupID, opTime: 1000 + seq, message: message(groupID, seq, more) });
const key = (groupID, seq) => `m/${groupID}/${String(seq).padStart(16, "0")}`;

async function opened(disk, limits, more) {
  const client = stub(more);
  const store = disk.makeStore("ws://host/ws|ann", limits, client);
  const found = await store.open();
  return { store, client, ...found };
}

async function entered(disk, groupIDs, limits, more) {
  const one = await opened(disk, limits, more);
  for (const groupID of groupIDs) one.store.take("entered", { info: info(groupID), position: position() });
  await one.store.flush();
  return one;
}

const failures = ({ told: events }) => events.filter(([name]) => name === "storageFailed").map(([, { reason, lostOutbox }]) => [reason, lostOutbox]);

test("what was stored is shown by the next store, and told nobody twice", async () => {
  const disk = new Disk();
  const { store, client } = await entered(disk, ["g"]);
  for (let seq = 1; seq <= 3; seq += 1) store.take("onRecvNewMessage", told("g", seq));
  await store.flush();
  assert.equal(client.told.filter(([name]) => name === "conversation").length, 2, "events of one turn are one update");
  const next = await opened(disk);
  assert.deepEqual(next.places, [["g", { epoch: "e", seq: 3, changeSeq: 0, own: [] }]]);
  const [shown] = next.store.conversations();
  assert.deepEqual([shown.status, shown.canSend, shown.source, shown.info.selfInfo.unreadCount], ["member", true, "stored", 3]);
  const { messageList } = await next.store.messages("g", undefined, 2);
  assert.deepEqual(messageList.map(({ seq }) => seq), [2, 3]);
  assert.deepEqual((await next.store.messages("g", 3, 50)).messageList.map(({ seq }) => seq), [1, 2]);
  assert.equal(await next.store.messages("elsewhere", undefined, 2), null);
});

test("what the application does with an event is its own", async () => {
  const disk = new Disk();
  const { store } = await entered(disk, ["g"]);
  const event = told("g", 1);
  store.take("onRecvNewMessage", event);
  event.message.text = "changed";
  event.message.self = event;
  await store.flush();
  assert.equal((await contents(disk.rows))[key("g", 1)].text, "hello");
  const [shown] = store.conversations();
  shown.info.groupName = "changed";
  assert.equal(store.conversation("g").info.groupName, "group");
});

test("the bytes that a store counts are those that it has", async () => {
  const disk = new Disk();
  const { store } = await entered(disk, ["g", "h"], { messagesPerGroup: 5 });
  for (let seq = 1; seq <= 12; seq += 1) store.take("onRecvNewMessage", told("g", seq, { text: "é".repeat(seq), nickName: `n${seq}` }));
  await store.flush();
  store.take("onRecvMessageRevoked", { groupID: "g", opTime: 1, seq: 10, changeSeq: 1 });
  store.take("onGroupDismissed", { groupID: "h", opTime: 5 });
  store.take("members", { groupID: "g", memberList: [{ userID: "ä", isOnline: true }, { userID: "b" }] });
  await store.flush();
  const rows = await disk.rows.scan({ from: "", to: "~" });
  const size = (text) => new TextEncoder().encode(text).length;
  const sum = rows.filter(([one]) => one !== "meta" && one !== "s").reduce((all, [one, value]) => all + size(one) + size(value), 0);
  const found = await contents(disk.rows);
  assert.equal(found.s.bytes, sum);
  assert.deepEqual(Object.keys(found).filter((one) => one.startsWith("m/g/")).length, 5);
  assert.deepEqual(found["u/g/%C3%A4"], { userID: "ä" });
});

test("a store that is too large forgets the quiet conversations first, and pinned ones last", async () => {
  const disk = new Disk();
  const { store } = await entered(disk, ["a", "b", "c"], { bytes: 20_000 });
  store.take("onConversationChanged", { groupID: "a", opTime: 1, isPinned: true });
  let seq = 0;
  for (const groupID of ["a", "b", "c"]) {
    for (let each = 1; each <= 8; each += 1) store.take("onRecvNewMessage", { groupID, opTime: 1, message: message(groupID, each, { timestamp: ++seq, text: "x".repeat(1_000) }) });
  }
  await store.flush();
  const found = await contents(disk.rows);
  assert.ok(found.s.bytes <= 18_000);
  const kept = (groupID) => Object.keys(found).filter((one) => one.startsWith(`m/${groupID}/`)).length;
  assert.deepEqual([kept("a"), kept("b"), kept("c")], [8, 0, 0].map((count, index) => (index === 2 ? kept("c") : count)));
  assert.ok(found["g/b"].firstStored === 9 && found["p/b"].seq === 8, "the place stays");
  // What comes next is stored again.
  store.take("onRecvNewMessage", told("b", 9));
  await store.flush();
  assert.deepEqual((await store.messages("b", undefined, 50)).messageList.map((one) => one.seq), [9]);
});

test("ended conversations beyond the limit go whole, a member's group never", async () => {
  const disk = new Disk();
  const { store } = await entered(disk, ["a", "b", "c", "d"], { groups: 2 });
  for (const groupID of ["a", "b"]) store.take("onRecvNewMessage", told(groupID, 1));
  store.take("onQuitFromGroup", { groupID: "c", opTime: 9 });
  await store.flush();
  const found = await contents(disk.rows);
  assert.deepEqual(Object.keys(found).filter((one) => one.startsWith("g/")), ["g/a", "g/b", "g/d"]);
});

test("a full storage is made smaller once, and then done without", async () => {
  const disk = new Disk();
  const { store, client } = await entered(disk, ["a", "b"]);
  for (let seq = 1; seq <= 30; seq += 1) for (const groupID of ["a", "b"]) store.take("onRecvNewMessage", told(groupID, seq));
  await store.flush();
  const before = (await contents(disk.rows)).s.bytes;
  let left = 1;
  disk.faults.update = () => (left-- > 0 ? new StorageError("Full") : undefined);
  const fail = disk.faults.update;
  Object.defineProperty(disk.faults, "update", { get: () => (left > 0 ? fail : undefined), configurable: true });
  store.take("onRecvNewMessage", told("a", 31));
  await store.flush();
  assert.ok((await contents(disk.rows)).s.bytes < 0.6 * before);
  assert.deepEqual([failures(client), store.isDurable], [[], true]);
  Object.defineProperty(disk.faults, "update", { value: new StorageError("Full") });
  store.take("onRecvNewMessage", told("a", 32));
  await store.flush();
  assert.deepEqual([failures(client), store.isDurable], [[["Full", false]], false]);
  store.take("onRecvNewMessage", told("a", 33));
  const shown = (await store.messages("a", undefined, 50)).messageList.map((one) => one.seq);
  assert.deepEqual(shown.slice(-2), [32, 33]);
  assert.equal(store.conversation("a").info.selfInfo.unreadCount, 33);
});

for (const [reason, method] of [["Refused", "open"], ["InUse", "open"], ["Failed", "update"], ["TooNew", "open"]]) {
  test(`a storage that fails with ${reason} is done without`, async () => {
    const disk = new Disk();
    disk.faults[method] = new StorageError(reason);
    const { store, client } = await entered(disk, ["g"]);
    assert.deepEqual(failures(client), [[reason, false]]);
    store.take("onRecvNewMessage", told("g", 1));
    assert.equal((await store.messages("g", undefined, 1)).messageList[0].seq, 1);
    assert.deepEqual(failures(client).length, 1);
  });
}

test("what waits in a storage that is left is sent from memory alone", async () => {
  const disk = new Disk();
  const record = {
    message: { clientMsgID: "c", state: "sending", createdAt: 1 }, method: "sendGroupTextMessage", params: { groupID: "g", text: "t" },
  };
  const { store, client } = await entered(disk, ["g"], {}, { records: () => [record] });
  await store.save(record);
  // Another tab's row stays where it is.
  await disk.rows.update([], () => [{ put: "o/0000000000000009/other", value: "{}" }]);
  const waiting = async () => Object.keys(await contents(disk.rows)).filter((one) => one.startsWith("o/"));
  assert.equal((await waiting()).length, 2);
  disk.faults.scan = new StorageError("Failed");
  await store.messages("g", undefined, 1);
  await new Promise(setImmediate);
  assert.deepEqual([failures(client), await waiting(), disk.isOpen], [[["Failed", false]], ["o/0000000000000009/other"], false]);
});

test("any other fault is Failed", async () => {
  const disk = new Disk();
  disk.faults.open = new RangeError("what?");
  const { client } = await opened(disk);
  assert.deepEqual(client.told.map(([name, { reason, message: words }]) => [name, reason, words]), [["storageFailed", "Failed", "what?"]]);
});

test("a store of a later version is not touched", async () => {
  const disk = new Disk();
  await disk.rows.update([], () => [{ put: "meta", value: '{"version":2}' }, { put: "x", value: "?" }]);
  const { store, client } = await entered(disk, ["g"]);
  assert.deepEqual(failures(client), [["TooNew", false]]);
  assert.deepEqual(await disk.rows.scan({ from: "", to: "~" }), [["meta", '{"version":2}'], ["x", "?"]]);
  assert.equal(store.conversation("g").status, "member");
});

for (const [row, value] of [["g/g", "no JSON"], ["g/g", "[]"], ["g/g", '{"info":{"groupID":7}}'], ["p/g", "7"], ["p/g", '{"seq":"1","changeSeq":0,"own":[]}'], ["s", "null"], ["meta", "?"]]) {
  test(`a row ${row} of ${value} begins the store anew, and keeps the outbox`, async () => {
    const disk = new Disk();
    await entered(disk, ["g"]);
    const waiting = { clientMsgID: "c", method: "sendGroupTextMessage", params: { groupID: "g", text: "t" }, owner: "gone", order: 1, state: "sending" };
    await disk.rows.update([], () => [{ put: row, value }, { put: "o/0000000000000001/c", value: JSON.stringify(waiting) }]);
    const { store, client, outbox } = await opened(disk);
    assert.deepEqual(failures(client), [["Corrupt", false]]);
    assert.deepEqual(store.conversations(), []);
    assert.deepEqual(outbox.map(([, { clientMsgID }]) => clientMsgID), ["c"]);
    assert.equal(store.isDurable, true);
  });
}

test("an outbox that cannot be read is lost, and said to be", async () => {
  const disk = new Disk();
  await entered(disk, ["g"]);
  await disk.rows.update([], () => [{ put: "o/0000000000000001/c", value: "{}" }]);
  const { client, outbox } = await opened(disk);
  assert.deepEqual([failures(client), outbox], [[["Corrupt", true]], []]);
});

test("a store that is damaged twice is done without", async () => {
  const disk = new Disk();
  const { store, client } = await entered(disk, ["g"]);
  for (const seq of [1, 2]) {
    await disk.rows.update([], () => [{ put: "p/g", value: "?" }]);
    store.take("onRecvNewMessage", told("g", seq));
    await store.flush();
  }
  assert.deepEqual([failures(client), store.isDurable], [[["Corrupt", false], ["Corrupt", false]], false]);
  assert.equal(store.conversation("g").info.lastSeq, 2);
});

test("an event that no rule fits is passed over, and the others are stored", async () => {
  const disk = new Disk();
  const { store, client } = await entered(disk, ["g"]);
  store.take("onRecvNewMessage", told("g", 1));
  store.take("sync", { groupID: "g", recovered: true, messageList: [null], changeList: [], position: position(2) });
  store.take("onRecvNewMessage", told("g", 3));
  await store.flush();
  assert.deepEqual(failures(client), [["Failed", false]]);
  assert.deepEqual((await store.messages("g", undefined, 9)).messageList.map((one) => one.seq), [1, 3]);
  assert.equal(store.isDurable, true);
});

test("hostile infos reach nothing that they should not", async () => {
  const disk = new Disk();
  const { store } = await entered(disk, ["g"]);
  const changes = ["__proto__", "SelfInfo", "Epoch", "LastSeq", "GroupID", "Constructor", "CustomInfo"].map((type) => ({ type, key: "__proto__", value: { evil: true } }));
  store.take("onGroupInfoChanged", { groupID: "g", opTime: 1, seq: 1, changeInfoList: [...changes, null, 7, { type: "GroupName", value: "named" }] });
  await store.flush();
  const shown = store.conversation("g");
  assert.deepEqual([shown.info.groupName, shown.info.groupID, shown.info.epoch, shown.info.selfInfo.role], ["named", "g", "e", "Member"]);
  assert.equal({}.evil, undefined);
  assert.equal(shown.info.evil, undefined);
});

test("where the disk is too slow a group's messages begin anew", async () => {
  const disk = new Disk();
  let release;
  const slow = new Promise((resolve) => (release = resolve));
  const { store, client } = await entered(disk, ["g", "h"], {}, { placeOf: (groupID) => (groupID === "g" ? position(10_001) : undefined) });
  const update = disk.update.bind(disk);
  disk.update = async (...values) => (await slow, update(...values));
  store.take("onRecvNewMessage", told("h", 1));
  for (let seq = 1; seq <= 10_001; seq += 1) store.take("onRecvNewMessage", told("g", seq));
  assert.deepEqual(failures(client), [["Failed", false]]);
  release();
  store.take("onRecvNewMessage", told("g", 10_002));
  await store.flush();
  assert.deepEqual((await store.messages("g", undefined, 50)).messageList.map((one) => one.seq), [10_002]);
  assert.deepEqual((await store.messages("h", undefined, 50)).messageList.map((one) => one.seq), [1]);
  assert.equal((await contents(disk.rows))["p/g"].seq, 10_002);
});

test("forget destroys the store, and nothing makes it again", async () => {
  const disk = new Disk();
  const { store } = await entered(disk, ["g"]);
  store.take("onRecvNewMessage", told("g", 1));
  await store.forget();
  store.take("onRecvNewMessage", told("g", 2));
  assert.deepEqual(await disk.rows.scan({ from: "", to: "~" }), []);
  assert.deepEqual([store.conversations(), disk.isOpen], [[], false]);
});

test("a store that cannot be destroyed says so", async () => {
  const disk = new Disk();
  const { store } = await entered(disk, ["g"]);
  disk.faults.destroy = new StorageError("Failed");
  await assert.rejects(store.forget(), { reason: "Failed" });
});

test("what a group was is kept apart from what it is when it is entered again", async () => {
  const disk = new Disk();
  const { store } = await entered(disk, ["g"]);
  for (const seq of [1, 2]) store.take("onRecvNewMessage", told("g", seq));
  store.take("onMemberKicked", { groupID: "g", opTime: 50, memberList: [{ userID: "ann" }], memberCount: 1 });
  await store.flush();
  assert.deepEqual([store.hasEnded("g"), store.conversation("g").endedAt, store.conversation("g").status], [true, 50, "removed"]);
  assert.equal((await store.messages("g", undefined, 9)).messageList.length, 2);
  store.enter("g");
  assert.equal(store.hasEnded("g"), false);
  store.take("entered", { info: info("g", { lastSeq: 7 }), position: position(7) });
  await store.flush();
  const found = await contents(disk.rows);
  assert.deepEqual([found["g/g"].status, found["g/g"].firstStored, "endedAt" in found["g/g"]], ["member", 8, false]);
  assert.deepEqual(Object.keys(found).filter((one) => one.startsWith("m/")), []);
});

test("a mark counts what lies behind it, where all of that is here", async () => {
  const disk = new Disk();
  const { store } = await entered(disk, ["g"]);
  for (let seq = 1; seq <= 6; seq += 1) store.take("onRecvNewMessage", told("g", seq, seq === 5 ? { sender: "ann" } : {}));
  store.take("onConversationRead", { groupID: "g", opTime: 1, readSeq: 3 });
  await store.flush();
  assert.deepEqual(store.conversation("g").info.selfInfo.unreadCount, 2);
  store.take("marked", { groupID: "g" });
  await store.flush();
  assert.deepEqual([store.conversation("g").info.selfInfo.unreadCount, store.conversation("g").info.selfInfo.readSeq], [0, 6]);
});

test("a recall that overtakes the answer to an own message counts", async () => {
  for (const isOneUpdate of [true, false]) {
    const disk = new Disk();
    const { store } = await entered(disk, ["g"]);
    store.take("onRecvMessageRevoked", { groupID: "g", opTime: 1, seq: 1, changeSeq: 1 });
    store.take("onRecvMessageReactionsChanged", { groupID: "g", opTime: 1, seq: 2, changeSeq: 2, reactions: [{ reaction: "a", count: 1 }] });
    if (!isOneUpdate) await store.flush();
    for (const seq of [1, 2]) {
      const record = { message: { clientMsgID: `c${seq}`, state: "stored" } };
      store.settle(record, { method: "sendGroupTextMessage", params: { groupID: "g", text: "t" }, msgID: `m${seq}`, seq, timestamp: 5 });
    }
    const { messageList } = await store.messages("g", undefined, 9);
    assert.deepEqual(messageList.map(({ isRevoked, text, reactions }) => [isRevoked, text, reactions?.length]), [[true, undefined, undefined], [undefined, "t", 1]]);
    assert.equal(store.conversation("g").info.lastMessage.reactions.length, 1);
  }
});

test("a message counts that comes behind the answer to an own one which follows it", async () => {
  const disk = new Disk();
  const { store } = await entered(disk, ["g"]);
  const record = { message: { clientMsgID: "c", state: "stored" } };
  store.settle(record, { method: "sendGroupTextMessage", params: { groupID: "g", text: "own" }, msgID: "m3", seq: 3, timestamp: 5 });
  for (const seq of [1, 2, 2]) store.take("onRecvNewMessage", told("g", seq));
  await store.flush();
  const { info: shown } = store.conversation("g");
  assert.deepEqual([shown.lastSeq, shown.lastMessage.text, shown.selfInfo.unreadCount], [3, "own", 2]);
  assert.deepEqual((await contents(disk.rows))["p/g"], { epoch: "e", seq: 3, changeSeq: 0, own: [] });
});

test("what the user has cleared elsewhere goes with the next info, also where the application asks for it", async () => {
  for (const name of ["sync", "infos"]) {
    const disk = new Disk();
    const { store } = await entered(disk, ["g"]);
    for (let seq = 1; seq <= 6; seq += 1) store.take("onRecvNewMessage", told("g", seq));
    await store.flush();
    // Another process: it has read no message yet.
    const { store: next } = await opened(disk);
    const cleared = info("g", { lastSeq: 6, firstSeq: 5 });
    if (name === "infos") next.take("infos", { infoList: [cleared] });
    else next.take("sync", { groupID: "g", recovered: true, messageList: [], changeList: [], info: cleared, position: position(6), from: 6 });
    await next.flush();
    const found = await contents(disk.rows);
    assert.deepEqual(Object.keys(found).filter((one) => one.startsWith("m/")), [key("g", 5), key("g", 6)]);
    assert.deepEqual([found["g/g"].firstStored, found["g/g"].info.selfInfo.unreadCount], [5, 0]);
  }
});

test("members and profiles are stored as they were seen", async () => {
  const disk = new Disk();
  const { store } = await entered(disk, ["g"]);
  store.take("members", { groupID: "g", memberList: [{ userID: "bob", role: "Admin", nameCard: "B", isOnline: true }, { userID: "eve", role: "Member" }] });
  store.take("onMemberLeave", { groupID: "g", opTime: 3, seq: 1, msgID: "x", memberList: [{ userID: "eve" }], memberCount: 1 });
  store.take("onGroupMemberInfoChanged", { groupID: "g", opTime: 1000, seq: 2, msgID: "y", opUser: { userID: "bob" }, changeInfoList: [{ userID: "bob", muteTime: 60 }] });
  store.take("onRecvNewMessage", told("g", 3, { nickName: "Bobby", faceURL: "f" }));
  assert.deepEqual(await store.members("g"), [{ userID: "bob", role: "Admin", nameCard: "B", muteUntil: 61_000 }]);
  assert.deepEqual(await store.profile("bob"), { userID: "bob", nickName: "Bobby", faceURL: "f", seenAt: 1003 });
  const { messageList } = await store.messages("g", undefined, 9);
  assert.deepEqual(messageList.map(({ type, tips }) => [type, tips?.type]), [["GroupTips", "Quit"], ["GroupTips", "MemberInfoChange"], ["Text", undefined]]);
  assert.equal(store.conversation("g").info.memberCount, 1);
});

test("forget destroys a store that has failed meanwhile, too", async () => {
  const disk = new Disk();
  const { store, client } = await entered(disk, ["g"]);
  disk.faults.update = new StorageError("Failed");
  store.take("onRecvNewMessage", told("g", 1));
  await store.flush();
  assert.deepEqual(failures(client), [["Failed", false]]);
  await store.forget();
  assert.deepEqual(await disk.rows.scan({ from: "", to: "~" }), []);
});
