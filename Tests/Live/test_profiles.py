"""Profiles: nickName, faceURL and customInfo of users (Protocol.md, "Profiles")."""
import asyncio
import random

import pytest

from harness.backend import all_of, denied, done
from harness.client import Gone, Refused, has
from harness.room import Room
from harness.server import IS_CLUSTER
from harness.waiting import within
from harness.world import World, history_of, info_of

TYPES = ["Work", "Public", "Meeting", "AVChatRoom"]


async def infos(client, *users):
    return (await client.call("getUsersInfo", userIDList=list(users)))["userList"]


def shown(user, **profile):
    """The texts beside a userID."""
    return has(userID=user, **profile)


# The methods


async def test_texts_are_empty_at_first_and_merge(world):
    alice, bob = await world.users("alice", "bob")
    assert await infos(bob, alice.user) == [{"userID": alice.user, "nickName": "", "faceURL": "", "customInfo": {}}]
    assert await alice.call("setSelfInfo", nickName="爱丽丝", customInfo={"a": "1", "b": "\u0000"}) == {}
    assert await alice.call("setSelfInfo", faceURL="https://f/1", customInfo={"a": None, "c": "3"}) == {}
    whole = {"userID": alice.user, "nickName": "爱丽丝", "faceURL": "https://f/1", "customInfo": {"b": "\u0000", "c": "3"}}
    assert await infos(bob, alice.user) == [whole]
    assert await alice.call("setSelfInfo", nickName="", customInfo={"b": "", "c": None}) == {}
    assert await infos(bob, alice.user) == [{**whole, "nickName": "", "customInfo": {}}]


@pytest.mark.parametrize("field, longest, longer", [
    ("nickName", "é" * 50, "é" * 50 + "x"), ("faceURL", "f" * 500, "f" * 501), ("nickName", "", "a\nb"), ("nickName", "x", "\x7f"),
    ("customInfo", {f"k{n}": "v" * 512 for n in range(10)}, {f"k{n}": "v" for n in range(11)}),
    ("customInfo", {}, {"k": "v" * 513}), ("customInfo", {}, {"ä": "v"}), ("customInfo", {}, {"": "v"}),
])
async def test_limits(world, server, field, longest, longer):
    alice = await world.user("alice")
    assert await alice.call("setSelfInfo", **{field: longest}) == {}
    before = await infos(alice, alice.user)
    data = await alice.refused(10004, "setSelfInfo", **{field: longer})
    assert data["field"] == field
    assert denied(server, 10004, "setUserInfo", userID=alice.user, **{field: longer})["field"] == field
    row = {"userID": alice.user, field: longer}
    assert denied(server, 10004, "importUsers", userList=[row])["field"] == field
    assert await infos(alice, alice.user) == before
    assert (await alice.refused(-32602, "setSelfInfo", **{field: 5}))["field"] == field


async def test_the_number_of_keys_is_checked_after_merging(world):
    alice = await world.user("alice")
    await alice.call("setSelfInfo", customInfo={f"k{n}": "v" for n in range(10)})
    assert (await alice.refused(10004, "setSelfInfo", nickName="x", customInfo={"more": "v"}))["field"] == "customInfo"
    assert (await infos(alice, alice.user))[0]["nickName"] == ""
    await alice.call("setSelfInfo", customInfo={"more": "v", "k0": None})


async def test_users_whom_nobody_knows_are_left_out(world, server):
    alice = await world.user("alice")
    named, imported, given, invited, never = (world.name(word) for word in ("named", "imported", "given", "invited", "never"))
    server.rpc("getServerInfo", asUser=named)
    done(server, "importUsers", userIDList=[imported])
    done(server, "setUserInfo", userID=given, nickName="G")
    group = await world.group(alice, "Work")
    await alice.call("inviteUserToGroup", groupID=group, userIDList=[invited])
    rows = await infos(alice, never, given, invited, alice.user, imported, named, given)
    assert [row["userID"] for row in rows] == [given, alice.user, imported, named]
    assert (await alice.refused(8510, "getUsersInfo", userIDList=[])) is not None
    assert (await alice.refused(10004, "getUsersInfo", userIDList=["@x"]))["field"] == "userIDList"
    assert (await alice.refused(10004, "getUsersInfo", userIDList=["administrator"]))["field"] == "userIDList"
    assert (await alice.refused(10004, "getUsersInfo", userIDList=[f"u{n}" for n in range(101)]))["field"] == "userIDList"
    assert await infos(alice, *(world.name("nobody") for _ in range(100))) == []


async def test_importing_merges_and_takes_one_list(world, server):
    alice = await world.user("alice")
    known, new = world.name("known"), world.name("new")
    done(server, "setUserInfo", userID=known, nickName="K", customInfo={"a": "1"})
    rows = [{"userID": known, "customInfo": {"b": "2"}}, {"userID": new}, {"userID": known, "faceURL": "f"}]
    assert done(server, "importUsers", userList=rows) == {}
    assert await infos(alice, new, known) == [
        {"userID": new, "nickName": "", "faceURL": "", "customInfo": {}},
        {"userID": known, "nickName": "K", "faceURL": "f", "customInfo": {"a": "1", "b": "2"}}]
    denied(server, -32602, "importUsers")
    denied(server, -32602, "importUsers", userIDList=[new], userList=[{"userID": new}])
    denied(server, 8510, "importUsers", userList=[])
    denied(server, 10004, "importUsers", userList=[{"userID": new}] * 101)
    denied(server, 10004, "importUsers", userList=[{"userID": "@x"}])
    denied(server, 10004, "importUsers", userIDList=["administrator"])


async def test_who_may_call_what(world, server):
    alice = await world.user("alice")
    await alice.refused(-32601, "setUserInfo", userID=alice.user, nickName="x")
    denied(server, 10007, "setUserInfo", userID=alice.user, nickName="x", asUser=alice.user)
    assert denied(server, -32602, "setSelfInfo", nickName="x")["field"] == "asUser"
    assert denied(server, 10004, "setSelfInfo", nickName="x", asUser="@x")["field"] == "asUser"
    assert denied(server, 10004, "setUserInfo", userID="administrator", nickName="x")["field"] == "userID"
    assert done(server, "setSelfInfo", nickName="A", asUser=alice.user) == {}
    assert done(server, "getUsersInfo", userIDList=[alice.user])["userList"][0]["nickName"] == "A"
    stranger = await world.open()
    await stranger.refused(6014, "setSelfInfo", nickName="x")


@pytest.mark.parametrize("user", ["x" * 33, "", "@alice", "administrator", "a b", "a\u007f", "ä", "a\nb"])
async def test_a_user_id_that_no_token_may_carry(world, server, user):
    alice = await world.user("alice")
    assert (await alice.refused(10004, "getUsersInfo", userIDList=[alice.user, user]))["field"] == "userIDList"
    assert denied(server, 10004, "setUserInfo", userID=user, nickName="x")["field"] == "userID"
    assert denied(server, 10004, "importUsers", userIDList=[alice.user, user])["field"] == "userIDList"
    assert denied(server, 10004, "importUsers", userList=[{"userID": alice.user}, {"userID": user}])["field"] == "userID"
    for method, params in (("setSelfInfo", {"nickName": "x"}), ("getUsersInfo", {"userIDList": ["a"]}), ("getServerInfo", {})):
        assert denied(server, 10004, method, asUser=user, **params)["field"] == "asUser"


# The users who are told


async def test_only_the_users_other_sessions_are_told(world, server):
    room = await Room.make(world)
    again = await room.second("member")
    await room.member.call("setSelfInfo", nickName="M", customInfo={"k": "v"})
    event = await again.expect("onSelfInfoUpdated")
    assert event == {"opTime": event["opTime"], "nickName": "M", "customInfo": {"k": "v"}}
    await room.member.call("setSelfInfo", nickName="M", customInfo={"k": "v"})
    await room.member.call("setSelfInfo", faceURL="f", customInfo={"l": "w"})
    event = await again.expect("onSelfInfoUpdated")
    assert event == {"opTime": event["opTime"], "faceURL": "f", "customInfo": {"k": "v", "l": "w"}}
    done(server, "importUsers", userList=[{"userID": room.member.user, "nickName": "I"}])
    await room.member.quiet("onSelfInfoUpdated")
    done(server, "setUserInfo", userID=room.member.user, nickName="U")
    for session in (room.member, again):
        assert (await session.expect("onSelfInfoUpdated"))["nickName"] == "U"
    await room.silent()
    for session in room.clients:
        assert not session.received("onSelfInfoUpdated")


# Groups


@pytest.mark.parametrize("groupType", [*TYPES, "BChatRoom"])
async def test_messages_show_the_sender_of_that_moment(world, server, groupType):
    alice, bob = await world.users("alice", "bob")
    if groupType == "BChatRoom":
        group = done(server, "createGroup", groupType=groupType, groupName="b", ownerUserID=alice.user)["groupID"]
    else:
        group = await world.group(alice, groupType, [bob])

    async def heard(sender=alice, **options):
        await sender.call("sendGroupTextMessage", groupID=group, text="x", **options)
        return (await bob.expect("onRecvNewMessage", groupID=group))["message"]

    message = await heard()
    assert "nickName" not in message and "faceURL" not in message
    await alice.call("setSelfInfo", nickName="Al")
    message = await heard()
    assert message["nickName"] == "Al" and "faceURL" not in message
    again = await world.session(alice.user)
    await again.call("setSelfInfo", faceURL="f", nickName="")
    message = await heard()
    assert message["faceURL"] == "f" and "nickName" not in message
    assert (await heard(again))["faceURL"] == "f"
    done(server, "importUsers", userList=[{"userID": alice.user, "nickName": "Imported"}])
    assert (await heard())["nickName"] == "Imported"
    done(server, "sendGroupTextMessage", groupID=group, text="x", asUser=alice.user)
    message = (await bob.expect("onRecvNewMessage", groupID=group))["message"]
    assert message["nickName"] == "Imported" and message["faceURL"] == "f"
    done(server, "sendGroupTextMessage", groupID=group, text="x")
    message = (await bob.expect("onRecvNewMessage", groupID=group, message=has(sender="administrator")))["message"]
    assert "nickName" not in message and "faceURL" not in message


@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting"])
async def test_what_is_read_shows_them_as_they_are_then(world, groupType):
    alice, bob = await world.users("alice", "bob")
    await alice.call("setSelfInfo", nickName="Before", faceURL="f")
    group = await world.group(alice, groupType, [bob], memberChangeNotification=True)
    await alice.call("sendGroupTextMessage", groupID=group, text="x")
    await alice.call("setGroupMemberInfo", groupID=group, userID=alice.user, nameCard="Card")
    await alice.call("setSelfInfo", nickName="After", faceURL="")
    for message in await history_of(bob, group):
        assert message["nickName"] == "After" and "faceURL" not in message
    tip = (await history_of(bob, group))[-1]["tips"]
    assert tip["opUser"] == {"userID": alice.user, "nickName": "After", "nameCard": "Card", "role": "Owner"}
    info = await info_of(bob, group)
    assert info["lastMessage"]["nickName"] == "After" and info["lastMessage"]["tips"]["opUser"]["nickName"] == "After"
    (row,) = (await bob.call("syncGroups", groups=[{"groupID": group, "epoch": info["epoch"], "seq": 0}]))["groups"]
    assert [message["nickName"] for message in row["messageList"]] == ["After"] * len(row["messageList"])
    (joined,) = (await bob.call("getJoinedGroupList"))["groupList"]
    assert joined["lastMessage"]["nickName"] == "After"
    members = (await bob.call("getGroupMemberList", groupID=group))["memberList"]
    assert [member.get("nickName") for member in members] == ["After", None]
    (member,) = (await bob.call("getGroupMembersInfo", groupID=group, userIDList=[alice.user]))["memberList"]
    assert member["nickName"] == "After" and "faceURL" not in member
    await alice.call("muteGroup", groupID=group, mode="None")


async def test_events_show_every_member_and_the_operator(world, server):
    room = await Room.make(world, joinMode="Any", inviteMode="Any")
    for name in ("owner", "member", "outsider"):
        await getattr(room, name).call("setSelfInfo", nickName=f"The {name}")
    # Somebody who was never here, whose profile is in no memory.
    stranger = world.name("stranger")
    done(server, "importUsers", userList=[{"userID": stranger, "nickName": "The stranger", "faceURL": "s"}])
    await room.member.call("inviteUserToGroup", groupID=room.group, userIDList=[stranger])
    event = await room.owner.expect("onMemberInvited", groupID=room.group)
    assert event["opUser"]["nickName"] == "The member" and event["platform"] == "Unknown"
    assert event["memberList"] == [
        {"userID": stranger, "nickName": "The stranger", "faceURL": "s", "nameCard": "", "role": "Member"}]
    await room.outsider.call("joinGroup", groupID=room.group)
    event = await room.owner.expect("onMemberEnter", groupID=room.group)
    assert event["memberList"][0]["nickName"] == "The outsider" and event["platform"] == "Unknown"
    await room.outsider.call("setSelfInfo", nickName="Renamed")
    await room.owner.call("kickGroupMember", groupID=room.group, userIDList=[room.outsider.user, room.other.user])
    event = await room.member.expect("onMemberKicked", groupID=room.group)
    assert [member.get("nickName") for member in event["memberList"]] == ["Renamed", None]
    assert event["opUser"]["nickName"] == "The owner"
    await room.member.call("quitGroup", groupID=room.group)
    event = await room.owner.expect("onMemberLeave", groupID=room.group)
    assert event["memberList"][0]["nickName"] == "The member" and event["platform"] == "Unknown"
    assert (await room.member.expect("onQuitFromGroup", groupID=room.group))["platform"] == "Unknown"


async def test_live_rooms_show_who_comes_and_goes(world):
    alice, bob = await world.users("alice", "bob")
    room = await world.group(alice, "AVChatRoom")
    await bob.call("setSelfInfo", nickName="B")
    await bob.call("joinGroup", groupID=room)
    for client in (alice, bob):
        event = await client.expect("onMemberEnter", groupID=room)
        assert shown(bob.user, nickName="B")(event["memberList"][-1]) and event["platform"] == "Unknown"
    await bob.call("quitGroup", groupID=room)
    event = await alice.expect("onMemberLeave", groupID=room)
    assert event["memberList"][0]["nickName"] == "B" and event["platform"] == "Unknown"


async def test_a_notification_keeps_them_as_they_were(world):
    alice, bob = await world.users("alice", "bob")
    await alice.call("setSelfInfo", nickName="Then", faceURL="f")
    group = await world.group(alice, "Public", [bob])
    await alice.call("kickGroupMember", groupID=group, userIDList=[bob.user], reason="r")
    await alice.call("setSelfInfo", nickName="Now", faceURL="")
    (row,) = await all_of(bob, "getSystemNotificationList", "notificationList")
    assert row["type"] == "KickedOff" and row["platform"] == "Unknown"
    assert row["opUser"] == {"userID": alice.user, "nickName": "Then", "faceURL": "f", "nameCard": "", "role": "Owner"}
    (row,) = await all_of(alice, "getSystemNotificationList", "notificationList")
    assert row["type"] == "GroupCreated" and row["opUser"]["nickName"] == "Then"


async def test_an_applicant_shows_the_own_profile(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, "Public", joinMode="Auth")
    await bob.call("setSelfInfo", nickName="B")
    await bob.call("joinGroup", groupID=group, message="please")
    event = await alice.expect("onReceiveJoinApplication", groupID=group)
    assert event["member"] == {"userID": bob.user, "nickName": "B", "nameCard": "", "role": "NotMember"}
    assert event["platform"] == "Unknown"
    kept = (await all_of(alice, "getSystemNotificationList", "notificationList"))[0]
    assert kept["type"] == "AddGroupRequest" and kept["opUser"] == event["member"] and kept["platform"] == "Unknown"


async def test_searches_match_nicknames_inside_joined_groups(world):
    alice, bob, carol = await world.users("alice", "bob", "carol")
    nick = "Q" + world.name("ueen")
    await bob.call("setSelfInfo", nickName=nick)
    group = await world.group(alice, "Public", [bob], isSearchable=True)

    async def found(client, keyword=nick.lower(), **options):
        options.setdefault("matchFields", ["memberNickName"])
        answer = await client.call("searchGroups", keywordList=[keyword], **options)
        return [row["groupID"] for row in answer["groupList"]]

    assert await found(alice) == [group] and await found(bob) == [group]
    assert await found(carol) == []
    assert await found(alice, ignoreCase=False) == [] and await found(alice, nick, ignoreCase=False) == [group]
    assert await found(alice, matchFields=["memberNameCard", "memberUserID"]) == []
    await alice.call("setGroupInfo", groupID=group, isMemberVisible=False)
    assert await found(alice) == [group] and await found(bob) == [group], "managers, and everybody themselves"
    await bob.call("setSelfInfo", nickName="")
    assert await found(alice) == []


# Durability


async def test_acknowledged_profiles_survive_kill_9(make_server, record_property):
    own = make_server()
    random_ = random.Random(7)
    expected, checked = {}, 0

    async def keep_changing(client, count, reached):
        """Ends with the connection; gives the last acknowledged texts, and those under way."""
        last, number = None, 0
        while True:
            under_way = {"nickName": f"{client.user} {number}", "faceURL": f"f{number}", "customInfo": {"n": str(number)}}
            try:
                await client.call("setSelfInfo", **under_way)
            except Gone:
                return last, under_way
            except Refused as refusal:
                # Of several nodes the killed one may be another.
                assert IS_CLUSTER and refusal.code == 10002, refusal
                return last, last
            last, number = under_way, number + 1
            if number == count:
                reached.set()

    for _ in range(5):
        world = World(own)
        clients = [await world.session(f"user-{n}") for n in range(4)]
        reached = [asyncio.Event() for _ in clients]
        count = random_.randint(1, 40)
        running = [asyncio.ensure_future(keep_changing(*row)) for row in zip(clients, [count] * 4, reached)]
        for event in reached:
            await within(event.wait(), 60)
        own.kill()
        ends = await asyncio.gather(*running)
        await world.close()
        own.start()
        world = World(own)
        reader = await world.user("reader")
        for client, (last, under_way) in zip(clients, ends):
            (row,) = await infos(reader, client.user)
            assert row in ({"userID": client.user, **last}, {"userID": client.user, **under_way})
            checked += 1
        await world.close()
    record_property("summary", f"kill-9: {checked} profiles checked")
