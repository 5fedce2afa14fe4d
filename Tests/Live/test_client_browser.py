"""throng.js and its storage in a browser: IndexedDB, and tabs that share it (Clients.md, "Memory")."""
import http.server
import json
import threading
from functools import partial

import pytest

from harness.browser import browser, chromium  # noqa: F401 - fixtures
from harness.server import REPOSITORY
from harness.tokens import make_token

LIBRARY = REPOSITORY / "Sources/Clients/js"
# What a page of the tests has: `start` makes a client and gives it when it shows what is stored.
PAGE = """<!doctype html><meta charset="utf-8"><title>Tests</title><script type="module">
  import { ThrongClient } from "./throng.js";
  import * as storage from "./throng-storage.js";
  import { contract, durable } from "./test/contract.mjs";
  window.told = [];
  window.sockets = [];
  window.WebSocket = class extends WebSocket {
    constructor(...values) {
      super(...values);
      sockets.push(this);
    }
  };
  window.start = (options, use = {}) => new Promise((resolve) => {
    const { storageClass = storage.IndexedDBStorage } = use;
    window.client = new ThrongClient({ ...options, storage: new storageClass(), log: null, random: () => 0 });
    for (const name of ["stored", "ready", "conversation", "storageFailed", "state"]) {
      client.on(name, (params) => told.push([name, params]));
    }
    client.on("stored", ({ conversations, outbox }) =>
      resolve({ texts: conversations.map(({ info }) => info.lastMessage?.text ?? null), outbox: outbox.map(({ text }) => text) }));
    client.connect().catch(() => {});
  });
  window.hasTold = (name, fits = () => true) => told.some(([one, params]) => one === name && fits(params));
  Object.assign(window, { storage, contract, durable });
</script>"""


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript", ".js": "text/javascript"}

    def do_GET(self):
        if self.path != "/":
            return super().do_GET()
        body = PAGE.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


@pytest.fixture
def site():
    """The origin of a page that has the library."""
    one = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=LIBRARY))
    thread = threading.Thread(target=one.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{one.server_port}/"
    one.shutdown()
    one.server_close()
    thread.join()


async def loaded(page):
    await page.until("window.start !== undefined")
    return page


class Reader:
    """A user with a browser, in a group with another."""

    def __init__(self, world, own, user, other, group, page):
        self.world, self.own, self.user, self.other, self.group, self.page = world, own, user, other, group, page

    async def start(self, page=None, **options):
        options = {"url": self.own.url, "token": make_token(self.user, now=self.own.now), "userID": self.user, **options}
        return await (page or self.page).run(f"start({json.dumps(options)})")

    async def say(self, text):
        return await self.other.call("sendGroupTextMessage", groupID=self.group, text=text)

    async def has(self, text, page=None):
        """Waits until a page has stored a message with this text as the last one."""
        condition = f"hasTold('conversation', ({{conversation: {{info}}}}) => info.lastMessage?.text === {json.dumps(text)})"
        await (page or self.page).until(condition)


@pytest.fixture
async def reader(site, make_server, make_world, browser):
    own = make_server({"allowedOrigins": site.rstrip("/")})
    world = make_world(own)
    other, user = await world.user("other"), world.name("reader")
    tablet = await world.session(user)
    group = await world.group(other, members=[tablet])
    yield Reader(world, own, user, other, group, await loaded(await browser.open(site)))


async def test_indexeddb_is_a_storage(site, browser):
    page = await loaded(await browser.open(site))
    found = await page.run("""(async () => {
      const failed = [];
      for (const [name, run] of Object.entries({ ...contract, ...durable })) {
        try { await run(() => new storage.IndexedDBStorage()); } catch (error) { failed.push(`${name}: ${error}`); }
      }
      return [failed, (await indexedDB.databases()).length];
    })()""")
    # Those that other stores of the tests have left are none.
    assert found == [[], 0]


async def test_a_browser_that_refuses_says_so(reader):
    await reader.page.run("void Object.defineProperty(window, 'indexedDB', {value: undefined})")
    assert await reader.start() == {"texts": [], "outbox": []}
    await reader.page.until("hasTold('storageFailed', ({reason}) => reason === 'Refused') && hasTold('ready')")
    await reader.say("in memory")
    await reader.has("in memory")


async def test_a_full_browser_says_so(reader):
    """A quota cannot be had in a test: the error that a browser has for it is thrown."""
    await reader.page.run("""void (IDBObjectStore.prototype.put = () => { throw new DOMException("no room", "QuotaExceededError"); })""")
    await reader.start()
    await reader.page.until("hasTold('storageFailed', ({reason}) => reason === 'Full') && hasTold('ready')")


async def test_a_reload_shows_what_was_there(reader):
    assert await reader.start() == {"texts": [], "outbox": []}
    await reader.page.until("hasTold('ready')")
    await reader.say("before the reload")
    await reader.has("before the reload")
    await reader.page.reload()
    await loaded(reader.page)
    # No server is needed.
    assert await reader.start(url="ws://127.0.0.1:1/ws") == {"texts": [], "outbox": []}, "another server's store is another"
    await reader.page.reload()
    await loaded(reader.page)
    assert (await reader.start())["texts"] == ["before the reload"]
    texts = await reader.page.run(f"client.messages({json.dumps(reader.group)}).then(({{messageList}}) => messageList.at(-1).text)")
    assert texts == "before the reload"


async def test_two_tabs_share_a_store(reader, browser):
    await reader.start()
    await reader.page.until("hasTold('ready')")
    second = await loaded(await browser.opened_by(reader.page))
    await reader.start(second)
    await second.until("hasTold('ready')")
    for number in range(20):
        await reader.say(f"{number}")
    for page in (reader.page, second):
        await reader.has("19", page)
        unread = await page.run(f"client.conversation({json.dumps(reader.group)}).then(({{info}}) => info.selfInfo.unreadCount)")
        assert unread == 20, "each message counts once"
    assert not await reader.page.run("hasTold('storageFailed')") and not await second.run("hasTold('storageFailed')")


async def test_the_messages_of_a_tab_that_is_gone_are_sent_by_another(reader, browser):
    second = await loaded(await browser.opened_by(reader.page))
    await reader.start()
    await reader.page.until("hasTold('ready')")
    # The socket is there, and nothing comes through.
    await reader.page.run("void (WebSocket.prototype.send = () => {})")
    await reader.page.run(f"void client.sendText({json.dumps(reader.group)}, 'of the first tab'); client.flush()")
    assert await reader.start(second) == {"texts": [None], "outbox": []}, "the first tab lives"
    await second.until("hasTold('ready')")
    await reader.page.run("void setTimeout(() => location.replace('about:blank'))")
    await reader.page.until("location.href === 'about:blank'")
    await second.until("navigator.locks.query().then(({held}) => held.length === 1)")
    # At its next sign-in the second finds that the first is gone.
    await second.run("sockets.at(-1).close()")
    got = await reader.other.expect("onRecvNewMessage", groupID=reader.group)
    assert got["message"]["text"] == "of the first tab"
    await second.until("client.outbox().length === 0")


async def test_a_tab_that_forgets_leaves_the_others_in_memory(reader, browser):
    await reader.start()
    await reader.page.until("hasTold('ready')")
    second = await loaded(await browser.opened_by(reader.page))
    await reader.start(second)
    await second.until("hasTold('ready')")
    await reader.say("to both")
    await reader.has("to both")
    await reader.has("to both", second)
    await second.run("client.logout({forget: true})")
    assert await second.run("indexedDB.databases().then((all) => all.length)") == 0
    await reader.say("to the first")
    await reader.has("to the first")
    await reader.page.until("hasTold('storageFailed', ({reason}) => reason === 'Refused')")
    assert await second.run("indexedDB.databases().then((all) => all.length)") == 0, "nothing is made again"
