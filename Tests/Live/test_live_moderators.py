"""Moderators of an AVChatRoom, with `avChatRoom.moderation` (Protocol.md, "AVChatRoom")."""
import pytest

from harness.backend import notifications_of
from harness.client import has
from harness.restarts import restart
from harness.room import including
from harness.server import IS_CLUSTER
from harness.world import eventually, history_of

pytestmark = pytest.mark.nodes

CHANGED = "onGroupMemberInfoChanged"


@pytest.fixture
async def moderated(make_server, make_world):
    """A world on a server whose live rooms have moderators. Its time stands still, except over nodes."""
    settings = {"avChatRoom.moderation": "true", "avChatRoom.offlineGrace": 2, "drain.duration": 0}
    return make_world(make_server(settings, frozen=not IS_CLUSTER))


@pytest.fixture
async def remembering(make_server, make_world):
    """A world on a server whose live rooms have moderators and remember 100 messages."""
    settings = {"avChatRoom.moderation": "true", "avChatRoom.recentMessages": 100,
                "limits.avChatRoom.messagesPerSecond": 0, "drain.duration": 0}
    return make_world(make_server(settings))


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


async def test_a_moderator_decides_applications_and_mutes_the_room(moderated):
    owner, mia, ann, tom, eve = await moderated.users("owner", "mia", "ann", "tom", "eve")
    group = await moderated.group(owner, "AVChatRoom", [mia, ann])
    await owner.call("setGroupMemberRole", groupID=group, userID=mia.user, role="Admin")
    await owner.call("setGroupInfo", groupID=group, joinMode="Auth")
    for client, method, isAgreeJoin in ((tom, "acceptGroupApplication", True), (eve, "refuseGroupApplication", False)):
        assert await client.call("joinGroup", groupID=group) == {"status": "Pending"}
        told = [await manager.expect("onReceiveJoinApplication", groupID=group) for manager in (owner, mia)]
        assert [event["member"]["userID"] for event in told] == [client.user] * 2
        application = {"applicationID": told[0]["applicationID"]}
        assert told[1]["applicationID"] == told[0]["applicationID"]
        await ann.quiet("onReceiveJoinApplication")
        await ann.refused(10007, method, **application)
        assert await mia.call(method, **application) == {}
        event = await client.expect("onApplicationProcessed", **application)
        assert event["isAgreeJoin"] is isAgreeJoin and event["opUser"]["userID"] == mia.user
    await tom.expect("onMemberEnter", groupID=group, memberList=including(tom.user))
    assert await role_of(mia, group, tom) == "Member" and await role_of(mia, group, eve) == "NotMember"
    people = (owner, mia, ann, tom)
    await ann.refused(10007, "muteGroup", groupID=group, mode="Ordinary")
    for mode in ("Ordinary", "None"):
        await mia.call("muteGroup", groupID=group, mode=mode)
        for client in people:
            event = await client.expect("onGroupInfoChanged", groupID=group, opUser=has(userID=mia.user))
            assert event["opUser"]["role"] == "Admin" and "seq" not in event
        if mode == "Ordinary":
            await ann.refused(10017, "sendGroupTextMessage", groupID=group, text="x")
            await mia.call("sendGroupTextMessage", groupID=group, text="managers may speak")
    await ann.call("sendGroupTextMessage", groupID=group, text="and everybody again")


async def test_a_moderator_takes_back_what_members_said(remembering):
    world = remembering
    owner, mia, ann, tom = await world.users("owner", "mia", "ann", "tom")
    group = await world.group(owner, "AVChatRoom", [mia, ann, tom])
    await owner.call("setGroupMemberRole", groupID=group, userID=mia.user, role="Admin")
    speakers = (owner, mia, ann, tom)
    ofOwner, ofMia, ofAnn, ofTom = [
        await client.call("sendGroupTextMessage", groupID=group, text="x") for client in speakers]
    for target in ({"seq": ofAnn["seq"]}, {"msgID": ofAnn["msgID"]}):
        await tom.refused(10032, "revokeGroupMessage", groupID=group, **target)
        await mia.call("revokeGroupMessage", groupID=group, **target)
        # Who may not learns nothing of it either.
        await tom.refused(10032, "revokeGroupMessage", groupID=group, **target)
    # A sender who has left counts as a member.
    await tom.call("quitGroup", groupID=group)
    await mia.call("revokeGroupMessage", groupID=group, msgID=ofTom["msgID"])
    await mia.refused(10007, "revokeGroupMessage", groupID=group, seq=ofOwner["seq"])
    await owner.call("revokeGroupMessage", groupID=group, seq=ofMia["seq"])
    for client in (owner, mia, ann):
        for sent, by, changeSeq in ((ofAnn, mia, 1), (ofTom, mia, 2), (ofMia, owner, 3)):
            event = await client.expect("onRecvMessageRevoked", groupID=group)
            assert has(seq=sent["seq"], msgID=sent["msgID"], changeSeq=changeSeq)(event)
            assert event["opUser"]["userID"] == by.user
        await client.quiet("onRecvMessageRevoked")
    assert [message.get("isRevoked", False) for message in await history_of(ann, group)] == [False, True, True, True]
    (room,) = [row for row in (await ann.call("getServerInfo"))["groupTypes"] if row["groupType"] == "AVChatRoom"]
    assert room["rights"]["recallOthers"] == "Admin"


async def test_names_that_nobody_can_have(moderated):
    owner, mia = await moderated.users("owner", "mia")
    group = await moderated.group(owner, "AVChatRoom")
    await owner.refused(10004, "setGroupMemberRole", groupID=group, userID="@nobody", role="Admin")
    await owner.refused(10007, "setGroupMemberInfo", groupID=group, userID=mia.user, role="Admin")
    assert await role_of(owner, group, mia) == "NotMember"
    other = await moderated.group(owner, "Public", [mia])
    await owner.refused(10004, "setGroupMemberRole", groupID=other, userIDList=[mia.user, "@nobody"], role="Admin")
    assert await role_of(owner, other, mia) == "Member"


async def test_a_mute_and_a_name_card_in_one_request_go_their_own_ways(moderated):
    """The mute to all, the name card to the two whom it concerns."""
    owner, mia, ann = await moderated.users("owner", "mia", "ann")
    group = await moderated.group(owner, "AVChatRoom", [mia, ann])
    until = (await owner.call("ping"))["serverTime"] + 600_000
    await owner.call("setGroupMemberInfo", groupID=group, userID=mia.user, nameCard="Mia", muteUntil=until)
    for client in (owner, mia, ann):
        told = []
        for _ in range(1 if client is ann else 2):
            (change,) = (await client.expect(CHANGED, groupID=group))["changeInfoList"]
            assert change.pop("userID") == mia.user
            told.append(change)
        assert 0 < told[0]["muteTime"] <= 600 and set(told[0]) == {"muteTime"}
        assert told[1:] == ([] if client is ann else [{"nameCard": "Mia"}])
        await client.quiet(CHANGED, group=group)


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
