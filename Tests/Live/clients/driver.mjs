// Drives throng.js for the scenarios of test_clients.py, see harness/driven.py.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { FileStorage, FullStorage, RefusedStorage } from "./file-storage.mjs";
import { library } from "./library.mjs";

const path = new URL("throng.js", library);
const { MemoryStorage } = await import(new URL("throng-storage.js", library));
let { ThrongClient, ThrongError } = await import(path);

const tell = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const messages = new Map();
let client, storage, askedForToken;

// The network of a browser, of which Node has no news.
const browser = new EventTarget();
globalThis.addEventListener = (...listener) => browser.addEventListener(...listener);
globalThis.removeEventListener = (...listener) => browser.removeEventListener(...listener);

// How far the clock has gone on at once, and by how much somebody has set the time of day.
let [passed, stepped] = [0, 0];
const [uptime, wall] = [performance.now.bind(performance), Date.now];
performance.now = () => uptime() + passed;
Date.now = () => wall() + passed + stepped;

function errorOf(error) {
  if (!error) return undefined;
  if (error.code === undefined) return { reason: error.reason ?? String(error) };
  const { code, serverMessage, temporary, field, retryAfterMs } = error;
  return { code, message: serverMessage, temporary, field, retryAfterMs };
}

function shown(message) {
  messages.set(message.clientMsgID, message);
  const { clientMsgID, groupID, state, seq, msgID, error, extension, replyTo, createdAt } = message;
  return { clientMsgID, groupID, state, seq, msgID, error: errorOf(error), extension, replyTo, createdAt };
}

function storageOf(kind, directory) {
  if (kind === undefined) return undefined;
  if (kind === "memory") return new MemoryStorage();
  if (kind === "refused") return new RefusedStorage();
  return kind.startsWith("full:") ? new FullStorage(directory, Number(kind.slice(5))) : new FileStorage(directory);
}

const commands = {
  async open({ token, random, frozen, storage: kind, directory, limits, tokenTimeout, ...options }) {
    if (frozen) {
      // The library alone: Node's own WebSocket has timers, too.
      await import("./clock.mjs");
      const source = `const { setTimeout, clearTimeout, Date, performance } = testClock;\n${readFileSync(path, "utf8")}`;
      ({ ThrongClient, ThrongError } = await import(`data:text/javascript;base64,${Buffer.from(source).toString("base64")}`));
    }
    const ask = () => {
      tell({ event: "tokenWanted", params: {} });
      return new Promise((resolve, reject) => (askedForToken = { resolve, reject }));
    };
    const log = (line) => tell({ event: "log", params: { line } });
    storage = storageOf(kind, directory);
    client = new ThrongClient({
      ...options, log, token: token ?? ask, ...(random === undefined ? {} : { random: () => random }), ...(storage ? { storage } : {}),
      ...(limits ? { storageLimits: limits } : {}), ...(tokenTimeout === undefined ? {} : { tokenTimeoutMs: tokenTimeout * 1000 }),
    });
    client.on("event", (event, params) => tell({ event, params }));
    for (const event of ["sync", "ready", "renewed", "status", "conversation", "storageFailed"]) {
      client.on(event, (params) => tell({ event, params }));
    }
    client.on("stored", ({ outbox, ...params }) => tell({ event: "stored", params: { ...params, outbox: outbox.map(shown) } }));
    client.on("message", (message) => tell({ event: "message", params: shown(message) }));
    client.on("state", ({ error, ...params }) => tell({ event: "state", params: { ...params, error: errorOf(error) } }));
    client.on("watchFailed", ({ userIDList, error }) => tell({ event: "watchFailed", params: { userIDList, error: errorOf(error) } }));
    for (const event of ["renewalFailed", "resumeFailed"]) client.on(event, (error) => tell({ event, params: errorOf(error) }));
    client.connect().catch(() => {});
  },
  token({ token }) {
    if (token) askedForToken.resolve(token);
    else askedForToken.reject(new Error("no token today"));
  },
  call: ({ method, params, queue }) => client.call(method, params, { queue }),
  send({ groupID, text, data, ...options }) {
    return shown(text === undefined ? client.sendCustom(groupID, data, options) : client.sendText(groupID, text, options));
  },
  resend: ({ clientMsgID }) => shown(client.resend(messages.get(clientMsgID))),
  watch: ({ userIDList }) => client.watchUsers(userIDList),
  unwatch: ({ userIDList }) => client.unwatchUsers(userIDList),
  statusOf: ({ userID }) => client.statusOf(userID),
  signal: ({ groupID, name, data }) => client.sendSignal(groupID, name, data),
  typing: ({ groupID }) => client.sendTyping(groupID),
  mayWrite: ({ groupID }) => client.mayWriteAt(groupID) === 0,
  pass: ({ seconds }) => globalThis.testClock?.pass(seconds) ?? void (passed += seconds * 1000),
  step: ({ seconds }) => globalThis.testClock?.step(seconds) ?? void (stepped += seconds * 1000),
  connect: () => client.connect(),
  reconnectNow: () => client.reconnectNow(),
  online: () => void browser.dispatchEvent(new Event("online")),
  state: () => ({ state: client.state }),
  positions: () => client.positions(),
  conversations: ({ hidden }) => client.conversations({ hidden }),
  conversation: ({ groupID }) => client.conversation(groupID),
  async messages({ groupID, before, count }) {
    const { error, ...answer } = await client.messages(groupID, { before, count });
    return { ...answer, error: errorOf(error) };
  },
  members: ({ groupID }) => client.storedMembers(groupID),
  profile: ({ userID }) => client.storedProfile(userID),
  outbox: () => client.outbox().map(shown),
  discard: ({ clientMsgID }) => client.discard(messages.get(clientMsgID)),
  flush: () => client.flush(),
  async dump() {
    const rows = await storage.scan({ from: "", to: "~" });
    return Object.fromEntries(rows.map(([key, text]) => [key, JSON.parse(text)]));
  },
  poke: ({ key, value }) => storage.update([], () => [{ put: key, value }]),
  logout: ({ forget }) => client.logout({ forget }),
  close: () => client.close(),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, do: name, ...values } = JSON.parse(line);
  // Not awaited: the next command may be what the answer of this one waits for.
  Promise.resolve().then(() => commands[name](values)).then(
    (result) => tell({ id, result: result ?? null }),
    (error) => tell({ id, error: errorOf(error) }));
}
client?.close();
