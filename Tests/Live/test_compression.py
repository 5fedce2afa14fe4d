"""Compressed events of busy groups, through the inflaters of Python's `websockets` and of Chromium
(Protocol.md, "Compression")."""
import asyncio
import json
import random

import pytest

from harness.browser import Browser
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


class Crowd:
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
    own = make_server({"limits.avChatRoom.messagesPerSecond": 0})
    crowd = Crowd(make_world(own), random.Random(seed))
    await crowd.fill(80)
    for _ in range(8):
        await crowd.change()
        await crowd.talk(60)
    before, after = (own.metric("throng_compression_bytes_total", stage=stage) for stage in ("before", "after"))
    # A slow machine may have left the topic quiet meanwhile, which ends its stream.
    assert own.metric("throng_compression_epochs_total") > 1
    assert 0 < after * 3 < before
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


async def test_browsers_see_what_a_client_without_it_sees(make_server, make_world, tmp_path):
    own = make_server({"limits.avChatRoom.messagesPerSecond": 0, "demo": True})
    crowd = Crowd(make_world(own), random.Random(3))
    await crowd.fill(70)
    browser = await Browser.start(tmp_path)
    try:
        page = await browser.open(f"http://{own.address}/")
        await page.until("location.origin !== 'null' && document.readyState === 'complete'")
        users = [[user, make_token(user)] for user in (f"viewer-{n}" for n in range(4))]
        witnessed = []
        for round_ in range(4):
            # Each round brings a browser session that joins in the middle of the stream.
            user = users[round_]
            await page.run(LISTEN % (json.dumps([user]), json.dumps(crowd.group)))
            start = len(crowd.witness.frames)
            await crowd.talk(80)
            witnessed.append([f["params"]["message"]["text"] for f in crowd.witness.frames[start:] if f.get("method") == "onRecvNewMessage"])
        for number, (user, _) in enumerate(users):
            wanted = [text for texts in witnessed[number:] for text in texts]
            await page.until(f"seen['{user}'].texts.length >= {len(wanted)}")
            seen = await page.run(f"seen['{user}']")
            assert seen["extensions"].startswith("permessage-deflate") and "closed" not in seen
            assert [json.loads(text)["params"]["message"]["text"] for text in seen["texts"]] == wanted
        assert own.metric("throng_compression_epochs_total") > 0
    finally:
        await browser.close()
