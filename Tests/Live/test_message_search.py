"""searchGroupMessages (Protocol.md, "Search of messages")."""
import pytest

from harness.backend import all_of, done
from harness.world import World


@pytest.fixture
async def searching(make_server):
    own = make_server({"search.messages": "true"}, frozen=True)
    world = World(own)
    yield world
    await world.close()


async def found(client, *keywords, **params):
    rows = await all_of(client, "searchGroupMessages", "messageList", keywordList=list(keywords), **params)
    return [row["text"] for row in rows]


async def say(client, group, *texts):
    return [await client.call("sendGroupTextMessage", groupID=group, text=text) for text in texts]


async def test_texts_are_found_at_once_and_later(searching):
    alice, bob, stranger = await searching.users("alice", "bob", "stranger")
    group = await searching.group(alice, "Work", [bob])
    await say(alice, group, "Hello World", "你好，世界", "こんにちは", "one two")
    await alice.call("sendGroupCustomMessage", groupID=group, data="hello custom")

    async def all_found():
        return [await found(bob, *words) for words in (["hello"], ["世界"], ["世"], ["こん"], ["W"], ["two", "你好，"])]

    expected = [["Hello World"], ["你好，世界"], ["你好，世界"], ["こんにちは"], ["one two", "Hello World"], ["one two", "你好，世界"]]
    assert await all_found() == expected
    # The store adds them to its index meanwhile.
    for _ in range(3):
        await searching.server.advance(seconds=1)
        assert await all_found() == expected
    assert await found(stranger, "hello") == []
    assert [row["text"] for row in done(searching.server, "searchGroupMessages", keywordList=["hello"])["messageList"]] == [
        "Hello World"]


async def test_recalled_messages_and_those_of_others_are_not_found(searching):
    alice, bob = await searching.users("alice", "bob")
    group = await searching.group(alice, "Public")
    first, second = await say(alice, group, "before needle", "recalled needle")
    await bob.call("joinGroup", groupID=group)
    await say(alice, group, "after needle")
    await alice.call("revokeGroupMessage", groupID=group, seq=second["seq"])
    assert await found(bob, "needle") == ["after needle"]
    assert await found(alice, "needle") == ["after needle", "before needle"]
    await bob.call("quitGroup", groupID=group)
    assert await found(bob, "needle") == []
    await alice.call("dismissGroup", groupID=group)
    assert await found(alice, "needle") == []


async def test_an_extension_is_not_searched(searching):
    alice = await searching.user("alice")
    group = await searching.group(alice, "Work")
    sent = await alice.call("sendGroupTextMessage", groupID=group, text="plain", extension="needle")
    for extension in ("needle again", "", "needle"):
        assert await found(alice, "needle") == [] and await found(alice, "plain") == ["plain"]
        await alice.call("modifyGroupMessage", groupID=group, seq=sent["seq"], extension=extension)
        await searching.server.advance(seconds=1)
    assert await found(alice, "needle") == [] and await found(alice, "plain") == ["plain"]


async def test_a_search_finds_what_its_reader_may_see_now(searching):
    alice, bob = await searching.users("alice", "bob")
    group = await searching.group(alice, "Public")
    await say(alice, group, "first needle")
    await bob.call("joinGroup", groupID=group)
    assert await found(bob, "needle") == []
    await alice.call("setGroupInfo", groupID=group, historyVisibility="All")
    assert await found(bob, "needle") == ["first needle"]
    await bob.call("clearGroupHistory", groupID=group)
    assert await found(bob, "needle") == [] and await found(alice, "needle") == ["first needle"]
    await say(alice, group, "second needle")
    assert await found(bob, "needle") == ["second needle"]
    await alice.call("setGroupInfo", groupID=group, historyVisibility="Joined")
    assert await found(bob, "needle") == ["second needle"]


async def test_a_search_is_narrowed_and_paged(searching):
    alice, bob = await searching.users("alice", "bob")
    groups = [await searching.group(alice, "Work", [bob]) for _ in range(3)]
    for group in groups:
        for client in (alice, bob):
            await say(client, group, f"word of {client.user} in {group}")
    assert await found(bob, "word", groupIDList=[groups[1]]) == [
        f"word of {client.user} in {groups[1]}" for client in (bob, alice)]
    assert len(await found(bob, "word", senderUserIDList=[alice.user])) == 3
    assert len(await found(bob, "word", count=1)) == 6
    assert await found(bob, "word", to=1) == []
    await alice.refused(10004, "searchGroupMessages", keywordList=["x"] * 6)
    await alice.refused(10004, "searchGroupMessages", keywordList=["x"], count=51)
    await alice.refused(10015, "searchGroupMessages", keywordList=["x"], groupIDList=["ä"])


async def test_it_is_off_by_default(world):
    alice = await world.user("alice")
    await alice.refused(10007, "searchGroupMessages", keywordList=["x"])


async def test_switching_it_on_finds_what_was_sent_before(make_server):
    own = make_server()
    world = World(own)
    alice = await world.user("alice")
    group = await world.group(alice, "Work")
    await say(alice, group, "sent before")
    await world.close()
    for is_on in (True, False, True):
        own.stop()
        own.settings["search.messages"] = "true" if is_on else "false"
        own.start()
        world = World(own)
        alice = await world.session(alice.user)
        if is_on:
            assert await found(alice, "before") == ["sent before"]
        else:
            await alice.refused(10007, "searchGroupMessages", keywordList=["before"])
        await world.close()
