// Where no WebSocket passes (Clients.md, "Behind proxies").
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { FakeServer } from "./server.mjs";
import { frozenClient, next, now } from "./support.mjs";

const made = [];
afterEach(async () => {
  for (const end of made.splice(0)) await end();
});

async function scene(answers, options = {}) {
  const server = await FakeServer.start(answers);
  const { client, clock } = await frozenClient({ url: server.url, token: "secret", random: () => 0, log: null, ...options });
  made.push(() => client.close(), () => server.end());
  client.connect().catch(() => {});
  return { server, client, clock };
}

/** Connects where the first WebSockets fail: the waits between them pass at once. */
async function byStream(server, client, clock) {
  server.upgrades = "refused";
  const online = next(client, "state", ({ state }) => state === "online");
  client.on("state", ({ state }) => {
    if (state === "waiting") now(() => clock.pass(1));
  });
  return online;
}

test("two WebSockets that fail lead to a stream", async () => {
  const { server, client, clock } = await scene({}, { platform: "Web", deviceID: "d" });
  const { transport } = await byStream(server, client, clock);
  assert.equal(transport, "stream");
  assert.deepEqual([server.asked["/ws"], server.asked["/events"]], [2, 1]);
  assert.equal(server.lastStream.authorization, "Bearer secret");
  assert.equal(server.lastStream.url, "/chat/events?platform=Web&deviceID=d");
  assert.ok(!server.requests.some(([method]) => method === "login"), "the stream is the sign-in");
  assert.equal(client.userID, "ann");
  assert.ok(!("streamKey" in client.session), "the key is nobody's business");
});

test("requests of one turn leave as one batch, later ones behind their answer", async () => {
  const { server, client, clock } = await scene();
  await byStream(server, client, clock);
  await next(client, "ready");
  server.bodies.length = 0;
  const calls = Array.from({ length: 45 }, () => client.call("ping"));
  await Promise.all(calls);
  assert.deepEqual(server.bodies.map((body) => [JSON.parse(body)].flat().length), [20, 20, 5]);
  const messages = Array.from({ length: 30 }, (_, index) => client.sendText("g", `${index}`));
  await Promise.all(messages.map(({ done }) => done));
  const sent = server.requests.filter(([method]) => method === "sendGroupTextMessage").map(([, , { text }]) => text);
  assert.deepEqual(sent, messages.map(({ text }) => text));
});

test("a batch has at most 60,000 bytes", async () => {
  const { server, client, clock } = await scene();
  await byStream(server, client, clock);
  await next(client, "ready");
  server.bodies.length = 0;
  await Promise.all(Array.from({ length: 8 }, () => client.call("setUserInfo", { nickName: "é".repeat(9_000) })));
  assert.deepEqual(server.bodies.map((body) => [JSON.parse(body)].flat().length), [3, 3, 2]);
});

test("an error of the server is that of its request, and one that is too large too", async () => {
  const { server, client, clock } = await scene({ joinGroup: () => ({ error: { code: 10010, message: "No such group" } }) });
  await byStream(server, client, clock);
  await next(client, "ready");
  const [pinged, refused] = await Promise.allSettled([client.call("ping"), client.call("joinGroup", { groupID: "g" })]);
  assert.equal(pinged.status, "fulfilled");
  assert.ok(refused.reason.code === 10010);
  server.isNarrow = true;
  await assert.rejects(client.call("ping"), { reason: "TooLarge" });
  server.isNarrow = false;
  await client.call("ping");
});

test("events come by the stream, whatever their text is cut into", async () => {
  const { server, client, clock } = await scene();
  await byStream(server, client, clock);
  await next(client, "ready");
  const heard = next(client, "onReceiveRESTCustomData");
  server.tell("onReceiveRESTCustomData", { groupID: "g", opTime: 1, customData: "é😀\u2028".repeat(30_000), platform: "x" });
  assert.equal((await heard).customData, "é😀\u2028".repeat(30_000));
});

test("a lost stream is a lost connection, and the next is a stream", async () => {
  const { server, client, clock } = await scene({ joinGroup: () => null });
  await byStream(server, client, clock);
  await next(client, "ready");
  const call = client.call("joinGroup", { groupID: "g" });
  await server.until(() => server.requests.some(([method]) => method === "joinGroup"));
  const back = next(client, "ready");
  server.cut();
  await assert.rejects(call, { reason: "ConnectionLost" });
  await back;
  assert.equal(server.asked["/ws"], 2);
});

test("a close code of a stream means what it means on a WebSocket", async () => {
  const { server, client, clock } = await scene();
  await byStream(server, client, clock);
  await next(client, "ready");
  const closed = next(client, "state", ({ state }) => state === "closed");
  server.closeAll(4503, "removed");
  assert.deepEqual([(await closed).code, (await closed).reason], [4503, "removed"]);
});

test("the answer to logout may come behind the end of the stream", async () => {
  const { server, client, clock } = await scene({ logout: (params, peer) => (peer.closeAll(1000, "bye"), {}) });
  server.delay = 50;
  await byStream(server, client, clock);
  await next(client, "ready");
  await client.logout();
  assert.equal(client.state, "closed");
});

test("a token that a stream refuses as expired is asked for again", async () => {
  let count = 0;
  const { server, client, clock } = await scene({}, { token: () => `token ${++count}` });
  server.refusal = [4500, "70001 The token has expired"];
  const refused = next(client, "state", ({ error }) => error?.code === 70001);
  const online = byStream(server, client, clock);
  await refused;
  server.refusal = null;
  await online;
  assert.equal(server.lastStream.authorization, "Bearer token 2");
});

test("one that it refuses for good closes the client", async () => {
  const { server, client, clock } = await scene();
  server.refusal = [4500, "70003 The token is malformed"];
  const closed = next(client, "state", ({ state }) => state === "closed");
  byStream(server, client, clock).catch(() => {});
  assert.deepEqual([(await closed).code, (await closed).error.code], [4500, 70003]);
});

test("an upgrade that is never answered has failed after 20 s", async () => {
  const { server, client, clock } = await scene();
  server.upgrades = "silent";
  const online = next(client, "state", ({ state }) => state === "online");
  for (const count of [1, 2]) {
    await server.until(() => server.asked["/ws"] === count);
    const lost = next(client, "state", ({ state }) => state === "waiting");
    await clock.pass(19.9);
    assert.equal(client.state, "connecting");
    await clock.pass(0.1);
    assert.equal((await lost).reason, "no answer in time");
    await clock.pass(0.1);
  }
  assert.equal((await online).transport, "stream");
});

test("after a quiet time a WebSocket is tried beside the stream, later and later, and taken when it opens", async () => {
  const failed = new Set();
  class Noted extends WebSocket {
    constructor(...values) {
      super(...values);
      this.addEventListener("error", () => failed.add(this));
    }
  }
  const { server, client, clock } = await scene({}, { WebSocket: Noted });
  await byStream(server, client, clock);
  await next(client, "ready");
  await clock.pass(299);
  assert.equal(server.asked["/ws"], 2);
  await clock.pass(2);
  await clock.settle(() => failed.size === 3);
  assert.equal(server.asked["/ws"], 3);
  server.upgrades = "open";
  await clock.pass(599);
  assert.equal(server.asked["/ws"], 3);
  const states = [];
  client.on("state", ({ state, transport }) => states.push([state, transport]));
  const ready = next(client, "ready");
  await clock.pass(2);
  await ready;
  assert.deepEqual(states, [["connecting", "websocket"], ["online", "websocket"]]);
});

test("a server without streams is not asked again for ten minutes", async () => {
  const { server, client, clock } = await scene();
  server.upgrades = "refused";
  server.streams = 404;
  let losses = 0;
  await new Promise((resolve) => {
    client.on("state", ({ state }) => {
      if (state !== "waiting") return;
      losses += 1;
      if (losses === 8) resolve();
      else now(() => clock.pass(1));
    });
  });
  assert.deepEqual([server.asked["/ws"], server.asked["/events"]], [7, 1]);
});

test("where both fail they are tried by turns", async () => {
  const { server, client, clock } = await scene();
  server.upgrades = "cut";
  server.streams = 503;
  const ways = [];
  await new Promise((resolve) => {
    client.on("state", ({ state, transport }) => {
      if (state !== "waiting") return;
      ways.push(transport);
      if (ways.length === 7) resolve();
      else now(() => clock.pass(1));
    });
  });
  const [w, s] = ["websocket", "stream"];
  assert.deepEqual(ways, [w, w, s, w, s, w, s]);
});

test("a stream that is held back is given up, and said to be", async () => {
  const { server, client, clock } = await scene();
  server.upgrades = "refused";
  server.streams = "held";
  client.on("state", ({ state }) => {
    if (state === "waiting" && server.asked["/events"] === 0) now(() => clock.pass(1));
  });
  const lost = next(client, "state", ({ state, transport }) => state === "waiting" && transport === "stream");
  await server.until(() => server.asked["/events"] === 1);
  await clock.settle(() => true);
  await clock.pass(21);
  assert.match((await lost).reason, /proxy/);
});

test("reconnectNow begins with a WebSocket again", async () => {
  const { server, client, clock } = await scene();
  await byStream(server, client, clock);
  await next(client, "ready");
  server.upgrades = "open";
  const online = next(client, "state", ({ state }) => state === "online");
  client.on("state", ({ state }) => {
    if (state === "waiting") client.reconnectNow();
  });
  server.cut();
  assert.equal((await online).transport, "websocket");
});

test("the transport may be chosen", async () => {
  const { server, client } = await scene({}, { transport: "stream", WebSocket: undefined });
  assert.equal((await next(client, "state", ({ state }) => state === "online")).transport, "stream");
  assert.equal(server.asked["/ws"], 0);
});
