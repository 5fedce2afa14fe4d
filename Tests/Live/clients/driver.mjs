// Drives throng.js for the scenarios of test_clients.py, see harness/driven.py.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const source = readFileSync(new URL("../../../Sources/ThrongServer/Pages/Client/throng.js", import.meta.url), "utf8");
// Node 20 takes a file that ends in .js for CommonJS.
const load = (text) => import(`data:text/javascript;base64,${Buffer.from(text).toString("base64")}`);
let { ThrongClient, ThrongError } = await load(source);

const tell = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const messages = new Map();
let client;
let askedForToken;

// The network of a browser, of which Node has no news.
const browser = new EventTarget();
globalThis.addEventListener = (...listener) => browser.addEventListener(...listener);
globalThis.removeEventListener = (...listener) => browser.removeEventListener(...listener);

let passed = 0;
const now = Date.now;
Date.now = () => now() + passed;

function errorOf(error) {
  if (!error) return undefined;
  if (!(error instanceof ThrongError)) return { reason: error.reason ?? String(error) };
  const { code, message, temporary, field, retryAfterMs } = error;
  return { code, message, temporary, field, retryAfterMs };
}

function shown(message) {
  messages.set(message.clientMsgID, message);
  const { clientMsgID, groupID, state, seq, msgID, error, extension, replyTo } = message;
  return { clientMsgID, groupID, state, seq, msgID, error: errorOf(error), extension, replyTo };
}

const commands = {
  async open({ token, random, frozen, ...options }) {
    if (frozen) {
      // The library alone: Node's own WebSocket has timers, too.
      await import("./clock.mjs");
      ({ ThrongClient, ThrongError } = await load(`const { setTimeout, clearTimeout, Date } = testClock;\n${source}`));
    }
    const ask = () => {
      tell({ event: "tokenWanted", params: {} });
      return new Promise((resolve, reject) => (askedForToken = { resolve, reject }));
    };
    const log = (line) => tell({ event: "log", params: { line } });
    client = new ThrongClient({ ...options, log, token: token ?? ask, ...(random === undefined ? {} : { random: () => random }) });
    client.on("event", (event, params) => tell({ event, params }));
    for (const event of ["sync", "ready", "renewed", "status"]) client.on(event, (params) => tell({ event, params }));
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
  connect: () => client.connect(),
  reconnectNow: () => client.reconnectNow(),
  online: () => void browser.dispatchEvent(new Event("online")),
  state: () => ({ state: client.state }),
  positions: () => client.positions(),
  logout: () => client.logout(),
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
