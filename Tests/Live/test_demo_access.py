"""The demo page in a browser for everybody: by keyboard, by what a screen reader hears, at any width, in the dark, and
under a pointer that stays where it is."""
import json

import pytest

from harness.demo import (
    FOCUS, NEWEST, chips, choose, edit, group_of, guest, hears, new_group, pair, room, save_name, say, seat)


async def test_the_menu_of_a_message_is_used_by_keyboard(make_server, browser):
    alice, bob = await pair(make_server({"demo": "true"}), browser)
    await say(alice, "only keys")
    await hears(bob, "only keys")
    focus = "document.activeElement.ariaLabel ?? document.activeElement.innerText"
    await bob.run(f"document.querySelector('{NEWEST} .menu-button').focus()")
    await bob.press("Enter", 13)
    await bob.until(f"{focus} === 'thumbs up'")
    await bob.press("Escape", 27)
    await bob.until(f"({focus}).startsWith('Actions on the message of guest-')")
    assert await bob.run("!document.querySelector('.menu') && document.activeElement.ariaExpanded") == "false"
    await bob.press("Enter", 13)
    await bob.press("Tab", 9)
    await bob.press("Enter", 13)
    await chips(bob, "❤️ 1 true")
    # The message was drawn anew meanwhile, and the focus is where it was.
    await bob.until(f"({focus}).startsWith('Actions on the message of guest-')")


async def test_a_voice_room_by_keyboard(make_server, browser):
    """The focus stays where it was when the seats are drawn anew."""
    own = make_server({"demo": "true"})
    alice, bob = await room(own, browser)

    async def enter(page, selector):
        await page.run(f"document.querySelector({selector!r}).focus()")
        await page.press("Enter", 13)
    await enter(bob, seat(2))
    await bob.sees("You", seat(2))
    assert await bob.run(f"document.activeElement.matches('{seat(2)}')")
    await bob.press("Tab", 9)
    assert await bob.run(f"document.activeElement.matches('{seat(3)}')")
    await bob.press("Enter", 13)
    await bob.sees("You", seat(3))
    await enter(alice, "#mute-all")
    await bob.sees("This group is muted", "#mute")
    await enter(bob, "#like")
    await alice.sees("1", "#likes")


async def test_the_demo_is_usable_at_any_width_and_in_the_dark(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser)
    await alice.run("addEventListener('securitypolicyviolation', (event) => (window.violation = event.violatedDirective))")
    await say(alice, "a word that does not end" + "!" * 200)
    await edit(alice, "another word that does not end" + "!" * 200)
    await choose(alice, "Pin")
    await hears(bob, "another")
    await choose(bob, "pick 😂")
    await choose(alice, "pick 👍")
    await chips(alice, "😂 1 false,👍 1 true")
    await alice.click("#pins summary")
    await alice.click(f"{NEWEST} .menu-button")
    await alice.demand_usable()
    assert await alice.run("window.violation") is None


async def test_a_live_room_is_usable_at_any_width_and_in_the_dark(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await room(own, browser)
    await alice.run("addEventListener('securitypolicyviolation', (event) => (window.violation = event.violatedDirective))")
    await bob.click(seat(2))
    await alice.click(seat(1))
    await alice.click("#mute-all")
    await alice.sees("Let all speak", "#mute-all")
    await alice.click("#send-burst")
    await alice.sees("Of 200", "#burst-count")
    await alice.demand_usable()
    assert await alice.run("window.violation") is None


async def test_a_window_that_becomes_narrow_shows_the_conversation(make_server, browser):
    """On a phone one thing has room: the list of members, open beside a wide conversation, would hide it."""
    alice, _ = await pair(make_server({"demo": "true"}), browser)
    assert await alice.run("document.querySelector('#members').checkVisibility()")
    await alice.show_as(390, 844)
    await alice.until("!document.querySelector('#members').checkVisibility()")
    assert await alice.run("document.querySelector('#text').checkVisibility()")
    await alice.click("#to-members")
    await alice.until("document.querySelector('#members').checkVisibility()")
    await alice.click("#close-members")
    await alice.until("!document.querySelector('#members').checkVisibility()")


# What can be clicked, with its place. Messages have new neighbours at any time: those of a timeline that stands still.
PLACES = """[...document.querySelectorAll('button, input, textarea, select, summary, a')]
  .filter((one) => one.checkVisibility() && !one.closest('#banner'))
  .map((one) => {
    const { x, y } = one.getBoundingClientRect();
    const name = one.id || one.dataset.seat || one.ariaLabel || one.innerText.split('\\n')[0].replace(/ \\d+$/, '');
    return [name, Math.round(x), Math.round(y)];
  })"""


# What is due at a frame, scrolling to begin with, has been done.
PAINTED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


async def places(page, *without):
    await page.run(PAINTED)
    return [place for place in await page.run(PLACES) if place[0] not in without]


@pytest.mark.parametrize("width, height", [(1280, 800), (390, 844)], ids=["desktop", "phone"])
async def test_no_banner_moves_what_can_be_clicked(make_server, make_tcp_proxy, browser, width, height):
    """A second click at the same place would reach something else: each banner has its own place, or lies over."""
    own = make_server({"demo": "true"})
    proxy = await make_tcp_proxy(own.address)
    alice = await guest(browser, f"http://{proxy.address}/", frozen=True)
    await new_group(alice, "AVChatRoom")
    await alice.show_as(width, height)
    group = await group_of(alice)
    await alice.sees("Free", seat(1))
    await alice.sees("Sends 200", "#burst-hint")
    before = await places(alice)
    assert "seat1" in [name for name, *_ in before] and "leave" in [name for name, *_ in before]
    # A mute of the group, and a refusal about it.
    assert "error" not in own.rpc("muteGroup", groupID=group, mode="All")
    await alice.sees("This group is muted", "#mute")
    assert await places(alice) == before
    await say(alice, "may I?")
    await alice.sees("You cannot write now", "#composer-fault")
    assert await places(alice, "Send again") == before
    # Somebody who asks to join, and an announcement: with buttons of their own.
    assert "error" not in own.rpc("setGroupInfo", groupID=group, joinMode="Auth", notification="Tea is at five. " * 10)
    await alice.sees("Tea is at five", "#announcement")
    assert await places(alice, "Send again") == before
    assert "error" not in own.rpc("joinGroup", asUser="carl", groupID=group)
    await alice.sees("carl asks to join", "#applications")
    with_carl = await places(alice, "Send again")
    assert [place for place in with_carl if "carl" not in place[0]] == before
    assert "error" not in own.rpc("joinGroup", asUser="dora", groupID=group)
    await alice.sees("dora asks to join", "#applications")
    assert [place for place in await places(alice, "Send again") if "dora" not in place[0]] == with_carl
    # The end of the connection, in the middle of all.
    before = await places(alice)
    proxy.refuse()
    proxy.cut()
    await alice.sees("Not connected", "#banner-words")
    assert await alice.run("document.querySelector('#retry').checkVisibility()")
    assert await places(alice) == before
    await alice.advance(seconds=1)
    await alice.sees("the server cannot be reached", "#banner-words")
    assert await places(alice) == before
    proxy.refuse(False)
    await alice.click("#retry")
    await alice.until("document.querySelector('#banner').hidden")
    await alice.sees("Connected again", "#timeline")
    assert await places(alice, "Send again") == [place for place in before if place[0] != "Send again"]


async def test_messages_stand_still_under_notices(make_server, browser):
    """At the end of a conversation, in the middle of it, and where it is short."""
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser, "Public")
    group, other = await group_of(alice), await bob.text("#user")

    spots = "[...document.querySelectorAll('#timeline .text')].map((one) => Math.round(one.getBoundingClientRect().y))"

    async def unmoved():
        before = await alice.run(spots)
        for is_pinned in (True, False):
            assert "error" not in own.rpc("pinGroupMessage", groupID=group, seq=place, isPinned=is_pinned)
            await alice.until(f"document.querySelector('#pins').hidden !== {json.dumps(is_pinned)}")
            await alice.run(PAINTED)
            assert await alice.run(spots) == before
    for text in ("one", "two"):
        await say(bob, text)
    await hears(alice, "two")
    place = own.rpc("sendGroupTextMessage", asUser=other, groupID=group, text="three")["result"]["seq"]
    await hears(alice, "three")
    await unmoved()
    for number in range(40):
        assert "error" not in own.rpc("sendGroupTextMessage", asUser=other, groupID=group, text=f"number {number}")
    await hears(alice, "number 39")
    await alice.run(PAINTED)
    await unmoved()
    await alice.run("document.querySelector('#scroller').scrollTop = 300")
    await alice.run(PAINTED)
    await unmoved()
    assert await alice.run("document.querySelector('#scroller').scrollTop") == 300


async def test_notices_of_the_lobby_move_no_form(make_server, browser):
    own = make_server({"demo": "true"})
    alice = await guest(browser, f"http://{own.address}/")
    link = await new_group(alice, "Public")
    bob = await guest(browser, f"http://{own.address}/")
    await bob.write("#group-id", "nowhere")
    before = await places(bob)
    await bob.click("#join-form .primary")
    await bob.sees("There is no such group.", "#join-fault")
    assert await places(bob, "create-missing") == before
    await bob.write("#group-id", link)
    await bob.click("#join-form .primary")
    await bob.sees("You have knocked", "#lobby-notice")
    assert await places(bob) == before
    await save_name(bob, "Bob")
    assert await places(bob) == before


async def test_every_part_of_the_page_is_reached_by_keyboard(make_server, browser):
    """Tab and Enter, arrows within lists and menus, Escape out of what is open; the focus is never lost, and always seen."""
    own = make_server({"demo": "true"})
    alice = await guest(browser, f"http://{own.address}/")

    async def tab_to(page, selector, back=False, most=60):
        for _ in range(most):
            if await page.run(f"document.activeElement.matches({selector!r})"):
                break
            await page.press("Tab", 9, modifiers=8 if back else 0)
        assert await page.run(f"document.activeElement.matches({selector!r})"), await page.run(FOCUS)
        # It is seen: an outline, of the element or of the bubble of a message.
        assert await page.run("getComputedStyle(document.activeElement).outlineStyle") == "solid", selector
    await tab_to(alice, "#create-form [name=type]")
    for _ in range(2):
        await alice.press("ArrowDown", 40)
    assert await alice.run("document.activeElement.value") == "AVChatRoom"
    await tab_to(alice, "#create-form .primary")
    await alice.press("Enter", 13)
    await alice.sees("AVChatRoom", "#subtitle")
    # It begins where one writes.
    assert await alice.run("document.activeElement.id") == "text"
    bob = await guest(browser, await alice.run("location.href"))
    await bob.sees("AVChatRoom", "#subtitle")
    # Seats: from one to the next.
    await tab_to(bob, seat(1), back=True)
    for key, code, number in (("ArrowRight", 39, 2), ("End", 35, 8), ("ArrowLeft", 37, 7), ("Home", 36, 1)):
        await bob.press(key, code)
        assert await bob.run(f"document.activeElement.matches('{seat(number)}')"), key
    await bob.press("ArrowRight", 39)
    await bob.press("Enter", 13)
    await bob.sees("You", seat(2))
    # The owner clears it: the question begins with the way out, and gives the focus back.
    await alice.sees(await bob.text("#user"), seat(2))
    await tab_to(alice, seat(2), back=True)
    await alice.press("Enter", 13)
    await alice.until(f"{FOCUS} === 'Cancel'")
    await alice.press("Escape", 27)
    await alice.until(f"!document.querySelector('dialog') && document.activeElement.matches('{seat(2)}')")
    await alice.press("Enter", 13)
    await alice.until(f"{FOCUS} === 'Cancel'")
    await alice.press("Tab", 9)
    await alice.press("Enter", 13)
    await bob.sees("You were asked to leave seat 2", "#timeline")
    await alice.until(f"document.activeElement.matches('{seat(2)}')")
    # A member is muted from the list.
    await tab_to(alice, "#member-list .menu-button")
    await alice.press("Enter", 13)
    await alice.until(f"{FOCUS}.startsWith('Mute guest-')")
    await alice.press("Escape", 27)
    await alice.until("document.activeElement.matches('#member-list .menu-button') && !document.querySelector('.menu')")
    await alice.press("Enter", 13)
    await alice.press("Enter", 13)
    await alice.sees("Mute guest-", "dialog")
    await tab_to(alice, "dialog .primary")
    await alice.press("Enter", 13)
    await bob.sees("You are muted here until", "#mute")
    await alice.until("document.activeElement.matches('#member-list .menu-button')")
    # Leaving: the focus goes to what is there then.
    await tab_to(bob, "#leave", back=True)
    await bob.press("Enter", 13)
    await bob.until("document.activeElement.id === 'lobby-title'")
    await tab_to(bob, "#name")
    await tab_to(bob, "#name-form button")
    await bob.press("Enter", 13)
    await bob.sees("Saved", "#name-state")
    assert await bob.run("document.activeElement.matches('#name-form button')")
    # The protocol, and a frame of it.
    await tab_to(bob, "#protocol > summary")
    await bob.press("Enter", 13)
    await tab_to(bob, "#frames summary")
    await bob.press("Enter", 13)
    await bob.sees("jsonrpc", "#frames pre")


async def test_messages_and_groups_by_arrows(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser)
    for text in ("one", "two", "three"):
        await say(bob, text)
        await hears(alice, text)
    await alice.run("document.querySelector('#timeline .menu-button').focus()")
    labels = "[...document.querySelectorAll('#timeline .menu-button')].indexOf(document.activeElement)"
    for key, code, index in (("ArrowDown", 40, 1), ("ArrowDown", 40, 2), ("ArrowDown", 40, 2), ("ArrowUp", 38, 1),
                             ("Home", 36, 0), ("End", 35, 2)):
        await alice.press(key, code)
        assert await alice.run(labels) == index
    await alice.press("Enter", 13)
    for key, code, words in (("ArrowRight", 39, "heart"), ("End", 35, "Recall this message"), ("ArrowLeft", 37, "Report the message of guest-")):
        await alice.press(key, code)
        assert (await alice.run(FOCUS)).startswith(words)
    await alice.press("Escape", 27)
    await alice.until(f"{labels} === 2")
    # Out of the conversation to where one writes.
    await alice.press("Escape", 27)
    await alice.until("document.activeElement.id === 'text'")
    # While somebody writes, the keys are those of the text.
    await alice.press("ArrowUp", 38)
    assert await alice.run("document.activeElement.id") == "text"
    other = {"groupType": "Meeting", "groupName": "Other table", "groupID": "other"}
    assert "error" not in own.rpc("createGroup", ownerUserID="olga", **other)
    assert "error" not in own.rpc("joinGroup", asUser=await alice.text("#user"), groupID="other")
    await alice.sees("Other table", "#group-list")
    await alice.run("document.querySelector('#group-list button').focus()")
    await alice.press("ArrowDown", 40)
    # The list is drawn anew meanwhile.
    await say(bob, "four")
    await alice.sees("four", "#group-list")
    assert await alice.run("document.activeElement.innerText.startsWith('Other table')")
    await alice.press("Enter", 13)
    await alice.sees("Other table", "#title")
    # A narrow window: the list of members lies over the conversation.
    await alice.show_as(390, 844)
    await alice.until("!document.querySelector('#members').checkVisibility()")
    await alice.run("document.querySelector('#to-members').focus()")
    await alice.press("Enter", 13)
    await alice.until("document.activeElement.id === 'close-members'")
    await alice.press("Escape", 27)
    await alice.until("document.activeElement.id === 'to-members' && !document.querySelector('#members').checkVisibility()")


async def test_what_happens_is_read_aloud_once(make_server, browser):
    """Live regions: messages as a log, states as status, faults as alerts. A message whose menu opens is not said again."""
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser, frozen=True)
    for place, role in (("timeline", "log"), ("state", "status"), ("name-state", "status"), ("burst-count", "status"),
                        ("banner-reason", "alert"), ("composer-fault", "alert"), ("name-fault", "alert")):
        assert await alice.run(f"document.getElementById('{place}').role") == role
    for place in ("mute", "lobby-notice"):
        assert await alice.run(f"document.getElementById('{place}').closest('[role=status]') !== null")
    # What is added below a live region, as a screen reader hears it.
    await alice.run("""window.heard = []; new MutationObserver((changes) => {
      for (const { addedNodes } of changes) for (const node of addedNodes) {
        const one = node.nodeType === 1 ? node : node.parentElement;
        const live = one?.closest('[aria-live], [role=log], [role=status], [role=alert]');
        if (live && live.ariaLive !== 'off' && live.ariaBusy !== 'true') window.heard.push(node.textContent);
      }
    }).observe(document.body, { childList: true, subtree: true })""")
    await say(bob, "one")
    await hears(alice, "one")
    heard = "window.heard.filter((words) => words.includes('one')).length"
    assert await alice.run(heard) == 1
    await alice.click(f"{NEWEST} .menu-button")
    await alice.until("document.querySelector('.menu') !== null")
    await alice.press("Escape", 27)
    await choose(bob, "pick 👍")
    await chips(alice, "👍 1 false")
    await say(bob, "two")
    await hears(alice, "two")
    assert await alice.run(heard) == 1, await alice.run("window.heard")
    # A list of members says who is online, and how often the page tries again is not said each second.
    await alice.sees("online", "#member-list")
    own.kill()
    await alice.sees("Next try in", "#banner-words")
    await alice.run("window.heard.length = 0")
    for _ in range(3):
        await alice.advance(seconds=0.2)
    assert [words for words in await alice.run("window.heard") if "Next try" in words] == []


async def test_open_menus_and_dialogs_are_usable_at_any_width_and_in_the_dark(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser, "Public")
    await save_name(bob, "Bob with a name that is long enough to be cut off somewhere in a narrow list of members")
    await say(bob, "hello")
    await hears(alice, "hello")
    await alice.click("#member-list .menu-button")
    await alice.click(f"{NEWEST} .menu-button")
    await alice.demand_usable()
    await alice.click(f"{NEWEST} [data-key=Remove]")
    await alice.demand_usable()
    await alice.press("Escape", 27)
    await choose(alice, "Mute")
    await alice.demand_usable()
