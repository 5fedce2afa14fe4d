"""createGroup (Protocol.md, "Creating a group")."""
import pytest

from harness.client import has
from harness.world import history_of, info_of

LEGAL = [chr(code) for code in range(0x21, 0x7F)]
TYPES = ["Work", "Public", "Meeting", "AVChatRoom"]


def rows(*pairs):
    return [{"userID": user, "result": result} for user, result in pairs]


@pytest.mark.parametrize("groupType", TYPES)
async def test_anyone_may_create(world, groupType):
    alice = await world.user("alice")
    answer = await alice.call("createGroup", groupType=groupType, groupName="a group")
    assert answer == {"groupID": answer["groupID"], "groupType": groupType, "memberList": []}
    assert answer["groupID"].startswith("@TGS#")
    info = await info_of(alice, answer["groupID"])
    assert info["owner"] == alice.user and info["selfInfo"]["role"] == "Owner" and info["memberCount"] == 1


async def test_only_an_administrator_may_create_a_bchatroom(world):
    alice = await world.user("alice")
    await alice.refused(10007, "createGroup", groupType="BChatRoom", groupName="g")


@pytest.mark.parametrize("legacy, current", [("Private", "Work"), ("ChatRoom", "Meeting")])
async def test_legacy_type_names_are_answered_as_the_current_name(world, legacy, current):
    alice = await world.user("alice")
    answer = await alice.call("createGroup", groupType=legacy, groupName="g")
    assert answer["groupType"] == current
    assert (await info_of(alice, answer["groupID"]))["groupType"] == current


@pytest.mark.parametrize("groupType", ["", "work", "Secret"])
async def test_an_unknown_type_is_outside_the_domain(world, groupType):
    alice = await world.user("alice")
    await alice.refused(10004, "createGroup", groupType=groupType, groupName="g")


@pytest.mark.parametrize("field, limit, code", [
    ("groupName", 30, 8502), ("introduction", 240, 8503), ("notification", 300, 8504), ("faceURL", 100, 8505),
])
async def test_texts_are_measured_in_bytes(world, field, limit, code):
    alice = await world.user("alice")
    base = {"groupType": "Public", "groupName": "g"}
    full = "中" * (limit // 3) + "x" * (limit % 3)
    group = (await alice.call("createGroup", **{**base, field: full}))["groupID"]
    assert (await info_of(alice, group))[field] == full
    await alice.refused(code, "createGroup", **{**base, field: full + "x"})
    await alice.refused(code, "createGroup", **{**base, field: "中" * (limit // 3 + 1)})


async def test_a_name_is_neither_empty_nor_has_control_characters(world):
    alice = await world.user("alice")
    await alice.refused(8502, "createGroup", groupType="Public", groupName="")
    for name in ("a\nb", "a\tb", "\u0000", "a\u007f", "a\u0085b"):
        await alice.refused(10004, "createGroup", groupType="Public", groupName=name)
    await alice.call("createGroup", groupType="Public", groupName="👩‍👧 é")


async def test_a_group_id_of_ones_own(world):
    alice = await world.user("alice")
    for group in ("!" + world.name("g"), world.name("x" * 40)[:48].ljust(48, "~"), "@TGS" + world.name("-")):
        assert (await alice.call("createGroup", groupType="Public", groupName="g", groupID=group))["groupID"] == group
    for group in ("x" * 49, "a b", "é", "a\n", "@TGS#own"):
        await alice.refused(8501, "createGroup", groupType="Public", groupName="g", groupID=group)


async def test_an_empty_group_id_counts_as_absent(world):
    alice = await world.user("alice")
    answer = await alice.call("createGroup", groupType="Public", groupName="g", groupID="")
    assert answer["groupID"].startswith("@TGS#")
    answer = world.server.rpc("importGroup", groupType="Work", groupName="g", ownerUserID=alice.user, groupID="", maxMemberNum=0)
    assert answer["result"]["groupID"].startswith("@TGS#")
    assert (await info_of(alice, answer["result"]["groupID"]))["maxMemberNum"] == 6000


async def test_a_taken_group_id(world):
    alice, bob = await world.users("alice", "bob")
    group = await world.group(alice, groupID=world.name("g"))
    await bob.refused(10021, "createGroup", groupType="Public", groupName="g", groupID=group)
    await alice.refused(10025, "createGroup", groupType="Work", groupName="g", groupID=group)


async def test_initial_members_and_their_results(world):
    alice, bob, carol = await world.users("alice", "bob", "carol")
    answer = await alice.call("createGroup", groupType="Public", groupName="g", memberList=[
        {"userID": bob.user, "role": "Admin"}, {"userID": carol.user, "role": "Member"},
        {"userID": bob.user}, {"userID": alice.user}, {"userID": "never-seen"},
    ])
    assert answer["memberList"] == rows(
        (bob.user, "Success"), (carol.user, "Success"), (alice.user, "Invalid"), ("never-seen", "Success"))
    info = await info_of(bob, answer["groupID"])
    assert info["memberCount"] == 4 and info["selfInfo"]["role"] == "Admin"
    assert (await info_of(carol, answer["groupID"]))["selfInfo"]["role"] == "Member"


async def test_initial_members_are_bound_by_the_type(world):
    alice, bob = await world.users("alice", "bob")
    one = {"userID": bob.user}
    await alice.refused(10007, "createGroup", groupType="Work", groupName="g", memberList=[{**one, "role": "Admin"}])
    await alice.refused(10007, "createGroup", groupType="AVChatRoom", groupName="g", memberList=[one])
    await alice.call("createGroup", groupType="Work", groupName="g", memberList=[one])
    await alice.call("createGroup", groupType="Meeting", groupName="g", memberList=[{**one, "role": "Admin"}])
    for groupType in ("Work", "Public", "Meeting"):
        await alice.refused(
            8509, "createGroup", groupType=groupType, groupName="g", memberList=[{**one, "role": "Owner"}])
    await alice.refused(10004, "createGroup", groupType="Public", groupName="g", memberList=[{**one, "role": "King"}])


async def test_a_hundred_initial_members_are_the_bound(world):
    alice = await world.user("alice")
    people = [{"userID": world.name("m")} for _ in range(101)]
    await alice.refused(10004, "createGroup", groupType="Public", groupName="g", memberList=people)
    answer = await alice.call("createGroup", groupType="Public", groupName="g", memberList=people[:100])
    assert len(answer["memberList"]) == 100
    assert (await info_of(alice, answer["groupID"]))["memberCount"] == 101
    answer = await alice.call("createGroup", groupType="AVChatRoom", groupName="g", memberList=[])
    assert answer["memberList"] == []


async def test_max_member_num(world):
    alice, bob, carol = await world.users("alice", "bob", "carol")
    two = [{"userID": bob.user}, {"userID": carol.user}]
    base = {"groupType": "Public", "groupName": "g"}
    assert (await info_of(alice, (await alice.call("createGroup", **base))["groupID"]))["maxMemberNum"] == 6000
    await alice.refused(8507, "createGroup", **base, maxMemberNum=2, memberList=two)
    await alice.call("createGroup", **base, maxMemberNum=3, memberList=two)
    await alice.call("createGroup", **base, maxMemberNum=6000)
    await alice.refused(8507, "createGroup", **base, maxMemberNum=6001)
    await alice.refused(10004, "createGroup", **base, maxMemberNum=-1)
    group = (await alice.call("createGroup", **base, maxMemberNum=0))["groupID"]
    assert (await info_of(alice, group))["maxMemberNum"] == 6000


async def test_an_avchatroom_has_no_max_member_num(world):
    alice = await world.user("alice")
    await alice.refused(10007, "createGroup", groupType="AVChatRoom", groupName="g", maxMemberNum=100)
    assert (await info_of(alice, await world.group(alice, "AVChatRoom")))["maxMemberNum"] == 0
    assert (await info_of(alice, await world.group(alice, "AVChatRoom", maxMemberNum=0)))["maxMemberNum"] == 0


async def test_custom_info_is_bound_in_number_key_and_value(world):
    alice = await world.user("alice")
    base = {"groupType": "Public", "groupName": "g"}
    full = {f"key_{n}": "é" * 256 for n in range(10)}
    full["A" * 16] = full.pop("key_0")
    group = (await alice.call("createGroup", **base, customInfo=full))["groupID"]
    assert (await info_of(alice, group))["customInfo"] == full
    await alice.refused(10004, "createGroup", **base, customInfo={**full, "eleventh": "x"})
    await alice.refused(10004, "createGroup", **base, customInfo={"k": "é" * 256 + "x"})
    for key in ("", "a-b", "A" * 17, "é", "a b"):
        await alice.refused(10004, "createGroup", **base, customInfo={key: "x"})
    group = (await alice.call("createGroup", **base, customInfo={"k": "a\u0000b"}))["groupID"]
    assert (await info_of(alice, group))["customInfo"] == {"k": "a\u0000b"}


@pytest.mark.parametrize("groupType", ["Work", "Public", "Meeting"])
async def test_creation_stores_no_tip_and_tells_creator_and_members_so_only(world, groupType):
    """onGroupCreated to all sessions of the creator, and the initial members."""
    alice, bob, outsider = await world.users("alice", "bob", "outsider")
    second = await world.session(alice.user)
    group = await world.group(alice, groupType, [bob])
    for client in (alice, second, bob):
        await client.expect("onGroupCreated", groupID=group)
    info = await info_of(bob, group)
    assert info["lastSeq"] == 0 and info["lastMessageTime"] == 0 and "lastMessage" not in info
    assert await history_of(bob, group) == []
    await world.settle(group, alice, second, bob)
    for client in (alice, second, bob):
        assert client.received(groupID=group) == []
    await outsider.quiet(group=group)


@pytest.mark.parametrize("key, code, groupType", [
    ("limits.avChatRooms", 10036, "AVChatRoom"), ("limits.avChatRoomsPerUser", 10036, "AVChatRoom"),
    ("limits.groupsPerUser", 10037, "Public"),
])
async def test_limits_of_the_number_of_groups(make_server, make_world, key, code, groupType):
    world = make_world(make_server({key: 2}))
    alice = await world.user("alice")
    first = await world.group(alice, groupType)
    await world.group(alice, groupType)
    await alice.refused(code, "createGroup", groupType=groupType, groupName="g")
    await alice.call("dismissGroup", groupID=first)
    await world.group(alice, groupType)


async def test_the_cap_of_a_type_is_configurable(make_server, make_world):
    world = make_world(make_server({"limits.work.maxMemberNum": 3}))
    alice = await world.user("alice")
    assert (await info_of(alice, await world.group(alice, "Work")))["maxMemberNum"] == 3
    await alice.refused(8507, "createGroup", groupType="Work", groupName="g", maxMemberNum=4)
    people = [{"userID": world.name("m")} for _ in range(3)]
    await alice.refused(8507, "createGroup", groupType="Work", groupName="g", memberList=people)
    await alice.call("createGroup", groupType="Public", groupName="g", maxMemberNum=4)


async def test_unknown_users_fail_where_users_must_be_known(make_server, make_world):
    """In bulk methods Fail."""
    world = make_world(make_server({"users.requireKnown": "true"}))
    alice, bob = await world.users("alice", "bob")
    answer = await alice.call("createGroup", groupType="Public", groupName="g", memberList=[
        {"userID": bob.user}, {"userID": "never-seen"}])
    assert answer["memberList"] == rows((bob.user, "Success"), ("never-seen", "Fail"))


async def test_policy_fields_given_at_creation_hold(world):
    alice = await world.user("alice")
    group = await world.group(alice, "Public", joinMode="Forbid", updateInfoMode="Owner", isMemberVisible=False)
    info = await info_of(alice, group)
    wanted = has(joinMode="Forbid", updateInfoMode="Owner", isMemberVisible=False, inviteMode="Nobody")
    assert wanted(info), info


@pytest.mark.parametrize("settings", [{}, {"limits.public.maxMemberNum": 100}])
async def test_a_number_over_the_cap_is_8507_however_large(make_server, make_world, settings):
    world = make_world(make_server(settings))
    alice = await world.user("alice")
    for number in (6001, 2**32, 2**53):
        await alice.refused(8507, "createGroup", groupType="Public", groupName="g", maxMemberNum=number)


async def test_every_legal_byte_in_a_group_id(world):
    alice, bob = await world.users("alice", "bob")
    for character in LEGAL:
        group = world.name("g") + character
        await world.group(alice, groupID=group)
        await bob.call("joinGroup", groupID=group)
        await alice.call("sendGroupTextMessage", groupID=group, text=character)
        await bob.expect("onRecvNewMessage", groupID=group, message=has(text=character))
        assert len(await history_of(bob, group)) == 2


async def test_group_ids_differ_by_case(world):
    alice, bob = await world.users("alice", "bob")
    group = world.name("Case")
    await world.group(alice, groupID=group)
    await world.group(bob, groupID=group.lower())
    assert (await info_of(alice, group))["owner"] == alice.user


@pytest.mark.parametrize("group", ["g\u0301", "@TGS\u20e3#x", "g\r\n", "g\u200b"])
async def test_a_group_id_of_more_than_ascii_is_none(world, group):
    alice = await world.user("alice")
    await alice.refused(8501, "createGroup", groupType="Public", groupName="g", groupID=group)
    await alice.refused(10015, "joinGroup", groupID=group)


@pytest.mark.parametrize("name", ["a\r\nb", "\u0080", "\u009f", "a\u007f"])
async def test_control_characters_are_none_of_a_name(world, name):
    alice = await world.user("alice")
    await alice.refused(10004, "createGroup", groupType="Public", groupName=name)
    group = await world.group(alice)
    await alice.refused(10004, "setGroupInfo", groupID=group, groupName=name)
