"""The demo page in a browser (Protocol.md, "Pages"): a chat through each proxy, and what the page says of a
connection that is refused, lost, or back."""
import json
import re
from urllib.parse import unquote

import pytest

from harness.proxy import PROXIES, start  # noqa: F401 - a fixture
from harness.tcp_proxy import TCPProxy
from harness.tokens import OTHER_SECRET, make_token


async def guest(browser, url, frozen=False):
    page = await browser.open(url, frozen=frozen)
    await page.sees("Connected", "#state")
    # The user's name follows, with the groups.
    await page.until("document.querySelector('#user').textContent.startsWith('guest-')")
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


# Tips stand between the messages.
NEWEST = "#timeline li:nth-last-child(1 of :has(.message))"


async def choose(page, words, message=NEWEST):
    """Opens the menu of a message and chooses there."""
    if await page.run(f"!document.querySelector('{message} .menu')"):
        await page.click(f"{message} .menu-button")
    await page.click(f"{message} .menu [data-key='{words}']")


async def in_menu(page, message=NEWEST):
    """The words of a message's menu; it is closed again."""
    await page.click(f"{message} .menu-button")
    words = await page.text(f"{message} .choices")
    await page.click(f"{message} .menu-button")
    return words.split()


async def edit(page, text):
    await choose(page, "Edit")
    await page.write("dialog textarea", text)
    await page.click("dialog .primary")


CHIPS = "[...document.querySelectorAll('.chip')].map((one) => one.innerText.replace(/\\s+/g, ' ') + ' ' + one.ariaPressed).join()"


async def chips(page, text):
    """Waits for these reactions: each with its count, and whether it is the page's own, too."""
    await page.until(f"{CHIPS} === '{text}'")


async def pair(own, browser):
    """Two guests in a Meeting group; the first owns it."""
    alice = await guest(browser, f"http://{own.address}/")
    bob = await guest(browser, await new_group(alice))
    await bob.sees("Meeting", "#subtitle")
    return alice, bob


async def test_a_message_is_edited_by_its_sender(make_server, browser):
    alice, bob = await pair(make_server({"demo": "true"}), browser)
    await say(alice, "at three")
    await hears(bob, "at three")
    assert await in_menu(bob) == []
    assert await in_menu(alice) == ["Edit", "Pin", "Recall"]
    await edit(alice, "at four")
    for page in (alice, bob):
        await page.sees("at four", NEWEST)
        await page.sees("edited", f"{NEWEST} .meta")
        assert "three" not in await page.text()
    await choose(alice, "Recall")
    await bob.sees("Message recalled", NEWEST)
    assert "edited" not in await bob.text(NEWEST)


async def test_an_edit_that_is_refused_says_so_in_its_dialog(make_server, browser):
    own = make_server({"demo": "true"})
    alice, _ = await pair(own, browser)
    await say(alice, "at three")
    await choose(alice, "Edit")
    group = unquote((await alice.run("location.hash"))[1:])
    assert "error" not in own.rpc("muteGroup", groupID=group, mode="All")
    await alice.write("dialog textarea", "at four")
    await alice.click("dialog .primary")
    await alice.sees("You cannot write now", "dialog .fault")
    assert await alice.text("#timeline .own .text") == "at three"


async def test_reactions_have_counts_and_show_the_own_ones(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser)
    await say(alice, "cake?")
    await hears(bob, "cake?")
    await choose(bob, "pick 👍")
    await chips(bob, "👍 1 true")
    await chips(alice, "👍 1 false")
    await alice.click(".chip")
    await choose(alice, "pick 🎉")
    await chips(alice, "👍 2 true,🎉 1 true")
    await chips(bob, "👍 2 true,🎉 1 false")
    await bob.click(".chip")
    await chips(bob, "👍 1 false,🎉 1 false")
    await chips(alice, "👍 1 true,🎉 1 true")
    # The picker takes back, too; a newcomer sees what there is.
    await choose(alice, "pick 👍")
    await chips(alice, "🎉 1 true")
    carl = await guest(browser, await alice.run("location.href"))
    await chips(carl, "🎉 1 false")


async def test_own_reactions_of_another_session_are_known(make_server, browser):
    """Also where one event stands for several changes, and names the user of the last one alone."""
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser)
    await say(alice, "cake?")
    await hears(bob, "cake?")
    group, one, other = unquote((await bob.run("location.hash"))[1:]), await bob.text("#user"), await alice.text("#user")
    seq = own.rpc("getGroupsInfo", groupIDList=[group])["result"]["resultList"][0]["info"]["lastSeq"]
    reactions = [{"jsonrpc": "2.0", "id": reaction, "method": "addMessageReaction", "params": {
        "asUser": user, "groupID": group, "seq": seq, "reaction": reaction}}
        for user, reaction in ((other, "🎉"), (one, "👍"), (other, "😂"))]
    assert ["error" in reply for reply in own.post_rpc(reactions).json()] == [False] * 3
    await chips(bob, "🎉 1 false,👍 1 true,😂 1 false")


async def test_pinned_messages_stand_above_the_conversation(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser)
    await say(alice, "the first rule")
    await choose(alice, "Pin")
    await bob.sees("the first rule", "#pins")
    await say(alice, "the second rule")
    await choose(alice, "Pin")
    await bob.until("document.querySelector('#pin-count').innerText === '2'")
    assert await bob.text("#pin-latest") == "the second rule"
    await bob.sees("pinned", f"{NEWEST} .meta")
    await edit(alice, "the other rule")
    await bob.sees("the other rule", "#pin-latest")
    # Bob may read the list and go to a message, but not unpin.
    await bob.click("#pins summary")
    assert "Unpin" not in await bob.text("#pins") and "Pin" not in await in_menu(bob)
    await bob.click("#pin-list li:last-child .text")
    await bob.until("document.activeElement.innerText?.includes('the first rule')")
    carl = await guest(browser, await alice.run("location.href"))
    await carl.sees("the other rule", "#pin-latest")
    await choose(alice, "Recall")
    await bob.sees("the first rule", "#pin-latest")
    await alice.click("#pins summary")
    await alice.click("#pin-list [aria-label^=Unpin]")
    for page in (alice, bob, carl):
        await page.until("document.querySelector('#pins').hidden")
    assert "pinned" not in await bob.text("#timeline")


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
    assert "error" not in own.rpc("joinGroup", asUser=await carol.text("#user"), groupID=group)
    await say(alice, "who has read this?")
    await hears(bob, "who has read this?")
    await alice.sees("read by 1 of 2", ".own .meta")
    # Carol has the group in the list; opening it is reading.
    await carol.sees("Tea table", "#group-list")
    await carol.click("#group-list button")
    await alice.sees("read by all", ".own .meta")
    assert "read" not in await bob.text("#timeline .meta")
    await choose(alice, "Readers")
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


async def test_a_page_that_is_loaded_again_is_the_same_guest(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser)
    await alice.write("#name", "Ann")
    await alice.click("#name-form button")
    await bob.sees("Ann", "#member-list")
    await say(alice, "before")
    await hears(bob, "before")
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
    identity = {"token": make_token("guest-of-old", secret=OTHER_SECRET), "until": 4e12, "name": "Old", "rooms": ["gone"]}
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


async def test_the_page_says_that_the_server_is_about_to_stop(make_server, browser):
    own = make_server({"demo": "true", "drain.duration": "10s"}, frozen=True)
    alice = await guest(browser, f"http://{own.address}/", frozen=True)
    own.terminate()
    await alice.sees("The server is about to stop", "#banner-words")
    assert await alice.text("#state") == "Server stops"
    await own.advance(seconds=10.2)
    await alice.sees("Not connected: the server restarts", "#banner-words")
    assert await alice.text("#state") == "Reconnecting"


async def test_addresses_in_messages_are_links(make_server, browser):
    alice, bob = await pair(make_server({"demo": "true"}), browser)
    await say(alice, "see (https://example.org/a?b=c#d), <b>http://x.example</b> or javascript:alert(1).")
    await hears(bob, "see (https://example.org/a?b=c#d), <b>http://x.example</b> or javascript:alert(1).")
    links = "[...document.querySelectorAll('#timeline .text a')].map((one) => [one.href, one.target, one.rel])"
    assert await bob.run(links) == [
        ["https://example.org/a?b=c#d", "_blank", "noopener noreferrer"], ["http://x.example/", "_blank", "noopener noreferrer"]]


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


async def room(own, browser, address=None, frozen=False):
    """An AVChatRoom with its owner and one more guest, who comes by another address where one is given."""
    alice = await guest(browser, f"http://{own.address}/")
    await alice.click("label:has([value=AVChatRoom])")
    await alice.click("#create-form button")
    await alice.sees("AVChatRoom", "#subtitle")
    link = await alice.run("location.href")
    bob = await guest(browser, link.replace(own.address, address or own.address, 1), frozen)
    await bob.sees("AVChatRoom", "#subtitle")
    return alice, bob


def seat(number):
    return f"[data-seat=seat{number}]"


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
    # The owner may ask somebody to leave, and clears the seat of those who go.
    await alice.click(seat(5))
    await bob.sees("Free", seat(5))
    await carl.click(seat(8))
    await alice.sees(await carl.text("#user"), seat(8))
    await carl.click("#leave")
    for page in (alice, bob):
        await page.sees("Free", seat(8))


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
    await bob.until("document.querySelector('#mute').hidden")
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
async def cut_room(make_server, browser):
    """A live room, its owner, and a guest whose connection is cut; the page comes back when its button is pressed."""
    proxies = []

    async def make(grace):
        own = make_server({"demo": "true", "avChatRoom.offlineGrace": grace})
        proxies.append(proxy := await TCPProxy.start(own.address))
        alice, bob = await room(own, browser, proxy.address, frozen=True)
        link = await alice.run("location.href")
        user, group = await bob.text("#user"), unquote(link[link.index("#") + 1:])
        proxy.cut()
        await bob.sees("Not connected", "#banner-words")
        if grace != "1h":
            members = lambda: own.rpc("getGroupMemberList", groupID=group)["result"]["memberList"]  # noqa: E731
            own.wait_until(lambda: user not in [member["userID"] for member in members()], "the room has forgotten the guest")
        return own, group, alice, bob

    yield make
    for proxy in proxies:
        await proxy.end()


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
