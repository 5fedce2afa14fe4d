"""The demo page in a browser: who its reader is, across loads of the page, and how people are called."""
import json

import pytest

from harness.browser import TURNED
from harness.demo import NEWEST, chips, choose, group_of, guest, hears, new_group, pair, room, save_name, say, seat
from harness.tokens import OTHER_SECRET, make_token


async def test_a_page_that_is_loaded_again_is_the_same_guest(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser)
    await save_name(alice, "Ann")
    await say(alice, "before")
    await hears(bob, "before")
    await bob.sees("Ann", "#member-list")
    user = await alice.text("#user")
    for _ in range(3):
        # The second time before the page has signed in.
        await alice.reload()
    for _ in range(2):
        await alice.reload()
        await alice.sees("Connected", "#state")
        await alice.sees("Meeting", "#subtitle")
        await alice.sees(user, "#user")
    # Name, role, groups and own messages are there; nobody has joined.
    await alice.sees("Ann", "#member-list")
    assert await alice.run("document.querySelector('#name').value") == "Ann"
    await alice.sees("Disband", "#leave")
    await alice.sees("before", "#timeline .own")
    assert await alice.text("#member-count") == "2" and await bob.text("#member-count") == "2"
    await say(alice, "after")
    await hears(bob, "after")
    await alice.click("#to-lobby")
    await alice.reload()
    await alice.sees("Tea table", "#group-list")
    assert await alice.run("sessionStorage.length") == 0, "a duplicate of the tab would be the same guest"


async def test_a_second_tab_of_the_same_browser_is_another_guest(make_server, browser):
    """window.open copies the storage of the tab."""
    own = make_server({"demo": "true"})
    alice = await guest(browser, f"http://{own.address}/")
    await new_group(alice)
    user = await alice.text("#user")
    await alice.reload()
    await alice.sees(user, "#user")
    other = await browser.opened_by(alice)
    await other.sees("Meeting", "#subtitle")
    assert (await other.text("#user")).startswith("guest-") and await other.text("#user") != user
    await other.sees("Leave", "#leave")


async def test_the_owner_of_a_live_room_stays_it(make_server, browser):
    own = make_server({"demo": "true", "avChatRoom.offlineGrace": "1h"})
    alice, bob = await room(own, browser)
    user = await alice.text("#user")
    await alice.click(seat(1))
    await bob.sees(user, seat(1))
    await alice.click("#to-lobby")
    await alice.reload()
    await alice.sees("Tea table", "#group-list")
    await alice.click("#group-list button")
    await alice.sees("You", seat(1))
    await alice.sees("Disband", "#leave")


async def test_a_guest_whom_the_server_signs_out_is_gone(make_server, browser):
    own = make_server({"demo": "true"})
    alice = await guest(browser, f"http://{own.address}/")
    user = await alice.text("#user")
    assert "error" not in own.rpc("kickUser", userID=user)
    await alice.sees("Signed out", "#state")
    await alice.run("window.isOld = true")
    await alice.click("#retry")
    await alice.until("!window.isOld && document.querySelector('#user').textContent.startsWith('guest-')")
    assert await alice.text("#user") != user


@pytest.mark.parametrize("left", ["token", "nothing", "text"])
async def test_a_guest_whom_the_server_does_not_know_is_a_new_one(make_server, browser, left):
    """What an earlier page of the tab has left is of a server with another secret, or of nobody."""
    own = make_server({"demo": "true"})
    page = await browser.open(f"http://{own.address}/throng.js")
    identity = {"token": make_token("guest-of-old", secret=OTHER_SECRET), "until": 4e12, "rooms": ["gone"]}
    text = {"token": json.dumps(identity), "nothing": "null", "text": "{"}[left]
    await page.until("location.pathname === '/throng.js' && document.readyState === 'complete'")
    await page.run(f"sessionStorage.setItem('throng-guest /', {json.dumps(text)})")
    await page.run("location.href = '/'")
    await page.sees("Connected", "#state")
    await page.until("document.querySelector('#user').textContent.startsWith('guest-')")
    assert await page.text("#user") != "guest-of-old"
    assert "gone" not in await page.text("#lobby-notice")
    link = await new_group(page)
    assert link.startswith(f"http://{own.address}/#")


async def test_the_display_name_is_that_of_the_profile(make_server, browser):
    """Whoever is shown is called so, in all groups and to those who only ask to join."""
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser)
    user, group = await bob.text("#user"), await group_of(alice)
    await say(bob, "before I had a name")
    await alice.sees(user, f"{NEWEST} .sender")
    await bob.write("#name", "Bob")
    await bob.click("#name-form button")
    # A sign that a screen reader hears.
    await bob.sees("Saved: you are called Bob.", "#name-state")
    assert await bob.run("document.querySelector('#name-state').role") == "status"
    (profile,) = own.rpc("getUsersInfo", userIDList=[user])["result"]["userList"]
    assert profile["nickName"] == "Bob"
    (row,) = own.rpc("getGroupMembersInfo", groupID=group, userIDList=[user])["result"]["memberList"]
    assert row["nameCard"] == ""
    # Groups hear of it with what they are told next, and it counts for what is there already.
    await say(bob, "and now I have one")
    await alice.until("[...document.querySelectorAll('#timeline .sender')].every((one) => one.textContent === 'Bob')")
    await alice.sees("Bob", "#member-list")
    await alice.sees("Bob: and now I have one", "#group-list")
    await alice.sees("Bob joined", "#timeline")
    # Another session of the user changes it.
    assert "error" not in own.rpc("setUserInfo", userID=user, nickName="Robert")
    await bob.until("document.querySelector('#name').value === 'Robert'")
    # A name card of the group goes before.
    assert "error" not in own.rpc("setGroupMemberInfo", groupID=group, userID=user, nameCard="Chef")
    await alice.sees("is now called Chef", "#timeline")
    await alice.sees("Chef", "#member-list")
    await bob.click("#name")
    await bob.write("#name", "")
    await bob.click("#name-form button")
    await bob.sees("Saved: you have no display name.", "#name-state")
    (profile,) = own.rpc("getUsersInfo", userIDList=[user])["result"]["userList"]
    assert profile["nickName"] == ""


async def test_a_display_name_that_is_too_long_is_refused_in_words(make_server, browser):
    own = make_server({"demo": "true"})
    alice = await guest(browser, f"http://{own.address}/")
    await alice.write("#name", "a" * 101)
    await alice.click("#name-form button")
    await alice.sees("A display name has at most 100 bytes", "#name-fault")
    assert await alice.text("#name-state") == ""
    await alice.write("#name", "a" * 100)
    assert await alice.run("document.querySelector('#name-fault').hidden")
    await alice.click("#name-form button")
    await alice.sees("Saved", "#name-state")


async def test_who_asks_to_join_is_shown_with_the_name(make_server, browser):
    """As the event tells it, and as it is read again."""
    own = make_server({"demo": "true"})
    alice = await guest(browser, f"http://{own.address}/")
    link = await new_group(alice, "Public")
    for name in ("Carl", "Dora"):
        page = await guest(browser, f"http://{own.address}/")
        await save_name(page, name)
        await page.write("#group-id", link)
        await page.click("#join-form .primary")
        await page.sees("You have knocked", "#lobby-notice")
        await alice.sees(f"{name} asks to join", "#applications")
    await alice.reload()
    await alice.sees("Carl asks to join", "#applications")
    await alice.sees("Dora asks to join", "#applications")
    # The line of who is let in stays while others are open: the next one does not come under the pointer.
    places = "[...document.querySelectorAll('#applications li')].map((one) => one.getBoundingClientRect().y)"
    before = await alice.run(places)
    await alice.click("#applications [aria-label='Let in Dora']")
    await alice.sees("Dora is", "#applications")
    assert await alice.run(places) == before
    assert await alice.run("document.querySelectorAll('#applications button').length") == 2
    await alice.click("#applications [aria-label='Decline Carl']")
    await alice.until("document.querySelector('#applications').children.length === 0")
    await alice.sees("Dora joined", "#timeline")


async def test_seats_show_names_of_those_who_are_not_listed(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await room(own, browser)
    assert "error" not in own.rpc("importUsers", userList=[{"userID": "zoe", "nickName": "Zoe from afar"}])
    group = await group_of(alice)
    assert "error" not in own.rpc("setGroupAttributes", groupID=group, attributes={"seat2": "zoe", "seat3": "no user at all"})
    for page in (alice, bob):
        await page.sees("Zoe from afar", seat(2))
        await page.sees("no user at all", seat(3))


async def test_no_name_turns_the_words_around_it(make_server, browser):
    """U+202E turns around what follows; U+2069 would end the isolate in which a name stands."""
    own = make_server({"demo": "true"})
    evil = "\u202eevil"
    alice, bob = await pair(own, browser, "Public")
    group, user = await group_of(alice), await bob.text("#user")
    for call in (
            ("setUserInfo", {"userID": user, "nickName": f"nick \u2069{evil}"}),
            ("setGroupInfo", {"groupID": group, "groupName": f"tea {evil}", "notification": f"news {evil}"}),
            ("setGroupMemberInfo", {"groupID": group, "userID": user, "nameCard": f"card \u2069{evil}"})):
        assert "error" not in own.rpc(call[0], **call[1])
    await say(bob, f"text \u2069{evil} https://example.org/{evil}")
    await hears(alice, "text")
    await choose(alice, "Pin")
    await alice.sees("text", "#pins")
    await choose(alice, "pick 👍")
    await chips(alice, "👍 1 true")
    own.rpc("sendGroupSystemNotification", groupID=group, content=f"the backend {evil}")
    await alice.sees("The application says", "#timeline")
    assert "error" not in own.rpc("muteGroupMember", groupID=group, userID=user, muteTime=60)
    await alice.sees("muted card", "#timeline")
    assert "error" not in own.rpc("setGroupInfo", groupID=group, joinMode="Auth")
    carl = await guest(browser, f"http://{own.address}/")
    assert "error" not in own.rpc("setUserInfo", userID=await carl.text("#user"), nickName=f"\u2069{evil} carl")
    await carl.write("#group-id", await alice.run("location.href"))
    await carl.click("#join-form .primary")
    await alice.sees("asks to join", "#applications")
    await alice.click("#pins summary")
    await alice.click("#protocol > summary")
    await alice.run("document.querySelectorAll('#frames details').forEach((one) => (one.open = true))")
    await choose(alice, "Remove")
    await alice.sees("Remove card", "dialog")
    assert await alice.run(TURNED) == []
    # The test sees what it is to see.
    await alice.run("document.querySelector('dialog h2').replaceChildren('\u202eevil', ' is removed')")
    assert await alice.run(TURNED) == ["\u202eevil", " is removed"]
    await alice.press("Escape", 27)
    assert "\u202e" not in await alice.run("document.title")
    labels = "[...document.querySelectorAll('[aria-label], [title]')].map((one) => one.ariaLabel + one.title).join()"
    assert "\u202e" not in await alice.run(labels)
    # The one who is put out reads why.
    assert "error" not in own.rpc("kickGroupMember", groupID=group, userIDList=[user], reason=f"reason {evil}")
    await bob.sees("you were removed: reason", "#lobby-notice")
    assert await bob.run(TURNED) == []
