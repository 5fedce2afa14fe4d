"""Reading members (Protocol.md, "Member lists")."""
import pytest

from harness.client import has


async def pages(client, group, **options):
    """All pages of getGroupMemberList."""
    rows, nextSeq = [], 0
    for _ in range(100):
        answer = await client.call("getGroupMemberList", groupID=group, nextSeq=nextSeq, **options)
        assert len(answer["memberList"]) <= options.get("count", 50)
        rows += answer["memberList"]
        nextSeq = answer["nextSeq"]
        if nextSeq == 0:
            return rows
    raise AssertionError("nextSeq never became 0")


@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting"])
async def test_the_order_is_owner_admins_others_each_by_join_time_then_user_id(world, groupType):
    owner, first, second, admin = await world.users("owner", "z-first", "a-second", "z-admin")
    given = [{"userID": user} for user in (world.name("m-c"), world.name("m-b"), world.name("m-a"))]
    if groupType != "Work":
        given.append({"userID": admin.user, "role": "Admin"})
    group = (await owner.call("createGroup", groupType=groupType, groupName="g", memberList=given))["groupID"]
    if groupType != "Work":
        await owner.call("setGroupInfo", groupID=group, joinMode="Any")
        for client in (first, second):
            await client.call("joinGroup", groupID=group)
    for count in (1, 2, 50):
        rows = await pages(owner, group, count=count)
        expected = sorted(rows, key=lambda row: (["Owner", "Admin", "Member"].index(row["role"]), row["joinTime"], row["userID"]))
        assert rows == expected
        assert len({row["userID"] for row in rows}) == len(rows) == (4 if groupType == "Work" else 7)
        assert rows[0]["userID"] == owner.user


async def test_a_row_of_the_list(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    rows = {row["userID"]: row for row in await pages(alice, group)}
    wanted = has(nameCard="", role="Member", muteUntil=0, customInfo={}, isOnline=True)
    assert wanted(rows[bob.user]) and rows[bob.user]["joinTime"] > 1_600_000_000_000
    assert rows[alice.user]["role"] == "Owner"


async def test_the_filter(world):
    group, people = await world.group_of("Public")
    by = {"All": ["owner", "admin", "member"], "Owner": ["owner"], "Admin": ["admin"], "Common": ["member"]}
    for name, roles in by.items():
        rows = await pages(people["member"], group, filter=name)
        assert [row["userID"] for row in rows] == [people[role].user for role in roles]
    await people["member"].refused(10004, "getGroupMemberList", groupID=group, filter="Everybody")


async def test_the_bounds_of_count(world):
    alice = await world.user("alice")
    people = [{"userID": world.name("m")} for _ in range(60)]
    group = (await alice.call("createGroup", groupType="Public", groupName="g", memberList=people))["groupID"]
    for count in (0, 201, -1):
        await alice.refused(10004, "getGroupMemberList", groupID=group, count=count)
    answer = await alice.call("getGroupMemberList", groupID=group)
    assert len(answer["memberList"]) == 50 and answer["nextSeq"] != 0
    assert len(await pages(alice, group)) == 61


async def test_nobody_comes_twice_while_others_join(world):
    alice = await world.user("alice")
    people = [{"userID": world.name("m")} for _ in range(30)]
    group = (await alice.call(
        "createGroup", groupType="Public", groupName="g", joinMode="Any", memberList=people))["groupID"]
    seen, nextSeq, turn = [], 0, 0
    while turn == 0 or nextSeq:
        if turn < 4:
            joiner = await world.user("a-joiner")
            await joiner.call("joinGroup", groupID=group)
        answer = await alice.call("getGroupMemberList", groupID=group, nextSeq=nextSeq, count=5)
        seen += [row["userID"] for row in answer["memberList"]]
        nextSeq, turn = answer["nextSeq"], turn + 1
    assert len(seen) == len(set(seen))
    assert set(seen) >= {alice.user, *(row["userID"] for row in people)}


async def test_an_avchatroom_lists_the_owner_then_the_newest_first(world):
    alice = await world.user("alice")
    group = await world.group(alice, "AVChatRoom")
    joiners = await world.users(*["fan"] * 5)
    for client in joiners:
        await client.call("joinGroup", groupID=group)
    rows = await pages(alice, group)
    assert [row["userID"] for row in rows] == [alice.user, *(client.user for client in reversed(joiners))]


async def test_given_members_are_read_and_others_left_out(world):
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, members=[bob])
    answer = await bob.call("getGroupMembersInfo", groupID=group, userIDList=[bob.user, carol.user, alice.user, "nobody"])
    rows = {row["userID"]: row for row in answer["memberList"]}
    assert set(rows) == {alice.user, bob.user}
    assert has(role="Owner", isOnline=True, nameCard="", muteUntil=0, customInfo={})(rows[alice.user])


async def test_the_bounds_of_get_group_members_info(world):
    alice = await world.user("alice")
    group = await world.group(alice)
    await alice.refused(8510, "getGroupMembersInfo", groupID=group, userIDList=[])
    await alice.refused(10004, "getGroupMembersInfo", groupID=group, userIDList=[f"u{n}" for n in range(51)])
    await alice.call("getGroupMembersInfo", groupID=group, userIDList=[f"u{n}" for n in range(50)])
    await alice.refused(-32602, "getGroupMembersInfo", groupID=group)


@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting", "AVChatRoom"])
async def test_reading_members_needs_membership(world, groupType):
    group, people = await world.group_of(groupType)
    outsider = people["outsider"]
    await outsider.refused(10007, "getGroupMemberList", groupID=group)
    await outsider.refused(10007, "getGroupMembersInfo", groupID=group, userIDList=[outsider.user])
    await outsider.refused(10007, "getGroupOnlineMemberCount", groupID=group)
    await people["member"].call("getGroupMemberList", groupID=group)


async def test_online_counts_members_only(world):
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = (await alice.call("createGroup", groupType="Public", groupName="g", memberList=[
        {"userID": bob.user}, {"userID": world.name("offline")}]))["groupID"]
    assert await bob.call("getGroupOnlineMemberCount", groupID=group) == {"count": 2}
    rows = {row["userID"]: row["isOnline"] for row in await pages(alice, group)}
    assert sorted(rows.values()) == [False, True, True] and carol.user not in rows


async def test_a_repeated_user_has_one_row(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    rows = (await alice.call("getGroupMembersInfo", groupID=group, userIDList=[bob.user, bob.user]))["memberList"]
    assert [row["userID"] for row in rows] == [bob.user]
