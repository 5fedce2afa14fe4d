"""Sections 3 and 4: rows of the tables, and sentences, that only unusual groups and calls show."""
import json

import pytest

from harness.client import has
from harness.tokens import make_token
from harness.world import history_of, info_of

MUTERS = {"Work": ["owner"], "Public": ["owner", "admin"], "Meeting": ["owner", "admin"], "AVChatRoom": ["owner"]}


@pytest.mark.parametrize("groupType", MUTERS)
async def test_all_muted_is_set_by_those_who_may_mute_the_group(world, groupType):
    """Section 4: one onGroupInfoChanged names AllMuted and Mute; Ordinary silences members, not managers."""
    group, people = await world.group_of(groupType)
    for role, client in people.items():
        if role not in MUTERS[groupType]:
            await client.refused(10007, "setGroupInfo", groupID=group, allMuted=True)
            continue
        await client.call("setGroupInfo", groupID=group, allMuted=True)
        event = await people["member"].expect("onGroupInfoChanged", groupID=group)
        assert [(entry["type"], entry["value"]) for entry in event["changeInfoList"]] == [
            ("AllMuted", True), ("Mute", {"mode": "Ordinary"})]
        info = await info_of(people["member"], group)
        assert info["allMuted"] is True and info["mute"] == {"mode": "Ordinary"}
        await people["member"].refused(10017, "sendGroupTextMessage", groupID=group, text="x")
        await people["outsider"].refused(10007, "sendGroupTextMessage", groupID=group, text="x")
        await client.call("sendGroupTextMessage", groupID=group, text="a manager")
        await client.call("setGroupInfo", groupID=group, allMuted=False)
        event = await people["member"].expect("onGroupInfoChanged", groupID=group)
        assert {entry["type"] for entry in event["changeInfoList"]} == {"AllMuted", "Mute"}
        await people["member"].call("sendGroupTextMessage", groupID=group, text="again")


async def test_an_administrator_speaks_in_a_muted_group(server, world):
    alice = await world.user("alice")
    group = await world.group(alice)
    await alice.call("setGroupInfo", groupID=group, allMuted=True)
    assert server.rpc("sendGroupTextMessage", groupID=group, text="x")["result"]["status"] == "Stored"


@pytest.fixture
async def broadcast(server, world):
    """A BChatRoom, its owner, and a user."""
    owner, user = await world.users("owner", "user")
    answer = server.rpc("createGroup", groupType="BChatRoom", groupName="news", ownerUserID=owner.user)
    return answer["result"]["groupID"], owner, user


async def test_a_bchatroom_is_read_by_all_and_written_by_managers(broadcast):
    group, owner, user = broadcast
    assert (await owner.call("sendGroupTextMessage", groupID=group, text="news"))["status"] == "Delivered"
    message = (await user.expect("onRecvNewMessage", groupID=group))["message"]
    assert message["text"] == "news" and "seq" not in message
    await user.refused(10007, "sendGroupTextMessage", groupID=group, text="x")
    await user.refused(10007, "setGroupInfo", groupID=group, introduction="x")
    await owner.call("setGroupInfo", groupID=group, introduction="new")
    event = await user.expect("onGroupInfoChanged", groupID=group)
    assert event["changeInfoList"] == [{"type": "Introduction", "value": "new"}] and "seq" not in event


async def test_what_a_bchatroom_has_not(broadcast):
    group, owner, user = broadcast
    for client in (owner, user):
        for method, params in [("joinGroup", {}), ("quitGroup", {}), ("getGroupMemberList", {}),
                               ("getGroupMembersInfo", {"userIDList": [user.user]}), ("getGroupHistoryMessageList", {}),
                               ("setGroupInfo", {"joinMode": "Any"}), ("setGroupInfo", {"isMemberVisible": True})]:
            await client.refused(10007, method, groupID=group, **params)
        assert group not in [info["groupID"] for info in (await client.call("getJoinedGroupList", count=200))["groupList"]]
        info = await info_of(client, group)
        assert not {"joinMode", "inviteMode", "updateInfoMode", "ownerQuitMode", "isSearchable"} & set(info)
        assert info["maxMemberNum"] == 0 and info["memberCount"] == info["onlineCount"] >= 2


async def test_a_bchatroom_is_disbanded_by_its_owner(broadcast):
    group, owner, user = broadcast
    await user.refused(10007, "dismissGroup", groupID=group)
    await owner.call("dismissGroup", groupID=group)
    await user.expect("onGroupDismissed", groupID=group)
    await user.refused(10010, "sendGroupTextMessage", groupID=group, text="x")


async def test_an_avchatroom_lists_its_owner_and_the_three_hundred_newest(server, world):
    alice = await world.user("alice")
    group = await world.group(alice, "AVChatRoom")
    fans = [world.name("fan") for _ in range(320)]
    for start in range(0, 320, 20):
        batch = [{"jsonrpc": "2.0", "id": fan, "method": "joinGroup", "params": {"groupID": group, "asUser": fan}}
                 for fan in fans[start:start + 20]]
        assert all("result" in reply for reply in server.post_rpc(json.dumps(batch)).json())
    rows, nextSeq = [], 0
    while True:
        answer = await alice.call("getGroupMemberList", groupID=group, nextSeq=nextSeq, count=50)
        rows += [row["userID"] for row in answer["memberList"]]
        nextSeq = answer["nextSeq"]
        if nextSeq == 0:
            break
    assert rows == [alice.user, *reversed(fans[20:])]
    assert (await info_of(alice, group))["memberCount"] == 321


async def test_an_invisible_member_may_still_read_itself(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob], isMemberVisible=False)
    (row,) = (await bob.call("getGroupMembersInfo", groupID=group, userIDList=[bob.user]))["memberList"]
    assert row["userID"] == bob.user and row["inviter"] == alice.user
    await bob.refused(10007, "getGroupMembersInfo", groupID=group, userIDList=[bob.user, alice.user])
    await alice.call("getGroupMembersInfo", groupID=group, userIDList=[bob.user])


async def test_a_repeated_user_has_one_row(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    rows = (await alice.call("getGroupMembersInfo", groupID=group, userIDList=[bob.user, bob.user]))["memberList"]
    assert [row["userID"] for row in rows] == [bob.user]


async def test_a_client_msg_id_belongs_to_one_life_of_a_group(world):
    """Section 4: a disbanded groupID used again is another group, so its messages are new ones."""
    alice = await world.user("alice")
    group, sent = world.name("g"), []
    for text in ("old", "new"):
        await world.group(alice, groupID=group)
        sent.append(await alice.call("sendGroupTextMessage", groupID=group, text=text, clientMsgID="same"))
        assert [message["text"] for message in await history_of(alice, group)] == [text]
        await alice.call("dismissGroup", groupID=group)
    assert sent[0]["msgID"] != sent[1]["msgID"] and sent[1]["seq"] == 1


async def test_one_client_msg_id_for_a_text_and_a_custom_message(world):
    alice = await world.user("alice")
    group = await world.group(alice)
    first = await alice.call("sendGroupTextMessage", groupID=group, text="t", clientMsgID="same")
    assert await alice.call("sendGroupCustomMessage", groupID=group, data="d", clientMsgID="same") == first
    assert [message["type"] for message in await history_of(alice, group)] == ["Text"]


async def test_a_group_that_was_left_and_joined_again_is_not_among_the_left(world):
    alice, bob = await world.users("alice", "bob")
    since = (await bob.call("ping"))["serverTime"]
    group = await world.group(alice, members=[bob])
    await bob.call("quitGroup", groupID=group)
    assert (await bob.call("getJoinedGroupList", updatedSince=since))["leftGroupIDList"] == [group]
    await bob.call("joinGroup", groupID=group)
    answer = await bob.call("getJoinedGroupList", updatedSince=since)
    assert answer["leftGroupIDList"] == [] and [info["groupID"] for info in answer["groupList"]] == [group]


async def test_a_joiner_without_a_tip_sees_nothing_from_before(world):
    """With notification off there is no Join tip; history, lastMessage, sync and unread still begin with the joining."""
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, memberChangeNotification=False)
    await alice.call("sendGroupTextMessage", groupID=group, text="before")
    await bob.call("joinGroup", groupID=group)
    info = await info_of(bob, group)
    assert "lastMessage" not in info and info["selfInfo"]["unreadCount"] == 0
    assert await history_of(bob, group) == []
    (row,) = (await bob.call("syncGroups", groups=[{"groupID": group, "epoch": info["epoch"], "seq": 0}]))["groups"]
    assert row["messageList"] == []
    await alice.call("sendGroupTextMessage", groupID=group, text="after")
    assert [message["text"] for message in await history_of(bob, group)] == ["after"]
    assert (await info_of(bob, group))["selfInfo"]["unreadCount"] == 1


async def test_a_seq_that_the_group_never_had_is_not_recovered(world):
    alice = await world.user("alice")
    group = await world.group(alice)
    await alice.call("sendGroupTextMessage", groupID=group, text="x")
    epoch = (await info_of(alice, group))["epoch"]
    (row,) = (await alice.call("syncGroups", groups=[{"groupID": group, "epoch": epoch, "seq": 2}]))["groups"]
    assert has(code=0, recovered=False, messageList=[], lastSeq=1)(row)


@pytest.mark.parametrize("settings", [{}, {"limits.public.maxMemberNum": 100}])
async def test_a_number_over_the_cap_is_8507_however_large(make_server, make_world, settings):
    world = make_world(make_server(settings))
    alice = await world.user("alice")
    for number in (6001, 2**32, 2**53):
        await alice.refused(8507, "createGroup", groupType="Public", groupName="g", maxMemberNum=number)


async def test_a_slow_reader_misses_chat_of_a_live_room_and_nothing_else(make_server, make_world):
    """Section 1: chat of rooms without history may be skipped for that connection, control events never are."""
    own = make_server({"limits.sendQueueBytes": 65536, "limits.avChatRoom.messagesPerSecond": 0})
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "AVChatRoom", [bob])
    raw = await world.raw(path="/ws?token=" + make_token("slow"), receive_buffer=4096)
    raw.write_json({"jsonrpc": "2.0", "id": 1, "method": "joinGroup", "params": {"groupID": group}})
    await bob.expect("onMemberEnter", groupID=group, memberList=lambda rows: rows[0]["userID"] == "slow")
    texts = []
    for turn in range(40):
        for _ in range(25):
            texts.append(f"{len(texts)} " + "x" * 8000)
            await alice.call("sendGroupTextMessage", groupID=group, text=texts[-1])
        await alice.call("setGroupInfo", groupID=group, introduction=f"{turn}")
    for text in texts:
        assert (await bob.expect("onRecvNewMessage", groupID=group))["message"]["text"] == text
    told, seen = [], []
    while len(told) < 40:
        opcode, payload = await raw.read()
        assert opcode != 8, payload
        frame = json.loads(payload) if opcode == 1 else {}
        if frame.get("method") == "onGroupInfoChanged":
            told.append(frame["params"]["changeInfoList"][0]["value"])
        elif frame.get("method") == "onRecvNewMessage":
            seen.append(int(frame["params"]["message"]["text"].split()[0]))
    assert told == [str(turn) for turn in range(40)]
    assert seen == sorted(seen) and len(seen) < len(texts), "8 MB cannot have waited for a connection that may keep 64 KiB"
