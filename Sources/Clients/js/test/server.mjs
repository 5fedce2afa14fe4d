// A server for the tests: it answers as they say, over WebSockets and event streams.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

/** The text frames of a WebSocket's client. None of the tests sends fragments. */
function* framesOf(state, data) {
  state.rest = Buffer.concat([state.rest, data]);
  for (;;) {
    const { rest } = state;
    if (rest.length < 6) return;
    let [length, offset] = [rest[1] & 127, 2];
    if (length === 126) [length, offset] = [rest.readUInt16BE(2), 4];
    if (length === 127) [length, offset] = [Number(rest.readBigUInt64BE(2)), 10];
    if (rest.length < offset + 4 + length) return;
    const mask = rest.subarray(offset, offset + 4);
    const body = Buffer.from(rest.subarray(offset + 4, offset + 4 + length).map((byte, index) => byte ^ mask[index % 4]));
    state.rest = rest.subarray(offset + 4 + length);
    yield { code: rest[0] & 15, body };
  }
}

function frame(code, body) {
  const head = body.length < 126 ? [128 | code, body.length] : [128 | code, 126, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from(head), body]);
}

export class FakeServer {
  /** How upgrades end: "open", "refused", "cut" or "silent" (they are never answered). */
  upgrades = "open";
  /** What `GET /events` answers: a status, or "held" (nothing comes). */
  streams = 200;
  /** The method of each request, with the way it came; and the bodies that were posted. */
  requests = [];
  bodies = [];
  asked = { "/ws": 0, "/events": 0, "/rpc": 0 };
  /** What a stream ends with in the place of its first event. */
  refusal = null;
  /** How long the answers to posts take, in milliseconds. */
  delay = 0;
  #connections = new Set();
  #keys = new Map();
  #lastKey = 0;
  #answers;
  #listeners = new Set();

  constructor(answers = {}) {
    this.#answers = answers;
  }

  static async start(answers) {
    const self = new FakeServer(answers);
    self.http = createServer((request, response) => self.#serve(request, response));
    self.http.on("upgrade", (request, socket) => self.#upgrade(request, socket));
    self.http.listen(0, "127.0.0.1");
    await once(self.http, "listening");
    self.url = `ws://127.0.0.1:${self.http.address().port}/chat/ws`;
    return self;
  }

  #note(path) {
    this.asked[path] += 1;
    for (const listener of this.#listeners) listener();
  }

  /** Resolves when the condition is true; it is looked at with each request. */
  until(condition) {
    return new Promise((resolve) => {
      const look = () => {
        if (!condition()) return;
        this.#listeners.delete(look);
        resolve();
      };
      this.#listeners.add(look);
      look();
    });
  }

  /** The answer to a request; null = none. */
  answer({ id, method, params }, way) {
    this.requests.push([method, way, params]);
    for (const listener of this.#listeners) listener();
    const result = Object.hasOwn(this.#answers, method) ? this.#answers[method](params, this) : standard[method]?.(params) ?? {};
    if (result === null) return null;
    return JSON.stringify({ jsonrpc: "2.0", id, ...(result.error ? { error: result.error } : { result }) });
  }

  #upgrade(request, socket) {
    this.#note("/ws");
    socket.on("error", () => {});
    if (this.upgrades === "refused") return socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    if (this.upgrades === "silent") {
      const connection = { send() {}, cut: () => socket.destroy(), close: () => socket.destroy() };
      this.#connections.add(connection);
      socket.on("close", () => this.#connections.delete(connection));
      return void socket.resume();
    }
    const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash("sha1").update(key).digest("base64");
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: throng.v1.json\r\n\r\n`);
    if (this.upgrades === "cut") return socket.destroy();
    const connection = {
      send: (text) => socket.write(frame(1, Buffer.from(text))), cut: () => socket.destroy(),
      close: (code, reason) => socket.end(frame(8, Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason)]))),
    };
    this.#connections.add(connection);
    socket.on("close", () => this.#connections.delete(connection));
    const state = { rest: Buffer.alloc(0) };
    socket.on("data", (data) => {
      for (const { code, body } of framesOf(state, data)) {
        if (code === 8) return socket.end(frame(8, body));
        if (code !== 1) continue;
        const answer = this.answer(JSON.parse(body), "websocket");
        if (answer !== null) connection.send(answer);
      }
    });
  }

  async #serve(request, response) {
    const { pathname } = new URL(request.url, "http://localhost");
    if (pathname === "/chat/events") return this.#stream(request, response);
    if (pathname === "/chat/rpc") return this.#post(request, response);
    response.writeHead(426).end();
  }

  #stream(request, response) {
    this.lastStream = { url: request.url, authorization: request.headers.authorization };
    this.#note("/events");
    if (this.streams !== 200 && this.streams !== "held") return void response.writeHead(this.streams).end();
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.flushHeaders();
    if (this.streams === "held") return;
    const close = (code, reason) => response.end(`event: close\ndata: ${JSON.stringify({ code, reason })}\n\n`);
    if (this.refusal) return close(...this.refusal);
    const connection = { send: (text) => response.write(`data: ${text}\n\n`), cut: () => response.destroy(), close };
    this.#connections.add(connection);
    this.#lastKey += 1;
    const key = `key${this.#lastKey}`;
    this.#keys.set(key, connection);
    response.on("close", () => {
      this.#connections.delete(connection);
      this.#keys.delete(key);
    });
    response.write(":\n\n");
    connection.send(JSON.stringify({ jsonrpc: "2.0", method: "onConnectSuccess", params: { ...standard.login(), streamKey: key } }));
  }

  async #post(request, response) {
    this.#note("/rpc");
    const key = (request.headers.authorization ?? "").slice("Bearer ".length);
    let body = "";
    for await (const part of request) body += part;
    if (!this.#keys.has(key)) return void response.writeHead(401).end();
    if (body.length > 65_536 || this.isNarrow) return void response.writeHead(413).end();
    this.bodies.push(body);
    const given = JSON.parse(body);
    const answers = (Array.isArray(given) ? given : [given]).map((one) => this.answer(one, "stream")).filter((one) => one !== null);
    if (answers.length === 0) return;
    // Behind the events that the requests have caused.
    if (this.delay) await new Promise((resolve) => setTimeout(resolve, this.delay));
    response.writeHead(200, { "Content-Type": "application/json" }).end(Array.isArray(given) ? `[${answers.join()}]` : answers[0]);
  }

  /** Sends an event to all connections. */
  tell(method, params) {
    for (const connection of this.#connections) connection.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  cut() {
    for (const connection of this.#connections) connection.cut();
  }

  closeAll(code, reason) {
    for (const connection of this.#connections) connection.close(code, reason);
  }

  async end() {
    this.cut();
    this.http.closeAllConnections();
    this.http.close();
    await once(this.http, "close");
  }
}

let lastSeq = 0;
/** What a server answers that has no groups. */
const standard = {
  login: () => ({ userID: "ann", sessionID: "one", serverTime: 1_766_000_000_000, tokenExpiresAt: 1_766_003_600_000, heartbeat: 86_400 }),
  getJoinedGroupList: () => ({ groupList: [], leftGroupIDList: [], nextSeq: 0 }),
  getGroupsInfo: ({ groupIDList }) => ({ resultList: groupIDList.map((groupID) => ({ groupID, code: 10010, message: "No such group" })) }),
  syncGroups: ({ groups }) => ({
    groups: groups.map(({ groupID, epoch, seq, changeSeq }) =>
      ({ groupID, code: 0, epoch, lastSeq: seq, changeSeq, recovered: true, messageList: [], changeList: [], more: false })),
  }),
  ping: () => ({ serverTime: 1_766_000_000_000 }),
  sendGroupTextMessage: () => ({ msgID: `m${++lastSeq}`, seq: lastSeq, timestamp: 1_766_000_000_000, status: "Stored" }),
};
