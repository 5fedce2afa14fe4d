"""Muting one member, muting the group, and when a mute is over (Protocol.md, "Member mute" and
"Group mute")."""
import pytest

from harness.client import Refused, has
from harness.restarts import restart
from harness.room import Room, clock, names, pages_of
from harness.world import info_of

TYPES = ["Work", "Public", "Meeting", "AVChatRoom"]
ROLES = ["owner", "admin", "member", "outsider", "administrator"]


def cases(table):
    return [(groupType, role) for groupType in table for role in ROLES if role != "admin" or groupType in ("Public", "Meeting")]


async def mute(caller, room, client, muteTime=3600):
    answer = await caller.call("muteGroupMember", groupID=room.group, userID=client.user, muteTime=muteTime)
    assert set(answer) == {"muteUntil"}
    return answer["muteUntil"]


async def may_speak(client, room):
    try:
        await client.call("sendGroupTextMessage", groupID=room.group, text="x")
        return True
    except Refused as refusal:
        assert refusal.code == 10017, refusal
        return False


# One member

MEMBER_MUTERS = {"Work": {"administrator"}, "Public": {"owner", "admin", "administrator"},
                 "Meeting": {"owner", "admin", "administrator"}, "AVChatRoom": {"owner", "administrator"}}


@pytest.mark.parametrize("groupType, role", cases(MEMBER_MUTERS))
async def test_who_mutes_a_member(frozen_world, groupType, role):
    room = await Room.make(frozen_world, groupType)
    await room.second("other")
    await room.second("owner")
    caller = room.actor(role)
    if role not in MEMBER_MUTERS[groupType]:
        for muteTime in (3600, 0):
            await room.refuses(10007, caller, "muteGroupMember", userID=room.other.user, muteTime=muteTime)
        assert await may_speak(room.other, room)
        return
    until = await mute(caller, room, room.other)
    assert until == await clock(room.owner) + 3_600_000
    event = await room.told("onGroupMemberInfoChanged", room.members)
    (change,) = event["changeInfoList"]
    assert change == {"userID": room.other.user, "muteTime": 3600}
    assert event["opUser"]["userID"] == caller.user
    if groupType != "AVChatRoom":
        tip = await room.tip(event)
        assert tip["type"] == "MemberInfoChange" and tip["opUser"]["userID"] == caller.user
    assert not await may_speak(room.other, room)
    assert (await room.row("other"))["muteUntil"] == until
    assert (await info_of(room.other, room.group))["selfInfo"]["muteUntil"] == until
    room.forget()
    if groupType == "AVChatRoom":
        # Further changes of a moment merge.
        await frozen_world.server.advance(seconds=0.22)
    assert await mute(caller, room, room.other, 0) == 0
    event = await room.told("onGroupMemberInfoChanged", room.members)
    assert event["changeInfoList"] == [{"userID": room.other.user, "muteTime": 0}]
    assert await may_speak(room.other, room) and (await room.row("other"))["muteUntil"] == 0


@pytest.mark.parametrize("groupType", TYPES)
async def test_a_muted_member_reads_and_does_not_write(world, groupType):
    room = await Room.make(world, groupType)
    await mute(room.administrator, room, room.other)
    async with room.unchanged():
        await room.other.refused(10017, "sendGroupTextMessage", groupID=room.group, text="x")
        await room.other.refused(10017, "sendGroupCustomMessage", groupID=room.group, data="x")
        await room.other.refused(10017, "sendGroupTextMessage", groupID=room.group, text="x", onlineUserOnly=True)
        await room.actor("as other").refused(10017, "sendGroupTextMessage", groupID=room.group, text="x")
    await room.owner.call("sendGroupTextMessage", groupID=room.group, text="heard")
    await room.other.expect("onRecvNewMessage", groupID=room.group, message=has(text="heard"))
    await room.member.call("sendGroupTextMessage", groupID=room.group, text="not muted")
    await room.other.call("setGroupMemberInfo", groupID=room.group, userID=room.other.user, nameCard="still me")


@pytest.mark.parametrize("groupType", ["Public", "Meeting"])
async def test_rule_1(world, groupType):
    """No caller mutes a member of an equal or higher role, or oneself; an administrator stands
    above the owner."""
    room = await Room.make(world, groupType)
    deputy = room.add("deputy", await world.user("deputy"))
    await room.administrator.call("inviteUserToGroup", groupID=room.group, userIDList=[deputy.user])
    await room.owner.call("setGroupMemberRole", groupID=room.group, userID=deputy.user, role="Admin")
    for caller, target in ((room.admin, deputy), (room.admin, room.owner), (room.admin, room.admin), (room.owner, room.owner)):
        await room.refuses(10007, caller, "muteGroupMember", userID=target.user, muteTime=60)
    await mute(room.owner, room, deputy)
    assert not await may_speak(deputy, room)
    await room.refuses(10007, room.admin, "muteGroupMember", userID=deputy.user, muteTime=0)
    await mute(room.administrator, room, room.owner)
    assert not await may_speak(room.owner, room)
    await room.refuses(10007, room.owner, "muteGroupMember", userID=room.owner.user, muteTime=0)
    await mute(room.administrator, room, room.owner, 0)
    assert await may_speak(room.owner, room)


async def test_parameters_of_a_mute(world):
    room = await Room.make(world)
    user = room.other.user
    for bad in (-1, 2**32, 2**53):
        await room.refuses(10004, room.owner, "muteGroupMember", userID=user, muteTime=bad)
    for bad in ("60", 1.5, None, True):
        await room.refuses(-32602, room.owner, "muteGroupMember", userID=user, muteTime=bad)
    assert (await room.refuses(-32602, room.owner, "muteGroupMember", userID=user))["field"] == "muteTime"
    assert (await room.refuses(-32602, room.owner, "muteGroupMember", muteTime=1))["field"] == "userID"
    for target in (room.outsider.user, "never-seen"):
        await room.refuses(10007, room.owner, "muteGroupMember", userID=target, muteTime=60)
        await room.refuses(10007, room.administrator, "muteGroupMember", userID=target, muteTime=60)
    await room.owner.refused(10010, "muteGroupMember", groupID=world.name("nowhere"), userID=user, muteTime=60)
    before = await clock(room.owner)
    assert await mute(room.owner, room, room.other, 2**32 - 1) >= before + (2**32 - 1) * 1000


@pytest.mark.parametrize("groupType", TYPES)
async def test_a_mute_ends_by_itself_and_sends_nothing(frozen_world, groupType):
    room = await Room.make(frozen_world, groupType)
    await mute(room.administrator, room, room.other, 1)
    await room.settle()
    room.forget()
    await frozen_world.server.advance(seconds=0.999)
    assert not await may_speak(room.other, room)
    await frozen_world.server.advance(seconds=0.001)
    assert await may_speak(room.other, room)
    await frozen_world.server.advance(seconds=2)
    await room.untold("onGroupMemberInfoChanged")
    assert (await room.row("other"))["muteUntil"] == 0
    answer = await room.owner.call("getGroupMutedMembers", groupID=room.group)
    assert answer == {"memberList": [], "nextSeq": 0}


async def test_a_mute_replaces_the_one_before(world):
    room = await Room.make(world)
    longer = await mute(room.owner, room, room.other, 3600)
    shorter = await mute(room.admin, room, room.other, 60)
    assert shorter < longer and (await room.row("other"))["muteUntil"] == shorter


@pytest.mark.parametrize("groupType", TYPES)
async def test_a_mute_survives_leaving_and_joining_again(world, groupType):
    room = await Room.make(world, groupType)
    until = await mute(room.administrator, room, room.other)
    await room.other.call("quitGroup", groupID=room.group)
    await room.other.refused(10007, "sendGroupTextMessage", groupID=room.group, text="x")
    await room.refuses(10007, room.administrator, "muteGroupMember", userID=room.other.user, muteTime=0)
    if groupType == "Work":
        # Who has quit is not added by a member.
        await room.administrator.call("inviteUserToGroup", groupID=room.group, userIDList=[room.other.user])
    else:
        await room.other.call("joinGroup", groupID=room.group)
    assert not await may_speak(room.other, room)
    assert (await info_of(room.other, room.group))["selfInfo"]["muteUntil"] == until
    answer = await room.owner.call("getGroupMutedMembers", groupID=room.group)
    assert names(answer["memberList"]) == [room.other.user]
    await mute(room.administrator, room, room.other, 0)
    assert await may_speak(room.other, room)


async def test_a_mute_survives_removal_and_the_server(make_server, make_world):
    world = make_world(make_server())
    room = await Room.make(world)
    until = await mute(room.owner, room, room.other)
    staying = await mute(room.owner, room, room.member)
    await room.owner.call("kickGroupMember", groupID=room.group, userIDList=[room.other.user])
    await restart(world, "kill")
    other, member = await world.session(room.other.user), await world.session(room.member.user)
    await other.call("joinGroup", groupID=room.group)
    for client, moment in ((other, until), (member, staying)):
        assert not await may_speak(client, room)
        assert (await info_of(client, room.group))["selfInfo"]["muteUntil"] == moment


async def test_a_mute_concerns_one_life_of_a_group(world):
    room = await Room.make(world, groupID=world.name("again"))
    await mute(room.owner, room, room.other)
    await room.owner.call("dismissGroup", groupID=room.group)
    await world.group(room.owner, members=[room.other], groupID=room.group)
    assert await may_speak(room.other, room)


async def test_an_accepted_message_is_repeated_though_muted_since(world):
    """The same clientMsgID answers the first result again; nothing is sent by it."""
    room = await Room.make(world)
    params = {"groupID": room.group, "text": "x", "clientMsgID": "same"}
    sent = await room.other.call("sendGroupTextMessage", **params)
    await mute(room.owner, room, room.other)
    async with room.unchanged():
        assert await room.other.call("sendGroupTextMessage", **params) == sent
        await room.other.refused(10017, "sendGroupTextMessage", **{**params, "clientMsgID": "another"})


# The muted members


@pytest.mark.parametrize("groupType", TYPES)
async def test_the_muted_are_listed_individually_muted_only(world, groupType):
    room = await Room.make(world, groupType)
    await room.owner.call("muteGroup", groupID=room.group, mode="Ordinary")
    empty = {"memberList": [], "nextSeq": 0}
    assert await room.member.call("getGroupMutedMembers", groupID=room.group) == empty
    until = await mute(room.administrator, room, room.other)
    for caller in (room.owner, room.member, room.other, room.administrator):
        (row,) = (await caller.call("getGroupMutedMembers", groupID=room.group))["memberList"]
        assert has(userID=room.other.user, role="Member", nameCard="", muteUntil=until, customInfo={}, isOnline=True)(row)
        assert row["joinTime"] > 0
    await room.refuses(10007, room.outsider, "getGroupMutedMembers")
    await mute(room.administrator, room, room.other, 0)
    assert await room.member.call("getGroupMutedMembers", groupID=room.group) == empty


async def test_the_muted_are_paged(world):
    room = await Room.make(world)
    users = [world.name("muted") for _ in range(60)]
    await room.administrator.call("inviteUserToGroup", groupID=room.group, userIDList=users)
    for user in users:
        await room.owner.call("muteGroupMember", groupID=room.group, userID=user, muteTime=3600)
    for count in (1, 7, 50):
        rows, answers = await pages_of(room.member, "getGroupMutedMembers", "memberList", groupID=room.group, count=count)
        assert sorted(names(rows)) == sorted(users)
        assert all(len(answer["memberList"]) <= count for answer in answers)
    answer = await room.member.call("getGroupMutedMembers", groupID=room.group)
    assert len(answer["memberList"]) == 50 and answer["nextSeq"] != 0
    for bad in (0, 51, -1):
        await room.member.refused(10004, "getGroupMutedMembers", groupID=room.group, count=bad)


# The group

GROUP_MUTERS = {"Work": {"owner", "administrator"}, "Public": {"owner", "admin", "administrator"},
                "Meeting": {"owner", "admin", "administrator"}, "AVChatRoom": {"owner", "administrator"}}


def entries(event):
    return {entry["type"]: entry["value"] for entry in event["changeInfoList"]}


@pytest.mark.parametrize("groupType, role", cases(GROUP_MUTERS))
async def test_who_mutes_the_group(world, groupType, role):
    room = await Room.make(world, groupType)
    caller = room.actor(role)
    if role not in GROUP_MUTERS[groupType]:
        for params in ({"mode": "Ordinary"}, {"mode": "None"}, {"mode": "Custom", "roles": ["Member"]}):
            await room.refuses(10007, caller, "muteGroup", **params)
        await room.refuses(10007, caller, "setGroupInfo", allMuted=True)
        return
    assert await caller.call("muteGroup", groupID=room.group, mode="Ordinary") == {}
    event = await room.told("onGroupInfoChanged", room.members)
    assert event["opUser"]["userID"] == caller.user
    assert entries(event) == {"AllMuted": True, "Mute": {"mode": "Ordinary"}} and len(event["changeInfoList"]) == 2
    if groupType != "AVChatRoom":
        tip = await room.tip(event)
        assert tip["type"] == "GroupInfoChange" and tip["changeInfoList"] == event["changeInfoList"]
    info = await room.info()
    assert info["allMuted"] is True and info["mute"] == {"mode": "Ordinary"}
    assert await caller.call("muteGroup", groupID=room.group, mode="None") == {}
    event = await room.told("onGroupInfoChanged", room.members)
    assert entries(event) == {"AllMuted": False, "Mute": {"mode": "None"}}
    info = await room.info()
    assert info["allMuted"] is False and info["mute"] == {"mode": "None"}
    await room.silent()


SILENCED = [
    ({"mode": "None"}, set(), False), ({"mode": "Ordinary"}, {"member", "custom"}, True),
    ({"mode": "All"}, {"owner", "admin", "member", "custom"}, True),
    ({"mode": "Custom", "roles": ["Member"]}, {"member"}, False), ({"mode": "Custom", "roles": ["Admin"]}, {"admin"}, False),
    ({"mode": "Custom", "roles": ["100"]}, {"custom"}, False), ({"mode": "Custom", "roles": ["101"]}, set(), False),
    ({"mode": "Custom", "roles": ["100", "Member", "Admin"]}, {"admin", "member", "custom"}, False),
]


@pytest.mark.parametrize("groupType", ["Public", "Meeting"])
@pytest.mark.parametrize("params, silenced, allMuted", SILENCED)
async def test_whom_each_mode_silences(world, groupType, params, silenced, allMuted):
    """All silences everybody but application administrators."""
    room = await Room.make(world, groupType)
    room.custom = room.other
    await room.owner.call("setGroupMemberRole", groupID=room.group, userID=room.custom.user, role="100")
    await room.owner.call("muteGroup", groupID=room.group, **params)
    for role in ("owner", "admin", "member", "custom"):
        assert await may_speak(getattr(room, role), room) == (role not in silenced), role
        assert await may_speak(room.actor(f"as {role}"), room) == (role not in silenced), role
    assert await may_speak(room.administrator, room)
    info = await room.info()
    assert info["allMuted"] is allMuted
    mute_info = dict(info["mute"])
    assert sorted(mute_info.pop("roles", [])) == sorted(params.get("roles", [])) and mute_info == {"mode": params["mode"]}
    await room.outsider.refused(10007, "sendGroupTextMessage", groupID=room.group, text="rights come before state")


@pytest.mark.parametrize("groupType", ["Work", "AVChatRoom"])
@pytest.mark.parametrize("mode, silenced", [("Ordinary", {"member"}), ("All", {"owner", "member"})])
async def test_modes_where_there_are_no_admins(world, groupType, mode, silenced):
    room = await Room.make(world, groupType)
    await room.owner.call("muteGroup", groupID=room.group, mode=mode)
    for role in ("owner", "member"):
        assert await may_speak(getattr(room, role), room) == (role not in silenced)
    await room.owner.call("muteGroup", groupID=room.group, mode="None")
    assert await may_speak(room.member, room)


async def test_the_same_mode_again_changes_nothing(world):
    room = await Room.make(world)
    for params in ({"mode": "None"}, {"mode": "Ordinary"}, {"mode": "All"}, {"mode": "Custom", "roles": ["Member", "100"]}):
        await room.owner.call("muteGroup", groupID=room.group, **params)
        async with room.unchanged():
            assert await room.admin.call("muteGroup", groupID=room.group, **params) == {}


async def test_each_change_of_the_mode_is_told(world):
    room = await Room.make(world)
    for value in ({"mode": "Custom", "roles": ["Member"]}, {"mode": "All"}, {"mode": "Ordinary"},
                  {"mode": "Custom", "roles": ["100"]}, {"mode": "None"}):
        await room.owner.call("muteGroup", groupID=room.group, **value)
        event = await room.told("onGroupInfoChanged", room.members)
        assert entries(event)["Mute"] == value
        info = await room.info()
        assert info["mute"] == value and entries(event).get("AllMuted", info["allMuted"]) == info["allMuted"]


@pytest.mark.parametrize("params", [{"mode": "All"}, {"mode": "Ordinary", "duration": 3600}, {"mode": "All", "duration": 3600}])
async def test_all_muted_false_ends_every_mute_of_the_group(world, params):
    """`allMuted:true` is muteGroup Ordinary without end, `false` is None."""
    room = await Room.make(world)
    await room.owner.call("muteGroup", groupID=room.group, **params)
    await room.told("onGroupInfoChanged", room.members)
    await room.owner.call("setGroupInfo", groupID=room.group, allMuted=False)
    event = await room.told("onGroupInfoChanged", room.members)
    assert entries(event) == {"AllMuted": False, "Mute": {"mode": "None"}}
    assert (await room.info())["mute"] == {"mode": "None"} and await may_speak(room.member, room)


@pytest.mark.parametrize("groupType, role", [(groupType, role) for groupType, role in cases(GROUP_MUTERS) if role in GROUP_MUTERS[groupType]])
async def test_the_two_ways_to_mute_a_group_are_twins(world, groupType, role):
    room = await Room.make(world, groupType)
    caller = room.actor(role)
    seen = []
    for method, params in [("muteGroup", {"mode": "Ordinary"}), ("muteGroup", {"mode": "None"}),
                           ("setGroupInfo", {"allMuted": True}), ("setGroupInfo", {"allMuted": False})]:
        await caller.call(method, groupID=room.group, **params)
        event = await room.told("onGroupInfoChanged", room.members)
        info = await room.info()
        seen.append((event["changeInfoList"], info["allMuted"], info["mute"]))
    assert seen[:2] == seen[2:]
    for params in ({"allMuted": False}, {"mode": "None"}):
        async with room.unchanged():
            await caller.call("setGroupInfo" if "allMuted" in params else "muteGroup", groupID=room.group, **params)


async def test_parameters_of_a_group_mute(world):
    room = await Room.make(world)
    owner = room.owner
    for bad in ("", "none", "Everybody", "Some"):
        await room.refuses(10004, owner, "muteGroup", mode=bad)
    for roles in ({}, {"roles": []}, {"roles": None}, {"roles": ["Owner"]}, {"roles": ["Member", "Owner"]}, {"roles": ["King"]},
                  {"roles": ["99"]}, {"roles": ["2147483648"]}):
        await room.refuses(10004, owner, "muteGroup", mode="Custom", **roles)
    for bad in (-1, 2**32):
        await room.refuses(10004, owner, "muteGroup", mode="Ordinary", duration=bad)
    for bad in ({}, {"mode": 1}, {"mode": "Custom", "roles": "Member"}, {"mode": "Custom", "roles": [100]},
                {"mode": "All", "duration": "1"}):
        await room.refuses(-32602, owner, "muteGroup", **bad)
    await room.refuses(10004, room.outsider, "muteGroup", mode="Everybody")
    await owner.refused(10010, "muteGroup", groupID=world.name("nowhere"), mode="All")
    answer = await owner.call("muteGroup", groupID=room.group, mode="All", duration=2**32 - 1)
    assert answer["muteUntil"] > (2**32 - 1) * 1000


@pytest.mark.parametrize("groupType", TYPES)
async def test_a_timed_group_mute(frozen_world, groupType):
    room = await Room.make(frozen_world, groupType)
    answer = await room.owner.call("muteGroup", groupID=room.group, mode="Ordinary", duration=3600)
    assert answer["muteUntil"] == await clock(room.owner) + 3_600_000
    event = await room.told("onGroupInfoChanged", room.members)
    assert entries(event) == {"AllMuted": True, "Mute": {"mode": "Ordinary", "muteUntil": answer["muteUntil"]}}
    assert (await room.info())["mute"] == {"mode": "Ordinary", "muteUntil": answer["muteUntil"]}
    assert not await may_speak(room.member, room)
    assert await room.owner.call("muteGroup", groupID=room.group, mode="Ordinary", duration=0) == {}
    event = await room.told("onGroupInfoChanged", room.members)
    assert entries(event)["Mute"] == {"mode": "Ordinary"}
    assert (await room.info())["mute"] == {"mode": "Ordinary"}


@pytest.mark.parametrize("params", [{"mode": "Ordinary"}, {"mode": "All"}, {"mode": "Custom", "roles": ["Member"]}])
async def test_a_timed_group_mute_ends_by_itself_and_sends_nothing(frozen_world, params):
    room = await Room.make(frozen_world)
    await room.owner.call("muteGroup", groupID=room.group, duration=1, **params)
    await room.told("onGroupInfoChanged", room.members)
    await frozen_world.server.advance(seconds=0.999)
    assert not await may_speak(room.member, room)
    await frozen_world.server.advance(seconds=0.001)
    assert await may_speak(room.member, room)
    await frozen_world.server.advance(seconds=2)
    info = await room.info()
    assert info["allMuted"] is False and info["mute"] == {"mode": "None"}
    await room.untold("onGroupInfoChanged")
    async with room.unchanged():
        await room.owner.call("muteGroup", groupID=room.group, mode="None")
    await room.owner.call("setGroupInfo", groupID=room.group, allMuted=True)
    event = await room.told("onGroupInfoChanged", room.members)
    assert entries(event) == {"AllMuted": True, "Mute": {"mode": "Ordinary"}}


async def test_both_mutes_at_once(world):
    room = await Room.make(world)
    await mute(room.owner, room, room.other)
    await mute(room.owner, room, room.admin)
    assert not await may_speak(room.admin, room)
    await room.owner.call("muteGroup", groupID=room.group, mode="Ordinary")
    await mute(room.owner, room, room.other, 0)
    assert not await may_speak(room.other, room)
    await room.owner.call("muteGroup", groupID=room.group, mode="None")
    assert await may_speak(room.other, room) and not await may_speak(room.admin, room)


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_a_group_mute_outlives_the_server(make_server, make_world, how):
    world = make_world(make_server({"drain.duration": 0}))
    room = await Room.make(world)
    await room.owner.call("muteGroup", groupID=room.group, mode="Custom", roles=["Member", "100"], duration=3600)
    before = (await room.info())["mute"]
    await restart(world, how)
    assert (await room.info())["mute"] == before
    assert not await may_speak(await world.session(room.member.user), room)
