"""The demo page in a browser (Protocol.md, "Pages"): a chat through each proxy, and what the page says of a
connection that is refused, lost, or back."""
import re
from urllib.parse import unquote

import pytest

from harness.browser import Browser
from harness.proxy import PROXIES, start  # noqa: F401 - a fixture


@pytest.fixture
async def browser(tmp_path):
    one = await Browser.start(tmp_path)
    yield one
    await one.close()


async def guest(browser, url):
    page = await browser.open(url)
    await page.sees("Connected", "#state")
    return page


async def new_group(page):
    """Makes a group with the page's form; gives its link."""
    await page.click("#create-form button")
    await page.sees("Meeting", "#subtitle")
    return await page.run("location.href")


async def say(page, text):
    await page.write("#text", text)
    await page.click("#composer button")


async def hears(page, text):
    await page.sees(text, "#timeline")


async def test_the_sender_sees_who_has_read(make_server, browser):
    own = make_server({"demo": "true"})
    alice = await guest(browser, f"http://{own.address}/")
    await alice.click('#create-form [value="Public"]')
    await alice.click("#create-form button")
    await alice.sees("Public", "#subtitle")
    link = await alice.run("location.href")
    group = unquote(link[link.index("#") + 1:])
    assert "error" not in own.rpc("setGroupInfo", groupID=group, joinMode="Any")
    bob, carol = await guest(browser, link), await guest(browser, f"http://{own.address}/")
    await bob.sees("Public", "#subtitle")
    own.rpc("joinGroup", asUser=await carol.text("#user"), groupID=group)
    await say(alice, "who has read this?")
    await hears(bob, "who has read this?")
    await alice.sees("read by 1 of 2", ".own .meta")
    # Carol has the group in the list; opening it is reading.
    await carol.sees("Tea table", "#group-list")
    await carol.click("#group-list button")
    await alice.sees("read by all", ".own .meta")
    assert "read" not in await bob.text("#timeline .meta")
    await alice.click(".own .acts button")
    await alice.sees("Not yet: nobody.", "dialog")
    await alice.click("dialog .primary")


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


def without_upgrades(text):
    return re.sub(r"\n *proxy_set_header (Upgrade|Connection)[^\n]*", "", text)


async def test_a_refused_upgrade_shows_the_servers_reason(start, browser):  # noqa: F811
    own, proxy = start("nginx", {"trustedProxies": ""}, edit=naive)
    page = await browser.open(f"https://{proxy.host}/chat/")
    await page.sees("Refused", "#state")
    told = await page.text("#banner-words")
    assert "The connection is refused: 403: the Origin does not match the Host; allowedOrigins" in told
    assert own.metric("throng_upgrades_refused_total", reason="origin") >= 1


async def test_a_proxy_without_upgrades_is_named(start, browser):  # noqa: F811
    _, proxy = start("nginx", edit=without_upgrades)
    page = await browser.open(f"https://{proxy.host}/chat/")
    await page.sees("Refused", "#state")
    assert "something before it does not pass on WebSockets" in await page.text("#banner-words")


async def test_a_draining_server_says_so(make_server, make_world, browser):
    own = make_server({"demo": "true", "drain.duration": "2m"})
    # The drain lasts while one of them is connected.
    await make_world(own).users(*["user"] * 20)
    own.terminate()
    own.wait_until(lambda: own.http("GET", "/readyz").status == 503, "the drain")
    page = await browser.open(f"http://{own.address}/")
    await page.sees("The connection is refused: 503: the server is draining; try again later", "#banner-words")
    assert await page.text("#state") == "Refused"
    own.kill()
    await page.sees("Not connected: the server cannot be reached", "#banner-words")
    assert await page.text("#state") == "Reconnecting"


async def test_a_lost_connection_is_not_refused_and_comes_back(start, browser):  # noqa: F811
    """The other page shows the guest offline, then online again; what was said meanwhile arrives."""
    own, proxy = start("haproxy")
    alice = await guest(browser, f"http://{own.address}/chat/")
    link = await new_group(alice)
    bob = await guest(browser, f"https://{proxy.host}/chat/{link[link.index('#'):]}")
    await bob.sees("Meeting", "#subtitle")
    bobs = f'#member-list li:has([title="{await bob.text("#user")}"]) .dot'
    await alice.until(f"document.querySelector('{bobs}')?.title === 'online'")
    proxy.end()
    await bob.sees("Not connected: the server cannot be reached", "#banner-words")
    assert await bob.text("#state") == "Reconnecting"
    await alice.until(f"document.querySelector('{bobs}')?.title === 'offline'")
    await say(alice, "while bob is away")
    await say(bob, "written without a connection")
    proxy.start()
    await bob.click("#retry")
    await bob.sees("Connected", "#state")
    await bob.until("document.querySelector('#banner').hidden")
    await alice.until(f"document.querySelector('{bobs}')?.title === 'online'")
    await hears(bob, "while bob is away")
    await hears(alice, "written without a connection")
    assert "offline" not in await bob.run("[...document.querySelectorAll('#member-list .dot')].map((dot) => dot.title).join()")


async def test_likes_of_a_live_room_rise_before_everybody(make_server, browser):
    own = make_server({"demo": "true"})
    alice = await guest(browser, f"http://{own.address}/")
    await alice.run("document.querySelector('[value=AVChatRoom]').click()")
    await alice.click("#create-form button")
    await alice.sees("AVChatRoom", "#subtitle")
    bob = await guest(browser, await alice.run("location.href"))
    await bob.sees("AVChatRoom", "#subtitle")
    # Hearts go away by themselves.
    await alice.run("""window.hearts = 0; new MutationObserver((changes) => changes.forEach((change) =>
        window.hearts += change.addedNodes.length)).observe(document.querySelector('#hearts'), {childList: true})""")
    for _ in range(5):
        await bob.click("#like")
    await alice.sees("5", "#likes")
    await bob.sees("5", "#likes")
    assert await alice.run("window.hearts") == 5
    await alice.until("document.querySelector('#hearts').childElementCount === 0")
    carl = await guest(browser, await alice.run("location.href"))
    await carl.sees("5", "#likes")


async def test_a_group_with_history_has_no_like_button(make_server, browser):
    own = make_server({"demo": "true"})
    alice = await guest(browser, f"http://{own.address}/")
    await new_group(alice)
    assert not await alice.run("document.querySelector('#like').checkVisibility()")
