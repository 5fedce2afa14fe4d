// What the client does with its store, its outbox, its token function, clocks and handlers.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { MemoryStorage, Storage } from "../throng-storage.js";
import { FakeServer } from "./server.mjs";
import { contents, frozen, frozenClient, next, now } from "./support.mjs";

const made = [];
afterEach(async () => {
  for (const end of made.splice(0).reverse()) await end();
  delete globalThis.navigator?.locks;
});

/** What several clients have one behind the other, or at the same time. */
class Disk extends Storage {
  /** By name. */
  static stores = new Map();
  #name;

  get rows() {
    return Disk.stores.get(this.#name);
  }

  async open(name) {
    this.#name = name;
    if (!Disk.stores.has(name)) Disk.stores.set(name, new MemoryStorage());
  }

  get(key) {
    return this.rows.get(key);
  }

  scan(range) {
    return this.rows.scan(range);
  }

  update(keys, decide) {
    return this.rows.update(keys, decide);
  }

  async close() {}

  async destroy() {
    Disk.stores.delete(this.#name);
  }
}

/** Locks as browsers have them, for all "tabs" of this process. */
function useLocks() {
  const held = new Set();
  const locks = {
    async request(name, options, act = options) {
      if (held.has(name)) {
        if (options.ifAvailable) return act(null);
        throw new Error("no test waits for a lock");
      }
      held.add(name);
      try {
        return await act({ name });
      } finally {
        held.delete(name);
      }
    },
  };
  Object.defineProperty(globalThis, "navigator", { value: { locks }, configurable: true, writable: true });
  return held;
}

const info = (groupID, more = {}) => ({
  groupID, groupType: "Public", groupName: "group", owner: "bob", lastSeq: 0, firstSeq: 1, changeSeq: 0, epoch: "e", memberCount: 2,
  lastMessageTime: 0, selfInfo: { role: "Member", joinTime: 1, readSeq: 0, unreadCount: 0, receiveMessageOpt: "Receive" }, ...more,
});
const listOf = (...groupList) => ({ groupList, leftGroupIDList: [], nextSeq: 0 });

async function server(answers) {
  const one = await FakeServer.start({ getJoinedGroupList: () => listOf(info("g")), ...answers });
  made.push(() => one.end());
  return one;
}

async function client(peer, options = {}) {
  const { client: one, clock, module } = await frozenClient({
    url: peer.url, token: "secret", userID: "ann", random: () => 0, log: null, storage: new Disk(), ...options,
  });
  made.push(() => one.close());
  return { client: one, clock, module };
}

async function connected(peer, options) {
  const all = await client(peer, options);
  const ready = next(all.client, "ready");
  all.client.connect().catch(() => {});
  await ready;
  return all;
}

/** The rows of a client's outbox on the disk. */
async function outboxOf(peer) {
  const store = Disk.stores.get(`${peer.url}|ann`);
  return Object.entries(store ? await contents(store) : {}).filter(([key]) => key.startsWith("o/")).map(([, row]) => row);
}

const sends = (peer) => peer.requests.filter(([method]) => method === "sendGroupTextMessage").map(([, , params]) => params);

test("a storage that outlives the process needs the user", async () => {
  const { module: { ThrongClient } } = await frozen();
  assert.throws(() => new ThrongClient({ url: "ws://host/ws", token: "t", storage: new Disk() }), TypeError);
  new ThrongClient({ url: "ws://host/ws", token: "t", storage: new MemoryStorage() });
  const without = new ThrongClient({ url: "ws://host/ws", token: "t" });
  await assert.rejects(without.conversations(), TypeError);
  await assert.rejects(without.messages("g"), TypeError);
});

test("a store belongs to a user of a server, whatever stands beside in the address", async () => {
  const one = await server();
  const { client: here } = await client(one, { url: `${one.url.replace("ws://", "WS://me:secret@")}?token=secret` });
  const stored = next(here, "stored");
  here.connect().catch(() => {});
  await stored;
  assert.ok(Disk.stores.has(`${one.url}|ann`));
});

test("the token of another user closes the client", async () => {
  const one = await server();
  const { client: here } = await client(one, { userID: "eve" });
  const closed = next(here, "state", ({ state }) => state === "closed");
  here.connect().catch(() => {});
  assert.match((await closed).reason, /another user, ann/);
});

test("a start shows what is stored before it connects, and asks for what has changed since", async () => {
  const one = await server();
  const { client: first } = await connected(one);
  one.tell("onRecvNewMessage", { groupID: "g", opTime: 5, message: { msgID: "m", groupID: "g", seq: 1, sender: "bob", timestamp: 5, type: "Text", text: "hi" } });
  await next(first, "conversation", ({ conversation }) => conversation.info.lastSeq === 1);
  first.close();
  one.requests.length = 0;
  const { client: second } = await client(one);
  const order = [];
  for (const name of ["stored", "state", "ready"]) second.on(name, (params) => order.push([name, params]));
  const ready = next(second, "ready");
  second.connect().catch(() => {});
  const told = await ready;
  assert.deepEqual(order.map(([name, { state }]) => state ?? name), ["stored", "connecting", "online", "ready"]);
  assert.deepEqual([told.isFirst, told.source], [true, "server"]);
  assert.equal(order[0][1].conversations[0].info.lastMessage.text, "hi");
  const { updatedSince } = one.requests.find(([method]) => method === "getJoinedGroupList")[2];
  assert.equal(updatedSince, 1_766_000_000_000 - 60_000);
  const { groups } = one.requests.find(([method]) => method === "syncGroups")[2];
  assert.deepEqual(groups, [{ groupID: "g", epoch: "e", seq: 1, changeSeq: 0 }]);
});

test("calls and messages before the store is open wait for the connection", async () => {
  const one = await server({ sendGroupTextMessage: () => ({ msgID: "m1", seq: 1, timestamp: 5, status: "Stored" }) });
  const { client: here } = await client(one);
  here.connect().catch(() => {});
  const [call, message] = [here.call("ping"), here.sendText("g", "early")];
  assert.equal((await message.done).state, "stored");
  await call;
});

test("a message is on the disk before its bytes leave, and off it with its answer", async () => {
  let atServer;
  const one = await server({
    sendGroupTextMessage: (params, peer) => {
      atServer = outboxOf(peer);
      return { msgID: "m1", seq: 1, timestamp: 5, status: "Stored" };
    },
  });
  const { client: here } = await connected(one);
  const message = here.sendText("g", "hello", { extension: "e", replyTo: 9 });
  await message.done;
  const [row] = await atServer;
  assert.deepEqual([row.state, row.params.text, row.firstSentAt, row.after], ["sending", "hello", 1_766_000_000_000, 0]);
  await here.flush();
  assert.deepEqual(await outboxOf(one), []);
  const { messageList: [stored] } = await here.messages("g");
  assert.deepEqual([stored.msgID, stored.sender, stored.text, stored.extension, stored.replyTo.seq, stored.type], ["m1", "ann", "hello", "e", 9, "Text"]);
  assert.deepEqual(here.outbox(), []);
});

test("a client that is closed leaves what waits to the next", async () => {
  const one = await server();
  const { client: first } = await connected(one);
  one.upgrades = "refused";
  one.streams = 404;
  one.cut();
  await next(first, "state", ({ state }) => state === "waiting");
  const message = first.sendText("g", "later");
  await first.flush();
  first.close();
  assert.equal((await message.done).state, "sending");
  one.upgrades = "open";
  const { client: second } = await client(one);
  const stored = next(second, "stored");
  const done = next(second, "message", ({ state }) => state === "stored");
  second.connect().catch(() => {});
  const { outbox: [waiting] } = await stored;
  assert.deepEqual([waiting.clientMsgID, waiting.text, waiting.state, waiting.createdAt], [message.clientMsgID, "later", "sending", message.createdAt]);
  assert.equal((await done).clientMsgID, message.clientMsgID);
  assert.ok(!("firstSentAt" in sends(one)[0]), "it was never sent");
});

test("every try after an unanswered one says when the first was; a refusal before it does not", async () => {
  const answers = [
    { error: { code: 7008, message: "too many", data: { temporary: true, retryAfterMs: 500 } } }, null,
    { msgID: "m", seq: 1, timestamp: 9, status: "Stored" },
  ];
  const one = await server({ sendGroupTextMessage: () => answers.shift(), syncGroups: ({ groups: [{ groupID }] }) => ({ groups: [{ groupID, code: 0, epoch: "f", lastSeq: 0, recovered: false }] }) });
  const { client: here, clock } = await connected(one);
  const message = here.sendText("g", "hello");
  await one.until(() => sends(one).length === 1);
  await clock.settle(() => clock.timerCount() > 1);
  await clock.pass(2);
  await one.until(() => sends(one).length === 2);
  await clock.pass(7);
  here.on("state", ({ state }) => {
    if (state === "waiting") now(() => clock.pass(1));
  });
  one.cut();
  assert.equal((await message.done).state, "stored");
  const [first, second, third] = sends(one).map(({ firstSentAt }) => firstSentAt);
  assert.deepEqual([first, second], [undefined, undefined]);
  assert.ok(third >= 1_766_000_000_500 && third <= 1_766_000_002_000, `${third}`);
});

test("an error at firstSentAt is OutcomeUnknown, with the server's as its cause", async () => {
  const unknown = { error: { code: 10004, message: "nobody knows", data: { temporary: false, field: "firstSentAt" } } };
  const one = await server({ sendGroupTextMessage: () => unknown });
  const { client: here } = await connected(one);
  const { state, error } = await here.sendText("g", "hello").done;
  assert.deepEqual([state, error.reason, error.cause.code], ["failed", "OutcomeUnknown", 10004]);
});

test("what failed stays until it is sent again or discarded, and the last hundred of it", async () => {
  const one = await server({ sendGroupTextMessage: () => ({ error: { code: 10017, message: "muted", data: { temporary: false } } }) });
  const { client: first } = await connected(one);
  const failed = await Promise.all(Array.from({ length: 103 }, (_, index) => first.sendText("g", `${index}`).done));
  assert.deepEqual([first.outbox().length, first.outbox()[0].text], [100, "3"]);
  first.discard(failed[5]);
  await first.flush();
  first.close();
  const { client: second } = await connected(one);
  const texts = second.outbox().map(({ text, state, error }) => [text, state, error.code]);
  assert.deepEqual([texts.length, texts[0], texts[1], texts[2]], [99, ["3", "failed", 10017], ["4", "failed", 10017], ["6", "failed", 10017]]);
  second.discard(second.outbox()[0]);
  await second.flush();
  assert.equal((await outboxOf(one)).length, 98);
});

test("in a live room a message that waits for two minutes has expired", async () => {
  const room = info("room", { groupType: "AVChatRoom", epoch: undefined, firstSeq: 1 });
  const one = await server({ getGroupsInfo: () => ({ resultList: [{ groupID: "room", code: 0, info: room }] }) });
  const { client: here, clock } = await connected(one);
  one.tell("onMemberEnter", { groupID: "room", opTime: 1, memberList: [{ userID: "ann" }], memberCount: 2 });
  await next(here, "conversation", ({ conversation: { groupID } }) => groupID === "room");
  one.upgrades = "refused";
  one.streams = 404;
  one.cut();
  await next(here, "state", ({ state }) => state === "waiting");
  const [live, passing, kept] = [here.sendText("room", "now"), here.sendText("g", "now", { onlineUserOnly: true }), here.sendText("g", "later")];
  await here.flush();
  await clock.pass(119);
  assert.deepEqual([live.state, passing.state], ["sending", "sending"]);
  await clock.pass(2);
  assert.deepEqual([live.error.reason, passing.error.reason, kept.state], ["Expired", "Expired", "sending"]);
});

test("a conversation that ended takes no message", async () => {
  const one = await server();
  const { client: here } = await connected(one);
  one.tell("onMemberKicked", { groupID: "g", opTime: 7, memberList: [{ userID: "ann" }], memberCount: 1 });
  await next(here, "conversation", ({ conversation: { status } }) => status === "removed");
  const { state, error } = await here.sendText("g", "hello").done;
  assert.deepEqual([state, error.reason, sends(one).length], ["failed", "ConversationEnded", 0]);
});

test("groups that are gone when the client comes back are told apart", async () => {
  const one = await server({ getJoinedGroupList: () => listOf(info("g"), info("h")) });
  const { client: first } = await connected(one);
  await first.flush();
  first.close();
  const again = await server({
    getJoinedGroupList: () => ({ groupList: [], leftGroupIDList: ["g", "h"], nextSeq: 0 }),
    getGroupsInfo: () => ({ resultList: [{ groupID: "g", code: 10010, message: "gone" }, { groupID: "h", code: 0, info: { ...info("h"), selfInfo: undefined } }] }),
  });
  Disk.stores.set(`${again.url}|ann`, Disk.stores.get(`${one.url}|ann`));
  const { client: second } = await connected(again);
  const found = Object.fromEntries((await second.conversations()).map(({ groupID, status, endedAt }) => [groupID, [status, endedAt]]));
  assert.deepEqual(found, { g: ["dismissed", 1_766_000_000_000], h: ["left", 1_766_000_000_000] });
});

test("forget leaves nothing, whether or not the server can be told", async () => {
  for (const isOnline of [true, false]) {
    const one = await server();
    const { client: here } = await connected(one);
    await here.flush();
    if (!isOnline) {
      one.upgrades = "refused";
      one.streams = 404;
      one.cut();
      await next(here, "state", ({ state }) => state === "waiting");
    }
    const message = here.sendText("nowhere", "never");
    const out = here.logout({ forget: true });
    if (isOnline) await out;
    else await assert.rejects(out, { reason: "NotConnected" });
    assert.equal(Disk.stores.has(`${one.url}|ann`), false);
    if (!isOnline) assert.deepEqual([message.state, message.error.reason], ["failed", "Closed"]);
  }
});

test("what two tabs share is harmed by neither", async () => {
  useLocks();
  const one = await server();
  const [first, second] = [await connected(one), await connected(one)];
  const told = [first, second].map(({ client: here }) => next(here, "conversation", ({ conversation }) => conversation.info.lastSeq === 20));
  for (let seq = 1; seq <= 20; seq += 1) {
    one.tell("onRecvNewMessage", { groupID: "g", opTime: 5, message: { msgID: `m${seq}`, groupID: "g", seq, sender: "bob", timestamp: 5, type: "Text", text: "hi" } });
  }
  await Promise.all(told);
  for (const { client: here } of [first, second]) {
    await here.flush();
    assert.equal((await here.conversation("g")).info.selfInfo.unreadCount, 20);
    assert.equal((await here.messages("g")).messageList.length, 20);
  }
});

test("the messages of a tab are its own while it lives, and another's when it is gone", async () => {
  const held = useLocks();
  const one = await server();
  const { client: first } = await connected(one);
  one.upgrades = "refused";
  one.streams = 404;
  one.cut();
  await next(first, "state", ({ state }) => state === "waiting");
  first.sendText("g", "of the first tab");
  await first.flush();
  one.upgrades = "open";
  const { client: second } = await connected(one);
  await second.flush();
  assert.deepEqual([second.outbox(), sends(one)], [[], []]);
  // The first one crashes: its lock goes, and its row stays.
  const [{ owner }] = await outboxOf(one);
  for (const name of [...held]) if (name.endsWith(owner)) held.delete(name);
  const done = next(second, "message", ({ state }) => state === "stored");
  second.on("state", ({ state }) => {
    if (state === "waiting") second.reconnectNow();
  });
  one.cut();
  assert.equal((await done).text, "of the first tab");
  await second.flush();
  assert.deepEqual(await outboxOf(one), []);
});

test("a token function that does not answer is asked again, and its late answer is nobody's", async () => {
  const one = await server();
  const asked = [];
  const token = () => new Promise((resolve) => asked.push(resolve));
  const { client: here, clock } = await client(one, { token, tokenTimeoutMs: 5_000 });
  const lost = next(here, "state", ({ state }) => state === "waiting");
  here.connect().catch(() => {});
  await clock.settle(() => asked.length === 1);
  await clock.pass(6);
  assert.equal((await lost).error.reason, "TokenTimeout");
  await clock.pass(1);
  await clock.settle(() => asked.length === 2);
  asked[0]("late");
  here.reconnectNow();
  await clock.settle(() => asked.length === 3);
  asked[1]("later");
  const ready = next(here, "ready");
  asked[2]("good");
  await ready;
  assert.deepEqual(one.requests.filter(([method]) => method === "login").map(([, , params]) => params.token), ["good"]);
});

test("a renewal that hangs leaves the session, and the old token serves while it is good", async () => {
  const one = await server();
  let tokens = 0;
  const token = () => (tokens++ === 0 ? "first" : new Promise(() => {}));
  const { client: here, clock } = await connected(one, { token, tokenTimeoutMs: 5_000 });
  one.tell("onUserSigExpired", { expiresAt: 1 });
  const failed = next(here, "renewalFailed");
  await clock.settle(() => tokens === 2);
  await clock.pass(6);
  assert.equal((await failed).reason, "TokenTimeout");
  await here.call("ping");
  const ready = next(here, "ready");
  here.on("state", ({ state }) => {
    if (state === "waiting") now(() => clock.pass(0.2));
  });
  one.cut();
  await ready;
  assert.deepEqual(one.requests.filter(([method]) => method === "login").map(([, , params]) => params.token), ["first", "first"]);
});

test("a clock that is set changes no wait and no firstSentAt", async () => {
  let times = 0;
  const one = await server({ sendGroupTextMessage: () => (times++ === 0 ? null : { msgID: "m", timestamp: 9, status: "Delivered" }) });
  const { client: here, clock } = await connected(one);
  const message = here.sendText("elsewhere", "hello");
  await one.until(() => sends(one).length === 1);
  clock.wall += 86_400_000;
  const lost = next(here, "state", ({ state }) => state === "waiting");
  one.cut();
  const { retryInMs } = await lost;
  clock.wall -= 2 * 86_400_000;
  const states = [];
  here.on("state", ({ state }) => states.push(state));
  await clock.pass(retryInMs / 1000 - 0.01);
  assert.deepEqual(states, []);
  await clock.pass(0.02);
  assert.equal((await message.done).state, "delivered");
  assert.equal(sends(one)[1].firstSentAt, 1_766_000_000_000);
});

test("a handler that throws stops nobody, and is told", async () => {
  const one = await server();
  const faults = [];
  const { client: here } = await client(one, { onHandlerError: (error, event) => faults.push([error.message, event]) });
  here.on("ready", () => {
    throw new Error("mine");
  });
  const ready = next(here, "ready");
  here.connect().catch(() => {});
  await ready;
  assert.deepEqual(faults, [["mine", "ready"]]);
});

test("without an option it is reported as the platform does, and never thrown", async () => {
  const one = await server();
  const said = [];
  const { error } = console;
  console.error = (fault) => said.push(fault.message);
  try {
    const { client: here } = await client(one);
    here.on("ready", () => {
      throw new Error("mine");
    });
    const ready = next(here, "ready");
    here.connect().catch(() => {});
    await ready;
  } finally {
    console.error = error;
  }
  assert.deepEqual(said, ["mine"]);
});

test("the text of a refusal has its method and code, also in the next process", async () => {
  const one = await server({
    sendGroupTextMessage: () => ({ error: { code: 10017, message: "muted", data: { temporary: false, field: "text", retryAfterMs: 7 } } }),
  });
  const { client: first } = await connected(one);
  const { error } = await first.sendText("g", "hello").done;
  await first.flush();
  first.close();
  const { client: second } = await client(one);
  const stored = next(second, "stored");
  second.connect().catch(() => {});
  const { outbox: [{ error: again }] } = await stored;
  for (const { name, message, serverMessage, method, code, temporary, field, retryAfterMs } of [error, again]) {
    assert.deepEqual([name, message], ["ThrongError", "sendGroupTextMessage: muted (10017)"]);
    assert.deepEqual([serverMessage, method, code], ["muted", "sendGroupTextMessage", 10017]);
    assert.deepEqual([temporary, field, retryAfterMs], [false, "text", 7]);
  }
});

test("a handler of an event that does not exist is refused, and one of a later server is heard", async () => {
  const one = await server();
  const { client: here } = await connected(one);
  for (const name of ["onRecvNewMesage", "messages", "constructor", undefined]) {
    assert.throws(() => here.on(name, () => {}), { name: "TypeError", message: new RegExp(`"${name}"; there are state, .*onRecvNewMessage`) });
  }
  const heard = next(here, "event");
  one.tell("onSomethingLater", { groupID: "g", anything: [1] });
  assert.equal(await heard, "onSomethingLater");
});

test("the address of HTTP stands for that of the WebSocket", async () => {
  const one = await server();
  for (const transport of ["websocket", "stream"]) {
    const { client: here } = await connected(one, { url: one.url.replace("ws:", "HTTP:"), transport });
    here.close();
    assert.deepEqual([...Disk.stores.keys()].filter((name) => name.includes(new URL(one.url).host)), [`${one.url}|ann`]);
  }
});

test("an address that is none is refused, without what may be secret in it", async () => {
  const { module: { ThrongClient } } = await frozen();
  for (const [url, shown] of [["ftp://me:secret@host/ws?token=secret", "ftp://host/ws"], ["localhost:8080/ws", "localhost:8080/ws"], ["/ws", "/ws"]]) {
    const here = new ThrongClient({ url, token: "t", log: null });
    const closed = next(here, "state", ({ state }) => state === "closed");
    const message = `not a WebSocket's address: ${shown}; one is such as wss://chat.example/ws`;
    await assert.rejects(here.connect(), { name: "TypeError", message });
    assert.equal((await closed).reason, message);
  }
});
