"""The demo page in a browser: a chat through each proxy, and what the page says of a connection that is refused, lost,
or back (Protocol.md, "Pages")."""
import re
from urllib.parse import unquote

import pytest

from harness.demo import NEWEST, chips, choose, edit, group_of, guest, hears, new_group, room, say
from harness.proxy import PROXIES, start, without_upgrades  # noqa: F401 - a fixture
from harness.upgrade_breaker import UpgradeBreaker


@pytest.mark.parametrize("kind", PROXIES)
async def test_two_browsers_chat_through_the_proxy(start, browser, kind):  # noqa: F811
    own, proxy = start(kind)
    alice = await guest(browser, f"https://{proxy.host}/chat/")
    link = await new_group(alice)
    assert link.startswith(f"https://{proxy.host}/chat/#")
    bob = await guest(browser, link)
    await bob.sees("Meeting", "#subtitle")
    await say(bob, "hello from bob")
    await hears(alice, "hello from bob")
    await say(alice, "hello from alice")
    await hears(bob, "hello from alice")
    (session,) = own.rpc("listSessions", userID=await alice.text("#user"))["result"]["sessionList"]
    assert session["address"] in ("127.0.0.1", "::1") and session["platform"] == "Web"


def naive(text):
    """nginx without what the file says about hosts: it sends its own name for the server as `Host`."""
    return re.sub(r"\n *proxy_set_header (X-Forwarded|Forwarded)[^\n]*", "", text)


async def test_a_refused_upgrade_shows_the_servers_reason(start, browser):  # noqa: F811
    own, proxy = start("nginx", {"trustedProxies": ""}, edit=naive)
    page = await browser.open(f"https://{proxy.host}/chat/", frozen=True)
    await page.sees("Refused", "#state")
    told = await page.text("#banner-words")
    assert "The connection is refused: 403: the Origin does not match the Host; allowedOrigins" in told
    own.metric_becomes("throng_upgrades_refused_total", 1, reason="origin")


async def test_a_proxy_without_upgrades_is_named(start, browser):  # noqa: F811
    _, proxy = start("nginx", edit=without_upgrades)
    page = await browser.open(f"https://{proxy.host}/chat/", frozen=True)
    await page.sees("Refused", "#state")
    assert "something before it does not pass on WebSockets" in await page.text("#banner-words")


async def test_a_draining_server_says_so(make_server, make_world, browser):
    own = make_server({"demo": "true"}, frozen=True)
    # The drain lasts while somebody is connected.
    await make_world(own).user()
    own.terminate()
    own.wait_until(lambda: own.http("GET", "/readyz").status == 503, "the drain")
    page = await browser.open(f"http://{own.address}/", frozen=True)
    await page.sees("The connection is refused: 503: the server is draining; try again later", "#banner-words")
    await page.sees("Refused", "#state")
    own.kill()
    await page.click("#retry")
    await page.sees("Not connected: the server cannot be reached", "#banner-words")
    assert await page.text("#state") == "Reconnecting"


async def test_a_lost_connection_is_not_refused_and_comes_back(start, browser):  # noqa: F811
    """The other page shows the guest offline, then online again; what was said meanwhile arrives."""
    own, proxy = start("haproxy")
    alice = await guest(browser, f"http://{own.address}/chat/", frozen=True)
    link = await new_group(alice)
    bob = await guest(browser, f"https://{proxy.host}/chat/{link[link.index('#'):]}", frozen=True)
    await bob.sees("Meeting", "#subtitle")
    user = await bob.text("#user")
    bobs = f'#member-list li:has([title="{user}"]) .dot'
    await alice.until(f"document.querySelector('{bobs}')?.title === 'online'")
    proxy.end()
    await bob.sees("Not connected: the connection was lost. Next try in 1 s.", "#banner-words")
    # The page tries by itself, and finds nobody.
    await bob.advance(seconds=1)
    await bob.sees("Not connected: the server cannot be reached", "#banner-words")
    assert await bob.text("#state") == "Reconnecting"
    own.wait_until(lambda: own.rpc("listSessions", userID=user)["result"]["sessionList"] == [], "the end of the session")
    # The page asks for it every 5 s.
    await alice.advance(seconds=5)
    await alice.until(f"document.querySelector('{bobs}')?.title === 'offline'")
    await say(alice, "while bob is away")
    await say(bob, "written without a connection")
    proxy.start()
    await bob.click("#retry")
    await bob.sees("Connected", "#state")
    await bob.until("document.querySelector('#banner').hidden")
    await alice.advance(seconds=5)
    await alice.until(f"document.querySelector('{bobs}')?.title === 'online'")
    await hears(bob, "while bob is away")
    await hears(alice, "written without a connection")
    assert "offline" not in await bob.run("[...document.querySelectorAll('#member-list .dot')].map((dot) => dot.title).join()")


async def test_the_page_says_that_the_server_is_about_to_stop(make_server, browser):
    own = make_server({"demo": "true", "drain.duration": "10s"}, frozen=True)
    alice = await guest(browser, f"http://{own.address}/", frozen=True)
    own.terminate()
    await alice.sees("The server is about to stop", "#banner-words")
    assert await alice.text("#state") == "Server stops"
    await own.advance(seconds=10.2)
    await alice.sees("Not connected: the server restarts", "#banner-words")
    assert await alice.text("#state") == "Reconnecting"


async def test_changes_that_were_missed_come_with_the_connection(start, browser):  # noqa: F811
    """Edits, reactions, pins and recalls of messages that the page has: by their `changeSeq`, without reading the
    history again."""
    own, proxy = start("haproxy")
    alice = await guest(browser, f"http://{own.address}/chat/")
    link = await new_group(alice)
    bob = await guest(browser, f"https://{proxy.host}/chat/{link[link.index('#'):]}", frozen=True)
    await bob.sees("Meeting", "#subtitle")
    group, user = unquote(link[link.index("#") + 1:]), await bob.text("#user")
    for text in ("to be edited", "to be liked", "to be pinned", "to be recalled"):
        await say(alice, text)
        await hears(bob, text)
    await choose(bob, "pick 🎉")
    await chips(bob, "🎉 1 true")
    proxy.end()
    await bob.sees("Not connected", "#banner-words")
    *_, edited, liked, pinned, recalled = range(
        1, own.rpc("getGroupsInfo", groupIDList=[group])["result"]["resultList"][0]["info"]["lastSeq"] + 1)
    for method, params in (
            ("modifyGroupMessage", {"asUser": await alice.text("#user"), "seq": edited, "text": "new words"}),
            ("addMessageReaction", {"asUser": user, "seq": liked, "reaction": "👍"}),
            ("pinGroupMessage", {"seq": pinned, "isPinned": True}), ("revokeGroupMessage", {"seq": recalled})):
        assert "error" not in own.rpc(method, groupID=group, **params)
    await say(alice, "the newest")
    proxy.start()
    await bob.click("#retry")
    await hears(bob, "the newest")
    await hears(bob, "new words")
    await bob.sees("Message recalled", "#timeline")
    await bob.sees("to be pinned", "#pin-latest")
    await chips(bob, "👍 1 true")
    assert "to be recalled" not in await bob.text("#timeline") and "to be edited" not in await bob.text("#timeline")
    frames = await bob.run("[...document.querySelectorAll('#frames summary')].map((one) => one.textContent).join('\\n')")
    assert frames.count('"method":"getGroupHistoryMessageList"') == 1
    assert '"changeSeq":1}]' in frames, "where the sync begins"


async def test_what_was_missed_is_counted(start, browser):  # noqa: F811
    """A cut is seen, and so is what came meanwhile."""
    own, proxy = start("haproxy")
    alice = await guest(browser, f"http://{own.address}/chat/")
    link = await new_group(alice)
    bob = await guest(browser, f"https://{proxy.host}/chat/{link[link.index('#'):]}", frozen=True)
    await bob.sees("Meeting", "#subtitle")
    proxy.end()
    await bob.sees("Not connected", "#banner-words")
    for text in ("one", "two", "three"):
        await say(alice, text)
        await alice.until(f"!document.querySelector('{NEWEST}').innerText.includes('sending')")
    proxy.start()
    await bob.click("#retry")
    await bob.sees("Connected again: 3 messages came meanwhile", "#timeline")
    await bob.until("document.querySelector('#banner').hidden")


@pytest.fixture
def cut_room(make_server, make_tcp_proxy, browser):
    """A live room, its owner, and a guest whose connection is cut; the page comes back when its button is pressed."""

    async def make(grace):
        own = make_server({"demo": "true", "avChatRoom.offlineGrace": grace})
        proxy = await make_tcp_proxy(own.address)
        alice, bob = await room(own, browser, proxy.address, frozen=True)
        user, group = await bob.text("#user"), await group_of(alice)
        proxy.cut()
        await bob.sees("Not connected", "#banner-words")
        if grace != "1h":
            members = lambda: own.rpc("getGroupMemberList", groupID=group)["result"]["memberList"]  # noqa: E731
            own.wait_until(lambda: user not in [member["userID"] for member in members()], "the room has forgotten the guest")
        return own, group, alice, bob

    return make


async def come_back(page):
    await page.click("#retry")
    await page.sees("Connected", "#state")


@pytest.mark.parametrize("grace", ["1h", "100ms"])
async def test_a_live_room_that_is_there_again_says_that_it_keeps_nothing(cut_room, grace):
    """Within the time that the room waits for its members, and after it."""
    _, _, alice, bob = await cut_room(grace)
    await say(alice, "nobody hears this")
    await hears(alice, "nobody hears this")
    await come_back(bob)
    await bob.sees("This room keeps nothing of what was said meanwhile", "#timeline")
    await say(bob, "here I am")
    await hears(alice, "here I am")
    assert "nobody hears" not in await bob.text("#timeline")
    await bob.until("document.querySelector('#banner').hidden")


async def test_a_live_room_that_is_gone_is_left_and_the_other_groups_go_on(cut_room):
    own, group, _, bob = await cut_room("100ms")
    own.rpc("dismissGroup", groupID=group)
    other = own.rpc("createGroup", groupType="Meeting", groupName="Other table", ownerUserID="olga")["result"]["groupID"]
    own.rpc("joinGroup", asUser=await bob.text("#user"), groupID=other)
    await come_back(bob)
    await bob.sees("the room was closed while you were away", "#lobby")
    await bob.sees("Other table", "#group-list")
    assert "Tea table" not in await bob.text("#group-list")


async def test_a_live_room_that_asks_before_somebody_joins_asks_again(cut_room):
    _, _, alice, bob = await cut_room("100ms")
    await alice.click("#ask-first")
    await alice.sees("is asked before somebody joins", "#timeline")
    await come_back(bob)
    await bob.sees("you were away too long. You have knocked", "#lobby")
    await alice.click("#applications .primary")
    await bob.sees("AVChatRoom", "#subtitle")
    await say(bob, "let in again")
    await hears(alice, "let in again")


async def test_what_the_page_asks_by_itself_is_folded(make_server, browser):
    """Who is online is asked every few seconds: these frames do not stand between the others."""
    own = make_server({"demo": "true"})
    alice = await guest(browser, f"http://{own.address}/", frozen=True)
    await new_group(alice)
    frames = "[...document.querySelectorAll('#frames summary')].map((one) => one.textContent).join('\\n')"
    assert await alice.run("document.querySelector('#polls').hidden")
    await alice.advance(seconds=5)
    await alice.until("document.querySelector('#poll-count').textContent === '2'")
    shown = await alice.run("document.querySelector('#frame-count').textContent")
    await alice.advance(seconds=5)
    await alice.until("document.querySelector('#poll-count').textContent === '4'")
    assert "getGroupMembersInfo" not in await alice.run(frames)
    assert await alice.run("document.querySelector('#frame-count').textContent") == shown
    # Whoever wants to sees them, too.
    await alice.click("#protocol > summary")
    await alice.click("#polls > summary")
    await alice.sees("getGroupMembersInfo", "#poll-frames")
    await alice.click("#clear-frames")
    await alice.until("document.querySelector('#polls').hidden && document.querySelector('#frames').children.length === 0")


async def test_the_page_says_itself_that_no_server_answers(make_server, make_tcp_proxy, browser):
    """The client library would write it into the browser's log, too."""
    own = make_server({"demo": "true"})
    proxy = await make_tcp_proxy(own.address)
    page = await guest(browser, f"http://{proxy.address}/", frozen=True)
    await page.run("window.warned = []; console.warn = (...words) => window.warned.push(words)")
    proxy.refuse()
    proxy.cut()
    await page.sees("Not connected", "#banner-words")
    await page.advance(seconds=1)
    await page.sees("Not connected: the server cannot be reached", "#banner-words")
    proxy.refuse(False)
    await page.click("#retry")
    await page.sees("Connected", "#state")
    await page.until("document.querySelector('#banner').hidden")
    assert await page.run("window.warned") == []


@pytest.mark.parametrize("way", ["refused", "swallowed"])
async def test_where_no_websocket_passes_the_page_goes_by_a_stream(make_server, browser, way):
    """Behind a proxy that breaks upgrades: two guests chat, and a page that is loaded again does too."""
    own = make_server({"demo": "true"})
    breaker = await UpgradeBreaker.start(own.address, way)
    try:
        alice = await guest(browser, f"http://{breaker.address}/")
        link = await new_group(alice, "Public")
        assert "error" not in own.rpc("setGroupInfo", groupID=await group_of(alice), joinMode="Any")
        bob = await guest(browser, link)
        await bob.sees("Public", "#subtitle")
        for number in range(3):
            await say(alice, f"alice {number}")
            await hears(bob, f"alice {number}")
            await say(bob, f"bob {number}")
            await hears(alice, f"bob {number}")
        await bob.reload()
        await bob.sees("Connected", "#state")
        await hears(bob, "bob 2")
        await say(alice, "behind the reload")
        await hears(bob, "behind the reload")
        assert breaker.asked("/events") >= 3 and not any("token" in line for line in breaker.requests)
    finally:
        await breaker.end()


def collecting(text):
    """nginx without upgrades that is told not to do as the server asks: it keeps what it gets until that is a page of memory."""
    assert "proxy_buffering off;" in text
    return without_upgrades(text).replace("proxy_buffering off;", "proxy_buffering on; proxy_ignore_headers X-Accel-Buffering;")


async def test_a_proxy_that_collects_what_it_passes_on_is_named(start, browser):  # noqa: F811
    """Nothing gets through, and the page says what to look for."""
    _, proxy = start("nginx", edit=collecting)
    page = await browser.open(f"https://{proxy.host}/chat/", frozen=True)
    await page.sees("Refused", "#state")
    # The next try may take the words away at once.
    await page.run("""void (window.said = [], new MutationObserver(() => said.push(document.querySelector('#banner-words').textContent))
        .observe(document.querySelector('#banner'), {childList: true, characterData: true, subtree: true}))""")
    for _ in range(1_000):
        if await page.run("said.some((words) => words.includes('a proxy may hold the stream back'))"):
            break
        await page.advance(seconds=0.5)
    else:
        pytest.fail(f"it has not said so: {await page.run('said')}")
    assert await page.text("#state") != "Connected"


@pytest.mark.parametrize("kind", PROXIES)
async def test_a_proxy_of_ours_without_upgrades_takes_streams(start, browser, kind):  # noqa: F811
    """With the file that Scripts/deploy has, but for upgrades: what is said arrives at once in both directions."""
    _, proxy = start(kind, edit=without_upgrades)
    alice = await guest(browser, f"https://{proxy.host}/chat/")
    link = await new_group(alice)
    bob = await guest(browser, link)
    await bob.sees("Meeting", "#subtitle")
    await say(bob, "by a stream")
    await hears(alice, "by a stream")
    await say(alice, "and back")
    await hears(bob, "and back")
