"""The demo page in a browser: live rooms with likes, microphone seats, and more messages than a room delivers."""
from harness.demo import NEWEST, group_of, guest, hears, new_group, room, save_name, say, seat


async def test_likes_of_a_live_room_rise_before_everybody(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await room(own, browser)
    # Hearts go away by themselves.
    await alice.run("""window.hearts = 0; new MutationObserver((changes) => changes.forEach((change) =>
        window.hearts += change.addedNodes.length)).observe(document.querySelector('#hearts'), {childList: true})""")
    for _ in range(5):
        await bob.click("#like")
    await alice.sees("5", "#likes")
    await bob.sees("5", "#likes")
    assert await alice.run("window.hearts") == 5
    await alice.run("document.getAnimations().forEach((one) => one.finish())")
    await alice.until("document.querySelector('#hearts').childElementCount === 0")
    carl = await guest(browser, await alice.run("location.href"))
    await carl.sees("5", "#likes")


async def test_a_group_with_history_has_no_like_button(make_server, browser):
    own = make_server({"demo": "true"})
    alice = await guest(browser, f"http://{own.address}/")
    await new_group(alice)
    assert not await alice.run("document.querySelector('#like').checkVisibility()")


async def test_microphone_seats(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await room(own, browser)
    await bob.click(seat(3))
    await bob.sees("You", seat(3))
    await alice.sees(await bob.text("#user"), seat(3))
    # Another seat is a change of seats; a seat that is taken is not to be had.
    await bob.click(seat(5))
    await bob.sees("You", seat(5))
    await bob.sees("Free", seat(3))
    await alice.click(seat(1))
    await bob.until(f"document.querySelector('{seat(1)}').disabled")
    carl = await guest(browser, await alice.run("location.href"))
    await carl.sees(await bob.text("#user"), seat(5))
    # The seat of those who go is free again, whoever is there.
    await carl.click(seat(8))
    await alice.sees(await carl.text("#user"), seat(8))
    await carl.click("#leave")
    for page in (alice, bob):
        await page.sees("Free", seat(8))


async def test_of_two_who_sit_down_at_once_one_is_told(make_server, make_tcp_proxy, browser):
    """Nothing of the seat that is taken reaches the page of the slower one before its click leaves."""
    own = make_server({"demo": "true"})
    proxy = await make_tcp_proxy(own.address)
    alice, bob = await room(own, browser, proxy.address, frozen=True)
    proxy.stall()
    await alice.click(seat(4))
    await alice.sees("You", seat(4))
    await bob.sees("Free", seat(4))
    await bob.click(seat(4))
    proxy.flow()
    await bob.sees("Somebody was quicker: seat 4 is taken.", "#composer-fault")
    await bob.sees(await alice.text("#user"), seat(4))
    await alice.sees("You", seat(4))


async def test_a_taken_seat_is_cleared_after_a_question_and_its_user_is_told(make_server, browser):
    """Others see the seat free, and are told nothing; nobody is told of a seat that is left."""
    own = make_server({"demo": "true"})
    alice, bob = await room(own, browser)
    await save_name(bob, "Bob")
    await bob.click(seat(5))
    await bob.sees("You", seat(5))
    await bob.click(seat(3))
    await bob.sees("Free", seat(5))
    carl = await guest(browser, await alice.run("location.href"))
    for page in (alice, carl):
        await page.sees("Bob", seat(3))
    await alice.click(seat(3))
    await alice.sees("Ask Bob to leave seat 3?", "dialog")
    await alice.click("dialog button", "Cancel")
    await alice.until(f"!document.querySelector('dialog') && document.activeElement.matches('{seat(3)}')")
    assert "Bob" in await carl.text(seat(3))
    await alice.click(seat(3))
    await alice.click("dialog .primary")
    await bob.sees("You were asked to leave seat 3. It is free now.", "#timeline")
    for page in (alice, bob, carl):
        await page.sees("Free", seat(3))
    # A seat that goes to somebody else while its user looks.
    await bob.click(seat(1))
    await bob.sees("You", seat(1))
    carls = {"seat1": await carl.text("#user")}
    assert "error" not in own.rpc("setGroupAttributes", groupID=await group_of(alice), attributes=carls)
    await bob.sees(f"You have lost seat 1: {carls['seat1']} has it now.", "#timeline")
    # By oneself it is no loss.
    await carl.sees("You", seat(1))
    await carl.click(seat(1))
    await carl.sees("Free", seat(1))
    for page in (alice, carl):
        assert "seat" not in await page.text("#timeline")
    assert (await bob.text("#timeline")).count("seat") == 2


async def test_a_seat_that_was_cleared_during_a_cut_is_told_afterwards(make_server, make_tcp_proxy, browser):
    own = make_server({"demo": "true"})
    proxy = await make_tcp_proxy(own.address)
    alice, bob = await room(own, browser, proxy.address, frozen=True)
    await bob.click(seat(2))
    await alice.sees(await bob.text("#user"), seat(2))
    proxy.cut()
    await bob.sees("Not connected", "#banner-words")
    await alice.click(seat(2))
    await alice.click("dialog .primary")
    await alice.sees("Free", seat(2))
    await bob.click("#retry")
    await bob.sees("You were asked to leave seat 2", "#timeline")


async def test_everybody_is_muted_and_people_are_let_in(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await room(own, browser)
    assert not await bob.run("document.querySelector('#mute-all').checkVisibility()")
    await alice.click("#mute-all")
    await bob.sees("This group is muted: ordinary members.", "#mute")
    await say(bob, "may I?")
    await bob.sees("You cannot write now", "#composer-fault")
    await bob.sees("not sent", NEWEST)
    await alice.click("#mute-all")
    await bob.until("document.querySelector('#mute').hidden && document.querySelector('#composer-fault').hidden")
    await bob.click(f"{NEWEST} [data-key=again]")
    await hears(alice, "may I?")
    await alice.click("#ask-first")
    await alice.until("document.querySelector('#ask-first').ariaPressed === 'true'")
    carl = await guest(browser, await alice.run("location.href"))
    await carl.sees("You have knocked", "#lobby-notice")
    await alice.sees(f"{await carl.text('#user')} asks to join", "#applications")
    await alice.click("#applications .primary")
    await carl.sees("AVChatRoom", "#subtitle")


async def test_two_hundred_messages_have_an_end_each(make_server, browser):
    """A live room delivers so many a second: what becomes of each is counted."""
    own = make_server({"demo": "true", "limits.avChatRoom.messagesPerSecond": 2}, frozen=True)
    alice, bob = await room(own, browser, frozen=True)
    # What the button does stands beside it, with the numbers of this server, and is read aloud with it.
    await bob.sees("Sends 200 messages at once: this room delivers 2 a second, 2 more wait, and the rest", "#burst-hint")
    assert await bob.run("document.querySelector('#send-burst').getAttribute('aria-describedby')") == "burst-hint"
    # The notice of who came has taken a place.
    await own.advance(seconds=2)
    await bob.run("document.querySelector('#priority').focus()")
    await bob.press("End", 35)
    assert await bob.run("document.querySelector('#priority').value") == "Lowest"
    await bob.click("#send-burst")
    await bob.sees("Of 200: 2 delivered, 196 dropped, 2 waiting for a place.", "#burst-count")
    await bob.sees("dropped: the room is too busy", "#timeline")
    await own.advance(seconds=1)
    # The server tells of drops alone, so the page asks.
    await bob.advance(seconds=2)
    await bob.sees("Of 200: 4 delivered, 196 dropped.", "#burst-count")
    await alice.until("document.querySelectorAll('#timeline .message:not(.own) .text').length === 4")
    assert await bob.run("document.querySelectorAll('#timeline .own.failed').length") == 196
