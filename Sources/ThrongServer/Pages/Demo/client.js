// The client of this page, and what it says of its connection.

import { ClientError, ErrorCode, ThrongClient, ThrongError } from "./throng.js";
import { IndexedDBStorage } from "./throng-storage.js";

const closeWords = new Map([
  [1013, "the server asks to come back later"], [4001, "the server restarts"], [4002, "this connection was too slow"],
  [4003, "no sign of life"], [4004, "too many requests"], [4005, "too many connections"], [4006, "the token has expired"],
  [4007, "not signed in in time"], [4008, "events may be missing"], [4500, "the sign-in was refused"],
  [4501, "the server did not understand this page"], [4502, "signed in on another device"],
  [4503, "removed by an administrator"],
]);

/** How long the server may take to say why it refuses an upgrade. */
const probeTimeout = 5_000;

/**
 * Why no WebSocket opened at the URL: a browser tells nothing of it, so an ordinary request asks there. It is a POST because
 * browsers name their origin with that, which the server compares as it does for an upgrade. Answers `{ isRefused, words }`,
 * and `isThere` where the server would take an upgrade.
 */
async function reasonNotOpened(socketURL) {
  const url = new URL(socketURL);
  url.protocol = url.protocol.replace("ws", "http");
  try {
    const signal = AbortSignal.timeout(probeTimeout);
    const answer = await fetch(url, { method: "POST", cache: "no-store", credentials: "omit", redirect: "manual", signal });
    // The server takes upgrades at this path, and no POST.
    if (answer.status === 405 || answer.status === 426) {
      return { isRefused: true, isThere: true, words: "the server is there, but something before it does not pass on WebSockets" };
    }
    const isText = answer.headers.get("content-type")?.startsWith("text/plain");
    const reason = isText ? (await answer.text()).trim().slice(0, 300) : "";
    return { isRefused: true, words: reason || `${answer.status || "a redirect"} ${answer.statusText}`.trim() };
  } catch {
    return { isRefused: false, words: "the server cannot be reached" };
  }
}

/** The last loss of the connection; while it is asked why, the next try may have begun. */
let lastLoss = null;
let countdown = 0;

function connect(token) {
  // Relative to the page: a proxy may serve both below another path than the server's.
  const url = new URL(document.querySelector('meta[name="socket"]').content, location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  // The page says itself how the connection is.
  const client = new ThrongClient({ url: url.href, token, platform: "Web", log: null, ...storageFor(url.href, token) });
  client.on("stored", (news) => showStored(client, news));
  client.on("storageFailed", ({ reason, message }) => console.warn(`throng: this page keeps nothing: ${reason}, ${message}`));
  client.on("frame", showFrame);
  client.on("event", handleEvent);
  client.on("message", showSent);
  client.on("sync", takeSync);
  client.on("status", takeStatuses);
  client.on("watchFailed", failToWatch);
  client.on("ready", (news) => begin(client, news));
  client.on("state", (news) => showState(url.href, news));
  Object.assign(chat, { client, token });
  // A failure is told as a state.
  client.connect().catch(() => {});
}

/** The result of a request; without a connection the page says so at once. */
const call = (method, params) => chat.client.call(method, params, { queue: false });

/** The server's clock at this moment, in milliseconds: the reader's own may be wrong. */
function serverNow() {
  const session = chat.client?.session;
  return session ? session.serverTime + (performance.now() - session.at) : Date.now();
}

/** Says how the connection is. */
function sayState(state, words) {
  byID("state").dataset.state = state;
  say("state", words);
}

/** Says something in the place beside the state; `wait` is not read aloud each time that it changes. */
function sayBanner(words, wait = "") {
  say("banner-reason", words);
  say("banner-wait", wait);
  byID("banner").hidden = false;
}

const connectionWords = { connecting: "Connecting", online: "Connected", waiting: "Reconnecting", closed: "Signed out" };

function showState(url, news) {
  clearInterval(countdown);
  // The server does not know the guest of the page before any more: another secret, for example.
  if (news.state === "closed" && restored && !chat.client.session) {
    restored = null;
    forgetAll();
    return connect(guestToken);
  }
  // While it tries again, the page goes on showing why it has to.
  if (news.state === "connecting" && lastLoss !== null) return;
  sayState(news.state, connectionWords[news.state]);
  byID("retry").hidden = false;
  // Why the connection is lost is known a little later.
  if (news.state !== "waiting") byID("banner").hidden = news.state !== "closed" || asksForToken();
  byID("token-form").hidden = !(news.state === "closed" && asksForToken());
  if (news.state === "online") lastLoss = null;
  if (news.state === "waiting") showLoss(url, news);
  if (news.state === "closed") showEnd(news);
}

async function showLoss(url, { code, reason, error, isOpen, retryInMs, transport }) {
  const loss = (lastLoss = { at: Date.now() + retryInMs });
  const words = error?.serverMessage ?? error?.message ?? closeWords.get(code) ?? (reason || "the connection was lost");
  const answer = isOpen || code === 0 ? {} : await reasonNotOpened(url);
  if (lastLoss !== loss) return;
  // Then a stream has a reason of its own: a proxy that holds it back, for example.
  const { isRefused = false, words: told = words } = transport === "stream" && answer.isThere ? {} : answer;
  if (isRefused) sayState("waiting", "Refused");
  const show = () => {
    const left = Math.max(0, Math.ceil((loss.at - Date.now()) / 1000));
    const beginning = isRefused ? "The connection is refused" : "Not connected";
    sayBanner(phrase`${beginning}: ${chosenText(told)}.`, `Next try in ${left} s.`);
  };
  say("retry", "Try now");
  show();
  countdown = setInterval(show, 1000);
}

function showEnd({ code, reason, error }) {
  lastLoss = null;
  const words = error?.serverMessage ?? error?.message ?? closeWords.get(code) ?? (reason || "the connection was lost");
  setReady(false);
  const farewell = chat.farewell && phrase` (“${chosenText(chat.farewell)}”)`;
  say("banner-reason", code === 4006 ? "This sign-in has ended: its time is over." : phrase`Signed out: ${chosenText(words)}${farewell}.`);
  say("banner-wait", "");
  say("retry", "Start over");
  if (asksForToken()) say("token-fault", `${words[0].toUpperCase()}${words.slice(1)}.`);
}
