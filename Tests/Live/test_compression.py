"""Compressed events of busy groups, through the inflaters of Python's `websockets` and of Chromium
(Protocol.md, "Compression")."""
import asyncio
import json
import random

import pytest

from harness.server import IS_CLUSTER
from harness.tokens import make_token

SENTENCES = [
    "Good morning everybody, how is it going?", "did you see the game last night", "我觉得这个主意不错", "haha no way 😂",
    "the stream lags for me, anybody else?", "¿de dónde eres?", "brb", "See you tomorrow at the same time then!",
]
ACCEPTED = "permessage-deflate; client_no_context_takeover"


def extensions(client):
    return client.socket.response.headers.get("Sec-WebSocket-Extensions")


async def test_it_is_agreed_on_where_the_client_offers_it(world, make_server, make_world):
    assert extensions(await world.user()) == ACCEPTED
    assert extensions(await world.user(compression=None)) is None
    off = make_world(make_server({"compression": "off"}))
    assert extensions(await off.user()) is None


class CompressedRoom:
    """A live room, of whose members one offers no compression and sees everything."""

    def __init__(self, world, random_):
        self.world, self.random = world, random_
        self.inside, self.outside = [], []

    async def fill(self, count):
        """So many on each node: a topic is compressed where it has enough members."""
        count *= len(self.world.server.node_addresses)
        self.owner, self.witness = await self.world.user("owner"), await self.world.user("witness", compression=None)
        people = await asyncio.gather(*(self.world.user() for _ in range(count)))
        self.group = await self.world.group(
            self.owner, "AVChatRoom", members=[self.witness, *people], memberChangeNotification=False)
        self.inside = list(people)

    async def change(self):
        """Some leave, some come back, some want fewer messages."""
        leaving = self.random.sample(self.inside, self.random.randint(0, len(self.inside) // 4))
        coming = self.random.sample(self.outside, self.random.randint(0, len(self.outside)))
        await asyncio.gather(*(client.call("quitGroup", groupID=self.group) for client in leaving))
        await asyncio.gather(*(client.call("joinGroup", groupID=self.group) for client in coming))
        self.inside = [client for client in self.inside if client not in leaving] + coming
        self.outside = [client for client in self.outside if client not in coming] + leaving

    async def talk(self, count):
        """Messages of several members at once; what each of the others must see of them."""
        senders = self.random.sample(self.inside, min(4, len(self.inside)))
        calls, sent = [], {client: set() for client in self.inside}
        for n in range(count):
            sender = self.random.choice(senders)
            text = f"{n} {self.random.choice(SENTENCES)} {self.random.random()}"
            sent[sender].add(text)
            calls.append(await sender.start("sendGroupTextMessage", groupID=self.group, text=text))
        for call in calls:
            assert "result" in await call
        await self.owner.call("sendGroupTextMessage", groupID=self.group, text="end")
        expected = await self.seen_by(self.witness)
        assert len(expected) == count + 1
        for client in self.inside:
            wanted = [message for message in expected if message["message"]["text"] not in sent[client]]
            assert await self.seen_by(client) == wanted

    async def seen_by(self, client):
        """The messages of this round, the last of which is the owner's."""
        seen = []
        while not seen or seen[-1]["message"]["text"] != "end":
            seen.append(await client.expect("onRecvNewMessage", groupID=self.group))
        return seen


@pytest.mark.parametrize("seed", [1, 2])
async def test_everybody_sees_what_a_client_without_it_sees(make_server, make_world, record_property, seed):
    # Where time stands still the topic stays busy, however slow the machine is.
    own = make_server({"limits.avChatRoom.messagesPerSecond": 0}, frozen=not IS_CLUSTER)
    room = CompressedRoom(make_world(own), random.Random(seed))
    await room.fill(80)
    for _ in range(8):
        await room.change()
        await room.talk(60)
    if IS_CLUSTER:
        return
    own.metric_becomes("throng_compression_resets_total", lambda resets: resets > 1)
    before = own.metric_becomes("throng_compression_bytes_total", lambda count: count > 0, stage="before")
    after = own.metric_becomes("throng_compression_bytes_total", lambda count: 0 < count * 3 < before, stage="after")
    record_property("summary", f"compression: {before:,.0f} bytes left as {after:,.0f}, {before / after:.1f} times fewer")


# Opens sessions in the page, and keeps what comes.
LISTEN = """
  window.seen ??= {};
  Promise.all(%s.map(([user, token]) => new Promise((resolve, reject) => {
    const socket = new WebSocket(location.origin.replace('http', 'ws') + '/ws?token=' + token);
    seen[user] = {texts: [], extensions: null};
    socket.onmessage = ({data}) => {
      const {method, params, id, error} = JSON.parse(data);
      if (method === 'onConnectSuccess') {
        socket.send(JSON.stringify({jsonrpc: '2.0', id: 1, method: 'joinGroup', params: {groupID: %s}}));
      }
      if (id === 1) { if (error) reject(error); else { seen[user].extensions = socket.extensions; resolve(); } }
      if (method === 'onRecvNewMessage') seen[user].texts.push(data);
    };
    socket.onclose = ({code}) => { seen[user].closed = code; };
  }))).then(() => true)
"""


async def test_browsers_see_what_a_client_without_it_sees(make_server, make_world, browser):
    own = make_server({"limits.avChatRoom.messagesPerSecond": 0, "demo": True}, frozen=not IS_CLUSTER)
    room = CompressedRoom(make_world(own), random.Random(3))
    await room.fill(70)
    page = await browser.open(f"http://{own.address}/")
    users = [[user, make_token(user, now=own.now)] for user in (f"viewer-{n}" for n in range(4))]
    witnessed = []
    for user in users:
        # Each round brings a browser session that joins in the middle of the stream.
        await page.run(LISTEN % (json.dumps([user]), json.dumps(room.group)))
        start = len(room.witness.frames)
        await room.talk(80)
        frames = room.witness.frames[start:]
        witnessed.append([f["params"]["message"]["text"] for f in frames if f.get("method") == "onRecvNewMessage"])
    for number, (user, _) in enumerate(users):
        wanted = [text for texts in witnessed[number:] for text in texts]
        await page.until(f"seen['{user}'].texts.length >= {len(wanted)}")
        seen = await page.run(f"seen['{user}']")
        assert seen["extensions"].startswith("permessage-deflate") and "closed" not in seen
        assert [json.loads(text)["params"]["message"]["text"] for text in seen["texts"]] == wanted
    if not IS_CLUSTER:
        own.metric_becomes("throng_compression_resets_total", lambda resets: resets > 0)
