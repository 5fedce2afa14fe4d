"""revokeGroupMessage (Protocol.md, "Recall")."""
import pytest

from harness.backend import denied, done, unread_of
from harness.client import has
from harness.restarts import restart
from harness.world import history_of, info_of

STORING = ["Work", "Public", "Meeting"]
RANK = {"outsider": 0, "member": 1, "admin": 2, "owner": 3}
# The right to recall other members' messages (Permissions.md, "Tables").
LOWEST = {"Work": "owner", "Public": "admin", "Meeting": "admin"}


async def said(client, group, text="x", **params):
    """Sends a text; gives its seq and msgID."""
    result = await client.call("sendGroupTextMessage", groupID=group, text=text, **params)
    return result["seq"], result["msgID"]


async def message_at(client, group, seq):
    """The message with this seq as history shows it to this client; None where it does not."""
    page = await client.call("getGroupHistoryMessageList", groupID=group, fromSeq=seq + 1, count=1)
    return next((message for message in page["messageList"] if message["seq"] == seq), None)


def is_recalled(message):
    """It keeps its place, and nothing of its content."""
    return message.get("isRevoked") is True and not {"text", "data"} & set(message)


@pytest.mark.parametrize("groupType", STORING)
async def test_ones_own_message_is_recalled_and_told(world, groupType):
    group, people = await world.group_of(groupType)
    member, outsider = people["member"], people["outsider"]
    phone = await world.session(member.user, platform="iOS")
    seq, msgID = await said(member, group, "secret", atUserIDList=[people["owner"].user])
    assert await phone.call("revokeGroupMessage", groupID=group, seq=seq) == {}
    for client in (people["owner"], member, phone):
        event = await client.expect("onRecvMessageRevoked", groupID=group)
        assert has(msgID=msgID, seq=seq, platform="iOS")(event)
        assert event["opUser"] == {"userID": member.user, "nameCard": "", "role": "Member"}
    for client in (people["owner"], member):
        (message,) = await history_of(client, group)
        assert is_recalled(message) and has(msgID=msgID, seq=seq, sender=member.user, groupID=group, type="Text")(message)
    info = await info_of(people["owner"], group)
    assert info["lastSeq"] == seq and is_recalled(info["lastMessage"]), "a recall takes no seq and stores no tip"
    await outsider.quiet("onRecvMessageRevoked", group=group)


async def test_a_custom_message_loses_its_data(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    seq = (await alice.call("sendGroupCustomMessage", groupID=group, data="secret"))["seq"]
    await alice.call("revokeGroupMessage", groupID=group, seq=seq)
    (message,) = await history_of(bob, group)
    assert is_recalled(message) and message["type"] == "Custom"


async def test_the_others_keep_their_places(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    for n in range(1, 6):
        await said(alice, group, f"m{n}")
    for seq in (2, 5):
        await alice.call("revokeGroupMessage", groupID=group, seq=seq)
    messages = await history_of(bob, group)
    assert [message["seq"] for message in messages] == [1, 2, 3, 4, 5]
    assert [message.get("text") for message in messages] == ["m1", None, "m3", "m4", None]
    assert [message.get("isRevoked", False) for message in messages] == [False, True, False, False, True]
    assert (await said(alice, group, "m6"))[0] == 6
    epoch = (await info_of(bob, group))["epoch"]
    (row,) = (await bob.call("syncGroups", groups=[{"groupID": group, "epoch": epoch, "seq": 1}]))["groups"]
    assert [message["seq"] for message in row["messageList"]] == [2, 3, 4, 5, 6]
    assert [is_recalled(message) for message in row["messageList"]] == [True, False, False, True, False]
    listed = (await bob.call("getJoinedGroupList"))["groupList"]
    assert [info["lastMessage"]["text"] for info in listed if info["groupID"] == group] == ["m6"]


@pytest.mark.parametrize("groupType", STORING)
async def test_who_recalls_whose(world, groupType):
    """10032 below the required role, 10007 on a member of an equal or higher role."""
    group, people = await world.group_of(groupType)
    outsider = people.pop("outsider")
    if groupType != "Work":
        people["second admin"] = await world.user("second")
        await people["second admin"].call("joinGroup", groupID=group)
        await people["owner"].call("setGroupMemberRole", groupID=group, userID=people["second admin"].user, role="Admin")
    rank = {**RANK, "second admin": 2}
    for author, writer in people.items():
        for role, client in people.items():
            seq, _ = await said(writer, group)
            manages = rank[role] >= rank[LOWEST[groupType]]
            allowed = author == role or manages and rank[role] > rank[author]
            if allowed:
                assert await client.call("revokeGroupMessage", groupID=group, seq=seq) == {}
                event = await people["member"].expect("onRecvMessageRevoked", groupID=group, seq=seq)
                assert event["opUser"]["userID"] == client.user
            else:
                await client.refused(10007 if manages else 10032, "revokeGroupMessage", groupID=group, seq=seq)
            assert is_recalled(await message_at(writer, group, seq)) == allowed, (author, role)
    seq, _ = await said(people["member"], group)
    await outsider.refused(10007, "revokeGroupMessage", groupID=group, seq=seq)
    await world.settle(group, people["owner"], people["member"])
    assert not people["member"].received("onRecvMessageRevoked", groupID=group), "a refused recall is told to nobody"


async def test_custom_roles_have_the_rights_of_a_member(world):
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, members=[bob, carol])
    await alice.call("setGroupMemberRole", groupID=group, userID=bob.user, role="200")
    seq, _ = await said(carol, group)
    await bob.refused(10032, "revokeGroupMessage", groupID=group, seq=seq)
    seq, _ = await said(bob, group)
    await carol.refused(10032, "revokeGroupMessage", groupID=group, seq=seq)
    await bob.call("revokeGroupMessage", groupID=group, seq=seq)


@pytest.mark.parametrize("groupType", STORING)
async def test_an_administrator_recalls_everybodys(server, world, groupType):
    group, people = await world.group_of(groupType)
    outsider = people.pop("outsider")
    for client in people.values():
        seq, _ = await said(client, group)
        assert done(server, "revokeGroupMessage", groupID=group, seq=seq) == {}
        for other in people.values():
            event = await other.expect("onRecvMessageRevoked", groupID=group, seq=seq)
            assert event["opUser"] == {"userID": "administrator"} and event["platform"] == "RESTful API"
    seq, _ = await said(people["owner"], group)
    denied(server, 10032, "revokeGroupMessage", groupID=group, seq=seq, asUser=people["member"].user)
    denied(server, 10007, "revokeGroupMessage", groupID=group, seq=seq, asUser=outsider.user)
    assert done(server, "revokeGroupMessage", groupID=group, seq=seq, asUser=people["owner"].user) == {}


async def test_an_administrators_message_stands_above_the_owner(server, world):
    group, people = await world.group_of("Public")
    seq = done(server, "sendGroupTextMessage", groupID=group, text="from above")["seq"]
    for role, code in {"owner": 10007, "admin": 10007, "member": 10032}.items():
        await people[role].refused(code, "revokeGroupMessage", groupID=group, seq=seq)
    assert done(server, "revokeGroupMessage", groupID=group, seq=seq) == {}
    assert is_recalled(await message_at(people["member"], group, seq))


async def test_what_somebody_wrote_who_is_no_member_any_more(world):
    """An admin recalls a former owner's message. The author, who has left, has no right."""
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, members=[carol], admins=[bob])
    first, _ = await said(alice, group)
    second, _ = await said(alice, group)
    await bob.refused(10007, "revokeGroupMessage", groupID=group, seq=first)
    await alice.call("transferGroupOwner", groupID=group, userID=carol.user, quit=True)
    await bob.call("revokeGroupMessage", groupID=group, seq=first)
    await alice.refused(10007, "revokeGroupMessage", groupID=group, seq=second)


@pytest.mark.parametrize("groupType", STORING)
async def test_a_tip_is_nobodys(server, world, groupType):
    """A tip is 10032, for an administrator too."""
    group, people = await world.group_of(groupType)
    await people["owner"].call("setGroupInfo", groupID=group, groupName="tip")
    for role in people.keys() - {"outsider"}:
        await people[role].refused(10032, "revokeGroupMessage", groupID=group, seq=1)
    denied(server, 10032, "revokeGroupMessage", groupID=group, seq=1)
    assert (await message_at(people["member"], group, 1))["tips"]["type"] == "GroupInfoChange"


async def test_an_unknown_seq(server, world):
    group, people = await world.group_of("Public")
    seq, _ = await said(people["owner"], group)
    for unknown in (seq + 1, 2 ** 53 - 1):
        for role in ("owner", "member"):
            await people[role].refused(10030, "revokeGroupMessage", groupID=group, seq=unknown)
        denied(server, 10030, "revokeGroupMessage", groupID=group, seq=unknown)
    assert (await people["owner"].refused(-32602, "revokeGroupMessage", groupID=group))["field"] == "seq"
    await people["owner"].refused(-32602, "revokeGroupMessage", groupID=group, seq="1")
    for below in (0, -1):
        assert (await people["owner"].refused(10004, "revokeGroupMessage", groupID=group, seq=below))["field"] == "seq"
    await people["owner"].refused(10010, "revokeGroupMessage", groupID=world.name("nowhere"), seq=1)
    await people["owner"].refused(10015, "revokeGroupMessage", groupID="a b", seq=1)


async def test_an_invisible_message_is_an_unknown_one(world):
    """10030: what came before joining, in Public; an admin who joined later cannot recall it
    either."""
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, members=[bob])
    seq, _ = await said(bob, group, "before")
    await carol.call("joinGroup", groupID=group)
    await carol.refused(10030, "revokeGroupMessage", groupID=group, seq=seq)
    await alice.call("setGroupMemberRole", groupID=group, userID=carol.user, role="Admin")
    await carol.refused(10030, "revokeGroupMessage", groupID=group, seq=seq)
    own, _ = await said(bob, group, "gap")
    await bob.call("quitGroup", groupID=group)
    between, _ = await said(alice, group, "between")
    await bob.call("joinGroup", groupID=group)
    await bob.refused(10030, "revokeGroupMessage", groupID=group, seq=between)
    await bob.call("revokeGroupMessage", groupID=group, seq=own)


@pytest.mark.parametrize("groupType, sees", [("Public", False), ("Meeting", True)])
async def test_a_recall_is_told_to_those_who_may_see_the_message(world, groupType, sees):
    """A member who joined later sees it in a Meeting only."""
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, groupType)
    seq, _ = await said(alice, group, "before")
    await bob.call("joinGroup", groupID=group)
    await alice.call("revokeGroupMessage", groupID=group, seq=seq)
    await alice.expect("onRecvMessageRevoked", groupID=group)
    await world.settle(group, alice, bob)
    assert len(bob.received("onRecvMessageRevoked", groupID=group)) == sees


@pytest.mark.parametrize("opt", ["NotReceive", "ReceiveFromManagers"])
async def test_a_recall_is_no_chat_that_a_receive_option_holds_back(world, opt):
    alice, bob, carol = await world.users("alice", "bob", "carol")
    group = await world.group(alice, members=[bob, carol])
    await bob.call("setGroupReceiveMessageOpt", groupID=group, opt=opt)
    seq, _ = await said(carol, group)
    await carol.call("revokeGroupMessage", groupID=group, seq=seq)
    await bob.expect("onRecvMessageRevoked", groupID=group, seq=seq)
    assert is_recalled(await message_at(bob, group, seq))


async def test_recalled_already_is_a_success_without_an_event(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    seq, _ = await said(bob, group)
    for client in (bob, bob, alice):
        assert await client.call("revokeGroupMessage", groupID=group, seq=seq) == {}
    await bob.expect("onRecvMessageRevoked", groupID=group)
    await world.settle(group, alice, bob)
    assert not bob.received("onRecvMessageRevoked", groupID=group)


async def test_two_recalls_at_once_are_one(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    seq, _ = await said(bob, group)
    under_way = [await client.start("revokeGroupMessage", groupID=group, seq=seq) for client in (alice, bob) * 5]
    assert all([(await future)["result"] == {} for future in under_way])
    await bob.expect("onRecvMessageRevoked", groupID=group)
    await world.settle(group, alice, bob)
    assert not bob.received("onRecvMessageRevoked", groupID=group)


async def test_a_recalled_message_is_not_sent_again_by_its_client_msg_id(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    first = await alice.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID="c")
    await alice.call("revokeGroupMessage", groupID=group, seq=first["seq"])
    assert await alice.call("sendGroupTextMessage", groupID=group, text="x", clientMsgID="c") == first
    (message,) = await history_of(bob, group)
    assert is_recalled(message)


async def test_a_recalled_message_is_not_unread(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    seqs = [(await said(alice, group))[0] for _ in range(4)]
    await alice.call("revokeGroupMessage", groupID=group, seq=seqs[1])
    assert await unread_of(bob, group) == 3
    await bob.call("markGroupMessageAsRead", groupID=group, seq=seqs[2])
    await alice.call("revokeGroupMessage", groupID=group, seq=seqs[0])
    assert await unread_of(bob, group) == 1, "a read message that is recalled was not unread"


# The window

@pytest.fixture
def hasty(make_server):
    return make_server({"limits.revokeWindow": 1}, frozen=True)


async def test_ones_own_message_is_recalled_within_the_window_only(hasty, make_world):
    """10031 later, also for managers and through asUser; others' by the table at any time; recalled
    already stays {}."""
    world = make_world(hasty)
    group, people = await world.group_of("Public")
    late = {role: (await said(people[role], group, role))[0] for role in ("owner", "admin", "member")}
    early, _ = await said(people["member"], group, "taken back in time")
    await hasty.advance(seconds=1)
    await people["member"].call("revokeGroupMessage", groupID=group, seq=early)
    await hasty.advance(seconds=0.001)
    for role, seq in late.items():
        await people[role].refused(10031, "revokeGroupMessage", groupID=group, seq=seq)
        denied(hasty, 10031, "revokeGroupMessage", groupID=group, seq=seq, asUser=people[role].user)
        assert (await message_at(people["member"], group, seq))["text"] == role
    await people["member"].call("revokeGroupMessage", groupID=group, seq=early)
    await people["member"].refused(10032, "revokeGroupMessage", groupID=group, seq=late["owner"])
    await people["admin"].call("revokeGroupMessage", groupID=group, seq=late["member"])
    await people["owner"].call("revokeGroupMessage", groupID=group, seq=late["admin"])
    done(hasty, "revokeGroupMessage", groupID=group, seq=late["owner"])
    for seq in late.values():
        assert is_recalled(await message_at(people["member"], group, seq))


async def test_the_default_window_is_told(world):
    alice = await world.user("alice")
    assert (await alice.call("getServerInfo"))["limits"]["limits.revokeWindow"] == 120


# Types without history

@pytest.mark.parametrize("seq", [1, 999])
async def test_live_rooms_have_no_recall(server, world, seq):
    """10033; rights come after membership: an outsider of an AVChatRoom is 10007."""
    owner, member, outsider = await world.users("owner", "member", "outsider")
    room = await world.group(owner, "AVChatRoom", [member])
    news = done(server, "createGroup", groupType="BChatRoom", groupName="g", ownerUserID=owner.user)["groupID"]
    await owner.call("sendGroupTextMessage", groupID=room, text="x")
    await outsider.refused(10007, "revokeGroupMessage", groupID=room, seq=seq)
    for group, client in [(room, owner), (room, member), (news, owner), (news, member)]:
        for target in ({"seq": seq}, {"msgID": "any"}):
            await client.refused(10033, "revokeGroupMessage", groupID=group, **target)
            denied(server, 10033, "revokeGroupMessage", groupID=group, **target)
    done(server, "dismissGroup", groupID=news)


# A restart

@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_a_recall_outlives_the_server(make_server, make_world, how):
    world = make_world(make_server({"drain.duration": 0}))
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, members=[bob])
    for n in range(3):
        await said(alice, group, f"secret {n}")
    for seq in (1, 3):
        await alice.call("revokeGroupMessage", groupID=group, seq=seq)
    before = await history_of(bob, group)
    await restart(world, how)
    alice, bob = await world.session(alice.user), await world.session(bob.user)
    assert await history_of(bob, group) == before
    assert [is_recalled(message) for message in before] == [True, False, True]
    assert is_recalled((await info_of(bob, group))["lastMessage"]) and await unread_of(bob, group) == 1
    assert await alice.call("revokeGroupMessage", groupID=group, seq=1) == {}
    assert await alice.call("revokeGroupMessage", groupID=group, seq=2) == {}
    event = await bob.expect("onRecvMessageRevoked", groupID=group)
    assert event["seq"] == 2 and event["msgID"] == before[1]["msgID"]
    await world.settle(group, alice, bob)
    assert not bob.received("onRecvMessageRevoked", groupID=group)


async def test_the_window_goes_on_over_a_restart(hasty, make_world):
    world = make_world(hasty)
    alice = await world.user("alice")
    group = await world.group(alice)
    first, second = [(await said(alice, group))[0] for _ in range(2)]
    await hasty.advance(seconds=0.6)
    await restart(world, "kill")
    alice = await world.session(alice.user)
    await hasty.advance(seconds=0.4)
    await alice.call("revokeGroupMessage", groupID=group, seq=first)
    await hasty.advance(seconds=0.001)
    await alice.refused(10031, "revokeGroupMessage", groupID=group, seq=second)
    assert (await said(alice, group))[0] == 3
