"""Moderators of an AVChatRoom, with `avChatRoom.moderation` (Protocol.md, "AVChatRoom")."""
import pytest

from harness.backend import notifications_of
from harness.client import has
from harness.restarts import restart
from harness.server import IS_CLUSTER
from harness.world import eventually

pytestmark = pytest.mark.nodes

CHANGED = "onGroupMemberInfoChanged"


@pytest.fixture
async def moderated(make_server, make_world):
    """A world on a server whose live rooms have moderators. Its time stands still, except over nodes."""
    settings = {"avChatRoom.moderation": "true", "avChatRoom.offlineGrace": 2, "drain.duration": 0}
    return make_world(make_server(settings, frozen=not IS_CLUSTER))


def names(rows):
    return [row["userID"] for row in rows]


def person(client, role):
    """A memberList condition: it names this client alone, with the role."""
    return lambda rows: [(row["userID"], row["role"]) for row in rows] == [(client.user, role)]


async def role_of(reader, group, client):
    (row,) = (await reader.call("getGroupMemberRoles", groupID=group, userIDList=[client.user]))["roleList"]
    return row["role"]


async def test_a_voice_room_with_two_moderators(moderated):
    world = moderated
    owner, mia, max_, tom, ann = await world.users("owner", "mia", "max", "tom", "ann")
    group = await world.group(owner, "AVChatRoom", [ann])
    # Before anybody of them is there: the members are told, and they are not.
    answer = await owner.call("setGroupMemberRole", groupID=group, userIDList=[mia.user, max_.user, "@nobody"], role="Admin")
    assert [row["result"] for row in answer["memberList"]] == ["Success", "Success", "Fail"]
    for client in (owner, ann):
        event = await client.expect("onGrantAdministrator", groupID=group)
        assert [(row["userID"], row["role"]) for row in event["memberList"]] == [(mia.user, "Admin"), (max_.user, "Admin")]
        assert event["opUser"]["userID"] == owner.user and "seq" not in event
    for client in (mia, max_):
        await client.quiet("onGrantAdministrator")
        assert await role_of(owner, group, client) == "NotMember"
        await client.refused(10007, "muteGroupMember", groupID=group, userID=ann.user, muteTime=5)
    # The role is theirs when they join.
    for client in (mia, max_):
        await client.call("joinGroup", groupID=group)
        await client.expect("onMemberEnter", groupID=group, memberList=person(client, "Admin"))
    await tom.call("joinGroup", groupID=group)
    people = (owner, mia, max_, tom, ann)
    # All are told of a mute, the moderators among them.
    await mia.call("muteGroupMember", groupID=group, userID=tom.user, muteTime=600)
    for client in people:
        event = await client.expect(CHANGED, groupID=group)
        assert event["changeInfoList"] == [{"userID": tom.user, "muteTime": 600}] and event["opUser"]["role"] == "Admin"
    await tom.refused(10017, "sendGroupTextMessage", groupID=group, text="x")
    # A name card is for those concerned.
    await mia.call("setGroupMemberInfo", groupID=group, userID=tom.user, nameCard="Tom")
    for client in (mia, tom):
        assert (await client.expect(CHANGED, groupID=group))["changeInfoList"] == [{"userID": tom.user, "nameCard": "Tom"}]
    for client in (owner, max_, ann):
        await client.quiet(CHANGED, group=group)
    # Removal and ban.
    rows = (await max_.call("kickGroupMember", groupID=group, userIDList=[tom.user, mia.user, owner.user], reason="r",
                            banTime=600))["memberList"]
    assert [row["result"] for row in rows] == ["Success", "Fail", "Fail"]
    for client in people:
        event = await client.expect("onMemberKicked", groupID=group)
        assert names(event["memberList"]) == [tom.user] and event["memberCount"] == 4 and event["reason"] == "r"
    await tom.refused(10007, "joinGroup", groupID=group)
    assert not await notifications_of(tom, group)
    banned = (await mia.call("getGroupBannedMembers", groupID=group))["memberList"]
    assert has(userID=tom.user, reason="r")(*banned)
    await mia.call("unbanGroupMember", groupID=group, userIDList=[tom.user])
    await tom.call("joinGroup", groupID=group)
    await tom.refused(10017, "sendGroupTextMessage", groupID=group, text="still muted")
    # Lists.
    everybody = (await ann.call("getGroupMemberList", groupID=group))["memberList"]
    # Where time stands still, both moderators have joined at the same instant.
    assert names(everybody)[0] == owner.user and names(everybody)[3:] == [tom.user, ann.user]
    assert set(names(everybody)[1:3]) == {mia.user, max_.user}
    admins = (await ann.call("getGroupMemberList", groupID=group, filter="Admin"))["memberList"]
    assert names(admins) == names(everybody)[1:3]
    # The owner takes the role away.
    await owner.call("setGroupMemberRole", groupID=group, userID=max_.user, role="Member")
    for client in (owner, mia, max_, ann):
        await client.expect("onRevokeAdministrator", groupID=group, memberList=person(max_, "Member"))
    await max_.refused(10007, "muteGroupMember", groupID=group, userID=ann.user, muteTime=5)
    for client in (mia, max_):
        await client.refused(10007, "setGroupMemberRole", groupID=group, userID=ann.user, role="Admin")


@pytest.mark.parametrize("how", ["quits", "is away for too long"])
async def test_a_role_outlives_leaving_and_a_restart(moderated, how):
    world = moderated
    owner, mia = await world.users("owner", "mia")
    group = await world.group(owner, "AVChatRoom", [mia])
    await owner.call("setGroupMemberRole", groupID=group, userID=mia.user, role="Admin")
    if how == "quits":
        await mia.call("quitGroup", groupID=group)
    await restart(world, "kill")
    owner = await world.session(owner.user)
    if how != "quits" and not IS_CLUSTER:
        assert await role_of(owner, group, mia) == "Admin"
        await world.server.advance(seconds=3)
    await eventually(lambda: role_of(owner, group, mia), "NotMember")
    mia = await world.session(mia.user)
    await mia.call("joinGroup", groupID=group)
    await mia.expect("onMemberEnter", groupID=group, memberList=person(mia, "Admin"))
    # A removal ends it.
    await owner.call("kickGroupMember", groupID=group, userIDList=[mia.user])
    await mia.call("joinGroup", groupID=group)
    assert await role_of(owner, group, mia) == "Member"


async def test_a_role_given_to_somebody_absent_ends_with_member(moderated):
    owner, mia = await moderated.users("owner", "mia")
    group = await moderated.group(owner, "AVChatRoom")
    for role in ("Admin", "Member"):
        await owner.call("setGroupMemberRole", groupID=group, userID=mia.user, role=role)
    await owner.expect("onGrantAdministrator", groupID=group)
    await owner.expect("onRevokeAdministrator", groupID=group, memberList=person(mia, "Member"))
    await mia.call("joinGroup", groupID=group)
    assert await role_of(owner, group, mia) == "Member"


async def test_with_notification_off_the_operator_alone_hears_of_somebody_absent(moderated):
    owner, ann, mia = await moderated.users("owner", "ann", "mia")
    group = await moderated.group(owner, "AVChatRoom", [ann], memberChangeNotification=False)
    for role, event in (("Admin", "onGrantAdministrator"), ("Member", "onRevokeAdministrator"), ("300", CHANGED)):
        await owner.call("setGroupMemberRole", groupID=group, userID=mia.user, role=role)
        await owner.expect(event, groupID=group)
        for client in (ann, mia):
            await client.quiet(event)


@pytest.mark.one_process("a test's clock is that of one process")
async def test_a_crowd_of_mutes_is_five_events_a_second(moderated):
    world = moderated
    owner, ann = await world.users("owner", "ann")
    group = await world.group(owner, "AVChatRoom", [ann])
    fans = [world.name("fan") for _ in range(120)]
    for start in range(0, len(fans), 20):
        batch = [{"jsonrpc": "2.0", "id": user, "method": "joinGroup", "params": {"groupID": group, "asUser": user}}
                 for user in fans[start:start + 20]]
        assert all("result" in reply for reply in world.server.post_rpc(batch).json())
    for user in fans:
        await owner.call("muteGroupMember", groupID=group, userID=user, muteTime=600)
    await owner.call("muteGroupMember", groupID=group, userID=fans[7], muteTime=0)
    events = [await ann.expect(CHANGED, groupID=group)]
    await ann.quiet(CHANGED, group=group)
    for _ in range(3):
        await world.server.advance(seconds=0.219)
        await ann.quiet(CHANGED, group=group)
        await world.server.advance(seconds=0.001)
        events.append(await ann.expect(CHANGED, groupID=group))
    await world.server.advance(seconds=5)
    await ann.quiet(CHANGED, group=group)
    assert [len(event["changeInfoList"]) for event in events] == [1, 50, 50, 19]
    told = {entry["userID"]: entry["muteTime"] for event in events for entry in event["changeInfoList"]}
    assert told == {user: 0 if user == fans[7] else 600 for user in fans}


async def test_without_the_key_a_live_room_has_no_moderators(world):
    owner, ann = await world.users("owner", "ann")
    group = await world.group(owner, "AVChatRoom", [ann])
    for user in (ann.user, "somebody"):
        await owner.refused(10007, "setGroupMemberRole", groupID=group, userID=user, role="Admin")
    for method in ("kickGroupMember", "unbanGroupMember"):
        await owner.refused(10007, method, groupID=group, userIDList=[ann.user])
    await owner.refused(10007, "getGroupBannedMembers", groupID=group)


async def test_server_information_tells_of_moderation(moderated):
    client = await moderated.user("any")
    (room,) = [row for row in (await client.call("getServerInfo"))["groupTypes"] if row["groupType"] == "AVChatRoom"]
    rights = room["rights"]
    assert [rights[action] for action in ("decideApplications", "remove", "muteMember", "muteGroup", "changeRole")] == [
        "Admin", "Admin", "Admin", "Admin", "Owner"]
