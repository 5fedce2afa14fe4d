"""The demo page in a browser: unread messages, read marks and receipts, as the server counts them."""
import asyncio

import pytest

from harness.demo import NEWEST, choose, group_of, guest, hears, new_group, pair, say
from harness.world import eventually

BADGE = "document.querySelector('#group-list .count')?.textContent ?? ''"


def do(own, method, **params):
    answer = own.rpc(method, **params)
    assert "error" not in answer, answer
    return answer["result"]


def unread_of(own, group, user):
    return do(own, "getGroupUnreadCount", asUser=user, groupIDList=[group])["totalCount"]


def write(own, group, user, *texts, **params):
    """Sends as a user; gives the places."""
    return [do(own, "sendGroupTextMessage", asUser=user, groupID=group, text=text, **params)["seq"] for text in texts]


def read_counts(own, group, user, *places):
    """How many have read a user's own messages; recalled ones are left out."""
    rows = do(own, "getMessageReadReceipts", asUser=user, groupID=group, seqList=places)["receiptList"]
    return [row["readCount"] for row in rows]


async def becomes(question, answer):
    """Waits until the server answers so; meanwhile the test's own proxies go on."""
    await eventually(lambda: asyncio.to_thread(question), answer)


async def is_read(own, group, user):
    await becomes(lambda: unread_of(own, group, user), 0)


async def badge_is(page, text):
    await page.until(f"({BADGE}) === '{text}'")


async def test_the_badge_is_the_servers_number(make_server, browser):
    """Also after recalls, after a read mark of another session, and where the number is above what was seen come."""
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser, "Public")
    group, user, other = await group_of(alice), await bob.text("#user"), await alice.text("#user")
    write(own, group, other, "one", "two")
    await hears(bob, "two")
    await is_read(own, group, user)
    await bob.click("#to-lobby")
    first, *_ = write(own, group, other, "three", "four", "five")
    await badge_is(bob, "3")
    assert await bob.run("document.title") == "(3) Throng"
    do(own, "revokeGroupMessage", groupID=group, seq=first)
    await badge_is(bob, "2")
    do(own, "markGroupMessageAsRead", asUser=user, groupID=group, seq=first + 1)
    await badge_is(bob, "1")
    do(own, "setUnreadCount", groupID=group, userID=user, unreadCount=41)
    write(own, group, other, "six")
    await badge_is(bob, "42")
    await bob.click("#group-list button")
    await badge_is(bob, "")
    await is_read(own, group, user)
    await bob.click("#to-lobby")
    await badge_is(bob, "")
    # Own messages of another session are not unread.
    write(own, group, user, "mine")
    write(own, group, other, "seven")
    await badge_is(bob, "1")


async def test_a_group_that_counts_nothing_shows_no_number(make_server, browser):
    """In a Meeting nothing is ever unread; that there is something new is told without a number."""
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser)
    await bob.click("#to-lobby")
    for text in ("one", "two", "three"):
        await say(alice, text)
    await bob.sees("three", "#group-list .last")
    await badge_is(bob, "new")
    assert await bob.run("document.title") == "Throng"
    await bob.click("#group-list button")
    await badge_is(bob, "")


@pytest.mark.parametrize("is_looked_at", [True, False], ids=["looked-at", "in-the-list"])
async def test_unread_messages_after_a_reconnect(make_server, make_tcp_proxy, browser, is_looked_at):
    """Four messages came meanwhile: unread where nobody looks, and marked as read where the reader sees them."""
    own = make_server({"demo": "true"})
    proxy = await make_tcp_proxy(own.address)
    alice, bob = await pair(own, browser, "Public", proxy.address, frozen=True)
    group, user, other = await group_of(alice), await bob.text("#user"), await alice.text("#user")
    write(own, group, other, "before")
    await hears(bob, "before")
    await is_read(own, group, user)
    if not is_looked_at:
        await bob.click("#to-lobby")
    proxy.cut()
    await bob.sees("Not connected", "#banner-words")
    write(own, group, other, "one", "two", "three", "four")
    await bob.click("#retry")
    await bob.sees("Connected", "#state")
    if is_looked_at:
        await bob.sees("4 messages came meanwhile", "#timeline")
        await is_read(own, group, user)
        return await badge_is(bob, "")
    await badge_is(bob, "4")
    write(own, group, other, "five")
    await bob.advance(seconds=1)
    await badge_is(bob, "5")
    # Recalls during a cut: the server counts none of what is left.
    proxy.cut()
    await bob.sees("Not connected", "#banner-words")
    last = do(own, "getGroupsInfo", groupIDList=[group])["resultList"][0]["info"]["lastSeq"]
    for seq in range(last - 4, last + 1):
        do(own, "revokeGroupMessage", groupID=group, seq=seq)
    await bob.click("#retry")
    await bob.sees("Connected", "#state")
    await badge_is(bob, "")
    assert unread_of(own, group, user) == 0


async def test_the_sender_sees_who_has_read(make_server, browser):
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser, "Public")
    carol = await guest(browser, f"http://{own.address}/")
    do(own, "joinGroup", asUser=await carol.text("#user"), groupID=await group_of(alice))
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


async def test_receipts_after_a_reconnect_and_a_recall(make_server, make_tcp_proxy, browser):
    """Those that were given while the sender was away, and those of a reader whose connection was cut."""
    own = make_server({"demo": "true"})
    proxy = await make_tcp_proxy(own.address)
    alice = await guest(browser, f"http://{proxy.address}/", frozen=True)
    await new_group(alice, "Public")
    group, other = await group_of(alice), await alice.text("#user")
    for user in ("bob", "carol"):
        do(own, "setGroupInfo", groupID=group, joinMode="Any")
        do(own, "joinGroup", asUser=user, groupID=group)
    # More than one request asks about.
    places = write(own, group, other, *(f"number {number}" for number in range(60)), needReadReceipt=True)
    await alice.until("document.querySelectorAll('#timeline .own').length === 60")
    proxy.cut()
    await alice.sees("Not connected", "#banner-words")
    for start in range(0, 60, 50):
        do(own, "sendMessageReadReceipts", asUser="bob", groupID=group, seqList=places[start:start + 50])
    do(own, "sendMessageReadReceipts", asUser="carol", groupID=group, seqList=[places[0], places[-1]])
    do(own, "revokeGroupMessage", groupID=group, seq=places[1])
    await alice.click("#retry")
    metas = "[...document.querySelectorAll('#timeline .own .meta')].map((one) => one.innerText.split(' · ')[1] ?? '')"
    await alice.until(f"{metas}.filter((words) => words === 'read by 1 of 2').length === 57")
    found = await alice.run(metas)
    assert (found[0], found[1], found[2], found[-1]) == ("read by all", "", "read by 1 of 2", "read by all")
    # The other way round: what a page shows after a cut is confirmed, and what was recalled is not.
    write(own, group, "bob", "here already")
    await hears(alice, "here already")
    proxy.cut()
    await alice.sees("Not connected", "#banner-words")
    seen, recalled = write(own, group, "bob", "seen later", "never seen", needReadReceipt=True)
    do(own, "revokeGroupMessage", groupID=group, seq=recalled)
    await alice.click("#retry")
    await alice.sees("seen later", NEWEST.replace("-last-child(1", "-last-child(2"))
    await becomes(lambda: read_counts(own, group, "bob", seen, recalled), [1])


async def test_receipts_of_older_messages_come_with_them(make_server, browser):
    """The page reads the newest messages first, and older ones when it is asked to."""
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser, "Public")
    group, user, other = await group_of(alice), await bob.text("#user"), await alice.text("#user")
    await bob.click("#to-lobby")
    (place,) = write(own, group, other, "the first", needReadReceipt=True)
    (asked,) = write(own, group, user, "read me", needReadReceipt=True)
    write(own, group, other, *(f"number {number}" for number in range(40)))
    do(own, "sendMessageReadReceipts", asUser=user, groupID=group, seqList=[place])
    await alice.reload()
    await hears(alice, "number 39")
    await alice.click("#older")
    await hears(alice, "the first")
    await alice.sees("read by all", "#timeline .own .meta")
    # So does the confirmation of what is seen now.
    await becomes(lambda: read_counts(own, group, user, asked), [1])


async def test_what_is_not_in_view_is_not_read(make_server, browser):
    """Who reads further up has not seen what comes below, and neither the server nor the sender is told so."""
    own = make_server({"demo": "true"})
    alice, bob = await pair(own, browser, "Public")
    group, user, other = await group_of(alice), await bob.text("#user"), await alice.text("#user")
    write(own, group, other, *(f"number {number}" for number in range(60)))
    await hears(bob, "number 59")
    await is_read(own, group, user)
    await bob.run("void (document.querySelector('#scroller').scrollTop = 0)")
    await bob.until("!document.querySelector('#newer').hidden || document.querySelector('#scroller').scrollTop === 0")
    (below,) = write(own, group, other, "below", needReadReceipt=True)
    await badge_is(bob, "1")
    await bob.until("!document.querySelector('#newer').hidden")
    assert unread_of(own, group, user) == 1 and read_counts(own, group, other, below) == [0]
    assert await bob.run("document.title.startsWith('(1) ')")
    await bob.click("#newer")
    await is_read(own, group, user)
    await badge_is(bob, "")
    await becomes(lambda: read_counts(own, group, other, below), [1])
