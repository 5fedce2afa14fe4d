"""transferGroupOwner, the owner who quits, and the last member (Protocol.md, "Ownership")."""
import asyncio

import pytest

from harness.room import Backend, Room, naming, names, notifications_of
from harness.world import history_of, info_of

TYPES = ["Work", "Public", "Meeting"]


def owner_entry(user):
    return [{"type": "Owner", "value": user}]


def transferable(groupType):
    return ["member", "admin"] if groupType != "Work" else ["member"]


@pytest.mark.parametrize("caller", ["owner", "as owner", "administrator"])
@pytest.mark.parametrize("groupType", TYPES)
async def test_the_owner_hands_the_group_over(world, groupType, caller):
    room = await Room.make(world, groupType)
    await room.second("owner")
    who = room.actor(caller)
    assert await who.call("transferGroupOwner", groupID=room.group, userID=room.member.user) == {}
    event = await room.told("onGroupInfoChanged", room.members)
    assert event["changeInfoList"] == owner_entry(room.member.user) and event["opUser"]["userID"] == who.user
    tip = await room.tip(event)
    assert tip["type"] == "GroupInfoChange" and tip["changeInfoList"] == owner_entry(room.member.user)
    assert tip["opUser"]["userID"] == who.user
    await room.silent()
    info = await room.info()
    assert info["owner"] == room.member.user and info["memberCount"] == len(room.members) - 1
    assert await room.role("member") == "Owner" and await room.role("owner") == "Member"
    await room.owner.refused(10007, "transferGroupOwner", groupID=room.group, userID=room.other.user)
    await room.owner.call("quitGroup", groupID=room.group)


@pytest.mark.parametrize("groupType", TYPES)
async def test_who_may_not(world, groupType):
    room = await Room.make(world, groupType)
    callers = [room.member, room.outsider, room.actor("as member")] + ([room.admin] if groupType != "Work" else [])
    for caller in callers:
        await room.refuses(10007, caller, "transferGroupOwner", userID=room.other.user)
        await room.refuses(10007, caller, "transferGroupOwner", userID=room.other.user, quit=True)


@pytest.mark.parametrize("caller", ["owner", "member", "administrator"])
async def test_an_avchatroom_keeps_its_owner(world, caller):
    room = await Room.make(world, "AVChatRoom")
    await room.refuses(10007, room.actor(caller), "transferGroupOwner", userID=room.other.user)


async def test_targets_that_cannot_be(world):
    room = await Room.make(world)
    for who in (room.owner, room.administrator):
        await room.refuses(10007, who, "transferGroupOwner", userID=room.outsider.user)
        await room.refuses(10007, who, "transferGroupOwner", userID="never-seen")
        for bad in ("", "x" * 33, "administrator"):
            await room.refuses(10004, who, "transferGroupOwner", userID=bad)
        assert (await room.refuses(-32602, who, "transferGroupOwner"))["field"] == "userID"
        await room.refuses(-32602, who, "transferGroupOwner", userID=room.member.user, quit="yes")
        await who.refused(10010, "transferGroupOwner", groupID=world.name("nowhere"), userID=room.member.user)
    await room.refuses(10007, room.owner, "transferGroupOwner", userID=room.owner.user)
    async with room.unchanged():
        assert await room.administrator.call("transferGroupOwner", groupID=room.group, userID=room.owner.user) == {}


@pytest.mark.parametrize("groupType", ["Public", "Meeting"])
async def test_an_admin_who_was_owner_becomes_member_all_the_same(world, groupType):
    """A transfer sends no grant or revoke event; a former admin who was owner becomes Member."""
    room = await Room.make(world, groupType)
    await room.owner.call("transferGroupOwner", groupID=room.group, userID=room.admin.user)
    await room.told("onGroupInfoChanged", room.members)
    await room.silent()
    assert await room.role("admin") == "Owner" and await room.role("owner") == "Member"
    await room.admin.call("transferGroupOwner", groupID=room.group, userID=room.owner.user)
    await room.told("onGroupInfoChanged", room.members)
    await room.silent()
    assert await room.role("admin") == "Member" and await room.role("owner") == "Owner"
    for client in room.members:
        kept = await notifications_of(client, groupID=room.group)
        assert not {"GrantAdmin", "CancelAdmin"} & {row["type"] for row in kept}


async def test_a_custom_role_ends_with_ownership(world):
    room = await Room.make(world)
    await room.owner.call("setGroupMemberRole", groupID=room.group, userID=room.member.user, role="150")
    await room.owner.call("transferGroupOwner", groupID=room.group, userID=room.member.user)
    assert await room.role("member") == "Owner"
    await room.member.call("transferGroupOwner", groupID=room.group, userID=room.owner.user)
    assert await room.role("member") == "Member"


@pytest.mark.parametrize("caller", ["owner", "administrator"])
@pytest.mark.parametrize("groupType", TYPES)
async def test_handing_over_and_leaving(world, groupType, caller):
    """quit: the old owner leaves, whatever ownerQuitMode says about an owner who quits."""
    room = await Room.make(world, groupType, ownerQuitMode="Forbid")
    await room.second("owner")
    who, rest = room.actor(caller), room.sessions_but("owner", "outsider")
    assert await who.call("transferGroupOwner", groupID=room.group, userID=room.other.user, quit=True) == {}
    for client in rest:
        event = await client.expect("onGroupInfoChanged", groupID=room.group)
        assert event["changeInfoList"] == owner_entry(room.other.user) and event["opUser"]["userID"] == who.user
    left = await room.told("onMemberLeave", rest)
    assert names(left["memberList"]) == [room.owner.user] and left["memberCount"] == len(rest)
    tip = await room.tip(left, room.other)
    assert tip["type"] == "Quit" and names(tip["memberList"]) == [room.owner.user] and tip["memberCount"] == len(rest)
    await room.told("onQuitFromGroup", room.sessions("owner"))
    assert await room.role("other") == "Owner" and await room.role("owner") == "NotMember"
    assert (await room.info())["owner"] == room.other.user
    await room.owner.refused(10007, "sendGroupTextMessage", groupID=room.group, text="x")
    assert (await room.owner.call("getJoinedGroupList"))["groupList"] == []


async def test_the_new_owner_comes_before_the_old_one_leaves(world):
    room = await Room.make(world)
    await room.owner.call("transferGroupOwner", groupID=room.group, userID=room.other.user, quit=True)
    await room.settle()
    for client in room.sessions_but("owner", "outsider"):
        seen = [name for name, params in client.inbox if params["groupID"] == room.group]
        assert seen == ["onGroupInfoChanged", "onMemberLeave"]
    types = [message["tips"]["type"] for message in await history_of(room.other, room.group)]
    assert types == ["GroupInfoChange", "Quit"]


@pytest.mark.parametrize("groupType", TYPES)
async def test_the_rights_go_with_the_office(world, groupType):
    room = await Room.make(world, groupType)
    await room.owner.call("transferGroupOwner", groupID=room.group, userID=room.member.user)
    await room.owner.refused(10007, "muteGroup", groupID=room.group, mode="Ordinary")
    await room.member.call("muteGroup", groupID=room.group, mode="Ordinary")
    await room.owner.refused(10017, "sendGroupTextMessage", groupID=room.group, text="x")
    await room.member.call("sendGroupTextMessage", groupID=room.group, text="x")
    if groupType != "Work":
        await room.owner.refused(10007, "dismissGroup", groupID=room.group)
        await room.member.call("dismissGroup", groupID=room.group)


# The owner who quits


@pytest.mark.parametrize("groupType", ["Public", "Meeting"])
async def test_the_heir_is_the_earliest_joined_not_the_highest(world, groupType):
    room = await Room.make(world, groupType, joinMode="Any", ownerQuitMode="Transfer")
    await room.owner.call("kickGroupMember", groupID=room.group, userIDList=[room.admin.user])
    await room.admin.call("joinGroup", groupID=room.group)
    await room.owner.call("setGroupMemberRole", groupID=room.group, userID=room.admin.user, role="Admin")
    await room.owner.call("quitGroup", groupID=room.group)
    assert (await room.info())["owner"] == room.member.user and await room.role("admin") == "Admin"


async def test_one_owner_after_the_other_to_the_last(world):
    room = await Room.make(world, "Work")
    chain = [room.owner, room.member, room.other]
    for quitter, heir in zip(chain, chain[1:]):
        await quitter.call("quitGroup", groupID=room.group)
        await room.told("onQuitFromGroup", [quitter])
        rest = chain[chain.index(heir):]
        for client in rest:
            event = await client.expect("onGroupInfoChanged", groupID=room.group)
            assert event["changeInfoList"] == owner_entry(heir.user) and event["opUser"]["userID"] == quitter.user
        left = await room.told("onMemberLeave", rest)
        assert left["memberCount"] == len(rest) and names(left["memberList"]) == [quitter.user]
    assert await room.role("other") == "Owner"


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_who_came_first_outlives_the_server(make_server, make_world, how):
    """Ties are decided by the order of memberList, not by the name."""
    own = make_server({"drain.duration": 0})
    world = make_world(own)
    owner, first, second = await world.users("m-owner", "z-first", "a-second")
    group = await world.group(owner, "Work", [first, second])
    await asyncio.to_thread(getattr(own, how))
    own.start()
    world.clients.clear()
    owner, second = await world.session(owner.user), await world.session(second.user)
    await owner.call("quitGroup", groupID=group)
    assert (await info_of(second, group))["owner"] == first.user


@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting", "AVChatRoom"])
async def test_an_owner_who_may_not_quit_changes_nothing(world, groupType):
    fields = {} if groupType == "AVChatRoom" else {"ownerQuitMode": "Forbid"}
    room = await Room.make(world, groupType, **fields)
    await room.refuses(10009, room.owner, "quitGroup")
    await room.refuses(10009, room.actor("as owner"), "quitGroup")
    assert (await room.administrator.refused(-32602, "quitGroup", groupID=room.group))["field"] == "asUser"


async def test_an_alone_owner_who_may_not_quit(world):
    alice = await world.user("alice")
    group = await world.group(alice, ownerQuitMode="Forbid")
    await alice.refused(10009, "quitGroup", groupID=group)


@pytest.mark.parametrize("groupType", TYPES)
async def test_the_last_member_turns_off_the_light(world, groupType):
    owner, stranger = await world.users("owner", "stranger")
    group = await world.group(owner, groupType, ownerQuitMode="Transfer", groupID=world.name("again"))
    room = Room(world, group, groupType, owner=owner, stranger=stranger)
    await room.second("owner")
    before = (await room.info())["epoch"]
    await owner.call("quitGroup", groupID=group)
    await room.told("onQuitFromGroup", room.sessions("owner"))
    event = await room.told("onGroupDismissed", room.sessions("owner"))
    assert event["opUser"]["userID"] == owner.user
    assert not owner.received("onMemberLeave", groupID=group)
    (row,) = (await owner.call("getGroupsInfo", groupIDList=[group]))["resultList"]
    assert row["code"] == 10010
    assert (await owner.call("getJoinedGroupList"))["groupList"] == []
    await world.group(stranger, groupType, groupID=group)
    assert (await room.info())["epoch"] != before
    await owner.quiet("onGroupCreated", group=group, opTime=lambda at: at > event["opTime"])


async def test_what_is_kept_of_quitting(world):
    room = await Room.make(world)
    await room.member.call("quitGroup", groupID=room.group)
    (kept,) = await notifications_of(room.member, groupID=room.group)
    assert kept["type"] == "QuitGroup"
    for client in (room.owner, room.admin):
        assert await notifications_of(client, groupID=room.group, type="QuitGroup") == []


async def test_quitting_in_the_name_of_a_user(world):
    room = await Room.make(world)
    await room.second("member")
    rest = room.sessions_but("outsider", "member")
    await Backend(world.server, room.member.user).call("quitGroup", groupID=room.group)
    await room.told("onQuitFromGroup", room.sessions("member"))
    event = await room.told("onMemberLeave", rest)
    assert naming(room.member.user)(event["memberList"])
    await room.refuses(10007, room.actor("as member"), "quitGroup")
