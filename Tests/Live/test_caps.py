"""The most members of a group, groups of a user and AVChatRooms (Protocol.md, "Limits")."""
import pytest

from harness.client import Refused
from harness.restarts import restart
from harness.room import Room, results

TYPES = ["Work", "Public", "Meeting"]


async def code_of(client, method, **params):
    """The code of the answer, 0 for success."""
    try:
        await client.call(method, **params)
        return 0
    except Refused as refusal:
        return refusal.code


# Members of a group


@pytest.mark.parametrize("groupType", ["Public", "Meeting"])
async def test_a_full_group_answers_by_method(world, groupType):
    room = await Room.make(world, groupType, joinMode="Auth", inviteMode="Any", maxMemberNum=5)
    guest, waiting = room.add("guest", await world.user("guest")), room.add("waiting", await world.user("waiting"))
    await waiting.call("joinGroup", groupID=room.group)
    application = (await room.owner.expect("onReceiveJoinApplication", groupID=room.group))["applicationID"]
    await room.member.call("inviteUserToGroup", groupID=room.group, userIDList=[guest.user])
    await room.refuses(10014, room.outsider, "joinGroup")
    for caller in (room.member, room.administrator):
        async with room.unchanged():
            answer = await caller.call("inviteUserToGroup", groupID=room.group, userIDList=[room.outsider.user])
            assert results(answer) == {room.outsider.user: "OverLimit"}
    async with room.unchanged():
        await room.owner.refused(10014, "acceptGroupApplication", applicationID=application)
    await room.owner.call("setGroupInfo", groupID=room.group, joinMode="Any")
    await room.refuses(10014, room.outsider, "joinGroup")
    await room.refuses(10013, room.member, "joinGroup")
    await room.owner.call("setGroupInfo", groupID=room.group, maxMemberNum=6)
    await room.outsider.call("joinGroup", groupID=room.group)
    await room.owner.refused(10014, "acceptGroupApplication", applicationID=application)
    await room.owner.call("kickGroupMember", groupID=room.group, userIDList=[guest.user])
    await room.owner.call("acceptGroupApplication", applicationID=application)
    assert (await room.info())["memberCount"] == 6


async def test_a_closed_group_is_closed_before_it_is_full(world):
    """Rights come before state (Protocol.md, "Order of errors")."""
    room = await Room.make(world, joinMode="Forbid", maxMemberNum=4)
    await room.refuses(10007, room.outsider, "joinGroup")


@pytest.mark.parametrize("groupType", TYPES)
async def test_max_member_num_is_neither_below_the_members_nor_over_the_cap(make_server, make_world, groupType):
    world = make_world(make_server({f"limits.{groupType.lower()}.maxMemberNum": 10}))
    room = await Room.make(world, groupType)
    count = (await room.info())["memberCount"]
    for caller in (room.owner, room.administrator):
        await room.refuses(10038, caller, "setGroupInfo", maxMemberNum=count - 1)
        await room.refuses(10004, caller, "setGroupInfo", maxMemberNum=-1)
        await room.refuses(8507, caller, "setGroupInfo", maxMemberNum=11)
    await room.owner.call("setGroupInfo", groupID=room.group, maxMemberNum=count)
    event = await room.told("onGroupInfoChanged", room.members)
    assert event["changeInfoList"] == [{"type": "MaxMemberNum", "value": count}]
    await room.owner.call("setGroupInfo", groupID=room.group, maxMemberNum=0)
    event = await room.told("onGroupInfoChanged", room.members)
    assert event["changeInfoList"] == [{"type": "MaxMemberNum", "value": 10}]
    assert (await room.info())["maxMemberNum"] == 10
    async with room.unchanged():
        await room.owner.call("setGroupInfo", groupID=room.group, maxMemberNum=10)


async def test_many_at_once_take_exactly_the_seats(world):
    room = await Room.make(world, maxMemberNum=9)
    guests = [await world.user("guest") for _ in range(12)]
    futures = [await guest.start("joinGroup", groupID=room.group) for guest in guests]
    codes = [(await future).get("error", {}).get("code", 0) for future in futures]
    assert codes.count(0) == 5 and codes.count(10014) == 7
    assert (await room.info())["memberCount"] == 9 == len(await room.rows())


async def test_an_avchatroom_has_no_cap(world):
    room = await Room.make(world, "AVChatRoom")
    for caller in (room.owner, room.administrator):
        for number in (0, 100):
            await room.refuses(10007, caller, "setGroupInfo", maxMemberNum=number)
    assert (await room.info())["maxMemberNum"] == 0


# Groups of a user


@pytest.fixture
async def limited(make_server, make_world):
    """A server where a user may be in two groups, and a user who is in two."""
    world = make_world(make_server({"limits.groupsPerUser": 2, "drain.duration": 0}))
    busy = await world.user("busy")
    groups = [await world.group(await world.user("owner"), members=[busy]) for _ in range(2)]
    return world, busy, groups


async def group_by(world, **fields):
    """A group of a new owner: (room, owner)."""
    owner = await world.user("owner")
    return Room(world, await world.group(owner, **fields), "Public", owner=owner), owner


async def test_a_user_at_the_limit_neither_creates_nor_joins(limited):
    world, busy, groups = limited
    room, _ = await group_by(world)
    for groupType in TYPES:
        await busy.refused(10037, "createGroup", groupType=groupType, groupName="g")
    room.add("busy", busy)
    await room.refuses(10037, busy, "joinGroup")
    await busy.call("quitGroup", groupID=groups[0])
    assert await busy.call("joinGroup", groupID=room.group) == {"status": "Joined"}
    await busy.refused(10037, "createGroup", groupType="Work", groupName="g")


async def test_a_user_at_the_limit_is_over_limit_when_invited(limited):
    world, busy, groups = limited
    room, owner = await group_by(world, inviteMode="Any")
    room.add("busy", busy)
    free = await world.user("free")
    async with room.unchanged():
        answer = await owner.call("inviteUserToGroup", groupID=room.group, userIDList=[busy.user])
        assert results(answer) == {busy.user: "OverLimit"}
    answer = await owner.call("inviteUserToGroup", groupID=room.group, userIDList=[busy.user, free.user])
    assert results(answer) == {busy.user: "OverLimit", free.user: "Success"}
    event = await owner.expect("onMemberInvited", groupID=room.group)
    assert [row["userID"] for row in event["memberList"]] == [free.user] and event["memberCount"] == 2
    answer = await room.administrator.call("inviteUserToGroup", groupID=room.group, userIDList=[busy.user])
    assert results(answer) == {busy.user: "Success"}, "application administrators are not bound"


async def test_a_user_at_the_limit_is_over_limit_as_an_initial_member(limited):
    world, busy, groups = limited
    owner, free = await world.users("owner", "free")
    answer = await owner.call("createGroup", groupType="Public", groupName="g", memberList=[
        {"userID": busy.user}, {"userID": free.user}])
    assert results(answer) == {busy.user: "OverLimit", free.user: "Success"}
    room = Room(world, answer["groupID"], "Public", owner=owner, busy=busy, free=free)
    await room.told("onGroupCreated", [owner, free])
    assert (await room.info())["memberCount"] == 2 and await room.role("busy") == "NotMember"


async def test_an_application_of_a_user_at_the_limit_waits(limited):
    """Accepting cannot make a member: 10037, and the application stays open."""
    world, busy, groups = limited
    await busy.call("quitGroup", groupID=groups[0])
    room, owner = await group_by(world, joinMode="Auth")
    assert await busy.call("joinGroup", groupID=room.group) == {"status": "Pending"}
    application = (await owner.expect("onReceiveJoinApplication", groupID=room.group))["applicationID"]
    await busy.call("joinGroup", groupID=groups[0])
    room.add("busy", busy)
    async with room.unchanged():
        await owner.refused(10037, "acceptGroupApplication", applicationID=application)
    await busy.call("quitGroup", groupID=groups[0])
    await owner.call("acceptGroupApplication", applicationID=application)
    assert await room.role("busy") == "Member"


async def test_an_invitation_of_a_user_at_the_limit_waits(limited):
    world, busy, groups = limited
    await busy.call("quitGroup", groupID=groups[0])
    room, owner = await group_by(world, inviteMode="Any", beInviteMode="Auth")
    answer = await owner.call("inviteUserToGroup", groupID=room.group, userIDList=[busy.user])
    assert results(answer) == {busy.user: "Pending"}
    application = (await busy.expect("onReceiveGroupInvitation", groupID=room.group))["applicationID"]
    await busy.call("joinGroup", groupID=groups[0])
    room.add("busy", busy)
    async with room.unchanged():
        await busy.refused(10037, "acceptGroupApplication", applicationID=application)
    await busy.call("quitGroup", groupID=groups[0])
    await busy.call("acceptGroupApplication", applicationID=application)
    assert await room.role("busy") == "Member"


@pytest.mark.parametrize("ending", ["quits", "is removed", "group disbanded", "group recycled"])
async def test_what_frees_a_place(limited, ending):
    world, busy, groups = limited
    backend = Room(world, groups[0], "Public").administrator
    await busy.refused(10037, "createGroup", groupType="Work", groupName="g")
    if ending == "quits":
        await busy.call("quitGroup", groupID=groups[0])
    elif ending == "is removed":
        await backend.call("kickGroupMember", groupID=groups[0], userIDList=[busy.user])
    else:
        await backend.call("dismissGroup" if ending == "group disbanded" else "recycleGroup", groupID=groups[0])
    await busy.call("createGroup", groupType="Work", groupName="g")
    await busy.refused(10037, "createGroup", groupType="Work", groupName="g")


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_the_count_outlives_the_server(limited, how):
    world, busy, groups = limited
    await restart(world, how)
    busy = await world.session(busy.user)
    await busy.refused(10037, "createGroup", groupType="Work", groupName="g")
    await busy.call("quitGroup", groupID=groups[0])
    await busy.call("createGroup", groupType="Work", groupName="g")


@pytest.mark.one_process("each node may let one more in")
async def test_one_user_at_many_doors_enters_only_as_many_as_allowed(make_server, make_world):
    world = make_world(make_server({"limits.groupsPerUser": 3}))
    rooms = [(await group_by(world))[0] for _ in range(8)]
    guest = await world.user("guest")
    futures = [await guest.start("joinGroup", groupID=room.group) for room in rooms]
    codes = [(await future).get("error", {}).get("code", 0) for future in futures]
    assert codes.count(0) == 3 and codes.count(10037) == 5
    assert len((await guest.call("getJoinedGroupList"))["groupList"]) == 3


# AVChatRooms


async def test_the_number_of_avchatrooms_is_the_servers(make_server, make_world):
    """10036 counts the existing ones of all owners; other types are not counted."""
    world = make_world(make_server({"limits.avChatRooms": 2}))
    alice, bob, carol = await world.users("alice", "bob", "carol")
    first = await world.group(alice, "AVChatRoom")
    await world.group(bob, "AVChatRoom")
    for client in (alice, carol):
        assert await code_of(client, "createGroup", groupType="AVChatRoom", groupName="g") == 10036
    for groupType in TYPES:
        await carol.call("createGroup", groupType=groupType, groupName="g")
    await alice.call("dismissGroup", groupID=first)
    second = await world.group(carol, "AVChatRoom")
    assert await code_of(alice, "createGroup", groupType="AVChatRoom", groupName="g") == 10036
    await Room(world, second, "AVChatRoom").administrator.call("recycleGroup", groupID=second)
    await world.group(alice, "AVChatRoom")


async def test_the_number_of_avchatrooms_outlives_the_server(make_server, make_world):
    world = make_world(make_server({"limits.avChatRooms": 1}))
    alice = await world.user("alice")
    group = await world.group(alice, "AVChatRoom")
    await restart(world, "kill")
    alice = await world.session(alice.user)
    await alice.refused(10036, "createGroup", groupType="AVChatRoom", groupName="g")
    await alice.call("dismissGroup", groupID=group)
    await world.group(alice, "AVChatRoom")
