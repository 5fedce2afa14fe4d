"""getJoinedGroupList with updatedSince: groups whose info, last message or selfInfo changed at or
after it (Protocol.md, "Joined groups")."""
import pytest

from harness.backend import all_of, denied, done
from harness.restarts import restart
from harness.world import info_of

# Changes to one group of a reader's, each by its own method.
CHANGES = {
    "name": lambda g: g.owner("setGroupInfo", groupName="new"),
    "introduction": lambda g: g.owner("setGroupInfo", introduction="new"),
    "notification": lambda g: g.owner("setGroupInfo", notification="new"),
    "faceURL": lambda g: g.owner("setGroupInfo", faceURL="new"),
    "customInfo": lambda g: g.owner("setGroupInfo", customInfo={"k": "v"}),
    "policy field": lambda g: g.owner("setGroupInfo", inviteMode="Any"),
    "maxMemberNum": lambda g: g.owner("setGroupInfo", maxMemberNum=77),
    "allMuted": lambda g: g.owner("setGroupInfo", allMuted=True),
    "mute": lambda g: g.owner("muteGroup", mode="Custom", roles=["200"], duration=60),
    "owner": lambda g: g.owner("transferGroupOwner", userID=g.carol.user),
    "text": lambda g: g.owner("sendGroupTextMessage", text="new"),
    "custom message": lambda g: g.owner("sendGroupCustomMessage", data="new"),
    "own message": lambda g: g.bob("sendGroupTextMessage", text="own"),
    "recall of the last message": lambda g: g.owner("revokeGroupMessage", seq=1),
    "own role": lambda g: g.owner("setGroupMemberRole", userID=g.reader.user, role="Admin"),
    "own custom role": lambda g: g.owner("setGroupMemberRole", userID=g.reader.user, role="200"),
    "own mute": lambda g: g.owner("muteGroupMember", userID=g.reader.user, muteTime=60),
    "own name card": lambda g: g.bob("setGroupMemberInfo", userID=g.reader.user, nameCard="new"),
    "own customInfo": lambda g: g.bob("setGroupMemberInfo", userID=g.reader.user, customInfo={"k": "v"}),
    "own name card by the owner": lambda g: g.owner("setGroupMemberInfo", userID=g.reader.user, nameCard="new"),
    "receive option": lambda g: g.bob("setGroupReceiveMessageOpt", opt="NotReceive"),
    "read mark": lambda g: g.bob("markGroupMessageAsRead"),
    "unread count by an administrator": lambda g: g.backend("setUnreadCount", userID=g.reader.user, unreadCount=9),
}
# These change the reader's group by their tips alone: with notification off there is nothing that a
# member sees.
TIPS = {
    "member joined": lambda g: g.stranger("joinGroup"),
    "member left": lambda g: g.third("quitGroup"),
    "member removed": lambda g: g.owner("kickGroupMember", userIDList=[g.carol.user]),
    "another's role": lambda g: g.owner("setGroupMemberRole", userID=g.carol.user, role="Admin"),
    "another's name card": lambda g: g.third("setGroupMemberInfo", userID=g.carol.user, nameCard="new"),
}
CASES = [(name, True) for name in {**CHANGES, **TIPS}] + [(name, False) for name in CHANGES]


@pytest.fixture
def world(frozen_world):
    """All these tests choose the instants that they ask about."""
    return frozen_world


@pytest.fixture
def server(world):
    return world.server


async def next_millisecond(world):
    """A server time that everything before lies before, and everything after at or after."""
    await world.server.advance(seconds=0.001)
    return round(world.server.now * 1000)


class Site:
    """One group of a reader's: calls by its people, with the groupID filled in."""

    def __init__(self, server, group, owner, reader, carol, outsider):
        self.group, self.reader, self.carol = group, reader, carol
        self.server = server
        self.owner, self.bob, self.third = self.by(owner), self.by(reader), self.by(carol)
        self.stranger = self.by(outsider)

    def by(self, client):
        async def call(method, **params):
            return await client.call(method, groupID=self.group, **params)
        return call

    async def backend(self, method, **params):
        return done(self.server, method, groupID=self.group, **params)


async def updated(client, since, **params):
    """The groupIDs that changed at or after an instant, and those that were left."""
    rows = await all_of(client, "getJoinedGroupList", "groupList", updatedSince=since, **params)
    left = (await client.call("getJoinedGroupList", updatedSince=since, **params))["leftGroupIDList"]
    return {row["groupID"] for row in rows}, set(left)


@pytest.mark.parametrize("change, notification", CASES)
async def test_a_change_is_found(server, world, change, notification):
    owner, reader, carol, outsider = await world.users("owner", "reader", "carol", "outsider")
    idle = await world.group(owner, members=[reader])
    group = await world.group(owner, members=[reader, carol], memberChangeNotification=notification)
    await owner.call("sendGroupTextMessage", groupID=group, text="first")
    await reader.expect("onRecvNewMessage", groupID=group)
    since = await next_millisecond(world)
    assert await updated(reader, since) == (set(), set())
    await {**CHANGES, **TIPS}[change](Site(server, group, owner, reader, carol, outsider))
    assert await updated(reader, since) == ({group}, set())
    (row,) = (await reader.call("getJoinedGroupList", updatedSince=since))["groupList"]
    assert row == await info_of(reader, group), "a row is the whole GroupInfo with selfInfo"
    assert (await updated(reader, 0))[0] == {group, idle}
    later = await next_millisecond(world)
    assert await updated(reader, later) == (set(), set())


async def test_the_instant_itself_counts(world):
    """Time filters are inclusive (Protocol.md, "Instants and durations")."""
    alice = await world.user("alice")
    group = await world.group(alice)
    sent = await alice.call("sendGroupTextMessage", groupID=group, text="x")
    stamp = sent["timestamp"]
    assert (await updated(alice, stamp))[0] == {group}
    assert (await updated(alice, stamp + 60_000))[0] == set()


async def test_a_group_made_or_joined_since_is_found(world):
    alice, bob = await world.users("alice", "bob")
    before = await world.group(alice)
    since = await next_millisecond(world)
    created, named = await world.group(alice), await world.group(bob, members=[alice])
    joined = await world.group(bob)
    await alice.call("joinGroup", groupID=joined)
    invited = await world.group(bob, inviteMode="Any")
    await bob.call("inviteUserToGroup", groupID=invited, userIDList=[alice.user])
    assert await updated(alice, since) == ({created, named, joined, invited}, set())
    assert before in (await updated(alice, 0))[0]


LEAVING = {
    "quit": lambda server, group, owner, member: member.call("quitGroup", groupID=group),
    "kicked": lambda server, group, owner, member: owner.call("kickGroupMember", groupID=group, userIDList=[member.user]),
    "banned": lambda server, group, owner, member: owner.call(
        "kickGroupMember", groupID=group, userIDList=[member.user], banTime=60),
    "disbanded": lambda server, group, owner, member: owner.call("dismissGroup", groupID=group),
}


@pytest.mark.parametrize("way", LEAVING)
async def test_a_group_left_since_is_named(server, world, way):
    alice, bob = await world.users("alice", "bob")
    long_ago, group, kept = [await world.group(alice, members=[bob]) for _ in range(3)]
    await bob.call("quitGroup", groupID=long_ago)
    since = await next_millisecond(world)
    await LEAVING[way](server, group, alice, bob)
    assert await updated(bob, since) == (set(), {group})
    assert (await bob.call("getJoinedGroupList"))["leftGroupIDList"] == []
    assert await updated(bob, await next_millisecond(world)) == (set(), set())
    assert (await updated(bob, 0)) == ({kept}, {long_ago, group})


async def test_a_recycled_group_and_a_handed_over_one_are_named(server, world):
    alice, bob = await world.users("alice", "bob")
    recycled, handed = await world.group(alice, members=[bob]), await world.group(alice, members=[bob])
    since = await next_millisecond(world)
    done(server, "recycleGroup", groupID=recycled)
    await alice.call("transferGroupOwner", groupID=handed, userID=bob.user, quit=True)
    assert await updated(alice, since) == (set(), {recycled, handed})
    assert await updated(bob, since) == ({handed}, {recycled})


async def test_a_disbanded_id_that_is_joined_again_is_not_among_the_left(world):
    alice, bob = await world.users("alice", "bob")
    since = await next_millisecond(world)
    group = await world.group(alice, members=[bob], groupID=world.name("again"))
    await alice.call("dismissGroup", groupID=group)
    assert await updated(bob, since) == (set(), {group})
    await world.group(alice, members=[bob], groupID=group)
    assert await updated(bob, since) == ({group}, set())


@pytest.mark.parametrize("asked, found", [
    (None, {"Work", "Public", "Meeting"}), ("Work", {"Work"}), ("Private", {"Work"}), ("Public", {"Public"}),
    ("Meeting", {"Meeting"}), ("ChatRoom", {"Meeting"}), ("AVChatRoom", set()), ("BChatRoom", set()),
])
async def test_the_type_filter(server, world, asked, found):
    alice, bob = await world.users("alice", "bob")
    since = await next_millisecond(world)
    groups = {groupType: await world.group(alice, groupType, [bob]) for groupType in ("Work", "Public", "Meeting", "AVChatRoom")}
    groups["BChatRoom"] = done(server, "createGroup", groupType="BChatRoom", groupName="g", ownerUserID=bob.user)["groupID"]
    params = {"groupType": asked} if asked else {}
    for extra in ({}, {"updatedSince": since}):
        rows = await all_of(bob, "getJoinedGroupList", "groupList", **params, **extra)
        assert {row["groupID"] for row in rows} == {groups[groupType] for groupType in found}
    done(server, "dismissGroup", groupID=groups["BChatRoom"])


async def test_leaving_a_live_room_leaves_no_trace(world):
    """AVChatRoom and BChatRoom are not listed, neither as joined nor as left."""
    alice, bob = await world.users("alice", "bob")
    since = await next_millisecond(world)
    room = await world.group(alice, "AVChatRoom", [bob])
    await bob.call("quitGroup", groupID=room)
    await alice.call("dismissGroup", groupID=room)
    for client in (alice, bob):
        assert await updated(client, since) == (set(), set())


@pytest.mark.parametrize("count", [1, 3, 50])
async def test_the_changed_ones_come_in_pages_too(world, count):
    alice, bob = await world.users("alice", "bob")
    groups = [await world.group(alice, members=[bob]) for _ in range(9)]
    since = await next_millisecond(world)
    for group in groups[::2]:
        await alice.call("setGroupInfo", groupID=group, introduction="new")
    rows = await all_of(bob, "getJoinedGroupList", "groupList", updatedSince=since, count=count)
    assert sorted(row["groupID"] for row in rows) == sorted(groups[::2])


async def test_left_groups_are_named_whatever_the_pages(world):
    """Every page of an answer that has groups left to name, together, names them all."""
    alice, bob = await world.users("alice", "bob")
    since = await next_millisecond(world)
    groups = [await world.group(alice, members=[bob]) for _ in range(6)]
    for group in groups[:3]:
        await bob.call("quitGroup", groupID=group)
    left, rows, nextSeq = set(), [], 0
    while True:
        answer = await bob.call("getJoinedGroupList", updatedSince=since, count=2, nextSeq=nextSeq)
        left |= set(answer["leftGroupIDList"])
        rows += answer["groupList"]
        nextSeq = answer["nextSeq"]
        if nextSeq == 0:
            break
    assert left == set(groups[:3]) and {row["groupID"] for row in rows} == set(groups[3:])


async def test_the_parameters(server, world):
    alice = await world.user("alice")
    for params in ({"count": 0}, {"count": 201}, {"groupType": "work"}, {"groupType": ""}, {"updatedSince": -1}):
        await alice.refused(10004, "getJoinedGroupList", **params)
    for params in ({"count": "1"}, {"groupType": 1}, {"updatedSince": "0"}, {"nextSeq": "0"}):
        await alice.refused(-32602, "getJoinedGroupList", **params)
    assert denied(server, -32602, "getJoinedGroupList")["field"] == "asUser"
    group = await world.group(alice)
    assert [row["groupID"] for row in done(server, "getJoinedGroupList", asUser=alice.user)["groupList"]] == [group]


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_changes_are_found_after_a_restart(make_server, make_world, how):
    own = make_server({"drain.duration": 0}, frozen=True)
    world = make_world(own)
    alice, bob = await world.users("alice", "bob")
    idle, changed, left = [await world.group(alice, members=[bob]) for _ in range(3)]
    since = await next_millisecond(world)
    await alice.call("sendGroupTextMessage", groupID=changed, text="x")
    await bob.call("quitGroup", groupID=left)
    started = await next_millisecond(world)
    await restart(world, how)
    bob = await world.session(bob.user)
    assert await updated(bob, since) == ({changed}, {left})
    assert await updated(bob, started) == (set(), set())
    assert (await updated(bob, 0))[0] == {idle, changed}


async def test_a_group_that_was_left_and_joined_again_is_not_among_the_left(world):
    alice, bob = await world.users("alice", "bob")
    since = (await bob.call("ping"))["serverTime"]
    group = await world.group(alice, members=[bob])
    await bob.call("quitGroup", groupID=group)
    assert (await bob.call("getJoinedGroupList", updatedSince=since))["leftGroupIDList"] == [group]
    await bob.call("joinGroup", groupID=group)
    answer = await bob.call("getJoinedGroupList", updatedSince=since)
    assert answer["leftGroupIDList"] == [] and [info["groupID"] for info in answer["groupList"]] == [group]


async def test_groups_that_have_not_changed_end_no_page(server, world):
    """However many there are, one answer says that nothing has changed."""
    alice = await world.user("alice")
    request = {"method": "createGroup", "params": {"groupType": "Public", "groupName": "g", "ownerUserID": alice.user}}
    for _ in range(51):
        batch = [{"jsonrpc": "2.0", "id": number, **request} for number in range(20)]
        assert all("result" in answer for answer in server.post_rpc(batch).json())
    later = round(server.now * 1000) + 3_600_000
    answer = await alice.call("getJoinedGroupList", updatedSince=later)
    assert answer == {"groupList": [], "leftGroupIDList": [], "nextSeq": 0}


@pytest.mark.parametrize("count", [1, 3, 200])
async def test_groups_joined_and_groups_left_come_once_over_all_pages(world, count):
    """leftGroupIDList comes in pages with the rest, each groupID once."""
    owner, reader = await world.users("owner", "reader")
    since = await next_millisecond(world)
    groups = [await world.group(owner, members=[reader]) for _ in range(14)]
    left = {"quit": groups[1::7], "disbanded": groups[3::7], "removed": groups[5::7]}
    for group in left["quit"]:
        await reader.call("quitGroup", groupID=group)
    for group in left["disbanded"]:
        await owner.call("dismissGroup", groupID=group)
    for group in left["removed"]:
        await owner.call("kickGroupMember", groupID=group, userIDList=[reader.user])
    joined, gone, sizes, after = [], [], [], 0
    while True:
        page = await reader.call("getJoinedGroupList", updatedSince=since, count=count, nextSeq=after)
        joined += [row["groupID"] for row in page["groupList"]]
        gone += page["leftGroupIDList"]
        sizes.append(len(page["groupList"]))
        after = page["nextSeq"]
        if not after:
            break
    assert sorted(gone) == sorted(sum(left.values(), []))
    assert sorted(joined) == sorted(set(groups) - set(gone)) and max(sizes) <= count
    assert len(sizes) >= len(joined) / count
