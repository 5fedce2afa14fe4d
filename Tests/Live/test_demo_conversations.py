"""The demo page in a browser: replies, what a user keeps about a group, and live rooms with moderators and a memory."""
from harness.demo import NEWEST, choose, group_of, guest, hears, in_menu, new_group, pair, room, save_name, say

WITH_MODERATORS = {"demo": "true", "avChatRoom.moderation": "true", "avChatRoom.recentMessages": 50}
QUOTE = f"{NEWEST} .quote"


def member(user, what=""):
    return f"#member-list [data-id='{user}'] {what}"


async def test_a_reply_shows_what_it_answers(make_server, browser):
    """On both sides, at once; a recall of the answered message shows in the answer, too."""
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser)
    await save_name(alice, "Alice")
    await say(alice, "who brings cake?")
    await hears(bob, "who brings cake?")
    await choose(bob, "Reply")
    await bob.sees("Answers Alice: who brings cake?", "#answered")
    await say(bob, "I do")
    for page in (alice, bob):
        await page.sees("who brings cake?", QUOTE)
    assert await bob.run("document.querySelector('#answered').hidden")
    # Another answer is begun, and none is sent.
    await choose(bob, "Reply")
    await bob.click("#no-answer")
    await say(bob, "with cherries")
    await hears(alice, "with cherries")
    assert await alice.run(f"document.querySelector(\"{QUOTE}\") === null")
    await choose(alice, "Recall", "#timeline li:has(.own)")
    await bob.sees("Message recalled", ".quote")


async def test_an_answered_message_of_before_is_read_and_shown(make_server, browser):
    """It lies behind the page of history that is read first; a click goes there."""
    own = make_server({"demo": "true"})
    alice = await guest(browser, f"http://{own.address}/")
    link = await new_group(alice)
    group, user = await group_of(alice), await alice.text("#user")
    send = {"groupID": group, "asUser": user}
    first = own.rpc("sendGroupTextMessage", text="long ago", **send)["result"]["seq"]
    for number in range(40):
        own.rpc("sendGroupTextMessage", text=f"meanwhile {number}", **send)
    own.rpc("sendGroupTextMessage", text="still true", replyTo=first, **send)
    bob = await guest(browser, link)
    await bob.sees("long ago", QUOTE)
    assert "long ago" not in await bob.text("#timeline li:first-child")
    await bob.click(QUOTE)
    await bob.until("document.activeElement.tagName === 'LI' && document.activeElement.innerText.includes('long ago')")


async def test_a_conversation_is_pinned_marked_unread_and_cleared(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser)
    first = await group_of(alice)
    await say(bob, "nobody will see this")
    await hears(alice, "nobody will see this")
    await alice.click("#to-lobby")
    await new_group(alice)
    names = "[...document.querySelectorAll('#group-list [data-id]')].map((one) => one.dataset.id)"
    second = await group_of(alice)
    assert await alice.run(names) == [first, second]
    await alice.click("#pin-conversation")
    await alice.until(f"{names}[0] === {second!r}")
    assert await alice.run("document.querySelector('#pin-conversation').ariaPressed") == "true"
    await alice.click("#mark-unread")
    await alice.sees("unread", "#group-list .count.new")
    await alice.click(f"#group-list [data-id='{second}'] button")
    await alice.until("document.querySelector('#group-list .count.new') === null")
    info = own.rpc("getGroupsInfo", groupIDList=[second], asUser=await alice.text("#user"))["result"]["resultList"][0]["info"]
    assert info["selfInfo"]["isPinned"] is True and "isMarkedUnread" not in info["selfInfo"]
    # For the one who clears alone.
    await alice.click(f"#group-list [data-id='{first}'] button")
    await alice.click("#clear")
    await alice.click("dialog .primary")
    await alice.sees("You have cleared what was said before", "#beginning")
    assert "nobody will see this" not in await alice.text("#timeline")
    await hears(bob, "nobody will see this")
    await say(bob, "this one stays")
    await hears(alice, "this one stays")


async def test_a_conversation_is_hidden_until_something_is_said(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser, "Public")
    group, user = await group_of(alice), await alice.text("#user")
    shown = f"document.querySelector(\"#group-list [data-id='{group}']\") !== null"
    assert await alice.run(shown) and await alice.run("document.querySelector('#list-hidden').hidden")
    await alice.click("#hide-conversation")
    await alice.sees("Hidden groups: 1", "#list-hidden")
    assert not await alice.run(shown)
    # For the one who hides alone.
    assert await bob.run(shown) and await bob.run("document.querySelector('#list-hidden').hidden")
    # The hidden ones are found again, and put back by hand.
    await alice.click("#list-hidden")
    await alice.click(f"#group-list [data-id='{group}'] button")
    await alice.until("document.querySelector('#hide-conversation').ariaPressed === 'true'")
    await alice.click("#hide-conversation")
    await alice.until("document.querySelector('#hide-conversation').ariaPressed === 'false'")
    await alice.until("document.querySelector('#list-hidden').hidden")
    # An own message of another device does not end it, somebody else's does.
    await alice.click("#hide-conversation")
    await alice.sees("Hidden groups: 1", "#list-hidden")
    own.rpc("sendGroupTextMessage", groupID=group, asUser=user, text="from my other device")
    await hears(bob, "from my other device")
    (row,) = own.rpc("getGroupsInfo", groupIDList=[group], asUser=user)["result"]["resultList"]
    assert row["info"]["selfInfo"]["isHidden"] is True and not await alice.run(shown)
    await say(bob, "are you there?")
    await alice.until(shown)
    await alice.until("document.querySelector('#list-hidden').hidden")


async def test_who_enters_a_live_room_reads_its_last_messages(make_server, browser):
    own = make_server(WITH_MODERATORS)
    alice, bob = await room(own, browser)
    await say(bob, "said before")
    await hears(alice, "said before")
    carl = await guest(browser, await alice.run("location.href"))
    await hears(carl, "said before")
    # Nothing else is stored that one could react to or pin.
    assert await in_menu(carl) == ["Reply", "Report"]
    assert await carl.run("document.querySelector('.faces') === null")
    # What was said while a page was away comes when it is back.
    group = await group_of(alice)
    await carl.run("location.reload()")
    own.rpc("sendGroupTextMessage", groupID=group, asUser=await alice.text("#user"), text="said after")
    await hears(carl, "said after")
    await hears(carl, "said before")


async def test_a_moderator_of_a_live_room_takes_a_message_away(make_server, browser):
    own = make_server(WITH_MODERATORS)
    alice, bob = await room(own, browser)
    carl = await guest(browser, await alice.run("location.href"))
    user = await bob.text("#user")
    await alice.sees(user, "#member-list")
    await alice.click(member(user, ".menu-button"))
    assert "Make moderator" in await alice.text(member(user, ".choices"))
    await alice.click(member(user, "[data-act=promote]"))
    await bob.sees("Admin", member(user))
    await say(carl, "buy cheap watches")
    await hears(bob, "buy cheap watches")
    assert await in_menu(bob) == ["Reply", "Mute", "Remove", "Report", "Recall"]
    await choose(bob, "Recall")
    for page in (alice, bob, carl):
        await page.sees("Message recalled", "#timeline")
    # Put out, with a ban: there is no way back yet.
    other = await carl.text("#user")
    await bob.click(member(other, ".menu-button"))
    await bob.click(member(other, "[data-act=remove]"))
    await bob.run("document.querySelector('dialog select').value = '600'")
    await bob.click("dialog .primary")
    await carl.sees("you were removed", "#lobby-notice")
    (row,) = own.rpc("getGroupBannedMembers", groupID=await group_of(alice))["result"]["memberList"]
    assert row["userID"] == other
    await alice.click(member(user, ".menu-button"))
    await alice.click(member(user, "[data-act=demote]"))
    await bob.until(f"!document.querySelector(\"{member(user)}\").innerText.includes('Admin')")
