"""Pictures of the demo page for a person to look at, in the states that a reader of the page comes to: in `screenshots`
of the test's directory, or in that of THRONG_SCREENSHOTS."""
import os
from pathlib import Path

import pytest

from harness.demo import guest, new_group, room, say, seat
from harness.tcp_proxy import TCPProxy

LOOKS = {"desktop-light": (1280, 900, "light"), "desktop-dark": (1280, 900, "dark"), "phone-light": (390, 844, "light"),
         "phone-dark": (390, 844, "dark")}


@pytest.fixture
def shoot(tmp_path):
    """`await shoot(page, name)` takes the page at each width and in each scheme."""
    directory = Path(os.environ.get("THRONG_SCREENSHOTS") or tmp_path / "screenshots")
    directory.mkdir(parents=True, exist_ok=True)

    async def take(page, name):
        for look, size in LOOKS.items():
            await page.show_as(*size)
            file = directory / f"{name}-{look}.png"
            await page.screenshot(file)
            assert file.read_bytes().startswith(b"\x89PNG")
    return take


async def test_pictures_of_the_lobby_and_of_a_chat(make_server, browser, shoot):
    own = make_server({"demo": "true"})
    alice = await guest(browser, f"http://{own.address}/")
    await shoot(alice, "lobby")
    bob = await guest(browser, await new_group(alice))
    await bob.sees("Meeting", "#subtitle")
    await say(alice, "The kettle is on. Who brings cake?")
    await bob.sees("kettle", "#timeline")
    await say(bob, "I do: one with apples, and one with far too much chocolate, as ever.")
    await alice.sees("chocolate", "#timeline")
    await alice.click("#timeline li:last-child .menu-button")
    await shoot(alice, "chat")


async def test_pictures_of_a_voice_room(make_server, browser, shoot):
    own = make_server({"demo": "true", "limits.avChatRoom.messagesPerSecond": 5})
    alice, bob = await room(own, browser)
    await alice.click(seat(1))
    await bob.sees("guest", seat(1))
    await bob.click(seat(4))
    await alice.sees("guest", seat(4))
    await shoot(bob, "voice-room-guest")
    for _ in range(3):
        await bob.click("#like")
    await alice.sees("3", "#likes")
    await alice.click("#ask-first")
    await alice.until("document.querySelector('#ask-first').ariaPressed === 'true'")
    carl = await guest(browser, await alice.run("location.href"))
    await carl.sees("You have knocked", "#lobby-notice")
    await alice.sees("asks to join", "#applications")
    await alice.click("#mute-all")
    await bob.sees("This group is muted", "#mute")
    await shoot(bob, "voice-room-muted")
    await alice.run("document.querySelector('#priority').focus()")
    await alice.press("End", 35)
    assert await alice.run("document.querySelector('#priority').value") == "Lowest"
    await alice.click("#send-burst")
    await alice.until("/^Of 200: \\d+ delivered, \\d+ dropped\\.$/.test(document.querySelector('#burst-count').innerText)")
    await shoot(alice, "voice-room-owner")


async def test_pictures_of_a_cut_and_of_a_resume(make_server, browser, shoot):
    own = make_server({"demo": "true"})
    proxy = await TCPProxy.start(own.address)
    try:
        alice = await guest(browser, f"http://{own.address}/")
        link = await new_group(alice)
        # It comes back when its button is pressed.
        bob = await guest(browser, link.replace(own.address, proxy.address, 1), frozen=True)
        await bob.sees("Meeting", "#subtitle")
        proxy.cut()
        await bob.sees("Not connected", "#banner-words")
        await say(bob, "written without a connection")
        await shoot(bob, "cut")
        await say(alice, "said meanwhile")
        await alice.until("!document.querySelector('#timeline').innerText.includes('sending')")
        await bob.click("#retry")
        await bob.sees("Connected again", "#timeline")
        await bob.sees("said meanwhile", "#timeline")
        await shoot(bob, "resumed")
    finally:
        await proxy.end()
