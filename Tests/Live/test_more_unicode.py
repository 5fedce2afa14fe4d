"""Section 1: limits count bytes, and texts come back as sent – two spellings that look alike are two texts."""
import pytest

from harness.client import has
from harness.world import history_of, info_of

COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"
LEGAL = [chr(code) for code in range(0x21, 0x7F)]


@pytest.mark.parametrize("field", ["groupName", "introduction", "notification", "faceURL"])
async def test_another_spelling_of_a_text_is_a_change(world, field):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob], **{field: COMPOSED})
    await alice.call("setGroupInfo", groupID=group, **{field: DECOMPOSED})
    assert (await info_of(bob, group))[field] == DECOMPOSED
    event = await bob.expect("onGroupInfoChanged", groupID=group)
    assert [entry["value"] for entry in event["changeInfoList"]] == [DECOMPOSED]


async def test_another_spelling_of_a_custom_value_is_a_change(world):
    alice = await world.user("alice")
    group = await world.group(alice, customInfo={"k": COMPOSED})
    await alice.call("setGroupInfo", groupID=group, customInfo={"k": DECOMPOSED})
    assert (await info_of(alice, group))["customInfo"] == {"k": DECOMPOSED}


async def test_another_spelling_of_a_client_msg_id_is_another_message(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    sent = [
        await alice.call("sendGroupTextMessage", groupID=group, text=name, clientMsgID=name)
        for name in (COMPOSED, DECOMPOSED, COMPOSED + "\u0000a", COMPOSED + "\u0000b")
    ]
    assert [result["seq"] for result in sent] == [1, 2, 3, 4]
    assert [message["text"] for message in await history_of(bob, group)][:2] == [COMPOSED, DECOMPOSED]


async def test_another_spelling_of_a_device_id_is_another_device(world):
    user = world.name("alice")
    first = await world.session(user, platform="Web", deviceID=COMPOSED)
    await world.session(user, platform="Web", deviceID=DECOMPOSED)
    await first.quiet("onKickedOffline")


async def test_both_spellings_come_back_as_they_were_sent(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    for text in (COMPOSED, DECOMPOSED, "\u212b", "\u00c5", "\ufb01", "\u200b", "\u202eabc"):
        await alice.call("sendGroupTextMessage", groupID=group, text=text)
        await bob.expect("onRecvNewMessage", groupID=group, message=has(text=text))
        assert (await history_of(bob, group))[-1]["text"] == text
        frame = await alice.exchange({"jsonrpc": "2.0", "id": "!" + text, "method": "ping"})
        assert frame["id"] == "!" + text


async def test_every_legal_byte_in_a_group_id(world):
    alice, bob = await world.users("alice", "bob")
    for character in LEGAL:
        group = world.name("g") + character
        await world.group(alice, groupID=group)
        await bob.call("joinGroup", groupID=group)
        await alice.call("sendGroupTextMessage", groupID=group, text=character)
        await bob.expect("onRecvNewMessage", groupID=group, message=has(text=character))
        assert len(await history_of(bob, group)) == 2


async def test_group_ids_differ_by_case(world):
    alice, bob = await world.users("alice", "bob")
    group = world.name("Case")
    await world.group(alice, groupID=group)
    await world.group(bob, groupID=group.lower())
    assert (await info_of(alice, group))["owner"] == alice.user


@pytest.mark.parametrize("group", ["g\u0301", "@TGS\u20e3#x", "g\r\n", "g\u200b"])
async def test_a_group_id_of_more_than_ascii_is_none(world, group):
    alice = await world.user("alice")
    await alice.refused(8501, "createGroup", groupType="Public", groupName="g", groupID=group)
    await alice.refused(10015, "joinGroup", groupID=group)


@pytest.mark.parametrize("name", ["a\r\nb", "\u0080", "\u009f", "a\u007f"])
async def test_control_characters_are_none_of_a_name(world, name):
    alice = await world.user("alice")
    await alice.refused(10004, "createGroup", groupType="Public", groupName=name)
    group = await world.group(alice)
    await alice.refused(10004, "setGroupInfo", groupID=group, groupName=name)
