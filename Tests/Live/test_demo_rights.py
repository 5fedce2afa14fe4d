"""The demo page in a browser: what owners and admins do to members and their messages, mutes and their ends, and leaving."""
import pytest

from harness.demo import FOCUS, NEWEST, choose, edit, group_of, guest, hears, in_menu, new_group, pair, room, save_name, say

MUTED = "You cannot write now"


def member(user, part=""):
    """A row of the list of members, or a part of it."""
    return f'#member-list [data-id="{user}"] {part}'.strip()


async def act_on(page, user, act):
    """Opens the menu of a member of the list and chooses there."""
    await page.click(member(user, ".menu-button"))
    await page.click(member(user, f"[data-act={act}]"))


def mute_of(own, group, user):
    (row,) = own.rpc("getGroupMembersInfo", groupID=group, userIDList=[user])["result"]["memberList"]
    return row["muteUntil"]


async def test_a_member_is_muted_and_speaks_again(make_server, browser):
    """From the list of members, and from the menu of a message."""
    own = make_server({"demo": "true"}, frozen=True)
    alice, bob = await pair(own, browser)
    await save_name(bob, "Bob")
    await say(bob, "me again")
    await hears(alice, "me again")
    group, user = await group_of(alice), await bob.text("#user")
    await act_on(alice, user, "mute")
    await alice.sees("Mute Bob?", "dialog")
    await alice.run("document.querySelector('dialog select').focus()")
    await alice.press("End", 35)
    await alice.click("dialog .primary")
    await alice.sees("muted Bob for 1 d", "#timeline")
    await alice.sees("muted", member(user))
    await bob.sees("You are muted here until", "#mute")
    assert mute_of(own, group, user) == pytest.approx(own.now * 1000 + 86_400_000, abs=10)
    await act_on(alice, user, "unmute")
    await bob.until("document.querySelector('#mute').hidden")
    await alice.until(f"!document.querySelector('{member(user)}').innerText.includes('muted')")
    assert mute_of(own, group, user) == 0
    # The menu of a message; the focus is back where it was opened.
    assert await in_menu(alice) == ["Reply", "Pin", "Mute", "Remove", "Report", "Recall"]
    await choose(alice, "Mute")
    await alice.click("dialog .primary")
    await bob.sees("You are muted here until", "#mute")
    await alice.until(f"{FOCUS}.startsWith('Actions on the message of Bob')")
    await alice.sees("muted", member(user))
    await choose(alice, "Unmute")
    await bob.until("document.querySelector('#mute').hidden")
    # A menu that is open offers what is right at the moment.
    await alice.click(f"{NEWEST} .menu-button")
    assert "error" not in own.rpc("muteGroupMember", groupID=group, userID=user, muteTime=60)
    await alice.sees("Unmute", f"{NEWEST} .choices")


async def test_a_mute_that_ends_by_itself_ends_on_the_page(make_server, browser):
    """With it goes what the page has said of it; nothing is sent at that moment."""
    own = make_server({"demo": "true"}, frozen=True)
    await own.advance(seconds=3600)
    alice, bob = await pair(own, browser, frozen=True)
    group, user = await group_of(alice), await bob.text("#user")
    await say(bob, "before")
    await hears(alice, "before")
    assert "error" not in own.rpc("muteGroupMember", groupID=group, userID=user, muteTime=60)
    await bob.sees("You are muted here until", "#mute")
    await alice.sees("muted", member(user))
    await say(bob, "may I?")
    await bob.sees(f"{MUTED}. You are muted here until", "#composer-fault")
    await choose(bob, "Edit", "#timeline li:has(.own .menu-button)")
    await bob.write("dialog textarea", "after")
    await bob.press("Enter", 13)
    await bob.sees(MUTED, "dialog .fault")
    for page in (alice, bob):
        await page.advance(seconds=59.9)
    await bob.sees(MUTED, "#composer-fault")
    for page in (alice, bob):
        await page.advance(seconds=0.2)
    await bob.until("document.querySelector('#composer-fault').hidden && document.querySelector('#mute').hidden")
    await bob.until("document.querySelector('dialog .fault').hidden")
    await alice.until(f"!document.querySelector('{member(user)}').innerText.includes('muted')")
    await own.advance(seconds=60)
    await bob.click("dialog .primary")
    await hears(alice, "after")
    await bob.click("#timeline [data-key=again]")
    await hears(alice, "may I?")


async def test_a_mute_that_is_lifted_ends_on_the_page(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser)
    group, user = await group_of(alice), await bob.text("#user")
    for mute, lift in (
            (("muteGroupMember", {"userID": user, "muteTime": 600}), ("muteGroupMember", {"userID": user, "muteTime": 0})),
            (("muteGroup", {"mode": "Ordinary"}), ("muteGroup", {"mode": "None"})),
            (("muteGroup", {"mode": "Custom", "roles": ["Member"]}), ("setGroupInfo", {"allMuted": False}))):
        assert "error" not in own.rpc(mute[0], groupID=group, **mute[1])
        await bob.until("!document.querySelector('#mute').hidden")
        await say(bob, "may I?")
        await bob.sees(MUTED, "#composer-fault")
        assert "error" not in own.rpc(lift[0], groupID=group, **lift[1])
        await bob.until("document.querySelector('#composer-fault').hidden && document.querySelector('#mute').hidden")
    # Another refusal stays until something else is done.
    await say(bob, "a" * 13_000)
    await bob.sees("The message is too long", "#composer-fault")
    assert "error" not in own.rpc("muteGroup", groupID=group, mode="All")
    await bob.sees("This group is muted: everybody.", "#mute")
    assert "error" not in own.rpc("muteGroup", groupID=group, mode="None")
    await bob.until("document.querySelector('#mute').hidden")
    assert "The message is too long" in await bob.text("#composer-fault")


async def test_a_member_is_removed_after_a_question(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser)
    await save_name(bob, "Bob")
    await say(bob, "spam")
    await hears(alice, "spam")
    group, user = await group_of(alice), await bob.text("#user")
    await choose(alice, "Remove")
    await alice.sees("Remove Bob?", "dialog")
    await alice.click("dialog button", "Cancel")
    await act_on(alice, user, "remove")
    await alice.sees("Remove Bob?", "dialog")
    await alice.press("Escape", 27)
    await alice.until("!document.querySelector('dialog')")
    # Nobody has been removed so far; the focus is where the question was asked.
    await alice.until(f"{FOCUS} === 'Actions on Bob'")
    assert await alice.text("#member-count") == "2"
    await act_on(alice, user, "remove")
    await alice.write("dialog [name=reason]", "advertising")
    await alice.run("document.querySelector('dialog select').focus()")
    await alice.press("End", 35)
    await alice.click("dialog .primary")
    await bob.sees("you were removed: advertising", "#lobby-notice")
    await alice.sees("removed Bob", "#timeline")
    await alice.until(f"!document.querySelector('{member(user)}')")
    (ban,) = own.rpc("getGroupBannedMembers", groupID=group)["result"]["memberList"]
    assert (ban["userID"], ban["reason"]) == (user, "advertising")
    # The message of somebody who has gone.
    await choose(alice, "Mute")
    await alice.click("dialog .primary")
    await alice.sees("This user is no member any more.", "dialog .fault")


async def test_messages_of_others_are_recalled_by_those_with_the_right(make_server, browser):
    """At any time, and also a message that has been there for long."""
    # The pages' time runs: no machine needs so long from a message to its menu.
    own = make_server({"demo": "true", "limits.revokeWindow": "10m"}, frozen=True)
    alice, bob = await pair(own, browser)
    await say(bob, "not nice")
    await hears(alice, "not nice")
    await bob.until(f"!document.querySelector('{NEWEST}').innerText.includes('sending')")
    assert await in_menu(bob) == ["Reply", "Edit", "Recall"]
    await own.advance(seconds=660)
    await choose(alice, "Recall")
    for page in (alice, bob):
        await page.sees("Message recalled", NEWEST)


async def test_nobody_is_offered_what_the_role_does_not_allow(make_server, browser):
    """Nobody acts on somebody of the same or a higher role: by the table that the server gives."""
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser)
    carl = await guest(browser, await alice.run("location.href"))
    group = await group_of(alice)
    users = [await page.text("#user") for page in (alice, bob, carl)]
    for page in (alice, bob, carl):
        await page.sees("3", "#member-count")
        await say(page, f"I am {page}")
    for page in (alice, bob, carl):
        await page.until("document.querySelectorAll('#timeline .message').length === 3")
    menus = "[...document.querySelectorAll('#member-list .menu-button')].map((one) => one.closest('[data-id]').dataset.id).sort()"

    async def offered(page):
        return [await in_menu(page, f"#timeline li:nth-last-child({place} of :has(.message))") for place in (3, 2, 1)]
    assert await bob.run(menus) == [] and await offered(carl) == [
        ["Reply", "Report"], ["Reply", "Report"], ["Reply", "Edit", "Recall"]]
    assert await alice.run(menus) == sorted(users[1:])
    # An admin, from the moment that makes one.
    assert "error" not in own.rpc("setGroupMemberRole", groupID=group, userIDList=users[1:2], role="Admin")
    await bob.until(f"{menus}.join() === '{users[2]}'")
    assert await offered(bob) == [
        ["Reply", "Pin", "Report"], ["Reply", "Edit", "Pin", "Recall"],
        ["Reply", "Pin", "Mute", "Remove", "Report", "Recall"]]
    assert await alice.run(menus) == sorted(users[1:])
    assert "error" not in own.rpc("setGroupMemberRole", groupID=group, userIDList=users[1:2], role="Member")
    await bob.until(f"{menus}.length === 0")
    assert await offered(bob) == [["Reply", "Report"], ["Reply", "Edit", "Recall"], ["Reply", "Report"]]


async def test_the_owner_of_a_live_room_mutes_members(make_server, browser):
    """There are no recalls or removals in it, and so none are offered; others are offered nothing at all."""
    own = make_server({"demo": "true"})
    alice, bob = await room(own, browser)
    await say(bob, "la la la")
    await hears(alice, "la la la")
    await say(alice, "please")
    await hears(bob, "please")
    assert await bob.run("document.querySelectorAll('#conversation .menu-button').length") == 0
    assert await in_menu(alice, "#timeline li:has(.message:not(.own))") == ["Mute"]
    await choose(alice, "Mute", "#timeline li:has(.message:not(.own))")
    await alice.click("dialog .primary")
    await bob.sees("You are muted here until", "#mute")
    await alice.click(member(await bob.text("#user"), ".menu-button"))
    assert (await alice.text(member(await bob.text("#user"), ".choices"))).split() == ["Unmute"]
    await alice.click(member(await bob.text("#user"), "[data-act=unmute]"))
    await bob.until("document.querySelector('#mute').hidden")


@pytest.mark.parametrize("kind, mode, words", [
    ("Meeting", "Any", None), ("Public", "Auth", "somebody has to let you in"),
    ("Meeting", "Forbid", "only if somebody brings you in"), ("AVChatRoom", "Auth", "somebody has to let you in")])
async def test_leaving_asks_where_there_is_no_easy_way_back(make_server, browser, kind, mode, words):
    own = make_server({"demo": "true"})
    alice = await guest(browser, f"http://{own.address}/")
    link = await new_group(alice, kind)
    group = await group_of(alice)
    assert "error" not in own.rpc("setGroupInfo", groupID=group, joinMode="Any")
    bob = await guest(browser, link)
    await bob.sees(kind, "#subtitle")
    assert "error" not in own.rpc("setGroupInfo", groupID=group, joinMode=mode)
    await alice.sees("2", "#to-members")
    await bob.sees("joins" if mode == "Auth" else "join", "#timeline")
    await bob.click("#leave")
    if words:
        await bob.sees(words, "dialog")
        await bob.press("Escape", 27)
        await bob.until("!document.querySelector('dialog') && document.activeElement.id === 'leave'")
        assert len(own.rpc("getGroupMemberList", groupID=group)["result"]["memberList"]) == 2
        await bob.click("#leave")
        await bob.click("dialog .primary")
        await bob.until("document.activeElement.id === 'lobby-title'")
    await bob.until("document.querySelector('#conversation').hidden")
    await alice.sees("1", "#to-members")


async def test_an_edited_message_of_somebody_else_is_not_offered_for_an_edit(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser)
    await say(bob, "at three")
    await edit(bob, "at four")
    await hears(alice, "at four")
    assert "Edit" not in await in_menu(alice)
