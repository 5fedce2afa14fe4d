"""joinGroup, quitGroup, dismissGroup (Protocol.md, "Joining a group")."""
import pytest

from harness.client import has
from harness.world import history_of, info_of

pytestmark = [pytest.mark.store, pytest.mark.nodes]

STORING = ["Work", "Public", "Meeting"]


def names(rows):
    return [row["userID"] for row in rows]


@pytest.mark.parametrize("groupType", ["Public", "Meeting", "AVChatRoom"])
async def test_join_mode_any_lets_everybody_in(world, groupType):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, groupType, joinMode="Any")
    assert await bob.call("joinGroup", groupID=group) == {"status": "Joined"}
    info = await info_of(bob, group)
    assert info["memberCount"] == 2 and info["selfInfo"]["role"] == "Member" and info["selfInfo"]["joinTime"] > 0


@pytest.mark.parametrize("groupType", ["Public", "Meeting", "AVChatRoom"])
async def test_join_mode_forbid_lets_nobody_in(world, groupType):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, groupType, joinMode="Forbid")
    await bob.refused(10007, "joinGroup", groupID=group)
    assert (await info_of(alice, group))["memberCount"] == 1


async def test_nobody_joins_a_work_group_by_application(world):
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, "Work", [bob])
    await carol.refused(8508, "joinGroup", groupID=group)
    await bob.refused(10013, "joinGroup", groupID=group)


@pytest.mark.parametrize("groupType", ["Public", "Meeting", "AVChatRoom"])
async def test_a_member_does_not_join_again(world, groupType):
    alice = await world.user("alice")
    group = await world.group(alice, groupType)
    await alice.refused(10013, "joinGroup", groupID=group)


async def test_join_parameters(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice)
    await bob.refused(10010, "joinGroup", groupID=world.name("nowhere"))
    for bad in ("", "x" * 49, "a b", "é"):
        await bob.refused(10015, "joinGroup", groupID=bad)
    assert (await bob.refused(-32602, "joinGroup"))["field"] == "groupID"
    await bob.refused(10004, "joinGroup", groupID=group, message="😀" * 513)
    await bob.call("joinGroup", groupID=group, message="😀" * 512)


async def test_a_full_group(world):
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, maxMemberNum=2)
    await bob.call("joinGroup", groupID=group)
    await carol.refused(10014, "joinGroup", groupID=group)
    await bob.call("quitGroup", groupID=group)
    await carol.call("joinGroup", groupID=group)


async def test_a_join_is_told_to_all_members_and_stored_as_a_tip(world):
    alice, bob, carol, outsider = await world.users("alice", "bob", "carol", "outsider")
    group = await world.group(alice, members=[bob])
    second = await world.session(carol.user)
    await carol.call("joinGroup", groupID=group)
    for client in (alice, bob, carol, second):
        event = await client.expect("onMemberEnter", groupID=group)
        assert event["memberCount"] == 3
        assert event["memberList"] == [{"userID": carol.user, "nameCard": "", "role": "Member"}]
        assert event["seq"] == 1 and event["msgID"]
    (tip,) = await history_of(alice, group)
    assert tip["type"] == "GroupTips" and tip["seq"] == 1 and tip["msgID"] == event["msgID"]
    assert has(type="Join", memberCount=3)(tip["tips"]) and tip["tips"]["opUser"]["userID"] == carol.user
    assert names(tip["tips"]["memberList"]) == [carol.user]
    await outsider.quiet(group=group)
    await world.settle(group, alice, bob)
    await bob.quiet("onRecvNewMessage", group=group)


async def test_with_notification_off_only_the_new_member_hears_of_a_join(world):
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, "Meeting", [bob], memberChangeNotification=False)
    await carol.call("joinGroup", groupID=group)
    event = await carol.expect("onMemberEnter", groupID=group)
    assert names(event["memberList"]) == [carol.user] and event["memberCount"] == 3
    assert "seq" not in event
    await carol.call("quitGroup", groupID=group)
    await carol.expect("onQuitFromGroup", groupID=group)
    await world.settle(group, bob, alice)
    await world.settle(group, alice, bob)
    for client in (alice, bob):
        assert not client.received("onMemberEnter", groupID=group)
        assert not client.received("onMemberLeave", groupID=group)
    assert [message["type"] for message in await history_of(alice, group)] == ["Text", "Text"]


async def test_an_avchatroom_tells_joins_and_stores_no_tip(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "AVChatRoom")
    await bob.call("joinGroup", groupID=group)
    for client in (alice, bob):
        event = await client.expect("onMemberEnter", groupID=group)
        assert names(event["memberList"]) == [bob.user] and "seq" not in event
    assert (await info_of(alice, group))["lastSeq"] == 0


async def test_a_member_quits(world):
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, members=[bob, carol])
    second = await world.session(bob.user)
    assert await bob.call("quitGroup", groupID=group) == {}
    for client in (bob, second):
        await client.expect("onQuitFromGroup", groupID=group)
    for client in (alice, carol):
        event = await client.expect("onMemberLeave", groupID=group)
        assert names(event["memberList"]) == [bob.user] and event["memberCount"] == 2 and event["seq"] == 1
    await world.settle(group, alice, carol)
    for client in (bob, second):
        await client.quiet("onMemberLeave", group=group)
        await client.quiet("onRecvNewMessage", group=group)
    tip = (await history_of(alice, group))[0]
    assert has(type="Quit", memberCount=2)(tip["tips"]) and tip["tips"]["opUser"]["userID"] == bob.user
    await bob.refused(10007, "quitGroup", groupID=group)
    await bob.refused(10007, "sendGroupTextMessage", groupID=group, text="still here?")


@pytest.mark.parametrize("groupType", ["Public", "Meeting", "AVChatRoom"])
async def test_the_owner_may_not_quit_where_the_mode_is_forbid(world, groupType):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, groupType, [bob])
    await alice.refused(10009, "quitGroup", groupID=group)
    await bob.call("quitGroup", groupID=group)
    await alice.refused(10009, "quitGroup", groupID=group)


@pytest.mark.parametrize("groupType", STORING)
async def test_with_transfer_the_earliest_member_becomes_owner(world, groupType):
    """Among equals the order of memberList decides (Protocol.md, "Disbanding a group")."""
    alice, bob, carol = await world.users("z-alice", "y-bob", "a-carol")
    group = await world.group(alice, groupType, [bob, carol], ownerQuitMode="Transfer", memberChangeNotification=True)
    await alice.call("quitGroup", groupID=group)
    await alice.expect("onQuitFromGroup", groupID=group)
    for client in (bob, carol):
        changed = await client.expect("onGroupInfoChanged", groupID=group)
        assert [(entry["type"], entry["value"]) for entry in changed["changeInfoList"]] == [("Owner", bob.user)]
        assert changed["opUser"]["userID"] == alice.user
        left = await client.expect("onMemberLeave", groupID=group)
        assert names(left["memberList"]) == [alice.user] and left["memberCount"] == 2
    info = await info_of(bob, group)
    assert info["owner"] == bob.user and info["selfInfo"]["role"] == "Owner"
    await alice.quiet("onMemberLeave", group=group)
    await world.settle(group, bob, carol)
    for client in (bob, carol):
        assert not client.received("onGrantAdministrator") and not client.received("onRevokeAdministrator")


async def test_the_earliest_joined_comes_before_the_name(world):
    alice, bob, carol = await world.users("alice", "z-bob", "a-carol")
    group = await world.group(alice, ownerQuitMode="Transfer")
    for client in (bob, carol):
        await client.call("joinGroup", groupID=group)
    await alice.call("quitGroup", groupID=group)
    assert (await info_of(bob, group))["owner"] == bob.user


@pytest.mark.parametrize("groupType", STORING)
async def test_when_the_last_member_quits_the_group_is_disbanded(world, groupType):
    alice = await world.user("alice")
    group = await world.group(alice, groupType, ownerQuitMode="Transfer")
    await alice.call("quitGroup", groupID=group)
    await alice.expect("onQuitFromGroup", groupID=group)
    await alice.expect("onGroupDismissed", groupID=group)
    await alice.refused(10010, "quitGroup", groupID=group)


@pytest.mark.parametrize("groupType", ["Public", "Meeting", "AVChatRoom"])
async def test_the_owner_disbands_and_nobody_below(world, groupType):
    group, people = await world.group_of(groupType)
    owner = people.pop("owner")
    for client in people.values():
        await client.refused(10007, "dismissGroup", groupID=group)
    outsider = people.pop("outsider")
    assert await owner.call("dismissGroup", groupID=group) == {}
    for client in (owner, *people.values()):
        event = await client.expect("onGroupDismissed", groupID=group)
        assert event["opUser"]["userID"] == owner.user
    await outsider.quiet(group=group)


async def test_a_work_group_is_disbanded_by_an_administrator_only(server, world):
    group, people = await world.group_of("Work")
    for client in people.values():
        await client.refused(10007, "dismissGroup", groupID=group)
    assert server.rpc("dismissGroup", groupID=group)["result"] == {}
    for client in (people["owner"], people["member"]):
        event = await client.expect("onGroupDismissed", groupID=group)
        assert event["opUser"] == {"userID": "administrator"} and event["platform"] == "RESTful API"


async def test_a_disbanded_group_is_no_group(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    await alice.call("dismissGroup", groupID=group)
    for method, params in [
        ("joinGroup", {}), ("quitGroup", {}), ("dismissGroup", {}), ("setGroupInfo", {"groupName": "x"}),
        ("sendGroupTextMessage", {"text": "x"}), ("sendGroupCustomMessage", {"data": "x"}),
        ("getGroupHistoryMessageList", {}), ("getGroupMemberList", {}), ("getGroupOnlineMemberCount", {}),
        ("getGroupMembersInfo", {"userIDList": [bob.user]}),
    ]:
        await bob.refused(10010, method, groupID=group, **params)
    assert (await bob.call("getGroupsInfo", groupIDList=[group]))["resultList"][0]["code"] == 10010
    assert (await bob.call("getJoinedGroupList"))["groupList"] == []


async def test_a_disbanded_id_used_again_is_another_group_with_another_epoch(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob], groupID=world.name("again"))
    await alice.call("sendGroupTextMessage", groupID=group, text="old")
    old = await info_of(alice, group)
    await alice.call("dismissGroup", groupID=group)
    await world.group(bob, groupID=group)
    new = await info_of(bob, group)
    assert new["epoch"] != old["epoch"] and new["lastSeq"] == 0 and new["memberCount"] == 1
    assert await history_of(bob, group) == []
    await alice.refused(10007, "getGroupHistoryMessageList", groupID=group)
