"""The demo page in a browser: what it keeps, and shows before there is a connection."""
import json

from harness.demo import group_of, guest, hears, new_group, pair, say

STORES = "indexedDB.databases().then((all) => all.map(({name}) => name).sort())"


async def test_a_page_that_is_loaded_again_shows_its_groups_at_once(make_server, make_tcp_proxy, browser):
    """Also while no server can be reached; what came meanwhile is there when one can."""
    own = make_server({"demo": "true"})
    proxy = await make_tcp_proxy(own.address)
    alice, bob = await pair(own, browser, "Public", proxy.address, frozen=True)
    await say(alice, "before the reload")
    await hears(bob, "before the reload")
    user = await bob.text("#user")
    # The page's own files come through, and no WebSocket does.
    await bob.run("void (window.name = 'offline')")
    await bob.before_each_load("if (window.name === 'offline') window.WebSocket = class extends WebSocket {"
                              " constructor(url, protocols) { super(url.replace(/:\\d+/, ':1'), protocols); } };")
    await bob.reload()
    await bob.sees("before the reload", "#timeline")
    await bob.sees("Tea table", "#group-list")
    assert await bob.text("#state") != "Connected"
    await say(bob, "written offline")
    await bob.sees("sending", "#timeline .own .meta")
    await say(alice, "meanwhile")
    await bob.run("void (window.name = '')")
    await bob.reload()
    await bob.sees("Connected", "#state")
    await hears(bob, "meanwhile")
    await hears(alice, "written offline")
    texts = await bob.run("[...document.querySelectorAll('#timeline .message .text')].map((one) => one.innerText)")
    assert sorted(texts) == sorted(["before the reload", "meanwhile", "written offline"]), "each once"
    assert await bob.text("#user") == user
    assert "came meanwhile" not in await bob.text("#timeline")


async def test_what_is_kept_ends_with_the_sign_in(make_server, browser):
    """Another guest of the same browser finds nothing, and what an earlier one has left goes when its time is over."""
    own = make_server({"demo": "true"})
    page = await guest(browser, f"http://{own.address}/")
    await new_group(page)
    user = await page.text("#user")
    # Its address would lead another tab into the group.
    await page.click("#to-lobby")
    mine = await page.run(STORES)
    assert [name.endswith(f"|{user}") for name in mine] == [True]
    other = await guest_beside(browser, page, own)
    assert await other.text("#user") != user
    assert await other.run("document.querySelectorAll('#group-list li').length") == 0
    key = json.dumps("throng-kept /")
    assert await page.run(f"Object.keys(JSON.parse(localStorage.getItem({key}))).length") == 2
    # The first one's time is over, and so is that of somebody of whom nothing is left.
    await other.run(f"void localStorage.setItem({key}, JSON.stringify({{...JSON.parse(localStorage.getItem({key})), {json.dumps(user)}: 1, gone: 1}}))")
    await page.run("void location.replace('about:blank')")
    await other.reload()
    await other.sees("Connected", "#state")
    await other.until(f"{STORES}.then((names) => names.length === 1 && !names[0].endsWith({json.dumps(user)}))")
    await other.until(f"Object.keys(JSON.parse(localStorage.getItem({key}))).length === 1")


async def guest_beside(browser, page, own):
    other = await browser.opened_by(page)
    await other.sees("Connected", "#state")
    await other.until("document.querySelector('#user').textContent.startsWith('guest-')")
    return other


async def test_a_browser_that_keeps_nothing_shows_the_page_all_the_same(make_server, browser):
    own = make_server({"demo": "true"})
    page = await guest(browser, f"http://{own.address}/")
    await page.before_each_load("Object.defineProperty(window, 'indexedDB', {value: undefined})")
    await page.reload()
    await page.sees("Connected", "#state")
    await new_group(page)
    await say(page, "all the same")
    await hears(page, "all the same")
    assert await group_of(page)
