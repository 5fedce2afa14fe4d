// JSON-RPC over one WebSocket after another: signs in, matches replies to requests, notices silence, comes back after a loss.

/** An error that the server answered. */
class Refusal extends Error {
  constructor(error) {
    super(error.message);
    this.code = error.code;
    this.retryAfterMs = error.data?.retryAfterMs ?? 0;
  }
}

/** The connection ended before the reply came: whether the request was carried out is not known. */
class Disconnected extends Error {
  constructor() {
    super("There is no connection to the server.");
  }
}

const closeWords = new Map([
  [1013, "the server asks to come back later"], [4001, "the server restarts"], [4002, "this connection was too slow"],
  [4003, "no sign of life"], [4004, "too many requests"], [4005, "too many connections"], [4006, "the token has expired"],
  [4007, "not signed in in time"], [4500, "the sign-in was refused"], [4501, "the server did not understand this page"],
  [4502, "signed in on another device"], [4503, "removed by an administrator"],
]);

const firstDelay = 500;
const longestDelay = 30_000;
/** A session that lived this long was a good one: the next loss begins with the first delay again. */
const goodSession = 10_000;
/** How long a reply to `ping` may take. */
const pingTimeout = 10_000;
/** How long the server may take to say why it refuses an upgrade. */
const probeTimeout = 5_000;

/**
 * Why no WebSocket opened at the URL: a browser tells nothing of it, so an ordinary request asks there. It is a POST because
 * browsers name their origin with that, which the server compares as it does for an upgrade. Answers `{ isRefused, words }`.
 */
async function reasonNotOpened(socketURL) {
  const url = new URL(socketURL);
  url.protocol = url.protocol.replace("ws", "http");
  try {
    const signal = AbortSignal.timeout(probeTimeout);
    const answer = await fetch(url, { method: "POST", cache: "no-store", credentials: "omit", redirect: "manual", signal });
    // The server takes upgrades at this path, and no POST.
    if (answer.status === 405 || answer.status === 426) {
      return { isRefused: true, words: "the server is there, but something before it does not pass on WebSockets" };
    }
    const isText = answer.headers.get("content-type")?.startsWith("text/plain");
    const reason = isText ? (await answer.text()).trim().slice(0, 300) : "";
    return { isRefused: true, words: reason || `${answer.status || "a redirect"} ${answer.statusText}`.trim() };
  } catch {
    return { isRefused: false, words: "the server cannot be reached" };
  }
}

class Connection {
  #url;
  #token;
  #hooks;
  #socket = null;
  #pending = new Map();
  #nextID = 1;
  #losses = 0;
  #retryTimer = 0;
  #lifeTimer = 0;
  #signedInAt = 0;
  #notBefore = 0;
  #refusal = null;
  #heard = false;
  #hasOpened = false;

  /** Hooks: `onState({name, words})` with connecting, online, waiting (`isRefused` or not), ended; `onSession(login result)`, `onEvent`, `onFrame`. */
  constructor(url, token, hooks) {
    this.#url = url;
    this.#token = token;
    this.#hooks = hooks;
  }

  get isOnline() {
    return this.#signedInAt > 0;
  }

  open() {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = 0;
    this.#hooks.onState({ name: "connecting", words: "Connecting" });
    const socket = new WebSocket(this.#url, ["throng.v1.json"]);
    this.#socket = socket;
    this.#hasOpened = false;
    socket.onopen = () => {
      this.#hasOpened = true;
      this.#signIn();
    };
    socket.onmessage = (message) => this.#receive(message.data);
    socket.onclose = (event) => this.#lost(event.code, event.reason);
  }

  /** Comes back at once where it is waiting to. */
  hurry() {
    if (this.#socket === null && this.#retryTimer !== 0) this.open();
  }

  /** The result of a request; throws `Refusal` or `Disconnected`. */
  call(method, params = {}) {
    return new Promise((resolve, reject) => {
      if (this.#socket?.readyState !== WebSocket.OPEN) return reject(new Disconnected());
      const id = this.#nextID++;
      this.#pending.set(id, { resolve, reject });
      const request = { jsonrpc: "2.0", id, method, params };
      this.#hooks.onFrame("out", request);
      this.#socket.send(JSON.stringify(request));
    });
  }

  async #signIn() {
    try {
      const session = await this.call("login", { token: this.#token, platform: "Web" });
      this.#signedInAt = Date.now();
      this.#watch(session.heartbeat * 1000);
      this.#hooks.onState({ name: "online", words: "Connected" });
      this.#hooks.onSession(session);
    } catch (error) {
      if (error instanceof Disconnected) return;
      // Behind a token that is refused the server closes by itself; not so behind a platform that it does not let in.
      if (error.code !== 10002) this.#refusal = error;
      this.#socket?.close();
    }
  }

  #receive(text) {
    const frame = JSON.parse(text);
    this.#hooks.onFrame("in", frame);
    this.#heard = true;
    if (frame.method === "onServerDraining") this.#notBefore = frame.params.retryAfterMs;
    if (frame.method !== undefined) return this.#hooks.onEvent(frame.method, frame.params);
    const request = this.#pending.get(frame.id);
    this.#pending.delete(frame.id);
    if (frame.error) request?.reject(new Refusal(frame.error));
    else request?.resolve(frame.result);
  }

  /** Browsers do not show the server's pings: after a silent interval a request asks for a sign of life. */
  #watch(interval) {
    this.#lifeTimer = setInterval(() => {
      const wasHeard = this.#heard;
      this.#heard = false;
      if (wasHeard) return;
      const timer = setTimeout(() => this.#lost(4003, ""), pingTimeout);
      this.call("ping").then(() => clearTimeout(timer), () => clearTimeout(timer));
    }, interval);
  }

  #lost(code, reason) {
    const socket = this.#socket;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    this.#socket = null;
    clearInterval(this.#lifeTimer);
    if (this.#signedInAt > 0 && Date.now() - this.#signedInAt >= goodSession) this.#losses = 0;
    this.#signedInAt = 0;
    for (const { reject } of this.#pending.values()) reject(new Disconnected());
    this.#pending.clear();
    if (!this.#hasOpened) return this.#explain();
    const words = this.#refusal?.message ?? closeWords.get(code) ?? (reason || "the connection was lost");
    // "4500–4999 mean do not reconnect unchanged", 4006 asks for a new token, which only a new page has.
    if (code >= 4500 || code === 4006 || this.#refusal) return this.#end(words, code);
    this.#retry(words);
  }

  async #explain() {
    const { isRefused, words } = await reasonNotOpened(this.#url);
    this.#retry(words, isRefused);
  }

  #end(words, code) {
    this.#refusal = null;
    this.#hooks.onState({ name: "ended", words, code });
  }

  #retry(words, isRefused = false) {
    const backoff = Math.min(longestDelay, firstDelay * 2 ** this.#losses) * (0.5 + Math.random() / 2);
    const delay = Math.max(backoff, this.#notBefore);
    this.#losses += 1;
    this.#notBefore = 0;
    this.#retryTimer = setTimeout(() => this.open(), delay);
    this.#hooks.onState({ name: "waiting", words, delay, isRefused });
  }
}
