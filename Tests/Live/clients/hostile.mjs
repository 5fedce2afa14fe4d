// Holds throng.js against the servers of harness/hostile.py: a round a line, and a line for what it has found.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { library } from "./library.mjs";

const leastDelay = 100;
const longestDelay = 86_400_000;
const system = { setImmediate };

let here;
const fault = (text) => here.faults.push(text);
process.on("uncaughtException", (error) => fault(`uncaught: ${error.stack}`));
process.on("unhandledRejection", (error) => fault(`unhandled: ${error?.stack ?? error}`));

// Time goes on only from timer to timer.
globalThis.hostileClock = {
  setTimeout(act, delay = 0) {
    if (!(delay >= 0 && delay <= longestDelay)) fault(`a timer of ${delay}`);
    here.timers.set(++here.lastTimer, { act, due: here.time + delay });
    return here.lastTimer;
  },
  clearTimeout: (id) => void here.timers.delete(id),
  Date: { now: () => 1_766_000_000_000 + here.time },
  performance: { now: () => here.time },
};
const path = new URL("throng.js", library);
const source = `const { setTimeout, clearTimeout, Date, performance } = hostileClock;\n${readFileSync(path, "utf8")}`;
const { MemoryStorage } = await import(new URL("throng-storage.js", library));
const { ThrongClient } = await import(`data:text/javascript;base64,${Buffer.from(source).toString("base64")}`);

class Socket {
  readyState = 0;
  /** A good server is another one: what the hostile one has left unanswered ends with its connection. */
  #isGood = here.isGood;

  constructor() {
    const { time, lostAt } = here;
    if (lostAt !== undefined && time - lostAt < leastDelay) fault(`a connection ${time - lostAt} ms behind the last`);
    here.connections += 1;
    here.soon(() => {
      if (this.readyState !== 0) return;
      this.readyState = 1;
      this.onopen?.();
    });
  }

  send(text) {
    here.requests += 1;
    const request = JSON.parse(text);
    const number = here.requests;
    for (const answer of this.#answers(request)) {
      for (let times = 0; times < (answer.times ?? 1); times += 1) here.soon(() => this.#play(answer, [request.id, number, times]));
    }
  }

  #answers(request) {
    const { steps, endless } = here.round;
    if (here.isGood) return [this.#isGood ? { text: honest(request) } : { close: 1001 }];
    const step = steps[here.step++ % steps.length];
    return step[request.method] ?? (endless ? [{ text: honest(request) }] : step.joinGroup);
  }

  #play({ text, close }, [id, number, times]) {
    if (this.readyState !== 1) return;
    if (close !== undefined) {
      this.close();
      return this.onclose?.({ code: close, reason: "" });
    }
    here.texts += 1;
    this.onmessage?.({ data: text.replaceAll("$id", id).replaceAll("$n", number).replaceAll("$k", times) });
  }

  close() {
    this.readyState = 3;
    here.lostAt = here.time;
  }
}

/** The answer of a good server. */
function honest({ id, method, params }) {
  const info = (groupID) => ({ ...here.good.group, groupID });
  const row = ({ groupID, epoch, seq, changeSeq }) =>
    ({ groupID, code: 0, epoch, lastSeq: seq, recovered: true, changeList: [], changeSeq, messageList: [], more: false });
  const results = {
    login: () => here.good.session,
    getJoinedGroupList: () => ({ groupList: [info("g")], leftGroupIDList: [], nextSeq: 0 }),
    getGroupsInfo: () => ({ resultList: params.groupIDList.map((groupID) => ({ groupID, code: 0, info: info(groupID) })) }),
    syncGroups: () => ({ groups: params.groups.map(row) }),
    sendGroupTextMessage: () => ({ msgID: `n${id}`, timestamp: 1, status: "Delivered" }),
    ping: () => ({ serverTime: here.good.session.serverTime }),
  };
  return JSON.stringify({ jsonrpc: "2.0", id, result: (results[method] ?? (() => ({})))() });
}

async function play(round, good) {
  const queue = [];
  here = {
    round, good, faults: [], timers: new Map(), lastTimer: 0, time: 0, step: 0, texts: 0, requests: 0, connections: 0, fired: 0, tokens: 0,
    soon: (act) => queue.push(act), waits: [], errors: [], refusals: {},
    get isGood() {
      return round.endless ? this.waits.length >= round.endless : this.step >= round.steps.length;
    },
  };
  const token = () => {
    here.tokens += 1;
    return "token";
  };
  const options = { url: "ws://server.test/ws", token, random: () => 0, WebSocket: Socket, log: String, transport: "websocket" };
  const client = new ThrongClient({ ...options, storage: new MemoryStorage() });
  // No rule of the store stumbles over anything that a server says.
  client.on("storageFailed", ({ reason, message }) => fault(`the store: ${reason}: ${message}`));
  let [isReady, readies] = [false, 0];
  client.on("ready", () => (readies += 1));
  client.on("state", ({ state, retryInMs, error }) => {
    if (state === "waiting") here.waits.push(retryInMs);
    if (state === "waiting") here.errors.push(error?.reason ?? error?.code ?? (error ? String(error) : null));
    const refused = ({ reason, code }) => (here.refusals[reason ?? code] = (here.refusals[reason ?? code] ?? 0) + 1);
    if (state === "online") for (let calls = round.calls ?? 0; calls > 0; calls -= 1) client.call("joinGroup", { groupID: "g" }).catch(refused);
  });
  // What an application does with a message, a list of members, or anything at all.
  client.on("onRecvNewMessage", ({ groupID, message }) => `${groupID.length}${message.sender.length}`);
  client.on("onMemberEnter", ({ memberList }) => memberList?.map(({ userID }) => userID.length));
  client.on("sync", ({ messageList, changeList }) => [...messageList, ...changeList].map(({ sender }) => sender.length));
  client.on("event", (name, params) => JSON.stringify(params));
  client.connect().catch(() => {});
  const messages = ["first", "second"].map((clientMsgID) => client.sendText("g", "text", { clientMsgID }));
  client.call("joinGroup", { groupID: "g" }).catch(() => {});
  for (let turns = 0; turns < 200_000 && client.state !== "closed"; turns += 1) {
    // Each behind what the one before it has begun.
    await new Promise(system.setImmediate);
    if (queue.length > 0) {
      queue.shift()();
      continue;
    }
    if (here.isGood && readies > 0 && client.state === "online" && messages.every(({ state }) => state !== "sending" && state !== "queued")) {
      isReady = true;
      break;
    }
    const [id, timer] = [...here.timers].reduce((first, other) => (other[1].due < first[1].due ? other : first), [0, { due: Infinity }]);
    if (id === 0) break;
    here.timers.delete(id);
    here.time = Math.max(here.time, timer.due);
    here.fired += 1;
    timer.act();
  }
  const isClosed = client.state === "closed";
  if (!isReady && !isClosed) fault(`not back: ${client.state}, ${readies} times ready, ${messages.map(({ state }) => state)}`);
  client.close();
  await new Promise(system.setImmediate);
  const { faults, texts, requests, connections, fired, tokens, waits, errors, refusals } = here;
  const expected = 2 * (texts + fired) + (3 + (round.calls ?? 0)) * connections + 10;
  if (requests > expected) fault(`${requests} requests for ${texts} texts and ${fired} timers`);
  if (tokens > 2 * connections + fired) fault(`${tokens} tokens for ${connections} connections and ${fired} timers`);
  return { seed: round.seed, faults, isClosed, texts, requests, connections, tokens, waits, errors, refusals };
}

let good;
for await (const line of createInterface({ input: process.stdin })) {
  const one = JSON.parse(line);
  if (one.good) good = one.good;
  else process.stdout.write(`${JSON.stringify(await play(one, good))}\n`);
}
