"""The demo page in a browser: who is there, who writes, slow mode, and reports."""
import asyncio

from harness.demo import choose, group_of, guest, hears, pair, save_name, say


def dot(user):
    return f"[data-id='{user}'] .dot"


async def test_who_writes_is_named_until_the_message_is_there(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser)
    await save_name(bob, "Bob")
    await bob.write("#text", "hel")
    await alice.sees("Bob is writing", "#typing")
    assert not await bob.run("document.querySelector('#typing').checkVisibility()")
    await say(bob, "hello")
    await hears(alice, "hello")
    await alice.until("document.querySelector('#typing').hidden")


async def test_who_stops_writing_is_named_no_longer(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser, frozen=True)
    await bob.write("#text", "hel")
    await alice.sees("is writing", "#typing")
    await alice.advance(seconds=6)
    await alice.until("document.querySelector('#typing').hidden")


async def test_statuses_are_pushed(make_server, browser):
    """The dot of a member who goes turns after the grace, and the member's own words stand beside the name."""
    own = make_server({"demo": "true"}, frozen=True)
    alice, bob = await pair(own, browser, frozen=True)
    user = await bob.text("#user")
    await alice.until(f"document.querySelector({dot(user)!r})?.title === 'online'")
    assert "error" not in own.rpc("setSelfStatus", asUser=user, customStatus="at lunch")
    await own.advance(seconds=1)
    await alice.sees("at lunch", "#member-list")
    await bob.run("location.href = 'about:blank'")
    await asyncio.to_thread(
        own.wait_until, lambda: own.rpc("listSessions", userID=user)["result"]["sessionList"] == [], "no session")
    await own.advance(seconds=7)
    await alice.until(f"document.querySelector({dot(user)!r})?.title === 'offline'")


async def test_slow_mode_is_a_countdown(make_server, browser):
    """The text stays in its field as long as the group takes none; the owner does not wait."""
    own = make_server({"demo": "true"}, frozen=True)
    alice, bob = await pair(own, browser, frozen=True)
    assert not await bob.run("document.querySelector('#slow-mode').checkVisibility()")
    await alice.click("#slow-mode")
    await alice.run("document.querySelector('dialog select').value = '30'")
    await alice.click("dialog .primary")
    await bob.sees("lets members write once in 30 s", "#timeline")
    await say(bob, "first")
    await hears(alice, "first")
    await bob.sees("Slow mode: you can write again in 30 s.", "#slow")
    await say(bob, "second")
    assert await bob.run("document.querySelector('#text').value") == "second"
    await own.advance(seconds=10)
    await bob.advance(seconds=10)
    await bob.sees("in 20 s.", "#slow")
    await own.advance(seconds=20)
    await bob.advance(seconds=20)
    await bob.until("document.querySelector('#slow').hidden")
    await bob.click("#composer button")
    await hears(alice, "second")
    for text in ("owner's first", "owner's second"):
        await say(alice, text)
        await hears(bob, text)


async def test_a_message_is_reported(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser)
    await say(bob, "buy cheap watches")
    await hears(alice, "buy cheap watches")
    await choose(alice, "Report")
    await alice.write("dialog textarea", "this is advertising")
    await alice.click("dialog .primary")
    await alice.sees("You have reported a message of", "#timeline")
    (report,) = own.rpc("listReports")["result"]["reportList"]
    assert (report["groupID"], report["category"], report["text"]) == (await group_of(alice), "spam", "this is advertising")
    assert (report["reporter"], report["message"]["text"]) == (await alice.text("#user"), "buy cheap watches")
    carl = await guest(browser, await alice.run("location.href"))
    for page in (bob, carl):
        assert "reported" not in await page.text("#timeline")
