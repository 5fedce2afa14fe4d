"""The demo page in a browser: messages, what can be done with them, and what stands above the first one."""
from urllib.parse import unquote

from harness.browser import SHIFT
from harness.demo import FOCUS, NEWEST, chips, choose, edit, group_of, guest, hears, in_menu, new_group, pair, room, say


async def test_a_message_is_edited_by_its_sender(make_server, browser):
    alice, bob = await pair(make_server({"demo": "true"}), browser)
    await say(alice, "at three")
    await hears(bob, "at three")
    assert await in_menu(bob) == ["Reply", "Report"]
    assert await in_menu(alice) == ["Reply", "Edit", "Pin", "Recall"]
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


async def test_addresses_in_messages_are_links(make_server, browser):
    alice, bob = await pair(make_server({"demo": "true"}), browser)
    await say(alice, "see (https://example.org/a?b=c#d), <b>http://x.example</b> or javascript:alert(1).")
    await hears(bob, "see (https://example.org/a?b=c#d), <b>http://x.example</b> or javascript:alert(1).")
    links = "[...document.querySelectorAll('#timeline .text a')].map((one) => [one.href, one.target, one.rel])"
    assert await bob.run(links) == [
        ["https://example.org/a?b=c#d", "_blank", "noopener noreferrer"], ["http://x.example/", "_blank", "noopener noreferrer"]]


def info_of(own, group):
    return own.rpc("getGroupsInfo", groupIDList=[group])["result"]["resultList"][0]["info"]


LINES = "document.querySelector('dialog textarea').value.split('\\n').length"


async def test_enter_sends_an_edit_and_escape_leaves_the_text_as_it_was(make_server, browser):
    alice, bob = await pair(make_server({"demo": "true"}), browser)
    await say(alice, "at three")
    await hears(bob, "at three")
    await choose(alice, "Edit")
    await alice.write("dialog textarea", "at four")
    await alice.press("Enter", 13, modifiers=SHIFT)
    assert await alice.run(LINES) == 2
    await alice.press("Escape", 27)
    await alice.until("!document.querySelector('dialog')")
    await alice.until(f"{FOCUS}.startsWith('Actions on your message')")
    assert await alice.text("#timeline .own .text") == "at three"
    await choose(alice, "Edit")
    await alice.write("dialog textarea", "at five,")
    await alice.press("Enter", 13, modifiers=SHIFT)
    await alice.press("x", 88, text="x")
    await alice.press("Enter", 13)
    for page in (alice, bob):
        await page.until(f"document.querySelector('{NEWEST} .text').textContent === 'at five,\\nx'")
    await alice.until("!document.querySelector('dialog')")


async def test_a_recall_is_offered_as_long_as_it_is_in_time(make_server, browser):
    """By the server's clock, which here is an hour ahead of the reader's; it ends in a menu that is open."""
    own = make_server({"demo": "true", "limits.revokeWindow": "2m", "limits.editWindow": "1m"}, frozen=True)
    await own.advance(seconds=3600)
    alice = await guest(browser, f"http://{own.address}/", frozen=True)
    await new_group(alice)
    await say(alice, "a slip")
    await alice.until(f"!document.querySelector('{NEWEST}').innerText.includes('sending')")
    assert await in_menu(alice) == ["Reply", "Edit", "Pin", "Recall"]
    await alice.click(f"{NEWEST} .menu-button")
    await own.advance(seconds=60)
    await alice.advance(seconds=60)
    assert (await alice.text(f"{NEWEST} .choices")).split() == ["Reply", "Edit", "Pin", "Recall"]
    await alice.advance(seconds=0.1)
    assert (await alice.text(f"{NEWEST} .choices")).split() == ["Reply", "Pin", "Recall"]
    await alice.run(f"document.querySelector('{NEWEST} [data-key=Recall]').focus()")
    await own.advance(seconds=60)
    await alice.advance(seconds=60)
    assert (await alice.text(f"{NEWEST} .choices")).split() == ["Reply", "Pin"]
    # The focus was there; it stays at the message.
    await alice.until(f"{FOCUS}.startsWith('Actions on your message')")
    await alice.press("Escape", 27)
    assert await in_menu(alice) == ["Reply", "Pin"]
    await own.advance(seconds=0.1)
    error = own.rpc("revokeGroupMessage", asUser=await alice.text("#user"), groupID=await group_of(alice), seq=1)["error"]
    assert error["code"] == 10031


async def test_who_enters_a_live_room_reads_that_earlier_messages_are_not_kept(make_server, browser):
    own = make_server({"demo": "true", "limits.avChatRoom.messagesPerSecond": 0})
    alice, bob = await room(own, browser)
    for number in range(126):
        assert "error" not in own.rpc("sendGroupTextMessage", groupID=await group_of(alice), text=f"number {number}")
    await hears(bob, "number 125")
    carl = await guest(browser, await alice.run("location.href"))
    await carl.sees("Earlier messages are not kept in a live room: you see what is said from now on.", "#beginning")
    assert "Nothing has been said" not in await carl.text() and "number" not in await carl.text("#timeline")
    await say(bob, "and one more")
    await hears(carl, "and one more")
    assert "Earlier messages are not kept" in await carl.text("#beginning")


async def test_what_stands_in_a_group_without_messages(make_server, browser):
    own = make_server({"demo": "true", "history.retention.meeting": "60s"}, frozen=True)
    alice = await guest(browser, f"http://{own.address}/")
    await new_group(alice)
    await alice.sees("Nothing has been said here yet", "#beginning")
    await say(alice, "soon forgotten")
    await alice.until("document.querySelector('#beginning').hidden")
    await alice.until(f"!document.querySelector('{NEWEST}').innerText.includes('sending')")
    group = await group_of(alice)
    await own.advance(seconds=90)
    own.wait_until(lambda: info_of(own, group)["firstSeq"] == 2, "the end of the message")
    await alice.reload()
    await alice.sees("Earlier messages are not kept any more", "#beginning")
