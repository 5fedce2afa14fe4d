"""getGroupsInfo, getJoinedGroupList, and setGroupInfo with its event and tip (Protocol.md, "Group
info")."""
import pytest

from harness.client import has
from harness.world import history_of, info_of

COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"
PUBLIC_FIELDS = {
    "groupID", "groupName", "owner", "groupType", "createTime", "maxMemberNum", "memberCount", "introduction", "faceURL",
    "joinMode", "onlineCount", "customInfo",
}
FIELDS = PUBLIC_FIELDS | {
    "notification", "lastInfoTime", "lastMessageTime", "lastSeq", "epoch", "allMuted", "mute", "selfInfo", "inviteMode",
    "beInviteMode", "updateInfoMode", "updateCustomMode", "ownerQuitMode", "memberChangeNotification", "isSearchable",
    "isMemberVisible", "historyVisibility", "slowMode", "attributeMode", "serverCustomInfo", "firstSeq", "changeSeq",
}
SELF = {"role", "joinTime", "nameCard", "muteUntil", "receiveMessageOpt", "readSeq", "unreadCount", "customInfo"}
RECEIVE = {"Work": "Receive", "Public": "Receive", "Meeting": "ReceiveNotNotify", "AVChatRoom": "ReceiveNotNotify"}


@pytest.mark.parametrize("groupType", RECEIVE)
async def test_a_member_reads_everything(world, groupType):
    alice, bob = await world.users("alice", "bob")
    texts = {"groupName": "name", "introduction": "intro", "notification": "note", "faceURL": "https://x/y.png"}
    group = await world.group(alice, groupType, [bob], **texts, customInfo={"k": "v"})
    info = await info_of(bob, group)
    assert set(info) - {"lastMessage"} == FIELDS
    assert set(info["selfInfo"]) == SELF
    assert has(**texts, groupID=group, groupType=groupType, owner=alice.user, customInfo={"k": "v"}, allMuted=False)(info)
    assert info["mute"]["mode"] == "None" and isinstance(info["epoch"], str)
    assert has(role="Member", nameCard="", muteUntil=0, receiveMessageOpt=RECEIVE[groupType], customInfo={})(info["selfInfo"])
    assert info["memberCount"] == info["onlineCount"] == 2 and info["createTime"] > 1_600_000_000_000


@pytest.mark.parametrize("groupType", ["Public", "Meeting", "AVChatRoom"])
async def test_a_non_member_reads_the_public_fields(world, groupType):
    group, people = await world.group_of(groupType)
    assert set(await info_of(people["outsider"], group)) == PUBLIC_FIELDS


async def test_each_group_has_a_row_with_a_code(world):
    """10010, 10015, 10007 are row codes here; of a Work group a non-member reads nothing."""
    alice, bob = await world.users("alice", "bob")
    work, public, nowhere = await world.group(alice, "Work"), await world.group(alice), world.name("nowhere")
    rows = (await bob.call("getGroupsInfo", groupIDList=[public, work, nowhere, "a b", ""]))["resultList"]
    assert [(row["groupID"], row["code"], "info" in row) for row in rows] == [
        (public, 0, True), (work, 10007, False), (nowhere, 10010, False), ("a b", 10015, False), ("", 10015, False)]


async def test_the_bounds_of_get_groups_info(world):
    alice = await world.user("alice")
    await alice.refused(10004, "getGroupsInfo", groupIDList=[])
    await alice.refused(10004, "getGroupsInfo", groupIDList=[f"g{n}" for n in range(51)])
    assert len((await alice.call("getGroupsInfo", groupIDList=[f"g{n}" for n in range(50)]))["resultList"]) == 50
    await alice.refused(-32602, "getGroupsInfo")
    await alice.refused(-32602, "getGroupsInfo", groupIDList=[5])


async def test_one_call_sends_one_event_with_all_entries_and_stores_one_tip(world):
    group, people = await world.group_of("Public")
    changes = {"groupName": "new name", "introduction": "i", "notification": "n", "faceURL": "f", "inviteMode": "Any",
               "maxMemberNum": 99}
    await people["admin"].call("setGroupInfo", groupID=group, **changes, customInfo={"a": "1", "b": "2"})
    for role in ("owner", "admin", "member"):
        event = await people[role].expect("onGroupInfoChanged", groupID=group)
        entries = {(entry["type"], entry.get("key")): entry["value"] for entry in event["changeInfoList"]}
        assert set(entries) == {
            ("GroupName", None), ("Introduction", None), ("Notification", None), ("FaceURL", None), ("inviteMode", None),
            ("MaxMemberNum", None), ("CustomInfo", "a"), ("CustomInfo", "b")}
        assert entries["GroupName", None] == "new name" and entries["CustomInfo", "b"] == "2"
        assert event["opUser"] == {"userID": people["admin"].user, "nameCard": "", "role": "Admin"}
        assert event["seq"] == 1
    (tip,) = await history_of(people["member"], group)
    assert tip["tips"]["type"] == "GroupInfoChange" and tip["msgID"] == event["msgID"]
    assert len(tip["tips"]["changeInfoList"]) == 8
    await people["outsider"].quiet(group=group)
    await world.settle(group, people["owner"], people["member"])
    assert people["member"].received(groupID=group) == people["member"].received("onGroupCreated", groupID=group)


async def test_a_value_that_a_field_has_already_makes_no_entry(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob], groupName="same", customInfo={"k": "v"})
    await alice.call("setGroupInfo", groupID=group, groupName="same", notification="new", customInfo={"k": "v"})
    event = await bob.expect("onGroupInfoChanged", groupID=group)
    assert [entry["type"] for entry in event["changeInfoList"]] == ["Notification"]
    await alice.call("setGroupInfo", groupID=group, groupName="same", notification="new", joinMode="Any")
    await alice.call("setGroupInfo", groupID=group, customInfo={"missing": None})
    await world.settle(group, alice, bob)
    assert not bob.received("onGroupInfoChanged", groupID=group)
    assert (await info_of(alice, group))["lastSeq"] == 2


@pytest.mark.parametrize("groupType", ["Meeting", "AVChatRoom"])
async def test_info_changes_are_told_whatever_the_notification_mode(world, groupType):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, groupType, [bob], memberChangeNotification=False)
    await alice.call("setGroupInfo", groupID=group, introduction="new")
    for client in (alice, bob):
        event = await client.expect("onGroupInfoChanged", groupID=group)
        assert ("seq" in event) == (groupType == "Meeting")
    if groupType == "Meeting":
        assert [message["tips"]["type"] for message in await history_of(bob, group)] == ["GroupInfoChange"]


async def test_custom_info_merges_and_removes(world):
    alice = await world.user("alice")
    group = await world.group(alice, customInfo={"a": "1", "b": "2", "c": "3"})
    await alice.call("setGroupInfo", groupID=group, customInfo={"a": "one", "b": None, "c": "", "d": "4"})
    assert (await info_of(alice, group))["customInfo"] == {"a": "one", "d": "4"}
    event = await alice.expect("onGroupInfoChanged", groupID=group)
    assert sorted(entry["key"] for entry in event["changeInfoList"]) == ["a", "b", "c", "d"]


async def test_custom_info_limits_hold_for_the_result(world):
    alice = await world.user("alice")
    group = await world.group(alice, customInfo={f"k{n}": "v" for n in range(10)})
    await alice.refused(10004, "setGroupInfo", groupID=group, customInfo={"k10": "v"})
    await alice.call("setGroupInfo", groupID=group, customInfo={"k10": "v", "k0": None})
    await alice.refused(10004, "setGroupInfo", groupID=group, customInfo={"k1": "é" * 256 + "x"})
    await alice.call("setGroupInfo", groupID=group, customInfo={"k1": "é" * 256})


@pytest.mark.parametrize("field, limit, code", [
    ("groupName", 30, 8502), ("introduction", 240, 8503), ("notification", 300, 8504), ("faceURL", 100, 8505),
])
async def test_texts_are_measured_in_bytes(world, field, limit, code):
    alice = await world.user("alice")
    group = await world.group(alice)
    full = "é" * (limit // 2)
    await alice.call("setGroupInfo", groupID=group, **{field: full})
    assert (await info_of(alice, group))[field] == full
    await alice.refused(code, "setGroupInfo", groupID=group, **{field: full + "x"})
    assert (await info_of(alice, group))[field] == full


async def test_the_name_cannot_be_emptied_but_the_other_texts_can(world):
    alice = await world.user("alice")
    group = await world.group(alice, introduction="i", notification="n", faceURL="f")
    await alice.refused(8502, "setGroupInfo", groupID=group, groupName="")
    await alice.refused(10004, "setGroupInfo", groupID=group, groupName="a\u0000b")
    await alice.call("setGroupInfo", groupID=group, introduction="", notification="", faceURL="")
    assert has(introduction="", notification="", faceURL="")(await info_of(alice, group))


async def test_max_member_num_moves_between_member_count_and_cap(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    await alice.refused(10004, "setGroupInfo", groupID=group, maxMemberNum=-1)
    await alice.refused(10038, "setGroupInfo", groupID=group, maxMemberNum=1)
    await alice.refused(8507, "setGroupInfo", groupID=group, maxMemberNum=6001)
    await alice.call("setGroupInfo", groupID=group, maxMemberNum=2)
    assert (await info_of(alice, group))["maxMemberNum"] == 2
    await alice.call("setGroupInfo", groupID=group, maxMemberNum=0)
    assert (await info_of(alice, group))["maxMemberNum"] == 6000
    room = await world.group(alice, "AVChatRoom")
    await alice.refused(10007, "setGroupInfo", groupID=room, maxMemberNum=100)


async def test_the_times_of_info_and_message(world):
    alice = await world.user("alice")
    group = await world.group(alice)
    sent = await alice.call("sendGroupTextMessage", groupID=group, text="hello")
    info = await info_of(alice, group)
    assert info["lastSeq"] == 1 and info["lastMessageTime"] == sent["timestamp"]
    assert has(msgID=sent["msgID"], seq=1, text="hello")(info["lastMessage"])
    await alice.call("setGroupInfo", groupID=group, introduction="x")
    after = await info_of(alice, group)
    assert after["lastInfoTime"] >= info["lastInfoTime"] and after["lastInfoTime"] >= sent["timestamp"]


async def test_the_joined_list_holds_every_type_but_avchatroom(world):
    alice = await world.user("alice")
    groups = {groupType: await world.group(alice, groupType) for groupType in ("Work", "Public", "Meeting", "AVChatRoom")}
    answer = await alice.call("getJoinedGroupList")
    assert {info["groupID"] for info in answer["groupList"]} == {groups[t] for t in ("Work", "Public", "Meeting")}
    assert answer["nextSeq"] == 0 and answer["leftGroupIDList"] == []
    assert all(set(info["selfInfo"]) == SELF for info in answer["groupList"])
    for asked, found in [("Work", "Work"), ("Private", "Work"), ("ChatRoom", "Meeting"), ("Public", "Public")]:
        answer = await alice.call("getJoinedGroupList", groupType=asked)
        assert [info["groupID"] for info in answer["groupList"]] == [groups[found]]
    await alice.refused(10004, "getJoinedGroupList", groupType="Secret")


async def test_the_joined_list_comes_in_pages(world):
    alice = await world.user("alice")
    groups = {await world.group(alice) for _ in range(7)}
    seen, nextSeq = [], 0
    for _ in range(10):
        answer = await alice.call("getJoinedGroupList", count=3, nextSeq=nextSeq)
        assert len(answer["groupList"]) <= 3
        seen += [info["groupID"] for info in answer["groupList"]]
        nextSeq = answer["nextSeq"]
        if nextSeq == 0:
            break
    assert len(seen) == 7 and set(seen) == groups
    for count in (0, 201, -1):
        await alice.refused(10004, "getJoinedGroupList", count=count)
    assert len((await alice.call("getJoinedGroupList", count=200))["groupList"]) == 7


async def test_updated_since_finds_what_changed_and_what_was_left(frozen_world):
    world = frozen_world
    alice, bob = await world.users("alice", "bob")
    idle, renamed, written, left, gone = [await world.group(bob, members=[alice]) for _ in range(5)]
    await alice.expect("onGroupCreated", groupID=gone)
    # `updatedSince` is inclusive.
    await world.server.advance(seconds=0.001)
    since = (await alice.call("ping"))["serverTime"]
    await bob.call("setGroupInfo", groupID=renamed, groupName="renamed")
    await bob.call("sendGroupTextMessage", groupID=written, text="x")
    await alice.call("quitGroup", groupID=left)
    await bob.call("dismissGroup", groupID=gone)
    answer = await alice.call("getJoinedGroupList", updatedSince=since)
    assert {info["groupID"] for info in answer["groupList"]} == {renamed, written}
    assert set(answer["leftGroupIDList"]) == {left, gone}
    everything = await alice.call("getJoinedGroupList")
    assert {info["groupID"] for info in everything["groupList"]} == {idle, renamed, written}
    assert everything["leftGroupIDList"] == []


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
